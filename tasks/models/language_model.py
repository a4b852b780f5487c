"""A language model on this machine, with all capabilities."""

from typing import TYPE_CHECKING

from swaymeter.tasks.models.generation.answers import mean_distribution
from swaymeter.tasks.models.generation.greedy import greedy_lines
from swaymeter.tasks.models.generation.readers import engine_of_answers
from swaymeter.tasks.models.generation.sample import sample_answers
from swaymeter.tasks.models.gradients import squared_gradients
from swaymeter.tasks.models.network import Network
from swaymeter.tasks.models.next_token.broken import is_broken
from swaymeter.tasks.models.next_token.by_query import engine_of_next_token, next_token_by_query
from swaymeter.tasks.models.next_token.complete_answers import complete_answers
from swaymeter.tasks.models.next_token.plain import likeliest, read_plain
from swaymeter.tasks.models.next_token.reading import in_reach

if TYPE_CHECKING:
    from swaymeter.tasks.models.capabilities import AnswerScores, Differentiable, NextTokenLogits, Samples


class LanguageModel(Network):
    """A language model and its tokenizer, with the methods of all protocols in tasks/models/capabilities.py.

    Each method is a function of another module, whose argument `model` is this object.
    """

    is_broken = is_broken
    in_reach = in_reach
    next_token_by_query = next_token_by_query
    engine_of_next_token = engine_of_next_token
    next_token_logits = read_plain
    likeliest = likeliest
    greedy_lines = greedy_lines
    sample_answers = sample_answers
    engine_of_answers = engine_of_answers
    mean_distribution = mean_distribution
    complete_answers = complete_answers
    squared_gradients = squared_gradients


if TYPE_CHECKING:
    # Never called: mypy checks by this function that the class has the protocols.
    def _capabilities_of(model: LanguageModel) -> tuple[NextTokenLogits, Samples, AnswerScores, Differentiable]:
        return model, model, model, model
