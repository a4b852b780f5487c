"""Models that give only texts: an application, which is a user's function, and recorded replies.

A function `answer(question: str, passages: list[Passage]) -> str`, plain or async, runs in the user's process. A study
names the function as FILE.py:FUNCTION or as MODULE:FUNCTION. Its revision is the value of VERSION in the file, if any,
followed by the file's digest. The digest does not cover other files that the function reads: after a change of a search
index, for example, VERSION must change, too. The file is parsed for the revision, and imported only for replies. A call
with a transient error is repeated. Any other error, or a result that is no text, gives a failed reply with its reason.
"""

import ast
import functools
import importlib
import inspect
import queue
import re
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from importlib.machinery import PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from swaymeter.data.digests import content_key, digest_of_named_file
from swaymeter.data.errors import ModelError, first_line, nearest, printable
from swaymeter.data.records import Question, QuestionContext
from swaymeter.data.records.replies import Replies, key_of
from swaymeter.data.storage.stored_results import StoredResults
from swaymeter.tasks.models.capabilities import Answer, ReplyState
from swaymeter.tasks.models.progress import report_prompts

if TYPE_CHECKING:
    import asyncio

RECORDED, APPLICATION = "recorded", "application"
"""The values of `dtype` for recorded replies and for a function."""
FUNCTION = re.compile(r"(?P<module>.+\.py|[A-Za-z_]\w*(?:\.\w+)*):(?P<function>[A-Za-z_]\w*)")
"""The pattern of a function's reference: FILE.py:FUNCTION or MODULE:FUNCTION."""
OBJECT_MODULE = "python"
"""The MODULE in the references of functions that are passed to `swaymeter.audit` as objects."""
TRIES = 3
"""Limit of the calls for one reply; the function is called again after a transient error."""
MAX_FAILED_QUESTIONS = 5
"""Limit of the questions that may fail in a row. After the first reply, only transient errors count."""
_ADVICE = "correct the function, or the service that it uses"
_CONCURRENT_ASYNC = 8
"""Concurrent calls of an async function, unless the study sets another number."""
_TRANSIENT_STATUSES = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_TRANSIENT_NAMES = re.compile("Timeout|Connect|RateLimit|Overloaded|Unavailable|NetworkError|ProtocolError")
"""Names of transient errors in the client libraries of APIs, such as RateLimitError."""
_NO_DISTRIBUTION = np.zeros(0, np.float32)


@dataclass(frozen=True)
class Passage:
    """A passage as an application receives it, without its kind and without the answers that it states.

    Attributes:
        text: The text.
        id: The number among the passages of the question, from "1" on.
        title: The title; empty if the study's file has none.
        source: The source, such as a URL; empty if the file has none.
        date: The date, in the spelling of the file; empty if the file has none.
    """

    text: str
    id: str = "1"
    title: str = ""
    source: str = ""
    date: str = ""


Case = tuple[Question, QuestionContext]
"""A question, and the context whose passages the model receives."""


class TextModel:
    """A model that returns only a text for a question and its passages."""

    device = "cpu"  # of this process; the device that makes the texts is unknown
    parameters: int | None = None
    reading: str | None = None
    context_window: int | None = None
    engine_name = "text"

    def __init__(self, name: str, revision: str, dtype: str, hardware: str) -> None:
        self.name, self.revision, self.dtype, self.hardware = name, revision, dtype, hardware
        self.forward_passes = 0

    @property
    def placement(self) -> str:
        """The column `device` of the scores: the dtype, because the device that makes the texts is unknown."""
        return self.dtype

    def replies(self, cases: Sequence[Case]) -> list[Answer]:
        """Return the reply to each question with its context."""
        raise NotImplementedError


class RecordedReplies(TextModel):
    """Replies from a file.

    Args:
        name: The model's name in the study.
        revision: The digest of the replies.
        replies: The replies, by question and context.
    """

    engine_name = "recorded replies"

    def __init__(self, name: str, revision: str, replies: Replies) -> None:
        super().__init__(name, revision, RECORDED, "recorded replies")
        self._replies = replies

    def replies(self, cases: Sequence[Case]) -> list[Answer]:
        """Return the recorded replies; a case without a row in the file gets a reply in the state "not_asked"."""
        answers = []
        for case in cases:
            key = key_of(*case)
            is_recorded = key in self._replies
            answers.append(_answer_of_text(self._replies[key]) if is_recorded else _empty_answer("not_asked"))
        return answers


