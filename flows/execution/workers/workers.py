"""What every kind of workers has in common, and the plainest: all steps are computed in this process."""

import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from types import TracebackType
from typing import Self

from swaymeter.flows.execution.attempt import Outcome, attempt, failed
from swaymeter.flows.graph.step import Run, Step
from swaymeter.tasks.measures.run import Share, Spent

AHEAD = 1
"""Steps that are begun beyond those that there is room for: what Prefect does for one costs the step before no time."""

AT_ONCE: Mapping[str, int] = {"services": 3, "compute": 1 + AHEAD}
"""Steps that are begun at the same time: those that wait for services, and those that have the processors or the GPU.
Of the latter one is computed, and the others wait for it."""

TRIES = 4
"""How often a step is begun whose worker dies: by the fourth time it is probably the step that kills it."""

INTERRUPTED = Outcome(failed="the run was interrupted")
"""What comes of a step that is not begun any more; nothing is noted."""


class Workers:
    """Computes in this process whatever it is given; the base of those that compute elsewhere what asks a model."""

    def __init__(self) -> None:
        """None is started yet."""
        self._computing, self._is_abandoned = threading.Lock(), False

    def at_once(self) -> Mapping[str, int]:
        """How many steps may be given at the same time, by place; it may change while a study runs."""
        return AT_ONCE

    def place(self, step: Step) -> str:
        """Which of the places a step takes."""
        return step.resource

    def compute(self, step: Step, run: Run) -> Outcome:
        """Has a step computed and waits for it; called from a thread of the step's own."""
        if step.resource != "compute":
            return attempt(step, run)
        with self._computing:
            return INTERRUPTED if self._is_abandoned else attempt(step, run)

    def abandon(self) -> None:
        """The run is interrupted: nothing more is begun, and what is computed elsewhere is not waited for."""
        self._is_abandoned = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Ends the workers that it started."""


class Elsewhere(Workers):
    """Has the steps that ask a model computed by other processes, each by one or in shares by several."""

    def __init__(self, shares: int = 1) -> None:
        """None is started yet; shares: in how many a step that scores is cut."""
        super().__init__()
        self._shares = shares

    def compute(self, step: Step, run: Run) -> Outcome:
        if not step.device:
            return super().compute(step, run)
        if self._shares == 1 or step.id.stage != "score":
            return self._compute(step, run)
        shares = [replace(run, share=Share(number, self._shares)) for number in range(self._shares)]
        with ThreadPoolExecutor(self._shares) as pool:
            outcomes = [*pool.map(self._compute, [step] * self._shares, shares)]
        if self._is_abandoned:
            return INTERRUPTED
        # What came of a share decides nothing: now the chunks that are stored are joined, and others tried again.
        whole = self._compute(step, run)
        spent = [one.spent for one in (*outcomes, whole) if one.spent is not None]
        return whole if whole.failed else replace(whole, spent=Spent.on([asdict(one) for one in spent]))

    def _compute(self, step: Step, run: Run) -> Outcome:
        """Has one worker compute a step, or the share of it that the run names."""
        raise NotImplementedError


def lost(step: Step, run: Run) -> Outcome:
    """What comes of a step of which every worker died."""
    reason = (
        f"the worker that computed it ended {TRIES} times without a word, as it does where memory is short; free some, "
        "or use fewer workers or a smaller model"
    )
    return failed(step, run, reason)
