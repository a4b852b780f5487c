import math

import pytest

from swaymeter.data.errors import ScoreError, UsageError
from swaymeter.tasks.scoring.utilisation import binary_utilisation, continuous_utilisation


@pytest.mark.parametrize(
    ("without", "with_context", "utilisation"),
    [
        (0.2, 0.6, 0.5),  # 0.4 of the 0.8 that it lacked
        (0.8, 0.2, -0.75),  # 0.6 of the 0.8 that it had
        (0.5, 0.5, 0.0),
        (0.0, 0.25, 0.25), (0.0, 1.0, 1.0), (0.0, 0.0, 0.0),
        (1.0, 0.25, -0.75), (1.0, 0.0, -1.0), (1.0, 1.0, None),
    ],
)  # fmt: skip
def test_a_change_is_a_share_of_the_possible_one(
    without: float, with_context: float, utilisation: float | None
) -> None:
    assert continuous_utilisation(without, with_context) == pytest.approx(utilisation)


@pytest.mark.parametrize("nonsense", [math.nan, -0.1, 1.5, math.inf])
def test_what_is_no_probability_is_refused(nonsense: float) -> None:
    for pair in ((nonsense, 0.5), (0.5, nonsense)):
        with pytest.raises(ScoreError, match="not a probability"):
            continuous_utilisation(*pair)


def test_any_promoted_token_follows() -> None:
    assert [binary_utilisation(token, {3, 4}) for token in (3, 4, 5)] == [True, True, False]
    with pytest.raises(UsageError, match="no token"):
        binary_utilisation(3, ())
