"""The steps that aggregate: statistics from the score files in place, and the database, loaded by file."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Any

from swaymeter.data.digests import content_key
from swaymeter.data.errors import InputError, ScoreError, SwaymeterError
from swaymeter.data.records.table import Table
from swaymeter.data.records.tables import RECORD_TABLES, RUNS, VARIANTS, VERDICTS_BY_HAND
from swaymeter.data.records.verdicts import VerdictByHand
from swaymeter.data.storage.artifact import Check, FilesArtifact, TableArtifact, write_manifest
from swaymeter.data.storage.history import history_files
from swaymeter.data.storage.workspace import DATABASE
from swaymeter.data.warehouse.queries import NAMED_QUERIES, NamedQuery
from swaymeter.flows.graph.step import Run, Step, in_way
from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.statistics import STATISTICS, statistics_of
from swaymeter.tasks.statistics.frames import ALL, categorical
from swaymeter.tasks.statistics.statistic import NOTHING, Kept, Statistic

Done = tuple[Any, Check]
"""An artifact that is done, and how it stands."""
RELATIONS_AT_A_TIME = 10
"""Relations whose prompts are read together: more would not fit the database's memory, and spill to the disk."""


@dataclass(frozen=True)
class Loaded:
    """What the database has beside its inputs.

    annotations: their imports. variants: the rows of that table. verdicts: those by hand.
    """

    annotations: tuple[TableArtifact, ...] = ()
    variants: tuple[Mapping[str, Any], ...] = ()
    verdicts: tuple[VerdictByHand, ...] = ()


def schema() -> tuple[Table, ...]:
    """Every table of the database: of the records, of every measure and of every statistic, also of extensions."""
    declared = [*(measure.table for measure in MEASURES.values()), *(one.table for one in STATISTICS.values())]
    tables: dict[str, Table] = {}
    for table in (*RECORD_TABLES, *declared):
        if tables.setdefault(table.name, table) != table:
            raise TypeError(f"two tables are named {table.name}; name the one that was added otherwise")
    return tuple(tables.values())


@dataclass(frozen=True)
class _Planned:
    """A statistic that will be computed, with what its rows of each relation, and of each model, are made from.

    relations, models: their rows that are kept.
    """

    statistic: Statistic
    table: TableArtifact
    of_relations: Mapping[str, str]
    relations: Kept
    of_models: Mapping[str, str]
    models: Kept

    @property
    def reads_all(self) -> bool:
        """Whether all rows of its queries are read."""
        return self.statistic.compute is not None and not self.statistic.by_model

    def reads(self, artifact: Done) -> bool:
        """Whether rows that are not kept may follow from a table's."""
        is_new = self.statistic.of_relations is not None and relation_of(artifact) not in self.relations.names
        return is_new or (self.statistic.compute is not None and model_of(artifact) not in self.models.names)


def compute_statistics(step: Step, run: Run) -> None:
    """Computes the statistics that are missing, from the score files in place; each named query is asked once."""
    seed, classes = step.arguments
    done, failed, again = done_of(step), list[str](), bool(step.forced)
    declared = statistics_of(classes)
    missing = [declared[name] for name, output in step.outputs.items() if again or output.check().state != "done"]
    planned = [_planned(statistic, step.table(statistic.name), done, anew=again) for statistic in missing]
    with _asked(planned, done) as frames:
        import_module("scipy.stats")  # meanwhile, as it takes most of a second
        for plan in planned:
            of_statistic = {name: frames[name].result() for name in plan.statistic.queries}
            try:
                rows = plan.statistic.rows(of_statistic, seed, plan.relations, plan.models)
                notes = {"relations": plan.of_relations, "models": plan.of_models}
                plan.table.write(plan.statistic.table.of(rows), notes)
                plan.table.discard_others()
            except (SwaymeterError, KeyError, TypeError, ValueError) as error:  # the others are computed all the same
                reason = str(error) if isinstance(error, SwaymeterError) else repr(error)
                failed.append(f"statistic {plan.statistic.name} (of {', '.join(plan.statistic.queries)}): {reason}")
    if failed:
        raise ScoreError("; ".join(failed))


