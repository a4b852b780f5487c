"""The headline figure, its sentence and the worst replies."""

import pandas as pd
import pytest

from swaymeter.data.records.findings import Bar, Findings, HeadlineFigure, Part
from swaymeter.reports.findings import findings
from swaymeter.reports.headline import CONDITION_LABELS, PARTS, answer_sentence, figure
from swaymeter.reports.page import headline, worst
from swaymeter.reports.page.bars import groups
from tests.reports.study import MODEL


def test_shares_of_own_questions_add_up(own_questions: dict[str, pd.DataFrame]) -> None:
    chart = figure(own_questions)
    assert chart
    assert [(bar.label, bar.variant) for bar in chart.bars][:4] == [
        ("with a right passage", "other"),
        ("with a right passage", MODEL),
        ("with a wrong passage", "other"),
        ("with a wrong passage", MODEL),
    ]
    assert [sum(part.mean for part in bar.parts) for bar in chart.bars] == pytest.approx([1.0] * len(chart.bars))
    answers_of_other = own_questions["answers_of_questions"].query("condition == 'conflicting' and model == 'other'")
    following = answers_of_other.query("verdict == 'context'")
    wrong = chart.bars[2].part("wrong")
    assert wrong
    assert (wrong.count, wrong.address) == (
        len(following),
        "answers.html#model=other+%28float32%29&under=conflicting&verdict=wrong",
    )


def test_basis_counts_questions_in_all_and_per_kind(own_questions: dict[str, pd.DataFrame]) -> None:
    chart = figure(own_questions | {"overview": own_questions["overview"].assign(questions=50)})
    assert chart
    assert chart.basis.endswith("50 questions, at most 12 with one kind of context")


def test_relations_show_real_beside_invented(study_frames: dict[str, pd.DataFrame]) -> None:
    one_dtype = {
        name: frame[frame["dtype"] == "float32"] if "dtype" in frame else frame for name, frame in study_frames.items()
    }
    chart = figure(one_dtype | {"susceptibility_by_label": one_dtype["susceptibility_by_label"].iloc[:0]})
    assert chart
    assert (chart.unit, chart.parts) == ("nats", ("real", "invented"))
    assert {bar.label for bar in chart.bars} == {*study_frames["susceptibility_of_relations"]["relation"]}


def test_partitions_show_the_shares_of_outcomes(study_frames: dict[str, pd.DataFrame]) -> None:
    about_facts = ("susceptibility_by_label", "susceptibility_of_relations", "susceptibility_summary")
    result = findings(study_frames | {name: study_frames[name].iloc[:0] for name in about_facts})
    assert result.figure
    labels = [bar.label for bar in result.figure.bars if bar.variant == result.figure.bars[0].variant]
    assert labels == ["static questions", "temporal questions", "disputable questions"]
    assert all(sum(part.mean for part in bar.parts) == pytest.approx(1) for bar in result.figure.bars)
    assert result.verdict.startswith("A context persuades in ")


def test_differing_threshold_number_is_written_beside_the_bar(own_questions: dict[str, pd.DataFrame]) -> None:
    means = own_questions["models_side_by_side"].query("model == 'other'")
    wrong = means["quantity"].eq("follows") & means["group"].eq("conflicting")
    replies = own_questions["verdict_shares"].query("model == 'other'")
    share = replies.query("condition == 'conflicting' and quantity == 'wrong'")["mean"].item()
    equal, differing = (
        figure(own_questions | {"verdict_shares": replies, "models_side_by_side": rows})
        for rows in (means[wrong].assign(mean=share), means[wrong].assign(mean=0.375, low=0.2, high=0.6))
    )
    assert equal
    assert differing
    assert (equal.bars[1].name, equal.bars[1].threshold_words) == ("follow.conflicting", "")
    assert (differing.bars[1].name, differing.bars[1].threshold_words) == (
        "",
        "follow.conflicting 38% [20, 60] (wrong or both)",
    )


def test_the_main_part_is_first_with_its_interval() -> None:
    parts = Part("right", 0.2), Part("wrong", 0.62, 0.31, 0.86, 5), Part("neither", 0.18)
    chart = HeadlineFigure("", "share", PARTS, (Bar("with a wrong passage", parts, "", 8, "wrong"),))
    ((_, (row,)),) = groups(chart)
    assert [(mark.kind, round(mark.x)) for mark in row.marks] == [("wrong", 0), ("right", 62), ("neither", 82)]
    assert (row.marks[0].low, row.marks[0].high) == (31, 86)
    assert row.number == "wrong 62% [31, 86]"


def bar(condition: str, main: str, share: float, n: int = 40, low: float = 0.0, high: float = 1.0) -> Bar:
    part = Part(main, share, low, high, round(n * share))
    return Bar(CONDITION_LABELS[condition], (part,), "", n, main)


