"""What is learnt about a loaded model while it is used; every model owns one engine, which is freed with it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a fast way of reading prompts gives what the plain way gives.

    reason: why the fast way is not used, None where it is; rounding: the largest difference of a log-probability
    between the two ways, in nats.
    """

    reason: str | None = None
    rounding: float = 0.0


@dataclass(frozen=True, slots=True)
class Conversation:
    """How a model is asked a question.

    template: the chat template that writes the turns; system_turn: whether the system text is a turn of its own;
    control: the texts of tokens that a question or a context must not contain as tokens.
    """

    template: str
    system_turn: bool
    control: tuple[str, ...]


@dataclass(eq=False)
class Engine:
    """What is known of one loaded model; None for what has not been needed yet.

    Attributes:
        prefix_tree: whether next-token distributions can be read with shared prefixes computed once.
        cache_slots: whether answers can be sampled with many prompts in one KV cache.
        prompts_at_once: most prompts that are answered at once, set where memory ran out with more.
        vocabulary: what each token adds to a text, by its id.
        conversation: how the model is asked a question.
    """

    prefix_tree: Verdict | None = None
    cache_slots: Verdict | None = None
    prompts_at_once: int | None = None
    vocabulary: tuple[str, ...] | None = None
    conversation: Conversation | None = None
