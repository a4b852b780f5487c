"""The same studies as in the end-to-end tests."""

from tests.end_to_end.conftest import study, undisturbed

__all__ = ["study", "undisturbed"]
