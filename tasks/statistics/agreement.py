"""Agreement of people: Krippendorff's alpha of each field of judgements.

The items of alpha are the texts that several people judged; judgements of outvoted people count, too. Of the choices on
a question (such as accept or discard), only the first two count, because a third person has read the first two.
`formulas.agreement` has the formula.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from swaymeter.data.records.judgements import FIELDS, comparable_text
from swaymeter.data.records.statistics import AnnotatorAgreement
from swaymeter.tasks.statistics.formulas.agreement import krippendorffs_alpha
from swaymeter.tasks.statistics.statistic import Row, Statistic

RATED = tuple(field for field, values in FIELDS.items() if values)
"""Fields of judgements whose values come from a list, such as `verdict`; other fields take any text."""
INDEPENDENT = 2
"""Number of people whose choices on a question count."""


def agreement_of_annotators(judgements: Iterable[Mapping[Any, Any]]) -> list[Row]:
    """Return the rows of `AnnotatorAgreement`, one for each field that at least two people judged.

    Args:
        judgements: rows of `Judgement` in the order of the files.
    """
    ratings_by_item: dict[tuple[str, ...], dict[str, str]] = defaultdict(dict)
    for row in judgements:
        has_problem = isinstance(row["problem"], str)  # else None or NaN
        # An outvoted judgement counts, although it has a problem.
        if row["field"] in RATED and (row["is_outvoted"] or not has_problem):
            item = (row[name] for name in ("field", "question_id", "context_id", "variant", "sample"))
            # A judgement is about the text that the person saw; judgements of another text are another item.
            ratings_of_item = ratings_by_item[*item, comparable_text(row["judged"])]
            if row["field"] != "choice" or len(ratings_of_item) < INDEPENDENT:
                ratings_of_item[row["annotator"]] = row["value"]
    by_field: dict[str, list[dict[str, str]]] = defaultdict(list)
    for (field, *_), ratings_of_item in ratings_by_item.items():
        if len(ratings_of_item) > 1:
            by_field[field].append(ratings_of_item)
    return [_agreement_row(field, ratings) for field, ratings in sorted(by_field.items())]


def _agreement_row(field: str, ratings: list[dict[str, str]]) -> Row:
    """Return the row of a field; `ratings` has, for each item, the values by annotator."""
    alpha = krippendorffs_alpha(ratings)
    values = {value for ratings_of_item in ratings for value in ratings_of_item.values()}
    undefined = f"all annotators always chose {values.pop()}, so chance agreement is not defined"
    return {
        "field": field,
        "items": len(ratings),
        "annotators": sorted({name for ratings_of_item in ratings for name in ratings_of_item}),
        "alpha": alpha,
        "undefined": undefined if alpha is None else None,
    }


AGREEMENT_OF_ANNOTATORS = Statistic(
    "annotator_agreement",
    1,
    AnnotatorAgreement,
    ("judgements_of_people",),
    lambda frames, seed: agreement_of_annotators(frames["judgements_of_people"].to_dict("records")),
)
