"""The commands about what was fetched: what to pass on, what a graph holds."""

from pathlib import Path
from typing import Annotated

import typer

from swaymeter.flows.cli.console import print_line, print_table, warn
from swaymeter.flows.cli.options import Folder, Offline, Relations, StudyFile, Traceback

datasets = typer.Typer()


@datasets.command()
def export(
    study: StudyFile,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")],
    workspace: Folder = None,
    relation: Relations = None,
    force: Annotated[bool, typer.Option("--force", help="Write over FILE where it is there already.")] = False,
    traceback: Traceback = False,
) -> None:
    """Write a study's facts and invented names in the layout of measureLM's yago_qec.json.

    Example: [bold]swaymeter export quickstart yago_qec.json[/bold]
    """
    from swaymeter.flows.api import Study
    from swaymeter.flows.datasets.export import export

    counts, without = export(Study.load(study, workspace, relation).contents, file, force=force)
    if without:
        warn(f"left out, since YAGO has no predicate for them: {', '.join(without)}")
    print_line(f"{file}: {sum(counts.values())} facts of {len(counts)} relations")


@datasets.command("export-questions")
def export_questions(
    study: StudyFile,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder to write the three files into.")],
    workspace: Folder = None,
    relation: Relations = None,
    force: Annotated[bool, typer.Option("--force", help="Write over files that are there already.")] = False,
    incomplete: Annotated[bool, typer.Option("--incomplete", help="Write what there is.")] = False,
    traceback: Traceback = False,
) -> None:
    """Write the questions of a study in the published layout of DynamicQA.

    Example: [bold]swaymeter export-questions wikidata my-dynamicqa[/bold]
    """
    from swaymeter.flows.api import Study
    from swaymeter.flows.datasets.export import export_questions

    contents = Study.load(study, workspace, relation).contents
    counts, omitted = export_questions(contents, folder, force=force, incomplete=incomplete)
    for question, why in omitted:
        warn(f"left out, for {why}: {question.question!r}")
    print_line(f"{folder}: {', '.join(f'{count} {partition}' for partition, count in counts.items())} questions")


@datasets.command()
def publish(
    study: StudyFile,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder; an earlier publication is replaced.")],
    workspace: Folder = None,
    traceback: Traceback = False,
) -> None:
    """Write a study ready to print and to pass on: figures, tables, data, a manifest.

    Example: [bold]swaymeter publish quickstart my-paper[/bold]
    """
    from swaymeter.flows.api import Study
    from swaymeter.flows.datasets.publish import publish

    print_line(str(publish(Study.load(study, workspace).contents, study, folder)))


@datasets.command()
def predicates(
    study: StudyFile, workspace: Folder = None, offline: Offline = False, traceback: Traceback = False
) -> None:
    """List the predicates of the graph that a study's facts come from, and the catalog's relations that use them.

    Example: [bold]swaymeter predicates yago[/bold]
    """
    from swaymeter.flows.api import Study
    from swaymeter.flows.datasets.export import predicates_of_graph

    rows = []
    for row, users in predicates_of_graph(Study.load(study, workspace).contents, offline=offline):
        classes = ", ".join(iri[max(iri.rfind("/"), iri.rfind("#")) + 1 :] for iri in row.subject_classes)
        rows.append((row.iri, f"{row.triples:,}", classes, ", ".join(users)))
    print_table(("predicate", "triples", "classes of its subjects", "relations"), rows, numbers=("triples",))