class Application(TextModel):
    """A model that is a user's function.

    Args:
        name: The model's name in the study.
        revision: The revision of the function.
        reference: FILE.py:FUNCTION or MODULE:FUNCTION, for messages.
        function: The function.
        stored: Replies of earlier runs, to which new replies are added.
        concurrency: Upper bound on concurrent calls; None: 1, or 8 for an async function.
        timeout_s: Seconds that a call may take.
    """

    engine_name = "application"

    def __init__(
        self,
        name: str,
        revision: str,
        reference: str,
        function: Callable[..., Any],
        stored: StoredResults,
        *,
        concurrency: int | None = None,
        timeout_s: float = 600.0,
    ) -> None:
        super().__init__(name, revision, APPLICATION, f"function {reference}")
        self._reference, self._function, self._stored, self._timeout_s = reference, function, stored, timeout_s
        self._is_async = inspect.iscoroutinefunction(inspect.unwrap(function))
        self._concurrency = concurrency or (_CONCURRENT_ASYNC if self._is_async else 1)
        self._lock = threading.Lock()
        self._has_replied = len(stored) > 0
        self._failures: dict[str, str] = {}  # error of each failed question since the last reply

    def replies(self, cases: Sequence[Case]) -> list[Answer]:
        """Return the replies; stored replies of earlier runs are used again.

        Raises:
            ModelError: More than MAX_FAILED_QUESTIONS questions failed in a row, or all questions failed.
        """
        pool = ThreadPoolExecutor(self._concurrency, thread_name_prefix="application")
        answers = []
        try:
            for (question, _), (answer, is_outage) in zip(cases, pool.map(self._reply, cases), strict=True):
                self._check_failures(question.question, answer, is_outage=is_outage)
                answers.append(answer)
                report_prompts()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)  # after Ctrl-C, no waiting call begins
        if answers and not self._has_replied:
            raise ModelError(f"every reply failed; the first error is: {answers[0].error}; {_ADVICE}")
        return answers

    def _check_failures(self, question: str, answer: Answer, *, is_outage: bool) -> None:
        """Raise ModelError after too many failed questions, because the function or a service is probably broken."""
        if answer.error is None:
            self._has_replied = True
            self._failures.clear()
        elif is_outage or not self._has_replied:
            self._failures.setdefault(question, answer.error)
        if len(self._failures) > MAX_FAILED_QUESTIONS:
            first = next(iter(self._failures.values()))
            raise ModelError(f"{len(self._failures)} questions in a row failed; the first error is: {first}; {_ADVICE}")

    def _reply(self, case: Case) -> tuple[Answer, bool]:
        """Return the stored reply or the function's reply, and True if the call failed by a transient error."""
        question, context = case
        passages = [
            Passage(passage.text, str(number), passage.title or "", passage.source or "", passage.date or "")
            for number, passage in enumerate(context.passages, 1)
        ]
        key = (
            question.question,
            *((passage.text, passage.title, passage.source, passage.date) for passage in passages),
        )
        with self._lock:
            stored = self._stored.get(key)
        if stored is not None:
            return _answer_of_text(stored["text"]), False
        about = f"(question {printable(question.question)!r})"
        try:
            text = self._call_with_retries(question.question, passages)
        except Exception as error:
            reason = f"{type(error).__name__}: {printable(first_line(error), 300)}"
            return _empty_answer("failed", f"{self._reference} failed: {reason} {about}"), is_transient(error)
        if not isinstance(text, str):
            reason = f"{self._reference} returned {type(text).__name__} in place of a text {about}"
            return _empty_answer("failed", reason), False
        with self._lock:
            self._stored.add({key: {"text": text}})
        return _answer_of_text(text), False

    def _call_with_retries(self, question: str, passages: list[Passage]) -> Any:
        # Imported here, and asyncio below, because each takes 0.1 s and recorded replies need neither.
        from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_exponential_jitter

        for attempt in Retrying(
            stop=stop_after_attempt(TRIES),
            wait=wait_exponential_jitter(multiplier=0.5, max=20),
            reraise=True,
            retry=retry_if_exception(is_transient),
        ):
            with attempt:
                with self._lock:
                    self.forward_passes += 1
                return self._call(question, passages)
        raise AssertionError

    def _call(self, question: str, passages: list[Passage]) -> Any:
        """Call the function once; TimeoutError if it does not return in time."""
        if self._is_async:
            import asyncio

            future = asyncio.run_coroutine_threadsafe(self._function(question, passages), _loop())
            try:
                return future.result(self._timeout_s)
            except TimeoutError:
                future.cancel()
                raise TimeoutError(f"no reply within {self._timeout_s:g} s") from None
        results: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()

        def call() -> None:
            try:
                results.put((self._function(question, passages), None))
            except BaseException as error:
                results.put((None, error))

        threading.Thread(target=call, daemon=True).start()  # a daemon, so that a hanging call cannot block the exit
        try:
            value, error = results.get(timeout=self._timeout_s)
        except queue.Empty:
            raise TimeoutError(f"no reply within {self._timeout_s:g} s") from None
        if error is not None:
            raise error if isinstance(error, Exception) else RuntimeError(f"{type(error).__name__}: {error}")
        return value


