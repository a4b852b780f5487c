import numpy as np
import pytest
import torch

from data.errors import UsageError
from tasks.scoring.sampling import Sampling, draw, uniforms

LOGITS = torch.tensor([[0.1, 0.2, 0.3, 0.4]]).log()


def _drawn(points: list[float], **settings: float) -> list[int]:
    sampling = Sampling(**{"temperature": 1.0, **settings})  # type: ignore[arg-type]
    return draw(LOGITS.repeat(len(points), 1), torch.tensor(points, dtype=torch.float64), sampling).tolist()


def test_token_is_where_the_cumulated_probability_passes_the_point() -> None:
    assert _drawn([0.0, 0.09, 0.11, 0.29, 0.31, 0.59, 0.61, 0.999999]) == [0, 0, 1, 1, 2, 2, 3, 3]


def test_low_temperature_draws_the_most_probable() -> None:
    assert _drawn([0.001, 0.5, 0.999], temperature=0.01) == [3, 3, 3]


def test_temperature_one_half_squares_the_probabilities() -> None:
    # 1, 4, 9, 16 of 30
    assert _drawn([0.9 / 30, 1.1 / 30, 4.9 / 30, 5.1 / 30, 13.9 / 30, 14.1 / 30], temperature=0.5) == [0, 1, 1, 2, 2, 3]


def test_top_k_and_top_p_keep_the_most_probable_alone() -> None:
    assert set(_drawn(list(np.linspace(0, 0.9999, 50)), top_k=2)) == {2, 3}
    assert set(_drawn(list(np.linspace(0, 0.9999, 50)), top_p=0.39)) == {3}
    assert set(_drawn(list(np.linspace(0, 0.9999, 50)), top_p=0.41)) == {2, 3}
    assert set(_drawn(list(np.linspace(0, 0.9999, 50)), top_k=99)) == {0, 1, 2, 3}


def test_impossible_token_is_never_drawn() -> None:
    logits = torch.tensor([[-torch.inf, 0.0, -torch.inf]]).repeat(2, 1)
    assert draw(logits, torch.tensor([0.0, np.nextafter(1, 0)], dtype=torch.float64), Sampling()).tolist() == [1, 1]


def test_numbers_depend_on_seed_and_identity_alone() -> None:
    first = uniforms(20, 1, "model", "question", 0)
    np.testing.assert_array_equal(first, uniforms(20, 1, "model", "question", 0))
    np.testing.assert_array_equal(first[:5], uniforms(5, 1, "model", "question", 0))
    others = [(2, "model", "question", 0), (1, "model", "question", 1), (1, "modelquestion", "", 0)]
    assert all((uniforms(20, *other) != first).all() for other in others)


@pytest.mark.parametrize(
    "settings", [{"temperature": 0.0}, {"temperature": float("nan")}, {"top_p": 0.0}, {"top_p": 1.1}, {"top_k": -1}]
)
def test_impossible_settings_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(UsageError, match=next(iter(settings))):
        Sampling(**settings)  # type: ignore[arg-type]
