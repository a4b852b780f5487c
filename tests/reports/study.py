"""A small study of every measure with numbers drawn from a seed, and the frames of its report.

The scores are rows of the database's tables. The package's own queries and statistics compute the frames.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

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

Add = Callable[..., None]
"""A function that adds a row to the table of a name; columns without a value get NULL or a default."""
MODEL = "smollm2-135m-instruct"
RELATIONS = ("capital", "officialLanguage", "author", "birthPlace")
LABELLED = ("author", "birthPlace")
"""The relations whose entities have labels, and whose contexts have labels and strengths."""
TONES = {"base": ("positive", 1), "assertive": ("positive", 2), "negation": ("negative", 1)}
FORMS = tuple(product(("open", "closed"), (1, 2)))
DYNAMICQA = {
    "original": ("original", "The capital of Norway is Oslo.", ("Oslo", "Kristiania")),
    "counter_memory": ("counter_memory", "It is Bergen.", ("Bergen",)),
}
"""The contexts of a question of DynamicQA: their condition, text and answers, by id."""
OWN_CONTEXTS = {
    "forum": ("conflicting", "A text of forum.", ("Bergen",)),
    "shop": ("conflicting", "A text of shop.", ("Bergen",)),
    "irrelevant": ("irrelevant", "A text of irrelevant.", ()),
    "supporting": ("supporting", "A text of supporting.", ("Bergen",)),
    "unknown": ("unknown", "A text of unknown.", ("Bergen",)),
}
"""The contexts of a user's own question."""
CHOICES = [
    row(
        table("judgements"),
        number=number,
        question_id=question,
        field="choice",
        annotator=annotator,
        value=value,
        is_outvoted=False,
    )
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
    models: Iterable[tuple[str, str]] = ((MODEL, "float32"),),
    *,
    relations: Sequence[str] = RELATIONS,
    entities: int = 4,
    questions: int = 30,
    own: bool = False,
) -> dict[str, list[Row]]:
    """Return the rows of every table of a study with these models; `own` gives it a user's own questions."""
    rows = defaultdict[str, list[Row]](list)

    def add(name: str, **values: object) -> None:
        rows[name].append(row(table(name), **values))

    _add_prompts(add, relations, entities)
    _add_questions(add, questions, own)
    _add_counts(add, rows["queries"])
    add("rejected", partition="static", relation="capital", reason="no alias", detail="Norway")
    add("rejected", partition=None, relation="author", reason="no alias", detail="")
    for model, dtype in models:
        add_score = partial(add, model=model, dtype=dtype)
        _add_query_scores(add_score, dtype, rows["queries"], rows["contexts"])
        for question in rows["questions"]:
            for context in ({"context_id": "none", "condition": "none"}, *question["contexts"]):
                case = {
                    "relation": question["relation"],
                    "question_id": question["question_id"],
                    "context_id": context["context_id"],
                    "condition": context["condition"],
                }
                draw = [_draw(dtype, case["question_id"], case["context_id"], number) for number in range(4)]
                _add_question_scores(partial(add_score, **case), draw, has_context=case["condition"] != "none")
        _add_reliability(add_score, relations)
        _add_runs(add_score, f"{model}/{dtype}", relations)
    return rows


def frames(rows: dict[str, list[Row]] | None = None, names: Iterable[str] | None = None) -> dict[str, pd.DataFrame]:
    """Return the frames of a report on these rows, or only the frames of these names; a missing table is empty."""
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

    with TemporaryDirectory() as folder:
        study = tables() | {"judgements": CHOICES} if rows is None else rows
        build_study(Path(folder) / "study.duckdb", study, schema(), derive)
    return report_frames


def _draw(*identity: object) -> float:
    return float(generator(1, *identity).random())


