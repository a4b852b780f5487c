"""Cost of commands on a study of published size: 122 relations, each with 400 queries under 600 contexts.

The scores are made up and already written; everything else is as in any study. Each command has a process of its own,
and the processes that it starts count, too:

    status                  show the state of every step
    aggregate               compute statistics, and make the database from all files
    report                  make the page from the database
    aggregate_and_report    statistics, database and page in one `run`, as after the last score
    run_again               `run` with nothing to do
    aggregate_one_changed   `aggregate` after one relation has new scores of one model
"""

import argparse
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.machine import this_machine
from benchmarks.made_up import CONTEXTS, QUERIES, graph_of, write_facts, write_prompts, write_scores, write_study
from benchmarks.measuring import Table, arguments, publish
from benchmarks.process import Cost, cost_of

GIB = 1 << 30
COLUMNS = ("command", "seconds", "processor seconds", "peak of all processes, GiB")


def main() -> None:
    """Write the study, measure the commands, and publish their costs."""
    options = _options()
    with TemporaryDirectory() as folder:
        study = write_study(Path(folder), options.relations, options.entities, options.models)
        for write in (write_facts, write_prompts, write_scores):
            write(study)
        costs = measured(study)
    machine = this_machine("cpu")
    sizes = {
        "relations": options.relations,
        "queries": 2 * options.entities * QUERIES,
        "contexts": 2 * options.entities * CONTEXTS,
        "models": options.models,
    }
    prompts = options.relations * sizes["queries"] * sizes["contexts"] * options.models
    rows = [
        (name.replace("_", " "), f"{one.seconds:.1f}", f"{one.cpu_seconds:.1f}", f"{one.peak_bytes / GIB:.2f}")
        for name, one in costs.items()
    ]
    figures = {f"{name}_{what}": value for name, one in costs.items() for what, value in vars(one).items()}
    title = f"{prompts:,} prompts of {options.models} {'model' if options.models == 1 else 'models'}, {machine.name}"
    table = Table(title, COLUMNS, rows)
    publish("scale", machine, [table], {**sizes, "prompts": prompts, **figures}, options)


def _options() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--relations", type=int, default=122, help="how many of the catalog's; by default 122")
    parser.add_argument("--entities", type=int, default=50, help="real ones of a relation, and as many invented ones")
    parser.add_argument("--models", type=int, default=1, help="how many models have scores of all of it")
    options = parser.parse_args()
    if options.quick:
        options.relations, options.entities = 3, 2
    return options


def measured(study: Path) -> dict[str, Cost]:
    """Return the cost of each command."""
    costs = {stage: cost_of(study, "run", "--stage", stage) for stage in ("aggregate", "report")}
    costs["status"] = cost_of(study, "status")
    workspace = study.parent / "workspace"
    (workspace / "study.duckdb").unlink()
    shutil.rmtree(workspace / "report")
    costs["aggregate_and_report"] = cost_of(study, "run")
    unfinished = [str(node.id) for node in graph_of(study) if node.state != "done"]
    assert not unfinished, unfinished
    costs["run_again"] = cost_of(study, "run")
    changed = next(node.id.subject for node in graph_of(study) if node.id.product == "persuasion")
    write_scores(study, 1, changed)
    return {**costs, "aggregate_one_changed": cost_of(study, "run", "--stage", "aggregate")}


if __name__ == "__main__":
    main()
