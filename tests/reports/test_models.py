"""Short names of models."""

import pytest

from swaymeter.reports.models import short_names


@pytest.mark.parametrize(
    ("names", "shared", "short"),
    [
        (["smol (float32)"], "", ["smol (float32)"]),
        (["smol · a (float32)", "smol · b (float32)"], "smol · float32", ["a", "b"]),
        (["smol · a (float32)", "smol · a (bfloat16)"], "smol · a", ["float32", "bfloat16"]),
        (["smol (float32)", "big · a (served)"], "", ["smol (float32)", "big · a (served)"]),
        (["a · b (f)", "b · a (f)", "a · c (f)"], "", ["a · b (f)", "b · a (f)", "a · c (f)"]),  # b twice
        (["smol · a (float32)", "smol (float32)"], "smol · float32", ["a", "smol (float32)"]),
    ],
)
def test_short_names_have_the_differing_parts(names: list[str], shared: str, short: list[str]) -> None:
    result = short_names(names)
    assert (result.shared, list(result.names.values())) == (shared, short)
