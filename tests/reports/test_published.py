"""Published values beside a study's own: in a table, in a caption, in a figure."""

import pandas as pd
from matplotlib.figure import Figure as Canvas

from reports.figures.panels import reference
from reports.published import published_note, with_published
from reports.tables import TABLES, filled


def test_a_table_has_values_of_its_own_and_other_models() -> None:
    rows = pd.DataFrame(
        [["llama-3-8b-instruct", "open"], ["gpt2", "closed"], ["gpt2", "all"]], columns=["model", "query_type"]
    )
    shown = with_published(rows, "liu-table-1", "pearson")
    assert list(shown["published"])[:2] == ["0.51", "0.38 (llama-3-8b-instruct)"]
    assert pd.isna(shown["published"][2])


def test_tables_on_the_page_have_the_published_values() -> None:
    row = {"level": "query", "dtype": "float32", "query_type": "open", "n": 9, "untestable": None}
    row["measure_b"] = "susceptibility"
    numbers = dict.fromkeys(("pearson", "pearson_p", "spearman", "spearman_p"), 0.5)
    measures = ("fisher", "memorization_ratio")
    rows = pd.DataFrame([{**row, **numbers, "model": "gpt2", "measure_a": measure} for measure in measures])
    fisher, other = filled(TABLES["agreement-of-measures"], {"correlations": rows}).rows["published"]
    assert fisher == "pearson 0.51 (llama-3-8b-instruct); spearman 0.76 (llama-3-8b-instruct)"
    assert pd.isna(other)
    times = pd.DataFrame([{"model": "gpt2", "dtype": "float32", "times_as_long": 3.0}])
    (runtime,) = filled(TABLES["runtime-of-susceptibilities"], {"runtime_of_susceptibilities": times}).rows["published"]
    assert runtime == "70 (256 contexts a query, model not stated); 30 (128 contexts a query, model not stated)"


def test_a_caption_names_values_and_source() -> None:
    note = published_note("du-fig-9")
    assert "pythia-6.9b-deduped open spearman -0.23" in note
    assert "Fig. 9" in note


def test_a_reference_is_a_line_with_its_label() -> None:
    axes = Canvas().subplots()
    reference(axes, 0.59, "published: 59%")
    assert [line.get_ydata()[0] for line in axes.lines] == [0.59]
    assert [text.get_text() for text in axes.texts] == ["published: 59%"]
