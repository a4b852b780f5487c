from data.sources.http.printable import shown


def test_content_nested_too_deep_is_shown() -> None:
    deep: list[object] = []
    for _ in range(10_000):
        deep = [deep]
    assert shown(deep) == "nested too deep to be shown"
