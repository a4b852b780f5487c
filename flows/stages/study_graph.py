"""The whole program: which steps a study has, what each needs, and what each makes.

    fetch      facts of a relation, invented names of a class    questions of a partition (published, bundled)
                        |                                        triples -> questions of a property
                        |                                        pages -> disputes of a page -> its questions
    build      queries and contexts of a relation                choice of questions -> questions of a relation
                        |                                                    |
    score      a pass over a relation with a model: the scores of one measure, or of several that share the pass
                        |
    aggregate  how far scores vary between seeds -> statistics of all scores -> database of everything that is done
                        |
    report     the page

A step whose inputs are not done is blocked by the step that makes them. It has those of `needs` that its study and its
measures ask for: invented names only where there are some, of queries, contexts and questions what a measure is about.
What it `reads` where it is there, it waits for, and goes on without it: a relation that fails stops no other; a choice
alone is blocked until one of its candidates is there. `scores` and `statistics` stand for a table of each measure or
statistic, whose versions they have. Imports of annotations are read by the choice and by the database. Steps that
follow from the content of another (relations of questions, pages of a list) are listed once that one is done.

A study with several seeds has queries, contexts and scores of each; those of the first seed alone are in statistics and
database, beside what the comparison of all seeds gives.

Several kinds make a table of the same name, so that a name alone does not say whose it is. `questions` are candidates
where they were fetched (CANDIDATES, OF_PROPERTY, OF_PAGE), and CHOICE reads these; what it makes, QUESTIONS reads; and
only what that makes is read by all that comes later. `rejected` are read by the database, whoever makes them.

Which steps of a kind a study has, and whose table each reads, is decided by the modules beside this one, a stage each.
`flows.stages.resolve` joins the stages. What the functions do stands in `flows.steps`.
"""

from flows.graph.step import StepKind
from flows.steps.aggregate import compute_statistics, load_database
from flows.steps.build import build_prompts, build_questions, choose
from flows.steps.fetch import fetch_facts, fetch_names, fetch_questions
from flows.steps.reliability import compute_reliability
from flows.steps.report import draw_report
from flows.steps.score import run_pass
from flows.steps.wikidata import fetch_disputes, fetch_pages, fetch_property, fetch_triples, write_page

# ---- fetch: from files and public services ---------------------------------------------------------------------------

FACTS = StepKind(
    "fetch", "facts", each="relation", makes=("facts",), function=fetch_facts, version=4, resource="services"
)
NAMES = StepKind(
    "fetch", "invented names", each="class of subjects", makes=("invented",), function=fetch_names, version=4,
    resource="services",
)  # fmt: skip
CANDIDATES = StepKind(
    "fetch", "questions", each="partition", makes=("rejected", "questions"), function=fetch_questions, version=5,
    resource="services",
)  # fmt: skip
TRIPLES = StepKind(
    "fetch", "triples", each="list, or property that triples are drawn of", makes=("triples",), function=fetch_triples,
    version=2, resource="services",
)  # fmt: skip
OF_PROPERTY = StepKind(
    "fetch", "questions", each="relation of the triples", needs=("triples",), makes=("rejected", "questions"),
    function=fetch_property, version=2, resource="services",
)  # fmt: skip
PAGES = StepKind("fetch", "pages", each="study", makes=("pages",), function=fetch_pages, version=2, resource="services")
DISPUTES = StepKind(
    "fetch", "disputes", each="page", makes=("disputes", "rejected"), function=fetch_disputes, version=2,
    resource="services",
)  # fmt: skip
OF_PAGE = StepKind(
    "fetch", "questions", each="page", needs=("disputes",), makes=("rejected", "questions"), function=write_page,
    version=2,
)  # fmt: skip

# ---- build: prompts --------------------------------------------------------------------------------------------------

PROMPTS = StepKind(
    "build", "queries and contexts", each="relation", needs=("facts", "invented"), makes=("queries", "contexts"),
    function=build_prompts, version=4,
)  # fmt: skip
CHOICE = StepKind(
    "build", "choice of questions", each="partition", reads=("questions", "disputes"), makes=("questions", "rejected"),
    function=choose, version=4,
)  # fmt: skip
QUESTIONS = StepKind(
    "build", "questions", each="relation", needs=("questions",), makes=("questions",), function=build_questions,
    version=5,
)  # fmt: skip

# ---- score, aggregate, report ----------------------------------------------------------------------------------------

SCORES = StepKind(
    "score", "the measure whose pass it is", each="relation and model", makes=("scores",), function=run_pass,
    needs=("queries", "contexts", "questions", "scores"),
)  # fmt: skip
RELIABILITY = StepKind(
    "aggregate", "reliability", each="relation and model, of a study with several seeds", makes=("reliability",),
    function=compute_reliability, needs=("queries", "contexts", "scores"),
)  # fmt: skip
STATISTICS = StepKind(
    "aggregate", "statistics", each="study", makes=("statistics",), function=compute_statistics, version=2,
    reads=("queries", "contexts", "questions", "scores", "reliability"),
)  # fmt: skip
DATABASE = StepKind(
    "aggregate", "database", each="study", makes=("files",), function=load_database,
    reads=(*STATISTICS.reads, "statistics", "facts", "invented", "triples", "pages", "disputes", "rejected"),
)  # fmt: skip
PAGE = StepKind(
    "report", "page", each="study", needs=("files",), reads=("facts", "questions"), makes=("files",),
    function=draw_report, version=6,
)  # fmt: skip
