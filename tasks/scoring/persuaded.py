"""Persuaded and stubborn: how a context changes a model's answer.

With y1 the answer without, y2 the answer with the context, a the context's answer, = the ROUGE-L match of accuracy:
    persuaded          y1 != a and y2 = a
    stubborn           y1 != a and y1 = y2
    context_correct    y2 = a, whatever y1           (as the released code counts the persuaded)
    stubborn_released  y2 != a and y2 = y1           (as the released code counts the stubborn)
What it is not: a partition. An answer may be neither, and, since a ROUGE-L match is not transitive, both.
Source: Marjanovic et al. 2024, section 5.2.
"""

from swaymeter.tasks.scoring.accuracy import answers_match


def compare_answers(without: str, with_context: str, context_answer: str, *, threshold: float) -> dict[str, bool]:
    """Compares an answer without (y1) and with a context (y2) with each other and with the context's answer (a)."""
    knew = answers_match(without, context_answer, threshold=threshold)
    follows = answers_match(with_context, context_answer, threshold=threshold)
    stays = answers_match(with_context, without, threshold=threshold)
    return {
        "persuaded": follows and not knew,
        "stubborn": stays and not knew,
        "context_correct": follows,
        "stubborn_released": stays and not follows,
    }
