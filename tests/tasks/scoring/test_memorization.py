"""Greedy answers against prompts read alone; conflicts, followed answers and counts by hand."""

from collections.abc import Sequence

import pytest
import torch
from transformers import PreTrainedTokenizerFast

from swaymeter.data.errors import ScoreError, UsageError
from swaymeter.data.records import ContextKind, QueryType
from swaymeter.tasks.models import LanguageModel
from swaymeter.tasks.models.generation import greedy
from swaymeter.tasks.models.next_token import shared
from swaymeter.tasks.models.next_token.by_query import PLAIN, PREFIX_TREE
from swaymeter.tasks.models.prompts.template_options import end_tokens
from swaymeter.tasks.scoring.memorization import Conflict, Follows, Reply, conflict, count, follows, greedy_answers
from tests.tasks.models.reference_values import log_probs, tokens_of
from tests.tasks.models.tiny import CHAT, SEAMS, byte_tokenizer, tiny_language_model

CONTEXTS = ["Oslo is big.\n", "Norway's capital is Rome.\n", "Lima.\n", "", "Without any doubt, it is the place.\n"]
QUERIES = ["Q: What is the capital of Norway?\nA:", "The capital of Peru is", "Where"]
# Tokens with a newline: some answers begin with empty lines, and an answer ends with its first line of text.
LINES = [("Ċ", chr(letter)) for letter in range(33, 127)] + [("Ċ", "Ċ"), ("Ġ", "Ċ"), ("x", "Ċ")]
TOKENIZERS = {"bytes": byte_tokenizer(), "merged bytes": byte_tokenizer(SEAMS), "lines": byte_tokenizer(LINES)}


def _answer_alone(model: LanguageModel, prompt: str, limit: int) -> str:
    """Return the greedy answer to a prompt that is read alone."""
    answer: list[int] = []
    while len(answer) < limit:
        token = int(log_probs(model, [[*tokens_of(model, prompt), *answer]])[0].argmax())
        if token in end_tokens(model):
            break
        answer.append(token)
    return str(model.tokenizer.decode(answer, skip_special_tokens=True)).lstrip().partition("\n")[0].rstrip()


@pytest.mark.parametrize(
    ("family", "tokens"),
    [("llama", "bytes"), ("llama", "lines"), ("bloom", "lines")]
    + [(family, "merged bytes") for family in ("llama", "gpt2", "gpt_neox", "mistral")],
)
def test_answers_match_prompts_read_alone(family: str, tokens: str) -> None:
    tokenizer: PreTrainedTokenizerFast = TOKENIZERS[tokens]
    model = tiny_language_model(family, tokenizer=tokenizer)
    model.model.generation_config.eos_token_id = [1, *range(200, 230)]  # some answers end before the limit
    result, engine = greedy_answers(model, CONTEXTS, QUERIES, max_new_tokens=8)
    alone = [[_answer_alone(model, context + query, 8) for context in CONTEXTS] for query in QUERIES]
    assert result == alone
    assert len({text for texts in alone for text in texts}) > 3
    assert engine == ("plain" if family == "bloom" else "prefix tree")