def _add_prompts(add: Add, relations: Sequence[str], entities: int) -> None:
    for relation, (query_type, form), number in product(relations, FORMS, range(entities)):
        invented = number % 2 == 1
        add(
            "queries",
            query_id=f"{relation} {query_type} {form} {number}",
            relation=relation,
            query_type=query_type,
            form=form,
            text="Q: Which?\nA:" if form == 1 else "It is",
            answer="Oslo",
            entity=f"{'Ostremia' if invented else 'Norway'} {number}",
            invented=invented,
            label=("enemy", "friend")[number // 2 % 2] if relation in LABELLED else None,
            type=("sports", "history")[number % 2] if relation in LABELLED else None,
            degree=0 if invented else 10 * (number + 1),
            relation_degree=0 if invented else number + 1,
        )
    for relation, kind, number in product(relations, TONES, range(entities)):
        label, strength = TONES[kind] if relation in LABELLED else (None, None)
        add(
            "contexts",
            context_id=f"{relation} {kind} {number}",
            relation=relation,
            kind=kind,
            text=f"The {relation} of Norway is {kind} {number}.\n",
            object=f"{kind} {number}",
            label=label,
            strength=strength,
            entity=f"{'Ostremia' if number % 2 else 'Norway'} {number}",
        )


def _add_questions(add: Add, count: int, own: bool) -> None:
    for number in range(count):
        contexts = [
            as_row(QuestionContext(name, condition, (Passage(text),), answers))  # type: ignore[arg-type]
            for name, (condition, text, answers) in (OWN_CONTEXTS if own else DYNAMICQA).items()
        ]
        add_question = partial(
            add,
            "questions",
            question_id=f"question {number}",
            relation=RELATIONS[number % 2],
            object="Oslo",
            question=f"What is capital {number}?",
            contexts=contexts,
        )
        partition = ("static", "temporal", "disputable")[number % 3]
        if own:
            add_question(
                partition=f"group {number % 2} & more",
                subject="",
                answers=["Oslo"],
                replacement="",
                other_columns=f'{{"chapter": {number % 3}}}',
            )
        else:
            add_question(
                partition=partition,
                subject="Norway",
                subject_id=f"Q{20 + number // 2}",
                property_id="P36",
                object_id="Q585",
                answers=["Oslo", "Kristiania"],
                replacement="Bergen",
                edits=number,
                subject_popularity=100 * _draw("subject", number),
                object_popularity=None if partition == "disputable" else 50 * _draw("object", number),
            )


def _add_counts(add: Add, queries: Iterable[Row]) -> None:
    """Add the counts of the entities of queries in a corpus of one file."""
    entities = {(query["entity"], query["answer"]): query["degree"] for query in queries}
    for number, ((entity, answer), degree) in enumerate(entities.items()):
        add(
            "frequencies",
            entity=entity,
            answer=answer,
            entity_count=3 * degree,
            pair_count=degree,
            capitals_count=0,
            lower_case_count=0,
            entity_counted="words",
            pair_counted="words",
            excluded="mostly written in small letters" if number == 2 else None,
            words=12_345,
        )
    add("shards", size=70_000, read=70_000, words=12_345, problem="line 7 is not JSON")


def _add_query_scores(add: Add, dtype: str, queries: Sequence[Row], contexts: Sequence[Row]) -> None:
    for number, query in enumerate(queries):
        add_score = partial(add, relation=query["relation"], query_id=query["query_id"])
        score = _draw(dtype, query["query_id"]) + 0.3 * query["invented"]
        add_score("susceptibility", susceptibility=score, contexts=3)
        for rank, token in enumerate((" Oslo", "\n"), 1):
            add_score("likeliest_tokens", context_id="none", rank=rank, token=token, probability=0.5 / rank)
        add_score("fisher_susceptibility", fisher_top_k=score**2, fisher=score * (1 + _draw(number)))
        mass = 0.5 + 0.4 * _draw(number)
        add_score("answer_set_susceptibility", answer_set_susceptibility=score * 0.9, answers=5, mass=mass, contexts=3)
        original, substitute = number % 5, (number * 3) % 4
        ratio = original / (original + substitute) if original + substitute else None
        add_score(
            "memorization_ratio",
            original=original,
            substitute=substitute,
            memorization_ratio=ratio,
            memorization_ratio_all=ratio,
            negation_original=original,
            negation_substitute=original,
            all_original=original,
            all_substitute=original,
        )
        if dtype == "bfloat16":
            add_score(
                "precision",
                susceptibility=score,
                susceptibility_reference=score + 0.01 * _draw(number),
                reference="float32",
            )
    for query, context in product(queries, contexts):
        if query["relation"] != context["relation"]:
            continue
        pair = {"relation": query["relation"], "query_id": query["query_id"], "context_id": context["context_id"]}
        relevant = query["entity"] == context["entity"]
        moved = _draw(dtype, *pair.values()) + 0.5 * relevant
        add("persuasion", **pair, relevant=relevant, persuasion=moved)
        follows = ("context", "original", "other")[int(3 * _draw("follows", *pair.values()))]
        conflict = {"base": "substitution", "negation": "negation"}.get(context["kind"]) if relevant else None
        add("greedy_answers", **pair, relevant=relevant, conflict=conflict, text="Oslo", follows=follows)
    for context, (query_type, form) in product(contexts, FORMS):
        add(
            "entity_independent_persuasion",
            relation=context["relation"],
            query_type=query_type,
            form=form,
            context_id=context["context_id"],
            entities=4,
            entity_independent_persuasion=_draw(dtype, context["context_id"], form),
        )


def _add_reliability(add: Add, relations: Sequence[str]) -> None:
    for identity in product(relations, ("open", "closed"), ("persuasion", "susceptibility"), ("seeds", "forms")):
        relation, query_type, measure, over = identity
        values = dict.fromkeys(("mean_score", "variance", "median", "percentile_95", "largest"), 0.1 * _draw(*identity))
        add("reliability", relation=relation, query_type=query_type, measure=measure, over=over, n=8, **values)


def _add_runs(add: Add, variant: str, relations: Sequence[str]) -> None:
    add("variants", variant=variant)
    for measure, seconds in (("persuasion", 30.0), ("fisher_susceptibility", 1.0), ("answers", 2.0)):
        add(
            "runs",
            variant=variant,
            relation=next(iter(relations), "P36"),
            measure=measure,
            file=f"{variant} {measure}",
            seconds=seconds,
            reading="not by padded batches: it changes answers by 0.15 nats",
        )


def _add_question_scores(add: Add, draw: Sequence[float], *, has_context: bool) -> None:
    for sample in (None, 0, 1, 2, 3, 4):
        text = "Oslo" if draw[0] < 0.5 or sample == 1 else "Bergen"
        add(
            "answers",
            sample=sample,
            text=text,
            context_cut=0,
            state="complete",
            token_log_probs=[-0.5, -draw[1]],
            thoughts="Hm." if sample == 1 else "",
            thinking="enable_thinking=true",
        )
        if sample is not None:
            add("clusters", sample=sample, cluster=int(text == "Oslo"))
    names = (
        "semantic_entropy",
        "semantic_entropy_length_normalised",
        "semantic_entropy_rao",
        "cluster_assignment_entropy",
    )
    entropies = dict.fromkeys(names, 2 * draw[0]) | {f"{name}_standard_error": 0.1 for name in names}
    stand_in = "embedder for an entailment model"
    add("semantic_entropy", **entropies, groups=2, group_sizes=[2, 1], stand_in=stand_in)
    add("accuracy", accurate=draw[2] < 0.6, answer="Oslo")
    if not has_context:
        return
    add(
        "coherent_persuasion",
        coherent_persuasion=3 * draw[1],
        coherent_persuasion_standard_error=0.2,
        coherent_persuasion_unchanged=draw[1] / 2,
    )
    add("persuaded", persuaded=draw[3] < 0.4, stubborn=draw[3] > 0.7)
    outcome = ("persuaded", "persuaded", "agreed", "other", "stubborn")[int(5 * draw[3])]
    verdict = "context" if outcome in ("persuaded", "agreed") else "refusal" if draw[3] < 0.65 else "neither"
    reason, decided_by = ("denied", None) if verdict == "neither" else (None, "rule")
    add("whose_answer", verdict=verdict, reason=reason, outcome=outcome, decided_by=decided_by)
    add("whose_answer", sample=0, verdict="both", decided_by="rule")
    opinion = verdict if draw[1] < 0.7 else "both" if draw[1] < 0.95 else None
    add(
        "judged_answers",
        judge="large",
        verdict=opinion,
        log_probability=opinion and -draw[1],
        unjudged=None if opinion else "no offered verdict",
        rule=None if verdict == "neither" else verdict,
    )
    add("cited_passages", cited_exist=True, citation_right=draw[0] < 0.5, names_conflict=False)
    utilisation = {"binary_utilisation": draw[3] < 0.5, "continuous_utilisation": 2 * draw[3] - 1}
    add("context_utilisation", **utilisation)
    add("passage_persuasion", passage_persuasion=draw[2], context_cut=0, context_cut_without=0)