@contextmanager
def _asked(planned: Sequence[_Planned], done: Sequence[Done]) -> Iterator[Mapping[str, "Future[Any]"]]:
    """The frames of all named queries that the statistics read; of what no statistic needs, rows may be missing.

    They are asked in a thread of their own: DuckDB answers one while Python computes with those before it.
    """
    from swaymeter.data.warehouse.warehouse import over  # here, as pandas takes long to import

    names = dict.fromkeys(name for plan in planned for name in plan.statistic.queries)
    readers = {name: [plan for plan in planned if name in plan.statistic.queries] for name in names}
    whole = {name for name, plans in readers.items() if any(plan.reads_all for plan in plans)}
    some = [artifact for artifact in done if any(plan.reads(artifact) for plan in planned if not plan.reads_all)]
    answers = dict[str, Any]()
    with ExitStack() as stack, ThreadPoolExecutor(1) as thread:

        def opened(of: Iterable[str], read: Sequence[Done]) -> Any:
            queries = [NAMED_QUERIES[name] for name in of if not NAMED_QUERIES[name].by_relation]
            return thread.submit(lambda: stack.enter_context(over(files_of(read), schema(), queries, answers)))

        of_all, of_some = opened(whole, done), opened(names.keys() - whole, some)

        def frame(name: str) -> Any:
            if NAMED_QUERIES[name].by_relation:
                answers[name] = _of_every_prompt(NAMED_QUERIES[name], done, _read_again(readers[name]))
            return categorical((of_all if name in whole else of_some).result().frame(name))

        yield {name: thread.submit(frame, name) for name in names}


def _planned(statistic: Statistic, table: TableArtifact, done: Sequence[Done], *, anew: bool) -> _Planned:
    common, of_relations, of_models = {**table.made_from, "inputs": ()}, dict[str, str](), dict[str, str]()
    relations = models = NOTHING
    if statistic.of_relations:
        of_relations = digests_of(common, done)
        rows, known = kept_rows(table, of_relations, anew=anew)
        relations = Kept(rows.to_pylist(), known)
    if statistic.by_model:
        of_models = digests_of(common, done, model_of)
        rows, known = kept_rows(table, of_models, anew=anew, of="model")
        of_compute = (row for row in rows.to_pylist() if not statistic.of_relations or row["relation"] == ALL)
        models = Kept([*of_compute], known)
    return _Planned(statistic, table, of_relations, relations, of_models, models)


def _read_again(readers: Sequence[_Planned]) -> set[str] | None:
    """The relations of which a query's rows are read; None for all, where a statistic computes over all."""
    if any(plan.statistic.compute for plan in readers):
        return None
    return {relation for plan in readers for relation in plan.of_relations.keys() - plan.relations.names}


def _of_every_prompt(query: NamedQuery, done: Sequence[Done], relations: set[str] | None) -> Any:
    """The rows of a query that goes through every prompt, about these relations or, for None, about all."""
    import pyarrow as pa

    from swaymeter.data.warehouse.warehouse import over

    leading = sorted({relation_of(artifact) for artifact in done if artifact[0].table.name == query.by_relation[0]})
    read = [name for name in leading if relations is None or name in relations]
    of_some = [read[start : start + RELATIONS_AT_A_TIME] for start in range(0, len(read), RELATIONS_AT_A_TIME)]
    results = []
    for some in of_some or [[]]:  # asked of none, it has its columns
        of_query = (artifact for artifact in done if artifact[0].table.name in query.by_relation)
        files = files_of(artifact for artifact in of_query if relation_of(artifact) in some)
        with over(files, schema(), [query]) as warehouse:
            results.append(warehouse.rows(query))
            reads, may = warehouse.tables(query)
            if not reads <= {*query.by_relation} <= may:
                raise InputError(
                    f"named query {query.name}: `-- by relation:` names {', '.join(query.by_relation)}, and it reads "
                    f"{', '.join(sorted(reads))}; name these, first that without whose rows it has none"
                )
    return pa.concat_tables(results)


def load_database(step: Step, run: Run) -> None:
    """Loads what is done into the database, file by file; files that it holds already are left alone.

    A database that holds other bytes than were written, or that was asked for anew, is made from nothing.
    """
    from swaymeter.data.warehouse.loading import update

    artifact: Any = step.outputs["files"]
    loaded: Loaded = step.arguments
    imports = {annotation.key: (annotation, annotation.check()) for annotation in loaded.annotations}
    tables = [*done_of(step), *(annotation for annotation in imports.values() if annotation[1].state == "done")]
    path, files = artifact.folder / DATABASE, files_of(tables)
    for kept in (one for one in step.inputs.values() if isinstance(one, FilesArtifact)):
        files |= history_files(kept.folder, kept.written())
    written = None if step.forced else artifact.written().get(path.name)
    update(
        path, artifact.key, schema(), files,
        computed={
            VARIANTS: loaded.variants, RUNS: runs_of(tables, run),
            VERDICTS_BY_HAND: [asdict(verdict) for verdict in loaded.verdicts],
        },
        trusted=(lambda digest: digest == written) if written else None,
    )  # fmt: skip
    write_manifest(artifact.manifest, artifact.key, [path])


