"""What a reduced number format costs: susceptibility in it against float32, on a sample of queries."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports.figures.plate import Plate
from reports.frames import Finite, Model, by_model, finite
from reports.style import INK, QUERY_HUES, blank, plain

TITLE = "What does a reduced number format cost?"
SCORES = ("susceptibility", "susceptibility_reference", "largest_difference", "mean_difference")


@dataclass(frozen=True)
class Cost:
    """What a number format costs on a sample: differences in nats, Spearman's rho (NaN where undefined)."""

    queries: int
    reference: str
    mean: float
    largest: float
    spearman: float
    largest_persuasion: float
    mean_persuasion: float

    def words(self, dtype: str) -> str:
        """The cost as a clause."""
        rank = "" if pd.isna(self.spearman) else f"; Spearman {self.spearman:.3f}"
        return (
            f"{dtype} against {self.reference} on {self.queries} sampled quer{'y' if self.queries == 1 else 'ies'}: "
            f"susceptibility differs by {self.mean:.2g} nats on average, at most {self.largest:.2g}{rank}; a context's "
            f"persuasion by {self.mean_persuasion:.2g} on average, at most {self.largest_persuasion:.2g} nats"
        )


def cost(rows: pd.DataFrame) -> Cost:
    """The cost over rows (n,) of one model whose scores are finite, n > 0."""
    difference = (rows["susceptibility"] - rows["susceptibility_reference"]).abs()
    ranks = [rows[name].rank().to_numpy(dtype=float) for name in ("susceptibility", "susceptibility_reference")]
    varied = all(len(set(one)) > 1 for one in ranks)
    return Cost(
        len(rows),
        " and ".join(sorted(set(rows["reference"].astype(str)))),
        float(difference.mean()),
        float(difference.max()),
        float(np.corrcoef(ranks[0], ranks[1])[0, 1]) if varied else float("nan"),
        float(rows["largest_difference"].max()),
        float(rows["mean_difference"].mean()),
    )


def difference_of_formats(axes: Axes, data: pd.DataFrame) -> Axes:
    """Draws a query a dot: susceptibility in the reference format across, the difference to it up, both in nats.

    `data` has query_type, susceptibility, susceptibility_reference; one query type.
    """
    axes.axhline(0, color=INK, linewidth=1)
    axes.plot(
        data["susceptibility_reference"],
        data["susceptibility"] - data["susceptibility_reference"],
        "o",
        color=QUERY_HUES[str(data["query_type"].iloc[0])],
        markersize=3.6,
        alpha=0.8,
        markeredgewidth=0,
    )
    return axes


def precision_plates(frames: dict[str, pd.DataFrame]) -> list[Plate]:
    """One plate per model in a reduced format of which a sample was scored again in the reference format."""
    plates = []
    for model, rows in by_model(frames["precision_of_queries"]):
        found = finite(rows, *SCORES)
        if not found.rows.empty:
            plates.append(_plate(model, rows, found))
    return plates


def _plate(model: Model, every: pd.DataFrame, found: Finite) -> Plate:
    rows, all_of_it = found.rows, cost(found.rows)
    relations = rows["relation"].nunique()
    caption = (
        f"Each dot is a sampled query: across, its susceptibility in {all_of_it.reference}; up, how much more it is in "
        f"{model.dtype}, with the same contexts; on the zero line the format costs nothing. "
        f"{all_of_it.words(model.dtype)}. {model}; n = {len(rows)} queries in {relations} "
        f"relation{'' if relations == 1 else 's'}.{found.note('sampled queries')}"
    )
    alt = (
        f"Scatter plots of the difference in susceptibility between {model.dtype} and {all_of_it.reference}, in nats, "
        f"open and closed queries in panels, for {model}: {all_of_it.words(model.dtype)}."
    )
    return Plate(
        f"precision-{model.slug}",
        TITLE,
        str(model),
        caption,
        alt,
        every.drop(columns=["model", "dtype"]),
        _shown(rows),
        partial(_paint, rows, model.dtype, all_of_it.reference),
    )


def _shown(rows: pd.DataFrame) -> pd.DataFrame:
    made = []
    for words, kinds in (*((kind, [kind]) for kind in QUERY_HUES), ("both", [*QUERY_HUES])):
        part = rows[rows["query_type"].isin(kinds)]
        if not part.empty:
            found = cost(part)
            made.append(
                {
                    "query_type": words,
                    "queries": found.queries,
                    "mean_difference_of_susceptibility": found.mean,
                    "largest_difference_of_susceptibility": found.largest,
                    "spearman": found.spearman,
                    "mean_difference_of_persuasion": found.mean_persuasion,
                    "largest_difference_of_persuasion": found.largest_persuasion,
                }
            )
    return pd.DataFrame(made)


def _paint(rows: pd.DataFrame, dtype: str, reference: str) -> Figure:
    types = [kind for kind in QUERY_HUES if (rows["query_type"] == kind).any()]
    figure, grid = blank(1, len(types), 2.9, share_x=True, share_y=True)
    for axes, kind in zip(grid[0], types, strict=True):
        difference_of_formats(axes, rows[rows["query_type"] == kind])
        axes.set_title(f"{kind} queries")
        axes.set_xlabel(f"susceptibility in {plain(reference)} (nats)")
    grid[0][0].set_ylabel(f"susceptibility (nats),\n{plain(dtype)} minus {plain(reference)}")
    grid[0][0].set_xlim(left=0)
    return figure
