"""A model server fails in the middle of a run, or the run is killed: all ends well, and no answer is paid twice."""

import json
import random
import shutil
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import partial
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from tests.data.sources.servers.faults import Asked, Say
from tests.docker.test_docker import free_port
from tests.end_to_end.tiny_study import TinyStudy, prefect_server
from tests.faults.campaign.case import BrokenError, Case, NotHitError, as_in_a_terminal, judged
from tests.faults.campaign.kills import MOST_KILLS, Way, series
from tests.faults.campaign.record import Outcome
from tests.tasks.models.endpoints.made_up import MadeUp, made_up
from tests.tasks.models.tiny import save_language_model

IN_FLIGHT = 4
SILENT_SECONDS = 3.0
"""The timeout of the study, which is long beside what an answer takes."""
_FOR_GOOD = 1_000_000
_OF_PROBE = b"the first sentence of a story"
"""Stands in the requests of a probe, which asks anew by intention."""
_JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True)
class Fault:
    """What a server says to so many requests in a row in place of its answer, which it is given.

    in_probe: whether it may also come then: what looks like a property of the server is noted as one. of_chat: whether
    it changes answers to turns.
    """

    name: str
    says: Callable[[Say], Say]
    times: tuple[int, ...] = (1, 3, 9, _FOR_GOOD)
    in_probe: bool = True
    of_chat: bool = False


def _in_place(**says: Any) -> Callable[[Say], Say]:
    return lambda answer: Say(**says)


def _changed(change: Callable[[Any], object]) -> Callable[[Say], Say]:
    """An answer that is changed in place."""

    def says(answer: Say) -> Say:
        content = json.loads(answer.body)
        change(content)
        return replace(answer, body=json.dumps(content).replace('"1e999"', "1e999"))

    return says


def _log_prob(value: Any) -> Callable[[Say], Say]:
    def change(content: Any) -> None:
        for choice in content["choices"]:
            choice["logprobs"]["content"][0]["logprob"] = value

    return _changed(change)


def _text(value: Any) -> Callable[[Say], Say]:
    return _changed(lambda content: [choice["message"].update(content=value) for choice in content["choices"]])


def _message(value: Any) -> Callable[[Say], Say]:
    return _changed(lambda content: [choice.update(message=value) for choice in content["choices"]])


def _date_in(seconds: float) -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


def _wrong(name: str, says: Callable[[Say], Say], *, of_chat: bool = False) -> Fault:
    return Fault(name, says, in_probe=False, of_chat=of_chat)


