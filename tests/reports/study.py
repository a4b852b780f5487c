"""A small study of every measure with numbers drawn from a seed, and the frames of its report.

The scores are rows of the database's tables. The package's own queries and statistics compute the frames.
"""

from collections.abc import Iterable, Iterator
from functools import cache, partial
from itertools import product
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa

from swaymeter.data.randomness import generator
from swaymeter.data.records import Passage, QuestionContext, as_row
from swaymeter.data.records.findings import NotRun, StudyCard
from swaymeter.data.records.judgements import Judgement
from swaymeter.data.records.tables import DECIDED_ANSWERS, HISTORY, JUDGEMENTS
from swaymeter.data.warehouse.queries import NAMED_QUERIES, NamedQuery, with_views
from swaymeter.data.warehouse.warehouse import Units
from swaymeter.reports.report import queries
from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.statistics import STATISTICS
from swaymeter.tasks.statistics.frames import categorical

Row = dict[str, Any]

MODEL = "smollm2-135m-instruct"
TABLES = list(dict.fromkeys(statistic.table for statistic in STATISTICS.values()))
RELATIONS = ("capital", "officialLanguage", "author", "birthPlace")
LABELLED = ("author", "birthPlace")
"""The relations whose entities have labels, and whose contexts have labels and strengths."""
TONES = {"base": ("positive", 1), "assertive": ("positive", 2), "negation": ("negative", 1)}
KINDS = ("base", "assertive", "negation")
FORMS = tuple(product(("open", "closed"), (1, 2)))
DYNAMICQA = (("original", "original"), ("counter_memory", "counter_memory"))
OWN_CONTEXTS = (
    ("forum", "conflicting"),
    ("shop", "conflicting"),
    ("irrelevant", "irrelevant"),
    ("supporting", "supporting"),
    ("unknown", "unknown"),
)
"""Contexts of a user's own questions: their ids and kinds."""
CHOICES = [
    as_row(Judgement(number, "choices.csv", number + 1, question, "", "choice", "", value, annotator))
    for number, (question, annotator, value) in enumerate(
        [("q0", "Ada", "accept"), ("q0", "Ben", "accept"), ("q1", "Ada", "accept"), ("q1", "Ben", "discard")], start=1
    )
]
"""Judgements of two people on two questions."""
CARD = StudyCard(
    name="quickstart",
    seeds=(7, 8),
    question="How far do contexts sway a small instruct model away from what it believes of four relations?",
    not_run=(NotRun("author", MODEL, "persuasion", "the model ran out of memory"),),
    created_at="2025-01-02T03:04:05+00:00",
    versions={"swaymeter": "0.1.0", "torch": "2.13.0"},
    sources=("YAGO 4.5, CC BY-SA 4.0, https://yago-knowledge.org/.", "Wikidata, CC0"),
)


def tables(
    models: Iterable[tuple[str, str]] = ((MODEL, "float32"), (MODEL, "bfloat16")),
    *,
    relations: Iterable[str] = RELATIONS,
    entities: int = 10,
    questions: int = 36,
    own: bool = False,
) -> dict[str, list[Row]]:
    """Return the rows of every table of a study with these models; `own` gives it a user's own questions."""
    queries, contexts = [*_queries(list(relations), entities)], [*_contexts(list(relations), entities)]
    question_rows = [*_questions(questions, own)]
    rows_of_tables: dict[str, list[Row]] = {"queries": queries, "contexts": contexts, "questions": question_rows}
    for name, dtype in models:
        variant = {"model": name, "dtype": dtype}
        for table, row in (*_query_scores(variant, queries, contexts), *_question_scores(variant, question_rows)):
            rows_of_tables.setdefault(table, []).append({**variant, **row})
        rows_of_tables.setdefault("reliability", []).extend({**variant, **row} for row in _reliability(list(relations)))
    rows_of_tables |= _corpus(queries)
    rows_of_tables["rejected"] = [
        {"partition": "static", "relation": "capital", "reason": "no alias", "detail": "Norway"},
        {"partition": None, "relation": "author", "reason": "no alias", "detail": ""},
    ]
    return rows_of_tables