@pytest.mark.parametrize(
    ("bars", "sentence"),
    [
        (
            [bar("supporting", "right", 0.4, 40, 0.3, 0.5), bar("conflicting", "wrong", 0.8, 40, 0.7, 0.9)],
            "The model repeats wrong passages (80%) more often than it follows right ones (40%).",
        ),
        (
            [bar("supporting", "right", 0.9, 40, 0.8, 1.0), bar("conflicting", "wrong", 0.1, 40, 0.0, 0.2)],
            "The model follows right passages (90%) more often than it repeats wrong ones (10%).",
        ),
        (
            [bar("conflicting", "wrong", 0.5), bar("mixed", "wrong", 0.25, 120)],
            "The model repeats wrong passages in 50% of replies. Of all 160 replies to a wrong passage, alone or "
            "beside others, 31% repeat it.",
        ),
        (
            [bar("supporting", "right", 0.5), bar("conflicting", "wrong", 0.6)],
            "The model follows right passages (50%) and repeats wrong ones (60%); the difference is not significant.",
        ),
        ([bar("supporting", "right", 0.9)], "The model follows right passages in 90% of replies."),
        (
            [bar("supporting", "right", 0.9), bar("unknown", "passage", 0.1)],
            "The model follows right passages in 90% of replies; 40 other replies had a passage that may be right or "
            "wrong.",
        ),
        ([bar("conflicting", "wrong", 0.25)], "The model repeats wrong passages in 25% of replies."),
        ([bar("none", "right", 0.25)], "Without a passage, the model gives the right answer in 25% of replies."),
        (
            [bar("conflicting", "wrong", 1.0, n=3), bar("none", "right", 0.5)],
            "Too few replies to tell: no kind of passage has more than 3.",
        ),
    ],
)
def test_a_sentence_compares_right_with_wrong(
    bars: list[Bar], sentence: str, own_questions: dict[str, pd.DataFrame]
) -> None:
    study = own_questions | {"models_side_by_side": own_questions["models_side_by_side"].iloc[:0]}
    assert answer_sentence(study, HeadlineFigure("", "share", PARTS, tuple(bars)), []) == sentence


@pytest.mark.parametrize(
    ("undecided", "start"), [(20, "The model follows "), (21, "53% of replies are without a decision (")]
)
def test_an_undecided_majority_opens_the_sentence(
    undecided: int, start: str, own_questions: dict[str, pd.DataFrame]
) -> None:
    silent = pd.DataFrame([{"replies": 40, "undecided": undecided}])
    study = own_questions | {
        "models_side_by_side": own_questions["models_side_by_side"].iloc[:0],
        "silent_replies": silent,
    }
    chart = HeadlineFigure("", "share", PARTS, (bar("supporting", "right", 0.5),))
    assert answer_sentence(study, chart, []).startswith(start)


def test_names_in_the_figure_are_escaped() -> None:
    part = Part("<i>real</i>", 0.5, 0.4, 0.6, 4, 'queries.html#"><script>')
    chart = HeadlineFigure("<b>", "nats", (part.name,), (Bar("<img src=x>", (part,), "<u>", 4, part.name),), "<s>")
    html = headline(Findings(figure=chart))
    assert not any(tag in html for tag in ("<i>", "<b>", "<img", "<u>", "<s>", "<script"))


def test_the_worst_replies_come_with_their_passages(own_questions: dict[str, pd.DataFrame]) -> None:
    rows = own_questions["worst_replies"]
    assert len(rows) == 3
    assert rows["question_id"].nunique() == 3
    assert rows["repeats"].tolist() == [True, False, True]
    html = worst(own_questions, "answers.html", several=True)
    assert html.count("The reply repeats the wrong passage") == 2
    assert html.count("A text of supporting.") == 1
    assert html.count('href="answers.html#model=') == 3
    assert worst(own_questions, "", several=True) == ""


@pytest.mark.parametrize(
    ("verdict", "reason", "decided_by", "title"),
    [
        (
            "neither",
            "another answer or none",
            None,
            "The reply gives another answer than the right passage, or other words",
        ),
        ("neither", "unclear stance", None, "No decision whether the reply follows the right passage (unclear stance)"),
        ("neither", "another value", "rule", "The reply ignores the right passage"),
        ("refusal", None, "rule", "The reply declines despite the right passage"),
    ],
)
def test_a_worst_reply_is_titled_by_verdict(
    verdict: str, reason: str | None, decided_by: str | None, title: str, own_questions: dict[str, pd.DataFrame]
) -> None:
    row = own_questions["worst_replies"].iloc[[1]].assign(verdict=verdict, reason=reason, decided_by=decided_by)
    html = worst({"worst_replies": row}, "answers.html", several=False)
    assert f"<h3>{title}</h3>" in html
