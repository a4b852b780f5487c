import pytest

from swaymeter.tasks.models.generation.readers import shared_prefixes

READ, OTHER = (1, 2, 3, 4, 5, 6), (1, 2, 9, 9, 9)


@pytest.mark.parametrize(
    ("prompts", "prefixes"),
    [
        (
            [[*READ, 100 + n, 7] for n in range(20)] + [[*OTHER, 200 + n] for n in range(20)],
            [OTHER, READ],
        ),
        ([[n, n + 1, n + 2, n + 3, n + 4] for n in range(50)], []),
        ([READ, READ], []),
        ([], []),
        ([[1, 2, 3, 4, 5]] * 6, [(1, 2, 3, 4)]),  # a token of every prompt is left to be read
        ([[1, 2, 3, 4, 100 + n, 7] for n in range(60)] + [[*READ, 7, n] for n in range(3)], [(1, 2, 3, 4)]),
    ],
)
def test_prefixes_of_many_prompts(prompts: list[list[int]], prefixes: list[tuple[int, ...]]) -> None:
    assert shared_prefixes(prompts) == prefixes
