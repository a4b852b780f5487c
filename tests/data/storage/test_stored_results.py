from pathlib import Path

from swaymeter.data.storage.stored_results import StoredResults

JUDGE, VERDICT = {"judge": "nli"}, {"verdict": "original"}


def test_results_are_read_again_by_source(tmp_path: Path) -> None:
    StoredResults(tmp_path, JUDGE).add({("Oslo", 1): VERDICT, ("Bergen", 1): {"verdict": "context"}})
    stored, other = StoredResults(tmp_path, JUDGE), StoredResults(tmp_path, {"judge": "another"})
    assert (stored.get(("Oslo", 1)), stored.get(("Oslo", 2)), len(stored), len(other)) == (VERDICT, None, 2, 0)


def test_results_without_a_folder_stay_in_memory() -> None:
    results = StoredResults(None, JUDGE)
    results.add({"Oslo": VERDICT})
    assert (results.get("Oslo"), StoredResults(None, JUDGE).get("Oslo")) == (VERDICT, None)


def test_a_truncated_line_is_missing(tmp_path: Path) -> None:
    StoredResults(tmp_path, JUDGE).add({"Oslo": VERDICT, "Bergen": VERDICT})
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes().rstrip()[:-3])
    results = StoredResults(tmp_path, JUDGE)
    assert [case for case in ("Oslo", "Bergen") if results.get(case)] == ["Oslo"]
    results.add({"Bergen": VERDICT})
    assert StoredResults(tmp_path, JUDGE).get("Bergen") == VERDICT
