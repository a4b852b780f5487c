"""A small study of every measure with numbers drawn from a seed, and the frames of its report.

The scores are rows of the database's tables. The package's own queries and statistics compute the frames.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import yaml

from swaymeter.data.randomness import generator
from swaymeter.data.records import Passage, QuestionContext, as_row
from swaymeter.data.records.findings import NotRun, StudyCard
from swaymeter.data.warehouse.loading import Building
from swaymeter.data.warehouse.queries import NAMED_QUERIES, with_views
from swaymeter.flows.stages.aggregate import schema
from swaymeter.reports.report import queries
from swaymeter.tasks.statistics import STATISTICS
from swaymeter.tasks.statistics.frames import categorical
from tests.data.warehouse.small_study import Row, build_study, row, table

NamedRows = Iterator[tuple[str, Row]]
"""Values of rows, each with the name of its table."""
MODEL = "smollm2-135m-instruct"
RELATIONS = ("capital", "officialLanguage", "author", "birthPlace")
LABELLED = ("author", "birthPlace")
"""The relations whose entities have labels, and whose contexts have labels and strengths."""
TONES = {"base": ("positive", 1), "assertive": ("positive", 2), "negation": ("negative", 1)}
"""Label and strength of a context by its type."""
FORMS = tuple(product(("open", "closed"), (1, 2)))
"""Query types, each with the numbers of its forms."""
ENTROPIES = (
    "semantic_entropy",
    "semantic_entropy_length_normalised",
    "semantic_entropy_rao",
    "cluster_assignment_entropy",
)
_CONTENT = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
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
    models: Iterable[tuple[str, str]] = ((MODEL, "float32"),),
    *,
    relations: Sequence[str] = RELATIONS,
    entities: int = 4,
    questions: int = 30,
    own: bool = False,
) -> dict[str, list[Row]]:
    """Return the rows of every table of a study with these models; `own` makes the questions a user's own."""
    study = defaultdict[str, list[Row]](list)

    def add(rows: Iterable[tuple[str, Row]], **columns: object) -> None:
        for name, values in rows:
            study[name].append(row(table(name), **{**_CONTENT["common"].get(name, {}), **columns, **values}))

    add(_prompts(relations, entities))
    add(_questions(questions, own))
    add(_counts(study["queries"]))
    add((name, values) for name, rows in _CONTENT["constant"].items() for values in rows)
    for model, dtype in models:
        add(_query_scores(dtype, study["queries"], study["contexts"]), model=model, dtype=dtype)
        for question in study["questions"]:
            for context in ({"context_id": "none", "condition": "none"}, *question["contexts"]):
                case = {
                    "model": model,
                    "dtype": dtype,
                    "relation": question["relation"],
                    "question_id": question["question_id"],
                    "context_id": context["context_id"],
                    "condition": context["condition"],
                }
                draw = [_draw(dtype, case["question_id"], case["context_id"], number) for number in range(4)]
                add(_answer_scores(draw), **case)
                if case["condition"] != "none":
                    add(_context_scores(draw), **case)
        add(_reliability(relations), model=model, dtype=dtype)
        add(_runs(f"{model}/{dtype}", relations), model=model, dtype=dtype)
    return study


def frames(rows: dict[str, list[Row]] | None = None, names: Iterable[str] | None = None) -> dict[str, pd.DataFrame]:
    """Return the frames of a report, or only the frames of these names.

    Args:
        rows: Rows by table; a missing table is empty. None for the rows of `tables` and judgements of two people.
        names: Names of the frames; None for all frames of a report.
    """
    frame_names = [*(queries() if names is None else names)]
    words = set[str]().union(*(query.words for query in with_views(NAMED_QUERIES[name] for name in frame_names)))
    report_frames: dict[str, pd.DataFrame] = {}

    def derive(building: Building) -> None:
        read = cache(lambda name: categorical(building.warehouse.frame(name)))
        for statistic in STATISTICS.values():
            if statistic.table.name in words:
                statistic_rows = statistic.rows({name: read(name) for name in statistic.queries}, 7)
                building.insert(statistic.table, statistic.table.of(statistic_rows))
        report_frames.update({name: building.warehouse.frame(name) for name in frame_names})

    if rows is None:
        judgements = [row(table("judgements"), **values) for values in _CONTENT["judgements"]]
        rows = tables() | {"judgements": judgements}
    with TemporaryDirectory() as folder:
        build_study(Path(folder) / "study.duckdb", rows, schema(), derive)
    return report_frames


