"""Replies to many prompts: prompts are prefilled, and their replies are decoded together until each has ended.

With `max_thoughts`, thoughts are decoded first, and the answer is sampled after the thoughts with separate random
numbers. Without `max_thoughts`, whole replies are decoded; the answer of a reply with thoughts is then sampled again.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Unpack

import numpy as np
import torch
from numpy.typing import NDArray

from swaymeter.data.errors import ScoreError, UsageError
from swaymeter.data.randomness import typed_generator
from swaymeter.tasks.models.capabilities import DEFAULT_OPTIONS, Answer, SampledAnswers, SampleOptions, Tokens
from swaymeter.tasks.models.generation.answers import AnswerEnd, Thoughts
from swaymeter.tasks.models.generation.decoding import Contrast, Decoding, name_of
from swaymeter.tasks.models.generation.readers import (
    PLAIN,
    TOKENS_PER_PASS,
    PassLogits,
    PlainReader,
    SlotReader,
    engine_of_answers,
    rounding,
)
from swaymeter.tasks.models.generation.sampling import Sampling, step
from swaymeter.tasks.models.generation.tree import Node, Tree, sort_by_prefix
from swaymeter.tasks.models.memory import Halving, memory_budget, release_memory
from swaymeter.tasks.models.network import Network
from swaymeter.tasks.models.next_token.broken import first_broken, is_broken
from swaymeter.tasks.models.next_token.plain import read_plain
from swaymeter.tasks.models.next_token.shared import cache_per_token
from swaymeter.tasks.models.progress import report_prompts
from swaymeter.tasks.models.prompts.template_options import prompt_form
from swaymeter.tasks.models.prompts.tokens import check_length, no_distribution, shorten

PROMPTS_AT_ONCE = {"cpu": 48, "cuda": 256}
"""Default limit of the prompts whose replies are decoded together."""


def sample_answers(
    model: Network, prompts: Sequence[Tokens], identities: Sequence[tuple[str, ...]], **options: Unpack[SampleOptions]
) -> list[SampledAnswers]:
    """Sample replies to every prompt, in the order of the prompts.

    Args:
        model: the network.
        prompts: tokens of each prompt.
        identities: a tuple of names for each prompt. Draws depend only on this tuple, the seed and the model's name.
        **options: see SampleOptions.

    Raises:
        UsageError: a parameter is out of range.
        ScoreError: a prompt, with or without its context, exceeds the context window, or a logit is not finite.
    """
    settings: SampleOptions = {**DEFAULT_OPTIONS, **options}
    samples, max_new_tokens, max_thoughts = settings["samples"], settings["max_new_tokens"], settings["max_thoughts"]
    sampling = Sampling(settings["temperature"], settings["top_p"], settings["top_k"])
    batch_size = settings["batch_size"]
    at_once = batch_size if batch_size is not None else PROMPTS_AT_ONCE[torch.device(model.device).type]
    for name, value, least in (
        ("samples", samples, 0),
        ("max_new_tokens", max_new_tokens, 1),
        ("batch_size", at_once, 1),
    ):
        if value < least:
            raise UsageError(f"{name} must be at least {least}, not {value}")
    if len(prompts) != len(identities):
        raise UsageError(
            f"there are {len(prompts)} prompts, but {len(identities)} `identities`; give one identity for each prompt"
        )
    contextless_prompts = _contextless_prompts(settings, len(prompts))
    if not prompts:
        return []
    first_steps = max_thoughts or max_new_tokens  # of thoughts, or of whole replies
    reserved_tokens = max_new_tokens + (max_thoughts or 0)
    for prompt, contextless_prompt, identity in zip(prompts, contextless_prompts, identities, strict=True):
        for tokens in (prompt,) if contextless_prompt is None else (prompt, contextless_prompt):
            check_length(model, " / ".join(identity), len(tokens), reserved_tokens=reserved_tokens)
    points = [_random_numbers(model, identity, settings, first_steps + max_new_tokens) for identity in identities]
    ends = AnswerEnd(model, settings["form"] or prompt_form(model), settings["header"])
    thoughts = Thoughts(model, prompts[0])
    later_thoughts = Thoughts(model, ())  # further thoughts that a reply opens after its first thoughts
    decode = partial(_decode, model, sampling=sampling, contrastive_decoding=settings["decoding"], at_once=at_once)
    replies = decode(
        prompts,
        contextless_prompts,
        identities,
        [numbers[:, :first_steps] for numbers in points],
        thoughts if max_thoughts else ends,
    )
    # Indices of a prompt's replies whose answers are decoded next, by index of the prompt and tokens of the thoughts.
    groups: dict[tuple[int, tuple[int, ...]], list[int]] = {}
    for index, replies_of_prompt in enumerate(replies):
        for member, reply in enumerate(replies_of_prompt):
            thought_ids, is_finished = thoughts.split(reply.token_ids)
            prompt_length = max(len(prompts[index]), len(contextless_prompts[index] or ()))
            length = prompt_length + len(thought_ids) + max_new_tokens
            # The reply has no answer if its thoughts do not end, or leave no room for an answer.
            if not is_finished or (thought_ids and model.context_window and length > model.context_window):
                replies_of_prompt[member] = thoughts.unfinished(reply, thought_ids)
            elif thought_ids or max_thoughts:  # decode the answer after the thoughts; else the reply is the answer
                groups.setdefault((index, thought_ids), []).append(member)
    answers = decode(
        [(*prompts[index], *thought_ids) for index, thought_ids in groups],
        [
            None if (contextless_prompt := contextless_prompts[index]) is None else (*contextless_prompt, *thought_ids)
            for index, thought_ids in groups
        ],
        [identities[index] for index, _ in groups],
        [points[index][members, first_steps:] for (index, _), members in groups.items()],
        ends,
    )
    for ((index, thought_ids), members), answers_of_group in zip(groups.items(), answers, strict=True):
        thought_text = thoughts.text(thought_ids)
        for member, answer in zip(members, answers_of_group, strict=True):
            further_thoughts, is_finished = later_thoughts.split(answer.token_ids)
            if further_thoughts or not is_finished:
                reply = thoughts.unfinished(answer, (*thought_ids, *answer.token_ids))
            else:
                reply = replace(answer, thoughts=thought_text, thought_ids=thought_ids)
            replies[index][member] = reply
    return [
        SampledAnswers(tuple(replies_of_prompt[:samples]), replies_of_prompt[samples]) for replies_of_prompt in replies
    ]


def _random_numbers(
    model: Network, identity: tuple[str, ...], settings: SampleOptions, steps: int
) -> NDArray[np.float64]:
    """Return random numbers for replies to a prompt, (samples + 1, steps); NaN for the greedy reply in the last row."""
    numbers = [
        typed_generator(settings["seed"], model.name, *identity, sample).random(steps)
        for sample in range(settings["samples"])
    ]
    return np.array([*numbers, np.full(steps, np.nan)])


def _contextless_prompts(settings: SampleOptions, count: int) -> Sequence[Tokens | None]:
    """Return each prompt without its context; all are None without a contrastive decoding."""
    decoding, contextless = settings["decoding"], settings["contextless"]
    if decoding is None:
        return [None] * count
    if contextless is None or len(contextless) != count:
        raise UsageError(
            f"there are {count} prompts, but {0 if contextless is None else len(contextless)} `contextless` prompts; "
            f"for the decoding {name_of(decoding)}, give each prompt without its context, or None for a prompt that "
            "has no context"
        )
    return contextless


def _decode(
    model: Network,
    prompts: Sequence[Tokens],
    contextless_prompts: Sequence[Tokens | None],
    identities: Sequence[tuple[str, ...]],
    points: Sequence[NDArray[np.float64]],
    ends: AnswerEnd | Thoughts,
    *,
    sampling: Sampling,
    contrastive_decoding: Decoding | None,
    at_once: int,
) -> list[list[Answer]]:
    """Decode the replies to each prompt, one for each row of its `points`, (replies, steps) random numbers.

    NaN stands for greedy replies. `ends` decides after which token a reply, or its thoughts, ends. `at_once` is a limit
    of the prompts whose replies are decoded together.
    """
    if not prompts:
        return []
    trees = [Tree(index, prompt, points[index], contextless_prompts[index]) for index, prompt in enumerate(prompts)]
    max_tokens, max_replies = points[0].shape[1], max(map(len, points))
    contextless = [contextless_prompt for contextless_prompt in contextless_prompts if contextless_prompt is not None]
    # Tokens of a slot in the two caches of `SlotReader`: for prompts, and for prompts without their contexts.
    slot_tokens = tuple(
        max(map(len, group)) + max_tokens * max_replies if group else 0 for group in (prompts, contextless)
    )
    at_once = min(at_once, len(trees), model.traits.prompts_at_once or at_once)
    engine_name = engine_of_answers(model, [*prompts, *contextless], new_tokens=max_tokens)
    if engine_name != PLAIN:  # four fifths of the budget are for the slots and their replies
        config, size = model.model.config.get_text_config(), model.model.dtype.itemsize
        # For each reply: sums in float32 and logits, and as much again for the computation of a step.
        step_bytes = max_replies * int(config.vocab_size) * (8 + (4 if contextless else 2) * size)
        slot_bytes = sum(slot_tokens) * cache_per_token(config) * size + step_bytes
        at_once = min(at_once, max(1, memory_budget(model.device) * 4 // 5 // slot_bytes))
    trees = sort_by_prefix(trees)
    decoding = _Decoding(model, engine_name, identities, sampling, contrastive_decoding, max_tokens, ends)
    replies = {}
    for tree in decoding.finish_trees(trees, at_once, *slot_tokens):
        replies[tree.index] = tree.ended
        report_prompts()
    return [[replies[index][member] for member in range(len(points[index]))] for index in range(len(prompts))]


@dataclass(eq=False)
class _Decoding:
    """Decoding of the replies to many prompts; see `_decode`."""

    model: Network
    engine: str
    identities: Sequence[tuple[str, ...]]  # for messages
    sampling: Sampling
    contrastive_decoding: Decoding | None
    max_tokens: int
    ends: AnswerEnd | Thoughts

    def finish_trees(
        self, trees: Sequence[Tree], slots: int, slot_tokens: int, contextless_slot_tokens: int
    ) -> Iterator[Tree]:
        """Yield each tree when all its replies have ended; if memory runs out, decode fewer trees together."""
        waiting, growing = deque(trees), list[Tree]()
        halving = Halving(self.model, "prompts are answered", slots)
        while waiting:
            (slots,) = halving.amounts
            with halving.attempt(slots, smallest=lambda: "the answers to a single prompt"):
                reader: PlainReader | SlotReader = PlainReader(self.model)
                if self.engine != PLAIN:
                    reader = SlotReader(self.model, slots, slot_tokens, contextless_slot_tokens=contextless_slot_tokens)
                yield from self._finish_with(reader, waiting, growing, slots)
            if halving.ran_out:
                (self.model.traits.prompts_at_once,) = halving.amounts
                waiting.extendleft(tree.anew() for tree in reversed(growing))
                growing.clear()
            release_memory(self.model.device)

    def _finish_with(
        self, reader: PlainReader | SlotReader, waiting: deque[Tree], growing: list[Tree], slots: int
    ) -> Iterator[Tree]:
        free = list(range(slots))
        while waiting or growing:
            # While replies are decoded, wait for an eighth of the slots: a forward pass then prefills several prompts.
            if waiting and (len(free) >= max(1, slots // 8) or not growing):
                entering = self._entering(reader, waiting, free)
                growing += entering
                pass_logits = reader.prefill(entering)
                for tree in entering:
                    sums = torch.zeros(pass_logits.logits.shape[1], device=pass_logits.logits.device)
                    tree.live = [Node(tree, list(range(len(tree.points))), sums=sums)]
                self._step(pass_logits, [node for tree in entering for node in tree.live])
            else:
                growing.sort(key=lambda tree: tree.slot)
                nodes = [node for tree in growing for node in tree.live]
                self._step(reader.decode(nodes), nodes)
            for tree in [tree for tree in growing if not tree.live]:
                growing.remove(tree)
                free.append(tree.slot)
                yield tree

    def _entering(self, reader: PlainReader | SlotReader, waiting: deque[Tree], free: list[int]) -> list[Tree]:
        """Return the trees to prefill next, each with the lowest free slot."""
        budget = TOKENS_PER_PASS[torch.device(self.model.device).type]
        free.sort(reverse=True)
        chosen, later = list[Tree](), list[Tree]()
        while waiting and len(free) > len(later):  # a slot is reserved for each tree that waits
            tree = waiting.popleft()
            # None: the tree waits until another tree with the same prefix is prefilled.
            tokens = reader.unread_tokens(tree, chosen[-1] if chosen else None)
            if tokens is None or (chosen and tokens > budget):
                later.append(tree)
                if tokens is not None:
                    break
                continue
            tree.slot = free.pop()
            budget -= tokens
            chosen.append(tree)
        waiting.extendleft(reversed(later))
        return chosen

    def _step(self, pass_logits: PassLogits, nodes: list[Node]) -> None:
        """Add a token to all replies of these nodes; a reply may end, and a node splits if its replies differ."""
        parts: list[dict[int, _Part]] = [{} for _ in nodes]
        for row, member, token, log_prob in self._choose_tokens(pass_logits, nodes):
            parts[row].setdefault(token, _Part(log_prob, [])).members.append(member)
        ended: list[tuple[Node, dict[int, _Part]]] = []
        for node, parts_of_node in zip(nodes, parts, strict=True):
            ended_parts: dict[int, _Part] = {}
            live: list[Node] = []
            for token, part in parts_of_node.items():
                if len(node.tokens) + 1 == self.max_tokens or self.ends.ends((*node.tokens, token)):
                    ended_parts[token] = part
                else:
                    sums = node.sums.clone() if live else node.sums  # the first new node takes over the tensor
                    tokens, log_probs = (*node.tokens, token), (*node.log_probs, part.log_prob)
                    live.append(Node(node.tree, part.members, sums, tokens, log_probs, node.key_indices))
            node.tree.live = [other for other in node.tree.live if other is not node] + live
            if ended_parts:
                ended.append((node, ended_parts))
        if not ended:
            return
        counts = torch.tensor([len(node.tokens) + 1 for node, _ in ended], device=pass_logits.logits.device)
        means = torch.stack([node.sums for node, _ in ended]) / counts[:, None]
        for (node, ended_parts), mean in zip(ended, means.cpu().numpy(), strict=True):
            for token, part in ended_parts.items():
                answer = self.ends.answer((*node.tokens, token), (*node.log_probs, part.log_prob), mean)
                node.tree.ended.update(dict.fromkeys(part.members, answer))

    def _choose_tokens(self, pass_logits: PassLogits, nodes: list[Node]) -> Iterator[tuple[int, int, int, float]]:
        """Yield for every reply: row of its node, index among the prompt's replies, next token, log-probability."""
        replies = [(row, member) for row, node in enumerate(nodes) for member in node.members]
        points = np.array([nodes[row].tree.points[member, len(nodes[row].tokens)] for row, member in replies])
        rows, sums = [row for row, _ in replies], [node.sums for node in nodes]
        # `rounding` is called at every step, because its bound may change when methods of reading are compared.
        contrast = self._contrast(pass_logits.contextless, pass_logits.contextless_rows)
        options: dict[str, Any] = {"sums": sums, "rounding": rounding(self.model), "contrast": contrast}
        choice = step(pass_logits.logits, rows, points, self.sampling, **options)
        if choice.broken:
            self._raise_broken([nodes[row] for row in choice.broken])
        # If rounding could change a reply's token, the token is drawn again after the prompt is read alone.
        unsure: dict[int, list[int]] = {}
        for index, (row, _) in enumerate(replies):
            if not choice.is_certain[index]:
                unsure.setdefault(row, []).append(index)
        for row, indices in unsure.items():
            alone = read_plain(self.model, [nodes[row].prompt_and_tokens])
            contextless = nodes[row].contextless_and_tokens
            contrast = None if contextless is None else self._contrast(read_plain(self.model, [contextless]), [0])
            new_choice = step(alone, [0] * len(indices), points[indices], self.sampling, contrast=contrast)
            if new_choice.broken:
                self._raise_broken([nodes[row]])
            for index, token, log_prob in zip(indices, new_choice.tokens, new_choice.log_probs, strict=True):
                choice.tokens[index], choice.log_probs[index] = token, log_prob
        for (row, member), token, log_prob in zip(replies, choice.tokens, choice.log_probs, strict=True):
            yield row, member, token, log_prob

    def _contrast(self, contextless: torch.Tensor, rows: Sequence[int]) -> Contrast | None:
        if self.contrastive_decoding is None or not rows:
            return None
        return Contrast(self.contrastive_decoding, contextless, rows)

    def _raise_broken(self, nodes: Sequence[Node]) -> None:
        """Raise ScoreError for the first node whose prompt gives no finite distribution when it is read alone."""

        def breaks_alone(node: Node) -> bool:
            return any(
                is_broken(self.model, prompt)
                for prompt in (node.prompt_and_tokens, node.contextless_and_tokens)
                if prompt is not None
            )

        tree = first_broken(nodes, breaks_alone).tree
        prompt = shorten(str(self.model.tokenizer.decode(list(tree.prompt))))
        raise ScoreError(
            f"{no_distribution(self.model)} while the model answers {' / '.join(self.identities[tree.index])}, "
            f"after the prompt {prompt}"
        )


class _Part(NamedTuple):
    """The replies of a node that chose the same token, with the token's log-probability."""

    log_prob: float
    members: list[int]
