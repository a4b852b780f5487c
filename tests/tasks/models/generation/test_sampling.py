import numpy as np
import pytest
import torch

from swaymeter.data.randomness import typed_generator
from swaymeter.tasks.models.generation.sampling import Sampling, draw

LOGITS = torch.tensor([[0.1, 0.2, 0.3, 0.4]]).log()


def _draw_at(points: list[float], **settings: float) -> list[int]:
    sampling = Sampling(**{"temperature": 1.0, **settings})  # type: ignore[arg-type]
    rows = torch.zeros(len(points), dtype=torch.int64)
    return draw(LOGITS, rows, torch.tensor(points, dtype=torch.float64), sampling)[0].tolist()


@pytest.mark.parametrize(
    ("points", "settings", "tokens"),
    [
        ([0.0, 0.09, 0.11, 0.29, 0.31, 0.59, 0.61, 0.999999], {}, [0, 0, 1, 1, 2, 2, 3, 3]),
        ([0.001, 0.5, 0.999], {"temperature": 0.01}, [3, 3, 3]),
        # The probabilities are 1/30, 4/30, 9/30 and 16/30.
        ([point / 30 for point in (0.9, 1.1, 4.9, 5.1, 13.9, 14.1)], {"temperature": 0.5}, [0, 1, 1, 2, 2, 3]),
    ],
)
def test_drawn_tokens_equal_those_by_hand(points: list[float], settings: dict[str, float], tokens: list[int]) -> None:
    assert _draw_at(points, **settings) == tokens


@pytest.mark.parametrize(
    ("settings", "tokens"),
    [({"top_k": 2}, {2, 3}), ({"top_p": 0.39}, {3}), ({"top_p": 0.41}, {2, 3}), ({"top_k": 99}, {0, 1, 2, 3})],
)
def test_top_k_and_top_p_keep_likeliest_tokens(settings: dict[str, float], tokens: set[int]) -> None:
    assert set(_draw_at(list(np.linspace(0, 0.9999, 50)), **settings)) == tokens


def test_impossible_token_is_never_drawn() -> None:
    logits = torch.tensor([[-torch.inf, 0.0, -torch.inf]])
    points = torch.tensor([0.0, np.nextafter(1, 0)], dtype=torch.float64)
    assert draw(logits, torch.tensor([0, 0]), points, Sampling())[0].tolist() == [1, 1]


@pytest.mark.parametrize(
    "settings", [{}, {"temperature": 0.5}, {"top_k": 7}, {"top_p": 0.8}, {"top_k": 50, "top_p": 0.5}]
)
def test_draws_follow_the_definition(settings: dict[str, float]) -> None:
    sampling = Sampling(**{"temperature": 1.0, **settings})  # type: ignore[arg-type]
    generator = torch.Generator().manual_seed(0)
    logits = 3 * torch.randn((3, 1000), generator=generator)
    rows = torch.arange(3).repeat(400)
    points = torch.rand(1200, generator=generator, dtype=torch.float64)
    drawn, is_sure = draw(logits, rows, points, sampling, rounding=1e-6)
    expected = [
        _draw_by_hand(logits[row].double(), float(point), sampling) for row, point in zip(rows, points, strict=True)
    ]
    sure = is_sure.tolist()
    assert sum(sure) > 1100
    assert [token for token, is_sure in zip(drawn.tolist(), sure, strict=True) if is_sure] == [
        token for token, is_sure in zip(expected, sure, strict=True) if is_sure
    ]


def _draw_by_hand(logits: torch.Tensor, point: float, sampling: Sampling) -> int:
    probabilities = torch.softmax(logits / sampling.temperature, dim=0).numpy()
    likely = np.argsort(-probabilities)[: sampling.top_k or None]
    before = np.cumsum(probabilities[likely]) - probabilities[likely]
    nucleus = np.sort(likely[before < sampling.top_p * probabilities[likely].sum()])
    cumulative = np.cumsum(probabilities[nucleus]) / probabilities[nucleus].sum()
    return int(nucleus[np.argmax(cumulative > point)])


def test_rounding_never_changes_a_sure_draw() -> None:
    generator = torch.Generator().manual_seed(1)
    logits = 4 * torch.randn((200, 1000), generator=generator)
    rows = torch.arange(200).repeat(100)
    points = torch.rand(20_000, generator=generator, dtype=torch.float64)
    for settings in ({}, {"top_k": 20}, {"top_p": 0.7}):
        sampling = Sampling(**settings)  # type: ignore[arg-type]
        drawn, is_sure = draw(logits, rows, points, sampling, rounding=1e-3)
        noisy_logits = logits + 1e-3 * (2 * torch.rand(logits.shape, generator=generator) - 1)
        noisy_draws, _ = draw(noisy_logits, rows, points, sampling)
        differ = drawn != noisy_draws
        assert differ.any()  # some draws change, but none of the sure draws
        assert not (differ & is_sure).any()
        assert is_sure.float().mean() > 0.9


def test_random_numbers_depend_on_seed_and_identity() -> None:
    first = typed_generator(1, "model", "question", 0).random(20)
    np.testing.assert_array_equal(first, typed_generator(1, "model", "question", 0).random(20))
    np.testing.assert_array_equal(first[:5], typed_generator(1, "model", "question", 0).random(5))
    others = [(2, "model", "question", 0), (1, "model", "question", 1), (1, "modelquestion", "", 0)]
    assert all((typed_generator(*other).random(20) != first).all() for other in others)


def test_draws_at_a_cut_are_unsure() -> None:
    # Rounding decides which of the last two tokens top_p and top_k cut off.
    logits = torch.tensor([[0.6, 0.2, 0.2 - 1e-6]]).log()
    points = torch.tensor([0.1, 0.5, 0.9], dtype=torch.float64)
    rows = torch.zeros(3, dtype=torch.int64)
    for sampling in (Sampling(temperature=1.0, top_p=0.7), Sampling(temperature=1.0, top_k=2)):
        assert not draw(logits, rows, points, sampling, rounding=1e-4)[1].any()
        assert draw(logits, rows, points, sampling, rounding=1e-8)[1].all()
