"""The whole program: which steps a study has, what each needs, and what each makes.

    fetch      facts of a relation    invented names     questions of a partition    triples => questions of a property
                        |              of a class                    |               pages   => disputes of a page
                        |                    |                       |                              |-> its questions
                        +---------+----------+                       +--------------+---------------+
    build        queries and contexts of a relation                   choice of questions => questions of a relation
                                  |                                                          |
    score      a pass over a relation with a model: the scores of one measure, or of several that share the pass
                                  |
    aggregate  how far scores vary between seeds, and verdicts by hand
                                  |
               database of all that is done, with statistics and history
                                                                                             |
    report     the page

-> is read by; => the rows of the earlier step say which later ones there are: these are listed once it is done. The
picture has the main edges, and leaves out the steps that count the names of queries in a corpus, whose counts the
statistics read; `needs` and `reads` below have all tables. Some steps wait for others of which they read no
table: a list of what there is has to be complete first.

A step whose inputs are not done is blocked by the step that makes them. What it `needs` it cannot do without; what it
`reads` it waits for, and goes on without: a relation that fails stops no other. Both name tables; a comment says whose
it is where several steps make one of that name. `each` says what there is a step for, and in which studies; facts are
fetched only for measures about queries or contexts, questions only for measures about questions. `scores` stands for a
table of each measure, each with a version of its own beside that of the step. A step waits for the processors or the
GPU unless `resource` says that it waits for services; names that a model invents wait for the processors, too. Imports
of annotations are files of people's work, made by no step: the choice and the database have their digests in their
keys.

A pass is what measures share that are computed from the same answers of a model; most measures have one of their own,
and some ask no model, as they follow from other scores. A partition is one of static, temporal and disputable
questions; a dispute is a wording on a page that was reverted again and again. Scores of a second seed go to the
comparison of seeds and nowhere else.

The modules beside this one, one of each stage, give a study's steps of these kinds, and
`swaymeter.flows.stages.resolve` joins them. What the functions do stands in `swaymeter.flows.steps`.
"""

from swaymeter.flows.graph.selection import OF_CLASSES
from swaymeter.flows.graph.step import StepKind
from swaymeter.flows.steps.aggregate import make_database
from swaymeter.flows.steps.build import build_prompts, build_questions, choose
from swaymeter.flows.steps.fetch import fetch_facts, fetch_names, fetch_questions
from swaymeter.flows.steps.frequency import add_up, collect_names, count_part
from swaymeter.flows.steps.report import draw_report
from swaymeter.flows.steps.score import compute_reliability, decide_answers, run_pass
from swaymeter.flows.steps.wikidata import fetch_disputes, fetch_pages, fetch_property, fetch_triples, write_page

# ---- fetch: from files and public services ---------------------------------------------------------------------------

FACTS = StepKind(
    "fetch", "facts", each="relation of a study with `facts`", makes=("facts",), function=fetch_facts, version=4,
    resource="services",
)  # fmt: skip
NAMES = StepKind(
    "fetch", OF_CLASSES, each="class of subjects, of a study with invented entities", makes=("invented",),
    function=fetch_names, version=4, resource="services",
)  # fmt: skip
CANDIDATES = StepKind(
    "fetch", "questions", each="partition, of a study with questions that are published, bundled or its own",
    makes=("rejected", "questions"), function=fetch_questions, version=5, resource="services",
)  # fmt: skip
TRIPLES = StepKind(
    "fetch", "triples", each="list, or property that triples are drawn of, of a study with questions from Wikidata",
    makes=("triples",), function=fetch_triples, version=2, resource="services",
)  # fmt: skip
OF_PROPERTY = StepKind(
    "fetch", "questions", each="relation of the triples", needs=("triples",), makes=("rejected", "questions"),
    function=fetch_property, version=2, resource="services",
)  # fmt: skip
PAGES = StepKind(
    "fetch", "pages", each="study with disputable questions from Wikipedia", makes=("pages",), function=fetch_pages,
    version=2, resource="services",
)  # fmt: skip
DISPUTES = StepKind(
    "fetch", "disputes", each="page that PAGES lists", makes=("disputes", "rejected"), function=fetch_disputes,
    version=2, resource="services",
)  # fmt: skip
OF_PAGE = StepKind(
    "fetch", "questions of disputes", each="page", needs=("disputes",), makes=("rejected", "questions"),
    function=write_page, version=2,
)  # fmt: skip

# ---- build: prompts --------------------------------------------------------------------------------------------------

PROMPTS = StepKind(
    "build", "queries and contexts", each="relation and seed", needs=("facts", "invented"),  # invented: if any
    makes=("queries", "contexts"), function=build_prompts, version=4,
)  # fmt: skip
CHOICE = StepKind(
    "build", "choice of questions", each="partition", makes=("questions", "rejected"),
    reads=("questions", "disputes"),  # of CANDIDATES, OF_PROPERTY, OF_PAGE; blocked until one of them is there
    function=choose, version=4,
)  # fmt: skip
QUESTIONS = StepKind(
    "build", "questions", each="relation that CHOICE lists", makes=("questions",), needs=("questions",),  # of CHOICE
    function=build_questions, version=5,
)  # fmt: skip
COUNTED_NAMES = StepKind(
    "build", "names to count", each="study with `frequency`", makes=("counted_pairs",), reads=("queries",),
    function=collect_names,
)  # fmt: skip
SHARD = StepKind(
    "build", "counts", each="file of the corpus, or index", needs=("counted_pairs",), makes=("shard_counts", "shards"),
    function=count_part, version=3,  # an index of a public API waits for services
)  # fmt: skip
FREQUENCIES = StepKind(
    "build", "frequencies", each="study with `frequency`", needs=("counted_pairs", "shard_counts", "shards"),
    makes=("frequencies",), function=add_up, version=3,
)  # fmt: skip

# ---- score, aggregate, report: `questions` are those of QUESTIONS ----------------------------------------------------

SCORES = StepKind(
    "score", "the measure whose pass it is", each="relation, seed, model and pass", makes=("scores",),
    needs=("queries", "contexts", "questions", "scores"),  # those that the measure is about; the scores that it is of
    function=run_pass,
)  # fmt: skip
RELIABILITY = StepKind(
    "aggregate", "reliability", each="relation and model, of a study with several seeds", makes=("reliability",),
    function=compute_reliability, needs=("queries", "contexts", "scores"),  # of every seed
)  # fmt: skip
DECISIONS = StepKind(
    "aggregate", "decided answers", each="relation of a study with `verdicts` or a judge", makes=("decided_answers",),
    needs=("questions",), function=decide_answers,
    reads=("scores",),  # answers, whose_answer and judged_answers of every variant
)  # fmt: skip
LOADED = ("triples", "pages", "disputes", "rejected", "shards")
"""The tables beside facts and prompts that the database has of what is fetched and built."""
DATABASE = StepKind(
    "aggregate", "database", each="study", makes=("files", "history"), function=make_database, version=2,
    reads=("queries", "contexts", "questions", "scores", "reliability", "frequencies", "decided_answers", "facts",
           "invented", *LOADED),
)  # fmt: skip
REPORT = StepKind(
    "report", "page", each="study", needs=("files",), reads=("facts", "questions"), makes=("files",),
    function=draw_report, version=6,
)  # fmt: skip