_OVERLOADED = b'{"error": {"message": "The engine is overloaded", "type": "server_error"}}'
FAULTS = (
    Fault("429", _in_place(status=429)),
    Fault("429, Retry-After in seconds", _in_place(status=429, headers={"Retry-After": "2"}), (1, 3, 9)),
    Fault("429, Retry-After is a date", lambda _: Say(status=429, headers={"Retry-After": _date_in(2)}), (1, 3, 9)),
    *(Fault(str(status), _in_place(status=status, body=_OVERLOADED)) for status in (500, 502, 503, 529)),
    Fault("connection closed", _in_place(drop=True)),
    Fault("connection reset", _in_place(reset=True)),
    Fault("half a body", lambda answer: replace(answer, sent=len(answer.body) // 2)),
    Fault("chunked without an end", lambda answer: replace(answer, chunked=True, sent=len(answer.body))),
    Fault("endless body", _in_place(raw=b"HTTP/1.1 200 OK\r\n\r\n{", endless=b" " * 64, pause_s=0.05), (1, 3)),
    Fault("a byte now and then", lambda answer: replace(answer, pause_s=0.2), (1, 3)),
    Fault("silence", _in_place(delay_s=60.0), (1, 3, 9)),
    Fault("more than 64 MiB", _in_place(body=b" " * (65 * 2**20)), (1, 2)),
    Fault("JSON cut short", lambda answer: replace(answer, body=answer.body[: len(answer.body) // 2])),
    Fault("a page in HTML", _in_place(body="<html><body>Welcome</body></html>", headers={"Content-Type": "text/html"})),
    Fault("gzip that is none", lambda answer: replace(answer, headers={"Content-Encoding": "gzip"})),
    Fault("an error inside a 200", _in_place(body=_OVERLOADED, headers=_JSON)),
    Fault("redirect to another host", _in_place(status=307, headers={"Location": "http://localhost:1/other"})),
    Fault("redirects to itself", _in_place(status=307, headers={"Location": "/ask/chat/completions"})),
    Fault("key refused", _in_place(status=401, body=b'{"error": {"message": "Incorrect API key"}}', headers=_JSON)),
    Fault("another model", _in_place(status=404, body=b'{"error": "The model does not exist"}', headers=_JSON)),
    _wrong("no JSON object", _in_place(body=b"[5]", headers=_JSON)),
    _wrong("no choices", _changed(lambda content: content.update(choices=[]))),
    _wrong("fewer choices", _changed(lambda content: content["choices"].pop())),
    _wrong("choices are no list", _changed(lambda content: content.update(choices="none"))),
    _wrong("a message is null", _message(None), of_chat=True),
    _wrong("a text is a number", _text(5), of_chat=True),
    _wrong("a text is a list", _text(["Oslo"]), of_chat=True),
    _wrong("log-probability NaN", _log_prob(float("nan")), of_chat=True),
    _wrong("log-probability 1e999", _log_prob("1e999"), of_chat=True),
)
AWAY = "server away for a while", "server gone for good"


@dataclass
class Plan:
    """What happens to the server of a case, and what was asked of it.

    fault: what it says after the first requests, or None; left: to how many more. requests: so far; probes: those of a
    probe. bodies: of requests for answers, how often each came; again: those that came although they had been answered.
    """

    fault: Fault | None = None
    first: int = 0
    left: int = 0
    requests: int = 0
    is_away: bool = False
    reached: threading.Event = field(default_factory=threading.Event)
    bodies: Counter[bytes] = field(default_factory=Counter)
    again: list[bytes] = field(default_factory=list)
    probes: int = 0
    _answered: set[bytes] = field(default_factory=set)

    def say(self, asked: Asked, answers: MadeUp) -> Say | None:
        """What is said in place of an answer; it is called by one thread at a time."""
        self.requests += 1
        if asked.path.endswith("/tokenize"):  # its letters are not the tokenizer's beyond ASCII
            return Say(status=404)
        tokens = json.loads(asked.body).get("prompt") if asked.method == "POST" else None
        text = bytes(tokens) if isinstance(tokens, list) else asked.body
        is_of_probe = asked.method == "GET" or _OF_PROBE in text
        self.probes += is_of_probe
        if not is_of_probe:
            self.bodies[asked.body] += 1
            if asked.body in self._answered:
                self.again.append(asked.body)
        if self.requests > self.first and self.left > 0:
            self.reached.set()
            self.left -= 1
            if self.fault is None or self.is_away:
                self.is_away = True
                return Say(drop=True)
            return self.fault.says(answers.answer(asked))
        if not is_of_probe:
            self._answered.add(asked.body)
        return None

    @property
    def repeats(self) -> int:
        """How many requests came that had come before."""
        return sum(self.bodies.values()) - len(self.bodies)


class Stage:
    """Where the made-up server plays one case after another: one port, which it can leave."""

    def __init__(self, dialect: str) -> None:
        self.plan, self.port, self.dialect = Plan(), free_port(), dialect
        self._answers = MadeUp(frozenset(), dialect)
        self._stack = ExitStack()

    @property
    def address(self) -> str:
        """Of the server."""
        return f"http://127.0.0.1:{self.port}/ask"

    def enter(self) -> None:
        """Begins to listen."""
        before = lambda asked: self.plan.say(asked, self._answers)  # noqa: E731
        self._stack.enter_context(made_up(dialect=self.dialect, before=before, port=self.port))

    def leave(self) -> None:
        """Ends to listen."""
        self._stack.close()


@contextmanager
def staged(dialect: str) -> Iterator[Stage]:
    """A server that listens at a port of its own."""
    stage = Stage(dialect)
    stage.enter()
    try:
        yield stage
    finally:
        stage.leave()


def of_texts(folder: Path, api: str, address: str, *, questions: int = 4) -> TinyStudy:
    """A study of texts that a server answers; api: of Prefect."""
    return _study(folder, api, address, {
        "questions": {"partitions": ["static", "disputable"], "per_partition": questions},
        "measures": {"answers": {"samples": 3, "max_new_tokens": 4}, "whose_answer": {}, "accuracy": {}},
    })  # fmt: skip


def of_distributions(folder: Path, api: str, address: str) -> TinyStudy:
    """A study of whole distributions that a server gives to tokens, which are bytes."""
    tokenizer = save_language_model(folder / "tokenizer")
    own = {*range(33, 127), *range(161, 173), *range(174, 256)}  # the letters of the others follow after all bytes
    others = {byte: 256 + place for place, byte in enumerate(sorted(set(range(256)) - own))}
    letters = [chr(others.get(byte, byte)) for byte in range(256)]
    of_bytes = Tokenizer(models.BPE(vocab={letter: byte for byte, letter in enumerate(letters)}, merges=[]))
    of_bytes.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    of_bytes.decoder = decoders.ByteLevel()
    PreTrainedTokenizerFast(tokenizer_object=of_bytes, eos_token=letters[0]).save_pretrained(tokenizer)
    measures = {"measures": {"persuasion": {}, "susceptibility": {}}}
    return _study(folder, api, address, measures, tokenizer=str(tokenizer))


def _study(folder: Path, api: str, address: str, content: Mapping[str, Any], **of_model: str) -> TinyStudy:
    model = {"name": "made-up", "endpoint": address, "requests_in_flight": IN_FLIGHT, "timeout_s": SILENT_SECONDS}
    return TinyStudy.of(folder / "served.yaml", folder / "workspace", api, {
        "name": "tiny",
        "seed": 1,
        "facts": {"relations": ["capital"], "real_entities": 2, "invented_entities": 1},
        "contexts": {"base": 1, "assertive": 1},
        "models": [{**model, **of_model}],
        **content,
    })  # fmt: skip


def outcomes(faults: int, kills: int, seed: int) -> Iterator[Outcome]:
    """An outcome for each fault of the server, and for each kill of a run that asks it."""
    with tempfile.TemporaryDirectory(prefix="swaymeter-served-") as name, prefect_server(Path(name)) as api:
        generator, of_four = random.Random(seed), faults // 4
        yield from of_study(Path(name) / "texts", api, faults - of_four, kills, generator, of_texts)
        if of_four:
            yield from of_study(Path(name) / "distributions", api, of_four, 0, generator, of_distributions, "vllm")


def of_study(
    folder: Path, api: str, faults: int, kills: int, generator: random.Random, make: Callable[..., TinyStudy],
    dialect: str = "openai",
) -> Iterator[Outcome]:  # fmt: skip
    """The same of one study, and of a server of this dialect."""
    (folder / "study").mkdir(parents=True)
    with staged(dialect) as stage:
        study = make(folder / "study", api, stage.address)
        way = Way(study, as_in_a_terminal)
        stage.plan.requests, stage.plan.probes = stage.plan.requests // 2, stage.plan.probes // 2  # it was run twice
        yield from faulty(stage, study, folder, generator, faults)
        yield from killed(stage, way, folder, generator, kills)


def faulty(stage: Stage, study: TinyStudy, folder: Path, generator: random.Random, faults: int) -> Iterator[Outcome]:
    """An outcome for each fault; the plan of the stage holds what an undisturbed run asks."""
    usual, kinds = stage.plan, list[Fault | str]()
    possible = [fault for fault in FAULTS if stage.dialect == "openai" or not fault.of_chat]
    for number in range(faults):
        kinds = kinds or generator.sample([*possible, *AWAY], len(possible) + len(AWAY))
        kind = kinds.pop()
        of_case = folder / f"fault-{number}"
        of_case.mkdir()
        case = Case(study.elsewhere(of_case / "workspace", with_files=False), study, of_case, generator)
        verdict, detail = judged(case, partial(of_server, stage=stage, kind=kind, usual=usual))
        yield Outcome(kind if isinstance(kind, str) else kind.name, verdict, case.took, f"fault {number}: {detail}")
        shutil.rmtree(of_case, ignore_errors=True)


def of_server(case: Case, stage: Stage, kind: Fault | str, usual: Plan) -> str:
    """What comes of a run whose server has a fault from a random request on; then the server is well."""
    first_of_answers = usual.probes
    is_early = not isinstance(kind, str) and kind.in_probe and case.generator.random() < 0.2
    first = case.generator.randrange(*((0, first_of_answers) if is_early else (first_of_answers, usual.requests - 1)))
    fault = None if isinstance(kind, str) else kind
    stage.plan = plan = Plan(fault, first, _FOR_GOOD if fault is None else case.generator.choice(fault.times))
    back = threading.Timer(case.generator.uniform(0.5, 6.0), lambda: (setattr(plan, "is_away", False), stage.enter()))
    with ExitStack() as after, case.study.start("run", before=as_in_a_terminal) as running:
        if fault is None:
            while not plan.reached.wait(0.02):
                if running.poll() is not None:
                    raise NotHitError(running.ended().said)
            stage.leave()
            after.callback(back.join if kind == AWAY[0] else stage.enter)
            if kind == AWAY[0]:
                plan.left = 0
                back.start()
        case.happened()
        outcome = case.outcome(running, f"made-up (http://127.0.0.1:{stage.port}", refused=True)
    if not plan.reached.is_set():
        raise NotHitError("the run had no such request")
    plan.left, plan.is_away = 0, False
    case.complete(before=as_in_a_terminal)
    if plan.again and stage.dialect == "openai":  # whole distributions are not kept
        raise BrokenError("ASKED AGAIN", f"{len(plan.again)} answers, such as {plan.again[0]!r}")
    return outcome


def killed(stage: Stage, way: Way, folder: Path, generator: random.Random, kills: int) -> Iterator[Outcome]:
    """An outcome for each kill, when its series has ended."""
    number = done = 0
    while done < kills:
        number += 1
        study = way.study.elsewhere(folder / f"killed-{number}", with_files=False)
        case, hit = Case(study, way.study, folder, generator), list[str]()
        most = min(kills - done, generator.randint(1, MOST_KILLS))
        stage.plan = Plan()
        verdict, detail = judged(case, partial(of_run, stage=stage, way=way, most=most, killed=hit))
        for target in hit or ["a run that nothing had killed"] * verdict.isupper():
            yield Outcome(target, verdict, case.took, f"series {number}: {detail}")
        for _ in range(stage.plan.repeats):
            yield Outcome("a request that came twice after kills", "was in flight" if verdict == "equal" else verdict)
        done += len(hit)
        shutil.rmtree(study.workspace, ignore_errors=True)


def of_run(case: Case, stage: Stage, way: Way, most: int, killed: list[str]) -> str:
    """What comes of a series of kills; requests in flight are asked again, and no others."""
    verdict = series(case, way, most, killed)
    if stage.plan.repeats > len(killed) * IN_FLIGHT:
        raise BrokenError("ASKED AGAIN", f"{stage.plan.repeats} requests after {len(killed)} kills")
    return verdict