def _answer_of_text(text: str | None) -> Answer:
    """Return the answer for a reply's text; None stands for a row without a reply in the file of replies."""
    if text is None or not text.strip():
        return _empty_answer("unrecorded" if text is None else "empty")
    return Answer(text.strip(), (), (), _NO_DISTRIBUTION, "complete")


def _empty_answer(state: ReplyState, error: str | None = None) -> Answer:
    return Answer("", (), (), _NO_DISTRIBUTION, state, error=error)


def is_transient(error: BaseException) -> bool:
    """Return True for a transient error of any HTTP library: a time-out, a lost connection, a status such as 429."""
    status = getattr(error, "status_code", None) or getattr(getattr(error, "response", None), "status_code", None)
    if isinstance(status, int):
        return status in _TRANSIENT_STATUSES
    names = (base.__name__ for base in type(error).__mro__)
    return isinstance(error, TimeoutError | ConnectionError) or any(map(_TRANSIENT_NAMES.search, names))


@functools.cache
def _loop() -> "asyncio.AbstractEventLoop":
    """Return the event loop of all async functions, in a thread of its own; an HTTP client works in one loop only."""
    import asyncio

    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="applications", daemon=True).start()
    return loop


# ---- functions by their names

_objects: dict[str, Callable[..., Any]] = {}
"""Functions that were passed as objects, by reference."""
_trusted_references: set[str] = set()
"""References of functions that may be imported, because the user of this process has named them."""


def trust_function(reference: str) -> None:
    """Allow the import of a function, because the user of this process names the function.

    A function that only a study file in a workspace names is not trusted: the workspace may come from somebody else.
    """
    _trusted_references.add(reference)


def is_trusted(reference: str, *, is_in_workspace: bool) -> bool:
    """Return True if the user named the function, or if its study file lies outside a workspace."""
    return not is_in_workspace or reference in _trusted_references


def register_function(function: Callable[..., Any]) -> str:
    """Register a function of this process for `load_function`, and return its reference."""
    name = re.sub(r"\W", "_", getattr(function, "__name__", "") or type(function).__name__).lstrip("0123456789")
    reference = f"{OBJECT_MODULE}:{name or 'function'}"
    _objects[reference] = function
    trust_function(reference)
    return reference


def function_revision(reference: str) -> str:
    """Return VERSION of a function's file, if any, and the file's digest, without importing the file.

    For a function that was passed as an object, the digest is that of its source code.

    Raises:
        ModelError: The file is missing or is not Python, or a function without readable source has no VERSION.
    """
    if reference in _objects:
        function = _objects[reference]
        version = str(getattr(inspect.unwrap(function), "__globals__", {}).get("VERSION", ""))
        try:
            source = inspect.getsource(inspect.unwrap(function))
        except (OSError, TypeError):
            source = ""
        if not (version or source):
            raise ModelError(
                f"function {reference}: the function's source code cannot be read; set VERSION in the "
                "function's module, for example VERSION = '1'"
            )
        return _revision(version, content_key({"source": source}))
    file, _ = _file_of(reference)
    digest = digest_of_named_file(file, f"function {reference}")
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError) as error:
        raise ModelError(
            f"function {reference}: {file} is not valid Python: {first_line(error)}; correct the file"
        ) from None
    version = ""
    for node in tree.body:
        if not isinstance(node, ast.Assign):
            continue
        if any(isinstance(target, ast.Name) and target.id == "VERSION" for target in node.targets):
            with suppress(ValueError):
                version = str(ast.literal_eval(node.value))
    return _revision(version, digest)


def _revision(version: str, digest: str) -> str:
    return f"{printable(version, 40)} {digest}".strip()


