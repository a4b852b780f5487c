"""The graph of a study: its steps and their inputs. CONTRIBUTING.md has the files of a run, in order.

    fetch      facts of a relation    invented names     questions of a partition    triples => questions of a property
                        |              of a class                    |               pages   => disputes of a page
                        |                    |                       |                              |-> its questions
                        +---------+----------+                       +--------------+---------------+
    build        queries and contexts of a relation                   choice of questions => questions of a relation
                                  |                                                          |
    score      the passes over a relation with a variant
                                  |
    aggregate  comparison of seeds, decided answers -> database with statistics and history
                                  |
    report     the page

A line or -> leads from a step to a step that reads its artifacts. A => B: the rows of an artifact of A list the steps
B, which are known once A is done. The picture lacks the counts of entities in a corpus, which the database reads. A
partition is the static, the temporal or the disputable questions. Decided answers are replies whose verdicts people or
judges decide.

Each module of `stages` that adds steps also has the functions of these steps, which make the artifacts.
"""

from typing import Any

from swaymeter.flows.graph.graph import Graph
from swaymeter.flows.graph.rerun import RerunNumbers, numbers_file, read_numbers
from swaymeter.flows.stages.aggregate import add_database, add_decided_answers
from swaymeter.flows.stages.build import add_build_steps
from swaymeter.flows.stages.fetch import add_fetch_steps
from swaymeter.flows.stages.frequency import add_counting_steps
from swaymeter.flows.stages.plan import Plan
from swaymeter.flows.stages.report import add_report
from swaymeter.flows.stages.score import add_score_steps
from swaymeter.flows.stages.seeds import add_comparisons_of_seeds


def graph_of(
    plan: Plan,
    shared_results: dict[Any, Any] | None = None,
    *,
    rerun_numbers: RerunNumbers | None = None,
) -> Graph:
    """Return the graph of a study, resolved as far as its workspace allows; nothing is run.

    Args:
        plan: The study in its workspace.
        shared_results: Results that all graphs of a run share, such as checks of artifacts; None for a single graph.
        rerun_numbers: Numbers that --force and --refresh put into the keys of selected artifacts; None for the numbers
            that the workspace has stored.
    """
    workspace = plan.workspace
    workspace.check_layout()
    graph = Graph(
        workspace, rerun_numbers=rerun_numbers or read_numbers(numbers_file(workspace)), shared_results=shared_results
    )
    fetched = add_fetch_steps(graph, plan)
    built = add_build_steps(graph, plan, fetched)
    scores = add_score_steps(graph, plan, built)
    compared = add_comparisons_of_seeds(graph, plan, fetched, built, scores)
    counted, decided = add_counting_steps(graph, plan, built), add_decided_answers(graph, plan, built, scores)
    database = add_database(graph, plan, fetched, built, [*scores, *compared, *counted, *decided])
    add_report(graph, plan, fetched, built, database)
    return graph
