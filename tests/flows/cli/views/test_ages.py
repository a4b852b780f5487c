"""The age of stored answers: the option --max-age, its default in a pipeline, and the line that states an age."""

from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest

from swaymeter.data.errors import UsageError
from swaymeter.flows.cli.views.ages import lines_of, max_age_of


@pytest.mark.parametrize(
    ("text", "ci_variable", "age"),
    [
        (None, "true", timedelta(hours=24)),
        (None, "", None),
        ("off", "true", None),
        ("30m", "", timedelta(minutes=30)),
        ("7d", "", timedelta(days=7)),
    ],
)
def test_option_and_pipeline_decide_the_maximum_age(
    text: str | None, ci_variable: str, age: timedelta | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", ci_variable)
    assert max_age_of(text) == age


@pytest.mark.parametrize("text", ["", "24", "1.5h", "-1h", "day"])
def test_a_malformed_age_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not an age; write an age such as 24h"):
        max_age_of(text)


def test_the_age_of_stored_answers_is_stated() -> None:
    now = datetime.now(UTC)
    ages = {"new": timedelta(minutes=1), "old": timedelta(hours=50)}
    servers = pd.DataFrame([{"model": name, "oldest_answer": (now - age).isoformat()} for name, age in ages.items()])
    (line,) = lines_of(servers)
    assert line.startswith("the oldest answers of old are 2 days old (")
    assert "--force" in line