def frames(
    rows: dict[str, list[Row]] | None = None, names: Iterable[str] | None = None, seed: int = 7
) -> dict[str, pd.DataFrame]:
    """Return the frames of a report on these rows, or only the frames of these names.

    A missing table counts as empty, and so does the table of a measure without rows in `tables`.
    """
    names = [*(queries() if names is None else names)]
    words = set[str]().union(*(query.words for query in with_views(NAMED_QUERIES[name] for name in names)))
    if rows is None:
        rows = tables([(MODEL, "float32")], entities=4, questions=30) | {JUDGEMENTS.name: CHOICES}
    examples = tables([("m", "bfloat16")], relations=["r"], entities=2, questions=6)
    with duckdb.connect(config={"threads": 1}) as connection:
        for name, example_rows in examples.items():
            table_rows = _frame(rows.get(name) or example_rows).iloc[slice(None if rows.get(name) else 0)]
            _store(connection, name, table_rows)
        for table in (JUDGEMENTS, DECIDED_ANSWERS):
            _store(connection, table.name, table.of(rows.get(table.name, [])))
        _store(connection, HISTORY.name, HISTORY.of(rows.get(HISTORY.name, [])))
        for name in MEASURES.keys() - examples.keys():
            _store(connection, name, MEASURES[name].table.of(rows.get(name, [])))
        waiting = [query for query in NAMED_QUERIES.values() if query.is_view]
        while waiting:  # a view may read another view
            still_waiting = [query for query in waiting if not _create_view(connection, query)]
            assert len(still_waiting) < len(waiting), (
                f"{still_waiting[0].name} reads a table that `tables` does not make"
            )
            waiting = still_waiting
        statistics_rows: dict[str, list[Row]] = {table.name: [] for table in TABLES}
        read_frame = cache(partial(_read, connection))
        read_categorical = cache(lambda name: categorical(read_frame(name)))
        for statistic in STATISTICS.values():
            if statistic.table.name not in words:
                continue
            statistics_rows[statistic.table.name] += statistic.rows(
                {name: read_categorical(name) for name in statistic.queries}, seed
            )
        for table in TABLES:
            _store(connection, table.name, table.of(statistics_rows[table.name]))
        return {name: read_frame(name) for name in names}


def _store(connection: duckdb.DuckDBPyConnection, name: str, rows: pd.DataFrame | pa.Table) -> None:
    connection.register("given", rows)
    connection.execute(f"CREATE TABLE {name} AS FROM given")
    connection.unregister("given")


def _create_view(connection: duckdb.DuckDBPyConnection, query: NamedQuery) -> bool:
    try:
        connection.execute(f"CREATE TABLE {query.name} AS {query.sql}")
    except duckdb.CatalogException:
        return False
    return True


def _read(connection: duckdb.DuckDBPyConnection, name: str) -> pd.DataFrame:
    if name in FIXED:
        return FIXED[name]
    frame = connection.sql(NAMED_QUERIES[name].sql).to_arrow_table().to_pandas(types_mapper=PANDAS.get)
    units = {column: UNITS[column] for column in frame if column in UNITS}
    frame.attrs["units"] = Units(units | dict(NAMED_QUERIES[name].units))
    return frame


UNITS = {column.name: column.unit for measure in MEASURES.values() for column in measure.table.columns if column.unit}
PANDAS = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
FIXED = {
    "overview": pd.DataFrame(
        [{"models": 1, "relations": 4, "queries": 64, "questions": 12, "forward_passes": 100, "seconds": 12.5}]
    ),
    "stand_ins": pd.DataFrame(
        [["semantic_entropy", "embedder for an entailment model"]], columns=["measure", "stand_in"]
    ).assign(model=MODEL, dtype="float32"),
    "readings": pd.DataFrame(
        [{"model": MODEL, "dtype": "float32", "reading": "not by padded batches: it changes answers by 0.15 nats"}]
    ),
    "variants_summary": pd.DataFrame(
        [{"model": MODEL, "dtype": "float32", "tokens_an_answer": 4.5, "seconds_a_prompt": 0.25}]
    ),
    "served_models": pd.DataFrame(columns=["model", "dtype", "server"]),
    "runs_summary": pd.DataFrame([{"model": MODEL, "dtype": "float32", "measure": "persuasion", "rows": 24}]),
    "runtime_of_susceptibilities": pd.DataFrame([{"model": MODEL, "dtype": "float32", "times_as_long": 30.0}]),
}


