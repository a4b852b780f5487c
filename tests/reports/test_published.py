"""Values of the papers beside a study's own values; every item of the papers is on the page."""

import pandas as pd
import pytest

from swaymeter.data.catalog import paper_items, papers
from swaymeter.data.errors import InputError
from swaymeter.reports.figures import FIGURES
from swaymeter.reports.figures.figure import as_in, draw_all
from swaymeter.reports.models import RUNS
from swaymeter.reports.published import aliases, published_of, significant, with_published
from swaymeter.reports.tables import TABLES, filled

NO_RUNS = pd.DataFrame()
LABELLED = pd.DataFrame([{"model": "meta-llama/Llama-2-7b-chat-hf", "dtype": "float32", "label": "Llama"}])


def as_model(frames: dict[str, pd.DataFrame], name: str) -> dict[str, pd.DataFrame]:
    """Return the frames under the name of another model."""
    return {key: frame.assign(model=name) if "model" in frame else frame for key, frame in frames.items()}


@pytest.fixture(scope="module")
def llama(study_frames: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    return as_model(study_frames, "llama-2-7b-chat")


@pytest.fixture(scope="module")
def pythia(study_frames: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    return as_model(study_frames, "EleutherAI/pythia-6.9b-deduped")


def test_aliases_follow_from_hub_ids_and_labels() -> None:
    names = ["gpt2", "openai-community/gpt2", "Llama", "mine"]
    assert list(aliases(names, LABELLED).values()) == ["gpt2", "gpt2", "llama-2-7b-chat", "mine"]


def test_row_has_value_of_its_model_and_group() -> None:
    rows = pd.DataFrame(
        [["openai-community/gpt2", "open"], ["gpt2", "closed"], ["gpt2-xl", "all"], ["mine", "open"]],
        columns=["model", "query_type"],
    ).assign(level="query")
    items = "liu-table-1", "liu-fig-1"
    assert list(with_published(rows, NO_RUNS, items, published="pearson")["published"]) == ["0.55", "0.21", "0.54", ""]
    for unmatched in (rows.assign(level="entity"), rows.drop(columns="level")):
        assert not with_published(unmatched, NO_RUNS, items, published="pearson")["published"].any()


def test_relations_are_counted_as_the_paper_counts_them() -> None:
    assert significant("pythia-6.9b-deduped", "familiarity", "open") == ("73 of 122", 73 / 122)
    assert significant("pythia-6.9b-deduped", "negation", "closed") == ("88%", 0.88)
    assert significant("pythia-70m-deduped", "familiarity", "closed") == ("none", 0.0)
    assert significant("gpt2", "familiarity", "open") is None


def test_tables_of_questions_have_published_values(llama: dict[str, pd.DataFrame]) -> None:
    entropies = filled(TABLES["accuracy-entropy-persuasion"], llama)
    assert "the entropy is summed or length-normalised" in entropies.caption
    rows = entropies.rows.set_index(["partition", "context"])
    assert rows.loc[("static", "no context"), "published accuracy"] == "13.06%"
    assert rows.loc[("static", "any context"), "published semantic entropy"] == "10.5663"
    assert rows.loc[("disputable", "no context"), "published accuracy"] == ""
    assert rows.loc[("static", "original context"), "published coherent persuasion"] == ""
    shares = filled(TABLES["shares-persuaded-and-stubborn"], llama)
    persuaded = shares.rows.set_index(["partition", "context"])["published persuaded (ROUGE-L)"]
    assert dict(persuaded[persuaded != ""]) == {
        ("static", "counter-memory context"): "78.44%",
        ("temporal", "counter-memory context"): "60.96%",
        ("disputable", "counter-memory context"): "63.83%",
    }
    assert "Published values: counts one context a question, presumably the counter-memory one" in shares.caption


def test_regressions_and_correlations_have_published_values(llama: dict[str, pd.DataFrame]) -> None:
    regressions = filled(TABLES["predictors-of-persuasion"], llama)
    edits = regressions.rows.query("predictor == 'edits of the fact' and published_beta != ''")
    assert edits[["entropies", "partition", "context", "published_beta", "published_p"]].to_numpy().tolist() == [
        [entropies, "temporal", "counter-memory context", "-0.65", "< 2e-16"]
        for entropies in ("summed", "length-normalised")
    ]
    entropy = regressions.rows.query("predictor == 'semantic entropy with the context' and published_beta != ''")
    assert dict(zip(entropy["entropies"], entropy["published_beta"], strict=True)) == {
        "summed": "-1.16",
        "length-normalised": "-1.16",
    }
    assert "and not the 6.5941 of Table 2" in regressions.caption
    correlations = filled(TABLES["correlations-of-persuasion"], llama).rows.query("published != ''")
    assert dict(zip(correlations["correlated_with"], correlations["published"], strict=True)) == {
        "edits of the fact": "-0.27",
        "semantic entropy without the context": "0.003",
        "length-normalised semantic entropy without the context": "0.003",
    }
    means = filled(TABLES["means-of-partitions"], llama).rows.query("partition == 'static' and context == 'no context'")
    published = means.set_index("quantity")["published"]
    assert published["semantic entropy"] == published["semantic entropy length normalised"] == "12.7064"


def test_model_of_no_paper_has_no_empty_column(study_frames: dict[str, pd.DataFrame]) -> None:
    table = filled(TABLES["mean-susceptibility-of-models"], study_frames)
    assert "published" not in table.rows
    assert "The papers print no value of smollm2-135m-instruct; they print values of 14 models." in table.caption
    assert len(table.published.rows) == 42


def test_captions_name_the_published_value_of_their_model(pythia: dict[str, pd.DataFrame]) -> None:
    (drawn,) = draw_all([FIGURES["susceptibility-by-frequency"]], pythia)[0]
    assert "spearman -0.23" in drawn.caption
    assert "query type not stated" in drawn.caption
    (without_values,) = draw_all([FIGURES["susceptibility-by-memorization"]], pythia)[0]
    assert without_values.caption.endswith("The papers print no values to compare with.")


def test_figures_mark_the_published_share_of_their_model(
    pythia: dict[str, pd.DataFrame], study_frames: dict[str, pd.DataFrame]
) -> None:
    for name, frames, is_marked in (("of the papers", pythia, True), ("other", study_frames, False)):
        (drawn,) = draw_all([FIGURES["persuasion-by-followed"]], frames)[0]
        texts = [text.get_text() for axes in drawn.drawing.paint().axes for text in axes.texts]
        assert any("in the paper: 59%" in text for text in texts) is is_marked, name
    (tests_by_model,) = draw_all([FIGURES["tests-by-model"]], pythia)[0]
    canvas = tests_by_model.drawing.paint()
    stars = [line.get_ydata()[0] for axes in canvas.axes for line in axes.lines if line.get_marker() == "*"]
    assert sorted({round(float(star), 1) for star in stars}) == [34.0, 50.0, 59.0, 59.8, 74.0, 88.0]


def test_own_questions_have_no_published_values(own_questions: dict[str, pd.DataFrame]) -> None:
    for name in ("accuracy-entropy-persuasion", "words-of-entropy-classes"):
        table = filled(TABLES[name], own_questions)
        assert len(table.rows)
        assert (table.published.note, len(table.published.rows)) == ("", 0)


def test_the_folded_table_has_all_published_values() -> None:
    published = published_of(("marjanovic-table-2",), ["gpt2"], {RUNS: NO_RUNS}, listed=True)
    rows = published.rows
    assert len(rows) == 18
    row = rows.query("model == 'qwen2-7b-instruct' and partition == 'temporal' and context == 'any context'")
    assert row[["accuracy", "semantic entropy", "coherent persuasion"]].to_numpy().tolist() == [
        ["50.40%", "5.5264", "3.9551"]
    ]
    notes = (
        "Marjanović et al. 2024, Table 2; the entropy is summed or length-normalised; "
        "entropies are without the 5 that the released code adds"
    )
    assert published.shared_notes == notes
    assert "note" not in rows
    classes = published_of(("marjanovic-fig-15",), ["gpt2"], {RUNS: NO_RUNS}, listed=True).rows
    assert list(classes["semantic entropy with"]) == ["< 10.5", "> 11, < 16", "> 17"]


AVAILABLE = [key for key, item in paper_items().items() if not item.lacks]
"""Items of the papers of which Swaymeter has a version."""


@pytest.fixture(scope="module")
def shown(study_frames: dict[str, pd.DataFrame]) -> set[str]:
    """The items that a figure draws, or a table shows in rows."""
    tests = study_frames["statistics_summary"]
    two_models = {**study_frames, "statistics_summary": pd.concat([tests, tests.assign(model="other")])}
    drawn = {item for drawn_figure in draw_all(FIGURES.values(), two_models)[0] for item in drawn_figure.figure.items}
    return drawn | {item for table in TABLES.values() if len(filled(table, study_frames).rows) for item in table.items}


@pytest.mark.parametrize("item", AVAILABLE)
def test_an_item_is_on_the_page(item: str, shown: set[str]) -> None:
    assert item in shown


def test_captions_name_papers_and_items(study_frames: dict[str, pd.DataFrame]) -> None:
    (drawn,) = draw_all([FIGURES["persuasion-by-followed"]], study_frames)[0]
    assert "As in Du et al. 2024, Fig. 2." in drawn.caption


def test_an_unknown_item_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"'Fig. 3', which is not a key of papers.yaml; use a key of that file, such as du-"
    ):
        as_in(["Fig. 3"])


def test_figures_and_tables_declare_every_available_item() -> None:
    declared = {item for owner in (*FIGURES.values(), *TABLES.values()) for item in owner.items}
    assert declared == set(AVAILABLE)
    assert {paper_items()[item].paper.short for item in declared} == {paper.short for paper in papers().values()}
