"""Two databases side by side, of which one is somebody else's."""

from pathlib import Path

import pandas as pd
import pytest

from swaymeter.data.errors import DamagedFile
from swaymeter.flows.cli.views import compare


@pytest.mark.parametrize("prompt", ["[" * 100_000, "[1]", "{", '"text"', "1" * 5_000])
def test_a_prompt_of_others_is_an_object(prompt: str) -> None:
    with pytest.raises(DamagedFile, match=r"study\.duckdb has a prompt that is not a JSON object"):
        compare._object(Path("study.duckdb"), prompt)


def test_versions_and_parameters_of_measures_are_compared() -> None:
    kept = {"answers.max_new_tokens": "16", "revision of m (float32)": '"1a"', "prompt.system": '"Be brief."'}
    noted = compare._noted(pd.DataFrame({"item": kept.keys(), "state": kept.values()}))
    assert noted == {"answers.max_new_tokens": "16", "revision of m (float32)": "1a"}