def _file_of(reference: str) -> tuple[Path, str]:
    """Return the file and the name of a function; imports nothing."""
    match = FUNCTION.fullmatch(reference)
    if match is None:
        raise ModelError(f"function {reference}: write FILE.py:FUNCTION or MODULE:FUNCTION, such as my_app.py:answer")
    module, name = match["module"], match["function"]
    if module.endswith(".py"):
        return Path(module), name
    if module == OBJECT_MODULE:
        raise ModelError(
            f"function {reference} was passed to swaymeter.audit in another process; pass the function to "
            "swaymeter.audit again"
        )
    path: Sequence[str] | None = [str(Path.cwd()), *sys.path]
    spec = None
    for part in module.split("."):
        spec = PathFinder.find_spec(part, path) if path is not None else None
        if spec is None:
            raise ModelError(
                f"function {reference}: there is no module {module}; run from the folder that has this module"
            )
        path = spec.submodule_search_locations
    if spec is None or not spec.origin or not spec.origin.endswith(".py"):
        raise ModelError(f"function {reference}: the module {module} is not a .py file; name another module")
    return Path(spec.origin), name


def is_function(reference: str) -> bool:
    """Return True if a reference is FILE.py:FUNCTION, or MODULE:FUNCTION of a module that exists."""
    try:
        return reference in _objects or _file_of(reference)[0].suffix == ".py"
    except ModelError:
        return False


def load_function(reference: str, *, is_in_workspace: bool = False) -> Callable[..., Any]:
    """Import a function and check its signature.

    Args:
        reference: FILE.py:FUNCTION, or MODULE:FUNCTION.
        is_in_workspace: True if the study file lies in a workspace.

    Raises:
        ModelError: The function is not trusted, cannot be imported, or does not take a question and passages.
    """
    if not is_trusted(reference, is_in_workspace=is_in_workspace):
        raise ModelError(
            f"function {reference} is not run, because only the study file in the workspace names this function, whose "
            f"code may be somebody else's; to run the function, add --model {reference}"
        )
    function = _objects.get(reference) or _import(reference)
    try:
        inspect.signature(function).bind("", [])
    except TypeError as error:
        raise ModelError(
            f"function {reference} does not take a question and passages ({error}); define the function as in "
            "def answer(question: str, passages: list[Passage]) -> str"
        ) from None
    except ValueError:
        pass  # a built-in has no signature
    return function


@functools.cache
def _import(reference: str) -> Callable[..., Any]:
    file, name = _file_of(reference)
    module_name = reference.rpartition(":")[0]
    folder = str(file.parent.absolute()) if module_name.endswith(".py") else str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)  # so that the file can import modules beside itself, as with `python FILE.py`
    try:
        if module_name.endswith(".py"):
            key = f"swaymeter_application_{content_key({'file': str(file.absolute())})[:16]}"
            spec = spec_from_file_location(key, file)
            if spec is None or spec.loader is None:
                raise ImportError("the file is not a Python file")
            module = module_from_spec(spec)
            sys.modules[key] = module  # dataclasses look up their module here
            spec.loader.exec_module(module)
        else:
            module = importlib.import_module(module_name)
    except Exception as error:
        raise ModelError(
            f"function {reference}: the function's file cannot be imported: {type(error).__name__}: "
            f"{first_line(error)}; correct the file"
        ) from error
    function = getattr(module, name, None)
    if not callable(function):
        functions = [key for key, value in vars(module).items() if inspect.isfunction(value) and key[0] != "_"]
        raise ModelError(f"function {reference}: {file} has no function {name}; {nearest(name, functions)}")
    callable_function: Callable[..., Any] = function
    return callable_function


def load_application(
    name: str,
    reference: str,
    revision: str,
    folder: Path | None,
    *,
    rerun: int = 0,
    concurrency: int | None = None,
    timeout_s: float = 600.0,
    is_in_workspace: bool = False,
) -> Application:
    """Load an application with the replies of earlier runs.

    Args:
        name: The model's name in the study.
        reference: FILE.py:FUNCTION, or MODULE:FUNCTION.
        revision: The revision in the run's plan.
        folder: The folder of stored replies; None to store nothing.
        rerun: The number of a forced rerun; replies of other numbers are not used.
        concurrency: Upper bound on concurrent calls; None: 1, or 8 for an async function.
        timeout_s: Seconds that a call may take.
        is_in_workspace: True if the study file lies in a workspace.

    Raises:
        ModelError: The function cannot be imported, or has changed since the run was planned.
    """
    if function_revision(reference) != revision:
        raise ModelError(
            f"function {reference}: the function's file has changed since the run began; run the study again"
        )
    function = load_function(reference, is_in_workspace=is_in_workspace)
    stored = StoredResults(folder, {"function": revision, "name": reference.rpartition(":")[2], "rerun": rerun})
    short_reference = re.sub(r"^.*[/\\]", "", reference)  # without the folder
    return Application(name, revision, short_reference, function, stored, concurrency=concurrency, timeout_s=timeout_s)