def test_a_small_memory_changes_nothing(tiny_chat: LanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
    result = greedy_answers(tiny_chat, CONTEXTS, QUERIES)
    monkeypatch.setattr(shared, "memory_budget", lambda device: 1)
    assert greedy_answers(tiny_chat, CONTEXTS, QUERIES) == result


def test_equal_contexts_are_answered_once() -> None:
    model = tiny_language_model()
    texts, _ = greedy_answers(model, CONTEXTS[:2], QUERIES)
    before = model.forward_passes
    greedy_answers(model, CONTEXTS[:2], QUERIES)
    passes = model.forward_passes - before
    again, _ = greedy_answers(model, [CONTEXTS[1], CONTEXTS[0], CONTEXTS[1], CONTEXTS[1]], QUERIES)
    assert again == [[second, first, second, second] for first, second in texts]
    assert model.forward_passes - before == 2 * passes


@pytest.mark.parametrize("family", ["llama", "bloom"])
def test_reading_stops_once_all_answers_end(family: str) -> None:
    model = tiny_language_model(family)
    model.model.generation_config.eos_token_id = list(range(len(model.tokenizer)))  # every first token ends its answer
    greedy_answers(model, CONTEXTS, QUERIES)
    passes = []
    for limit in (1, 10):
        before = model.forward_passes
        assert greedy_answers(model, CONTEXTS, QUERIES, max_new_tokens=limit)[0] == [[""] * 5] * 3
        passes.append(model.forward_passes - before)
    assert passes[0] == passes[1]


def test_unusable_limits_and_prompts_are_refused(tiny: LanguageModel) -> None:
    with pytest.raises(UsageError, match="max_new_tokens"):
        greedy_answers(tiny, CONTEXTS, QUERIES, max_new_tokens=0)
    with pytest.raises(ScoreError, match="a reply of up to 10 do not fit"):
        greedy_answers(tiny_language_model(window=30), ["x" * 20], ["y"])


@pytest.mark.parametrize("engine", [PREFIX_TREE, PLAIN])
def test_nan_within_answer_is_raised_with_its_prompt(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(greedy, "engine", lambda *_, **__: engine)
    model = tiny_language_model()
    contexts, queries = ["the context\n", "another\n"], ["first query", "second query", "third query"]
    prompts = [tokens_of(model, context + query) for query in queries for context in contexts]
    tokens = log_probs(model, prompts).argmax(dim=1).tolist()
    # Only the answer to prompt `number` begins with `token`. The prompt is not of the first query.
    number, token = next(
        (number, token) for number, token in enumerate(tokens) if tokens.count(token) == 1 and number > 1
    )
    with torch.no_grad():
        model.model.get_input_embeddings().weight[token] = float("nan")
    greedy_answers(model, contexts, queries, max_new_tokens=1)
    with pytest.raises(ScoreError, match=f"'{queries[number // 2]}' after the context '{contexts[number % 2].strip()}"):
        greedy_answers(model, contexts, queries)


def test_nan_after_the_end_does_not_count() -> None:
    model = tiny_language_model(chat_template=CHAT)
    token = int(log_probs(model, [tokens_of(model, "the context\nquery")]).argmax())
    model.model.generation_config.eos_token_id = [token]
    with torch.no_grad():
        model.model.get_input_embeddings().weight[token] = float("nan")
    assert greedy_answers(model, ["the context\n"], ["query"])[0] == [[""]]


@pytest.mark.parametrize(
    ("kind", "about_entity", "context_object", "expected"),
    [
        ("base", True, "Lima", "substitution"),
        ("assertive", True, "Lima", "substitution"),
        ("negation", True, "Oslo", "negation"),
        ("base", True, "Oslo", None),
        ("negation", True, "Lima", None),
        ("base", False, "Lima", None),
        ("negation", False, "Oslo", None),
        ("base", True, "", None),
    ],
)
def test_contexts_conflict(
    kind: ContextKind, about_entity: bool, context_object: str, expected: Conflict | None
) -> None:
    assert conflict(kind, about_entity, context_object, "Oslo") == expected


@pytest.mark.parametrize(
    ("text", "query_type", "answer", "kind", "context_object", "expected"),
    [
        ("Oslo, of course", "open", "Oslo", "base", "Lima", "original"),
        ("Lima.", "open", "Oslo", "assertive", "Lima", "context"),
        ("the city of Oslo", "open", "Oslo", "base", "Lima", "other"),
        ("oslo", "open", "Oslo", "base", "Lima", "other"),
        ("Oslo", "open", "Oslo", "base", "Oslo", "original"),
        ("Oslo", "open", "Oslo", "negation", "Oslo", "original"),
        ("Lima", "open", "Oslo", "negation", "Lima", "other"),
        ("New York City", "open", "New York", "base", "New York City", "context"),
        ("New York City", "open", "New York City", "base", "New York", "original"),
        ("New York is", "open", "New York", "base", "New York City", "original"),
        ("New York City", "open", "New York", "negation", "New York City", "other"),
        ("Yes, it is", "closed", "Oslo", "base", "Lima", "original"),
        ("No, Lima is", "closed", "Oslo", "base", "Lima", "context"),
        ("No", "closed", "Oslo", "negation", "Oslo", "context"),
        ("Oslo", "closed", "Oslo", "base", "Lima", "other"),
        ("yes", "closed", "Oslo", "base", "Lima", "other"),
        ("Lima", "open", "Oslo", "base", "", "other"),
    ],
)
def test_answers_follow_original_or_context(
    text: str, query_type: QueryType, answer: str, kind: ContextKind, context_object: str, expected: Follows
) -> None:
    assert follows(text, query_type, answer, kind, context_object) == expected


def replies(pairs: Sequence[tuple[Conflict | None, Follows]]) -> list[Reply]:
    """Return a reply for each pair of conflict and followed answer, each after a different context."""
    return [Reply(f"{number}.\n", *pair) for number, pair in enumerate(pairs)]


def test_distinct_contexts_count_once() -> None:
    # 20 replies: 4 keep the original answer, and 16 follow the context. The contexts of 2 of these 16 are repeated.
    sample = replies([(None, "original")] * 4 + [("substitution", "context")] * 14)
    counts = count([*sample, *sample[-2:]])
    assert (counts["all_original"], counts["all_substitute"], counts["memorization_ratio_all"]) == (4, 14, 4 / 18)
    assert counts["substitute"] == 16  # only the counts that begin with all_ leave repetitions out


def test_counts_and_ratios_match_hand_worked_values() -> None:
    pairs: list[tuple[Conflict | None, Follows]] = [
        ("substitution", "original"),
        ("substitution", "original"),
        ("substitution", "original"),
        ("substitution", "context"),
        ("substitution", "other"),
        ("negation", "original"),
        ("negation", "context"),
        ("negation", "other"),
        (None, "original"),
        (None, "context"),
        (None, "context"),
        (None, "other"),
    ]
    assert count(replies(pairs)) == {
        "original": 3,
        "substitute": 1,
        "memorization_ratio": 0.75,
        "negation_original": 1,
        "negation_substitute": 2,  # after a negation, "other" is a substitute, too
        "all_original": 5,
        "all_substitute": 4,
        "memorization_ratio_all": 5 / 9,
    }


@pytest.mark.parametrize("pairs", [[], [("substitution", "other"), ("negation", "other"), (None, "other")]])
def test_ratio_without_counted_replies_is_none(pairs: list[tuple[Conflict | None, Follows]]) -> None:
    result = count(replies(pairs))
    assert (result["memorization_ratio"], result["memorization_ratio_all"]) == (None, None)
    assert [result[name] for name in ("original", "substitute", "all_original", "all_substitute")] == [0, 0, 0, 0]