def _frame(rows: list[Row]) -> pd.DataFrame:
    return pa.Table.from_pylist(rows).to_pandas(types_mapper=PANDAS.get)


def _draw(*identity: object) -> float:
    return float(generator(1, *identity).random())


def _queries(relations: list[str], entities: int) -> Iterator[Row]:
    for relation, (query_type, form), number in product(relations, FORMS, range(entities)):
        invented = number % 2 == 1
        yield {
            "query_id": f"{relation} {query_type} {form} {number}",
            "relation": relation,
            "query_type": query_type,
            "form": form,
            "text": "Q: Which?\nA:" if form == 1 else "It is",
            "answer": "Oslo",
            "entity": f"{'Ostremia' if invented else 'Norway'} {number}",
            "invented": invented,
            "label": ("enemy", "friend")[number // 2 % 2] if relation in LABELLED else None,
            "type": ("sports", "history")[number % 2] if relation in LABELLED else None,
            "degree": 0 if invented else 10 * (number + 1),
            "relation_degree": 0 if invented else number + 1,
        }


def _corpus(queries: list[Row]) -> dict[str, list[Row]]:
    """Return the counts of the entities of queries in a corpus of one file."""
    entities = list({(query["entity"], query["answer"]): query["degree"] for query in queries}.items())
    extent = {"documents": 90, "words": 12_345, "tokens": None}
    time = {"counted_at": "2026-01-02T03:04:05+00:00"}
    shard = {
        "shard": "a.jsonl",
        "size": 70_000,
        "read": 70_000,
        "unreadable": 1,
        "digest": "0" * 64,
        "problem": "line 7 is not JSON",
    }
    counts = [
        {
            "entity": entity,
            "answer": answer,
            "entity_count": 3 * degree,
            "pair_count": degree,
            "capitals_count": 0,
            "lower_case_count": 0,
            "entity_counted": "words",
            "pair_counted": "words",
            "corpus": "made up",
            "excluded": "mostly written in small letters" if number == 2 else None,
            "window_words": 50,
            "shards": 1,
            **extent,
            **time,
        }
        for number, ((entity, answer), degree) in enumerate(entities)
    ]
    return {"frequencies": counts, "shards": [{**shard, **extent, **time}]}


def _contexts(relations: list[str], entities: int) -> Iterator[Row]:
    for relation, kind, number in product(relations, KINDS, range(entities)):
        text = f"The {relation} of Norway is {kind} {number}.\n"
        label, strength = TONES[kind] if relation in LABELLED else (None, None)
        yield {
            "context_id": f"{relation} {kind} {number}",
            "relation": relation,
            "kind": kind,
            "text": text,
            "object": f"{kind} {number}",
            "template": None,
            "label": label,
            "strength": strength,
            "entity": f"{'Ostremia' if number % 2 else 'Norway'} {number}",
        }


def _query_scores(variant: Row, queries: list[Row], contexts: list[Row]) -> Iterator[tuple[str, Row]]:
    for number, query in enumerate(queries):
        about = {name: query[name] for name in ("relation", "query_id")}
        score = _draw(variant["dtype"], query["query_id"]) + 0.3 * query["invented"]
        yield "susceptibility", {**about, "susceptibility": score, "contexts": 3}
        for rank, token in enumerate((" Oslo", "\n"), 1):
            likeliest = {"context_id": "none", "rank": rank, "token": token, "probability": 0.5 / rank}
            yield "likeliest_tokens", {**about, **likeliest}
        fisher = {
            "top_k": 10,
            "fisher_top_k": score**2,
            "draws": 64,
            "fisher": score * (1 + _draw(number)),
            "fisher_standard_error": 0.1,
        }
        yield "fisher_susceptibility", {**about, **fisher}
        answers = {"answer_set_susceptibility": score * 0.9, "answers": 5, "mass": 0.5 + 0.4 * _draw(number)}
        yield "answer_set_susceptibility", {**about, **answers, "contexts": 3}
        original, substitute = number % 5, (number * 3) % 4
        ratio = original / (original + substitute) if original + substitute else None
        counts = dict.fromkeys(("negation_original", "negation_substitute", "all_original", "all_substitute"), original)
        ratios = {"memorization_ratio": ratio, "memorization_ratio_all": ratio}
        yield "memorization_ratio", {**about, "original": original, "substitute": substitute, **ratios, **counts}
        if variant["dtype"] == "bfloat16":
            scores = {"susceptibility": score, "susceptibility_reference": score + 0.01 * _draw(number)}
            differences = {"reference": "float32", "largest_difference": 0.02, "mean_difference": 0.01}
            yield "precision", {**about, **scores, **differences}
    for query, context in product(queries, contexts):
        if query["relation"] != context["relation"]:
            continue
        pair = {"relation": query["relation"], "query_id": query["query_id"], "context_id": context["context_id"]}
        relevant = query["entity"] == context["entity"]
        moved = _draw(variant["dtype"], *pair.values()) + 0.5 * relevant
        yield "persuasion", {**pair, "relevant": relevant, "persuasion": moved}
        follows = ("context", "original", "other")[int(3 * _draw("follows", *pair.values()))]
        conflict = {"base": "substitution", "negation": "negation"}.get(context["kind"]) if relevant else None
        yield "greedy_answers", {**pair, "conflict": conflict, "text": "Oslo", "follows": follows}
    for context, (query_type, form) in product(contexts, FORMS):
        about = {"relation": context["relation"], "query_type": query_type, "form": form}
        moved = {"entities": 4, "entity_independent_persuasion": _draw(variant["dtype"], context["context_id"], form)}
        yield "entity_independent_persuasion", {**about, "context_id": context["context_id"], **moved}


def _reliability(relations: list[str]) -> Iterator[Row]:
    for relation, kind, measure, over in product(
        relations, ("open", "closed"), ("persuasion", "susceptibility"), ("seeds", "forms")
    ):
        draw = _draw(relation, kind, measure, over)
        values = dict.fromkeys(("mean_score", "variance", "median", "percentile_95", "largest"), 0.1 * draw)
        yield {
            "relation": relation,
            "query_type": kind,
            "measure": measure,
            "over": over,
            "compared": "query",
            "scores": 3,
            "n": 8,
            "of_first": 10,
            "untestable": None,
            **values,
        }


def _questions(count: int, own: bool) -> Iterator[Row]:
    for number in range(count):
        if own:
            yield {
                "question_id": f"question {number}",
                "relation": RELATIONS[number % 2],
                "partition": f"group {number % 2} & more",
                "subject": "",
                "subject_id": None,
                "property_id": None,
                "object": "Oslo",
                "object_id": None,
                "answers": ["Oslo"],
                "replacement": "",
                "question": f"What is capital {number}?",
                "edits": None,
                "subject_popularity": None,
                "object_popularity": None,
                "other_columns": f'{{"chapter": {number % 3}}}',
                "contexts": [
                    _context(name, kind, f"A text of {name}.", [] if kind == "irrelevant" else ["Bergen"])
                    for name, kind in OWN_CONTEXTS
                ],
            }
            continue
        partition = ("static", "temporal", "disputable")[number % 3]
        yield {
            "question_id": f"question {number}",
            "relation": RELATIONS[number % 2],
            "partition": partition,
            "subject": "Norway",
            "subject_id": f"Q{20 + number // 2}",
            "property_id": "P36",
            "object": "Oslo",
            "object_id": "Q585",
            "answers": ["Oslo", "Kristiania"],
            "replacement": "Bergen",
            "question": f"What is capital {number}?",
            "edits": number,
            "other_columns": None,
            "subject_popularity": 100 * _draw("subject", number),
            "object_popularity": None if partition == "disputable" else 50 * _draw("object", number),
            "contexts": [
                _context("original", "original", "The capital of Norway is Oslo.", ["Oslo", "Kristiania"]),
                _context("counter_memory", "counter_memory", "It is Bergen.", ["Bergen"]),
            ],
        }


def _question_scores(variant: Row, questions: list[Row]) -> Iterator[tuple[str, Row]]:
    cases = ((question, case) for question in questions for case in (("none", "none"), *_contexts_of(question)))
    for question, (context, condition) in cases:
        about = {
            "relation": question["relation"],
            "question_id": question["question_id"],
            "context_id": context,
            "condition": condition,
        }
        draw = [_draw(variant["dtype"], about["question_id"], context, number) for number in range(4)]
        stand_in = {"stand_in": None}
        for sample in (None, 0, 1, 2, 3, 4):
            text = "Oslo" if draw[0] < 0.5 or sample == 1 else "Bergen"
            yield (
                "answers",
                {
                    **about,
                    **stand_in,
                    "sample": sample,
                    "text": text,
                    "context_cut": 0,
                    "state": "complete",
                    "error": None,
                    "token_log_probs": [-0.5, -draw[1]],
                    "thoughts": "Hm." if sample == 1 else "",
                    "thinking": "enable_thinking=true",
                },
            )
            if sample is not None:
                yield "clusters", {**about, **stand_in, "sample": sample, "cluster": int(text == "Oslo")}
        names = (
            "semantic_entropy",
            "semantic_entropy_length_normalised",
            "semantic_entropy_rao",
            "cluster_assignment_entropy",
        )
        scores = dict.fromkeys(names, 2 * draw[0]) | {f"{name}_standard_error": 0.1 for name in names}
        yield "semantic_entropy", {**about, **stand_in, **scores, "groups": 2, "group_sizes": [2, 1]}
        yield "accuracy", {**about, **stand_in, "accurate": draw[2] < 0.6, "answer": "Oslo"}
        if condition == "none":
            continue
        moved = {
            "coherent_persuasion": 3 * draw[1],
            "coherent_persuasion_standard_error": 0.2,
            "coherent_persuasion_unchanged": draw[1] / 2,
        }
        yield "coherent_persuasion", {**about, **stand_in, **moved}
        outcomes = {"persuaded": draw[3] < 0.4, "stubborn": draw[3] > 0.7}
        yield "persuaded", {**about, **stand_in, **outcomes}
        outcome = ("persuaded", "persuaded", "agreed", "other", "stubborn")[int(5 * draw[3])]
        verdict = "context" if outcome in ("persuaded", "agreed") else "refusal" if draw[3] < 0.65 else "neither"
        decision = {
            "verdict": verdict,
            "reason": "denied" if verdict == "neither" else None,
            "outcome": outcome,
            "decided_by": None if verdict == "neither" else "rule",
        }
        yield "whose_answer", {**about, **stand_in, "sample": None, **decision}
        opinion = verdict if draw[1] < 0.7 else "both" if draw[1] < 0.95 else None
        yield (
            "judged_answers",
            {
                **about,
                **stand_in,
                "sample": None,
                "judge": "large",
                "judge_revision": "1",
                "verdict": opinion,
                "log_probability": opinion and -draw[1],
                "unjudged": None if opinion else "no offered verdict",
                "rule": None if verdict == "neither" else verdict,
            },
        )
        yield (
            "whose_answer",
            {
                **about,
                **stand_in,
                "sample": 0,
                "verdict": "both",
                "decided_by": "rule",
                "reason": None,
                "outcome": None,
            },
        )
        cites = {
            "cited": [1],
            "cited_exist": True,
            "citation_right": draw[0] < 0.5,
            "came_from": [1],
            "names_conflict": False,
        }
        yield "cited_passages", {**about, **stand_in, "sample": None, **cites}
        utilisation = {"binary_utilisation": draw[3] < 0.5, "continuous_utilisation": 2 * draw[3] - 1}
        yield "context_utilisation", {**about, **stand_in, **utilisation}
        without_passage = {
            "passage": 1,
            "passages": 1,
            "kind": None,
            "passage_persuasion": draw[2],
            "context_cut": 0,
            "context_cut_without": 0,
        }
        yield "passage_persuasion", {**about, **stand_in, **without_passage}


def _context(name: str, condition: str, text: str, answers: list[str]) -> Row:
    return as_row(QuestionContext(name, condition, (Passage(text),), tuple(answers)))  # type: ignore[arg-type]


def _contexts_of(question: Row) -> Iterable[tuple[str, str]]:
    return [(context["context_id"], context["condition"]) for context in question["contexts"]]