def _draw(*identity: object) -> float:
    return float(generator(1, *identity).random())


def _prompts(relations: Sequence[str], entities: int) -> NamedRows:
    """Yield the queries and contexts of relations; every other entity is invented."""
    names = [f"{('Norway', 'Ostremia')[number % 2]} {number}" for number in range(entities)]
    for relation, (query_type, form), (number, entity) in product(relations, FORMS, enumerate(names)):
        is_invented, is_labelled = number % 2 == 1, relation in LABELLED
        query = {
            "query_id": f"{relation} {query_type} {form} {number}",
            "relation": relation,
            "query_type": query_type,
            "form": form,
            "text": "Q: Which?\nA:" if form == 1 else "It is",
            "entity": entity,
            "invented": is_invented,
            "label": ("enemy", "friend")[number // 2 % 2] if is_labelled else None,
            "type": ("sports", "history")[number % 2] if is_labelled else None,
            "degree": 0 if is_invented else 10 * (number + 1),
            "relation_degree": 0 if is_invented else number + 1,
        }
        yield "queries", query
    for relation, kind, (number, entity) in product(relations, TONES, enumerate(names)):
        label, strength = TONES[kind] if relation in LABELLED else (None, None)
        context = {
            "context_id": f"{relation} {kind} {number}",
            "relation": relation,
            "kind": kind,
            "text": f"The {relation} of Norway is {kind} {number}.\n",
            "object": f"{kind} {number}",
            "label": label,
            "strength": strength,
            "entity": entity,
        }
        yield "contexts", context


def _questions(count: int, own: bool) -> NamedRows:
    content = _CONTENT["questions"]["own" if own else "DynamicQA"]
    contexts = [
        as_row(QuestionContext(name, condition, (Passage(text),), tuple(answers)))
        for name, condition, text, answers in content["contexts"]
    ]
    for number in range(count):
        partition = ("static", "temporal", "disputable")[number % 3]
        question = {
            **content["columns"],
            "question_id": f"question {number}",
            "relation": RELATIONS[number % 2],
            "question": f"What is capital {number}?",
            "contexts": contexts,
        }
        if own:
            question |= {"partition": f"group {number % 2} & more", "other_columns": f'{{"chapter": {number % 3}}}'}
        else:
            question |= {
                "partition": partition,
                "subject_id": f"Q{20 + number // 2}",
                "edits": number,
                "subject_popularity": 100 * _draw("subject", number),
                "object_popularity": None if partition == "disputable" else 50 * _draw("object", number),
            }
        yield "questions", question


def _counts(queries: Iterable[Row]) -> NamedRows:
    """Yield the counts of the entities of queries in a corpus of one file."""
    entities = {(query["entity"], query["answer"]): query["degree"] for query in queries}
    for number, ((entity, answer), degree) in enumerate(entities.items()):
        excluded = "mostly written in small letters" if number == 2 else None
        counts = {"entity_count": 3 * degree, "pair_count": degree, "excluded": excluded}
        yield "frequencies", {"entity": entity, "answer": answer, **counts}


def _query_scores(dtype: str, queries: Sequence[Row], contexts: Sequence[Row]) -> NamedRows:
    for number, query in enumerate(queries):
        for name, scores in _scores_of_query(dtype, number, query):
            yield name, {"relation": query["relation"], "query_id": query["query_id"], **scores}
    for query, context in product(queries, contexts):
        if query["relation"] != context["relation"]:
            continue
        pair = {"relation": query["relation"], "query_id": query["query_id"], "context_id": context["context_id"]}
        is_relevant = query["entity"] == context["entity"]
        persuasion = _draw(dtype, *pair.values()) + 0.5 * is_relevant
        yield "persuasion", {**pair, "relevant": is_relevant, "persuasion": persuasion}
        follows = ("context", "original", "other")[int(3 * _draw("follows", *pair.values()))]
        conflict = {"base": "substitution", "negation": "negation"}.get(context["kind"]) if is_relevant else None
        yield "greedy_answers", {**pair, "relevant": is_relevant, "conflict": conflict, "follows": follows}
    for context, (query_type, form) in product(contexts, FORMS):
        identity = {"relation": context["relation"], "context_id": context["context_id"]}
        score = {"entity_independent_persuasion": _draw(dtype, context["context_id"], form)}
        yield "entity_independent_persuasion", {**identity, "query_type": query_type, "form": form, **score}


def _scores_of_query(dtype: str, number: int, query: Row) -> NamedRows:
    score, draw = _draw(dtype, query["query_id"]) + 0.3 * query["invented"], _draw(number)
    yield "susceptibility", {"susceptibility": score}
    for rank, token in enumerate((" Oslo", "\n"), 1):
        yield "likeliest_tokens", {"context_id": "none", "rank": rank, "token": token, "probability": 0.5 / rank}
    yield "fisher_susceptibility", {"fisher_top_k": score**2, "fisher": score * (1 + draw)}
    yield "answer_set_susceptibility", {"answer_set_susceptibility": score * 0.9, "mass": 0.5 + 0.4 * draw}
    original, substitute = number % 5, (number * 3) % 4
    ratio = original / (original + substitute) if original + substitute else None
    counts = ("original", "negation_original", "negation_substitute", "all_original", "all_substitute")
    ratios = {"memorization_ratio": ratio, "memorization_ratio_all": ratio}
    yield "memorization_ratio", {**dict.fromkeys(counts, original), "substitute": substitute, **ratios}
    if dtype == "bfloat16":
        yield "precision", {"susceptibility": score, "susceptibility_reference": score + 0.01 * draw}


def _reliability(relations: Sequence[str]) -> NamedRows:
    for identity in product(relations, ("open", "closed"), ("persuasion", "susceptibility"), ("seeds", "forms")):
        columns = zip(("relation", "query_type", "measure", "over"), identity, strict=True)
        values = dict.fromkeys(("mean_score", "variance", "median", "percentile_95", "largest"), 0.1 * _draw(*identity))
        yield "reliability", {**dict(columns), **values}


def _runs(variant: str, relations: Sequence[str]) -> NamedRows:
    yield "variants", {"variant": variant}
    identity = {"variant": variant, "relation": next(iter(relations), "P36")}
    for measure, seconds in (("persuasion", 30.0), ("fisher_susceptibility", 1.0), ("answers", 2.0)):
        yield "runs", {**identity, "measure": measure, "file": f"{variant} {measure}", "seconds": seconds}


def _answer_scores(draw: Sequence[float]) -> NamedRows:
    """Yield the replies to a question, alone or with a context, and the scores that need no context."""
    for sample in (None, 0, 1, 2, 3, 4):
        text = "Oslo" if draw[0] < 0.5 or sample == 1 else "Bergen"
        reply = {"text": text, "token_log_probs": [-0.5, -draw[1]], "thoughts": "Hm." if sample == 1 else ""}
        yield "answers", {"sample": sample, **reply}
        if sample is not None:
            yield "clusters", {"sample": sample, "cluster": int(text == "Oslo")}
    yield "semantic_entropy", dict.fromkeys(ENTROPIES, 2 * draw[0])
    yield "accuracy", {"accurate": draw[2] < 0.6}


def _context_scores(draw: Sequence[float]) -> NamedRows:
    """Yield the scores of a question with a context."""
    persuasion = {"coherent_persuasion": 3 * draw[1], "coherent_persuasion_unchanged": draw[1] / 2}
    yield "coherent_persuasion", persuasion
    yield "persuaded", {"persuaded": draw[3] < 0.4, "stubborn": draw[3] > 0.7}
    outcome = ("persuaded", "persuaded", "agreed", "other", "stubborn")[int(5 * draw[3])]
    verdict = "context" if outcome in ("persuaded", "agreed") else "refusal" if draw[3] < 0.65 else "neither"
    reason, decided_by = ("denied", None) if verdict == "neither" else (None, "rule")
    yield "whose_answer", {"verdict": verdict, "reason": reason, "outcome": outcome, "decided_by": decided_by}
    yield "whose_answer", {"sample": 0, "verdict": "both", "decided_by": "rule"}
    opinion = verdict if draw[1] < 0.7 else "both" if draw[1] < 0.95 else None
    judgement = {
        "verdict": opinion,
        "log_probability": opinion and -draw[1],
        "unjudged": None if opinion else "no offered verdict",
        "rule": None if verdict == "neither" else verdict,
    }
    yield "judged_answers", judgement
    yield "cited_passages", {"citation_right": draw[0] < 0.5}
    yield "context_utilisation", {"binary_utilisation": draw[3] < 0.5, "continuous_utilisation": 2 * draw[3] - 1}
    yield "passage_persuasion", {"passage_persuasion": draw[2]}
