import pytest

from data.sources.http.printable import printable, shown


@pytest.mark.parametrize(
    ("text", "most", "printed"),
    [("a\x00\x1b[31m\n b", 80, "a [31m b"), (b"\xffab", 80, "\ufffdab"), ("x" * 100, 10, "x" * 10), ("", 80, "")],
)
def test_text_from_the_web_is_one_printable_line(text: str | bytes, most: int, printed: str) -> None:
    assert printable(text, most) == printed


def test_content_nested_too_deep_is_shown() -> None:
    deep: list[object] = []
    for _ in range(10_000):
        deep = [deep]
    assert shown(deep) == "nested too deep to be shown"
