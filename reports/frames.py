"""Frames of named queries: with units, in a fixed order, without missing scores."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from swaymeter.data.records import OWN_CONDITIONS, PARTITIONS
from swaymeter.data.records.statistics import QUANTILES

Frames = Mapping[str, pd.DataFrame]
"""Frames by the named query of the warehouse that they answer."""

_IN_UNIT = ("mean", "mean_a", "mean_b", "low", "high", *QUANTILES)


def with_empty(frames: Frames, queries: Iterable[str]) -> dict[str, pd.DataFrame]:
    """The frames of these queries, an empty one where there is none."""
    return {name: frames[name] if name in frames else pd.DataFrame() for name in queries}


def units(frame: pd.DataFrame) -> dict[str, str]:
    """Return the units of the columns: from the warehouse, or from the frame's own column `unit`.

    In frames of summaries, the column `unit` has the unit of mean and quantiles; it is returned only if all rows have
    the same.
    """
    frame_units: dict[str, str] = dict(frame.attrs.get("units", {}))
    own = list(frame["unit"].unique()) if "unit" in frame else []
    return frame_units | (dict.fromkeys(_IN_UNIT, str(own[0])) if len(own) == 1 else {})


def unit_of(rows: pd.DataFrame, column: str = "unit") -> str:
    """The unit that rows share; empty where there are none, as when their statistic could not be computed."""
    return str(rows[column].iloc[0]) if len(rows) else ""


def without_unit(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame of one model without its columns model, dtype and `unit`; its other columns then carry the unit."""
    shown = frame.drop(columns=["model", "dtype", "unit"])
    shown.attrs["units"] = units(frame)
    return shown


@dataclass(frozen=True)
class Finite:
    """The rows whose scores are numbers, and how many rows were not."""

    rows: pd.DataFrame
    missing: int

    def note(self, what: str) -> str:
        """A sentence for the caption; empty where nothing is missing."""
        if not self.missing:
            return ""
        total = self.missing + len(self.rows)
        return f" {self.missing} of {total} {what} have a score that is missing or not finite and are not drawn."


def finite(frame: pd.DataFrame, *columns: str) -> Finite:
    """Splits off, and counts, the rows in which one of the columns is missing, infinite or not a number."""
    good = np.ones(len(frame), dtype=bool)
    for column in columns if len(frame) else ():
        good &= np.isfinite(frame[column].to_numpy(dtype=float, na_value=np.nan))
    return Finite(frame if good.all() else frame[good].reset_index(drop=True), int((~good).sum()))


def where(frame: pd.DataFrame, **values: object) -> pd.DataFrame:
    """The rows in which each of these columns has this value, or one of a list; an empty frame as it is."""
    for column, value in values.items():
        if len(frame):
            frame = frame[frame[column].isin(value) if isinstance(value, list) else frame[column] == value]
    return frame


def as_published(tests: pd.DataFrame) -> pd.DataFrame:
    """The tests that are made as the papers make them: permutations of rows that count as independent."""
    return tests[(tests["test"] == "permutation") & (tests["unit_of_analysis"] != "entity")] if len(tests) else tests


def by_entity(tests: pd.DataFrame) -> pd.DataFrame:
    """The tests whose rows are entities, each with the mean over its queries or answers."""
    return where(tests, unit_of_analysis="entity")


def in_order(frame: pd.DataFrame, **orders: Iterable[object]) -> pd.DataFrame:
    """The rows sorted by these columns in turn, the values of each in a fixed order; values that are not in it last."""
    if frame.empty:
        return frame
    ranks = {column: {value: at for at, value in enumerate(order)} for column, order in orders.items()}
    by_rank = frame.sort_values(list(ranks), key=lambda column: column.map(ranks[str(column.name)]), kind="stable")
    return by_rank.reset_index(drop=True)


def present(rows: pd.DataFrame, column: str, order: Sequence[str]) -> list[str]:
    """The values of `order` that occur in a column, in that order; then any others, sorted."""
    values = set(rows[column].astype(str)) if len(rows) else set()
    return [value for value in order if value in values] + sorted(values - set(order))


def partitions(rows: pd.DataFrame) -> list[str]:
    """The partitions that occur: DynamicQA's in their fixed order, then the groups of own questions."""
    return present(rows, "partition", PARTITIONS)


def grouping(rows: pd.DataFrame) -> str:
    """Return the name of the partitions of a frame with conditions: own questions have groups."""
    return "group" if are_own(rows) else "partition"


def are_own(rows: pd.DataFrame) -> bool:
    """Return True if a frame with conditions is about a user's own questions."""
    return len(rows) > 0 and bool(rows["condition"].isin(OWN_CONDITIONS).any())


def is_audit(frames: Frames) -> bool:
    """Return True if a study asks a user's own questions, beside which no published value stands."""
    return "outcomes" in frames and are_own(frames["outcomes"])


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]
