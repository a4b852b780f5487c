"""The measures that a study can name; the one place where flows.study imports their registry."""

from tasks.measures import MEASURES

__all__ = ["MEASURES"]