def done_of(step: Step) -> list[Done]:
    """The tables that it reads, as they were verified when it was resolved; once where a model has two names."""
    tables = {role: artifact for role, artifact in step.inputs.items() if isinstance(artifact, TableArtifact)}
    return list({artifact.key: (artifact, step.checks[role]) for role, artifact in tables.items()}.values())


def files_of(done: Iterable[Done]) -> dict[Table, list[Any]]:
    files: dict[Table, list[Any]] = {}
    for artifact, check in done:
        files.setdefault(artifact.table, []).append(check.path)
    return files


def runs_of(done: Iterable[Done], run: Run) -> list[Mapping[str, Any]]:
    """A row for each file of scores: what was computed, when, with which versions."""
    rows: list[Mapping[str, Any]] = []
    for artifact, check in done:
        if artifact.table.name not in MEASURES:
            continue
        made_from, about = artifact.made_from, check.about or {}
        model, dtype = (made_from["parameters"][name] for name in ("model", "dtype"))
        model = in_way(model, made_from["parameters"].get("way", ""))
        rows.append(
            {
                "relation": made_from["subject"][0],
                "model": model,
                "variant": f"{model}/{dtype}",
                "measure": artifact.table.name,
                "measure_version": MEASURES[artifact.table.name].version,
                "dtype": dtype,
                "seed": made_from["parameters"]["seed"],
                "parameters": about.get("parameters"),
                "hardware": about.get("hardware"),
                "reading": about.get("reading"),
                **{name: about[name] for name in _NOTED},
                "key": artifact.key,
                "file": str(check.path.relative_to(run.workspace)),  # type: ignore[union-attr]
                "rows": check.rows,
            }
        )
    return rows


_NOTED = (
    "started_at", "finished_at", "seconds", "forward_passes", "prompts",
    "swaymeter_version", "torch_version", "transformers_version",
)  # fmt: skip


def relation_of(artifact: Done) -> str:
    """The relation that the rows of an artifact are about; empty where they name none."""
    has_relations = any(column.name == "relation" for column in artifact[0].table.columns)
    return str(artifact[0].made_from["subject"][0]) if has_relations else ""


def model_of(artifact: Done) -> str:
    """The model whose scores an artifact has, as its rows name it; empty where these are no scores of a measure."""
    parameters = artifact[0].made_from.get("parameters", {})
    return in_way(parameters["model"], parameters.get("way", "")) if artifact[0].table.name in MEASURES else ""


def digests_of(
    common: Mapping[str, object], done: Sequence[Done], about: Callable[[Done], str] = relation_of
) -> dict[str, str]:
    """What something about each relation is made from, as a digest; what names none is of every one.

    common: what it is made from beside the rows; about: gives what a table is about, if not its relation.
    """
    inputs = dict[str, list[str]]()
    of_all = [artifact[1].digest_of_all for artifact in done if not about(artifact)]
    for artifact in done:
        if name := about(artifact):
            inputs.setdefault(name, [*of_all]).append(artifact[1].digest_of_all)
    return {name: content_key({**common, "inputs": sorted(read)}) for name, read in inputs.items()}


def kept_rows(
    table: TableArtifact, digests: Mapping[str, str], *, anew: bool, of: str = "relation"
) -> tuple[Any, set[str]]:
    """The rows of the relations with these digests, in whichever file they stand, and which relations these are.

    anew: whether the table is asked for anew; then nothing is kept. of: what the digests are of, if not relations.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    kept, known = [table.table.of([])], set[str]()
    for rows, about in () if anew else table.versions():
        same = {name for name, digest in about.get(f"{of}s", {}).items() if digests.get(name) == digest} - known
        kept.append(rows.filter(pc.is_in(rows[of], pa.array([*same], pa.string()))))
        known |= same
    return pa.concat_tables(kept), known
