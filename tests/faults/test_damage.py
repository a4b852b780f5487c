"""What is damaged is named, stops nothing else, and is all that is computed once it is mended."""

import re

import httpx

from tests.end_to_end.tiny_study import TinyStudy, cut_short


def test_damaged_prompts_fail_their_relation_alone_and_mended_are_all_that_is_computed(study: TinyStudy) -> None:
    asked = {relation: study.stored_prompts(relation) for relation in ("capital", "birthPlace")}
    for relation in asked:
        study.forget_scores(relation)
    prompts = study.one_file("prompts/capital/queries-*.parquet")
    whole = cut_short(prompts)

    failed = study.run("run")
    assert failed.code == 1, failed.said
    assert failed.prompts == asked["birthPlace"]
    assert "Traceback" not in failed.said
    (told,) = [line for line in failed.said.splitlines() if f": {prompts} cannot be read" in line]
    assert "capital x persuasion" in told

    with httpx.Client(base_url=study.api, trust_env=False) as api:
        artifacts = api.post("/artifacts/filter", json={"artifacts": {"key": {"any_": ["failed-relations"]}}}).json()
        (artifact,) = [one for one in artifacts if str(prompts) in one["data"]]  # other studies have theirs
        assert "capital" in artifact["data"]
        assert "birthPlace" not in artifact["data"]
        run = api.get(f"/flow_runs/{artifact['flow_run_id']}").json()
        assert (run["state_name"], run["parameters"]["workspace"]) == ("Failed", str(study.workspace))

    status = study.run("status")
    failed_rows = [line.split("│") for line in status.said.splitlines() if re.search(r"│ failed +│", line)]
    assert (status.code, {row[1].strip() for row in failed_rows}) == (1, {"capital"})
    assert f"{prompts} cannot be read" in status.said

    prompts.write_bytes(whole)
    mended = study.run("run")
    assert (mended.code, mended.prompts) == (0, asked["capital"]), mended.said
    assert "0 missing, 0 blocked, 0 failed, 0 damaged in" in study.run("status").said


def test_a_score_file_cut_short_is_named_by_aggregate_and_computed_again_by_score(study: TinyStudy) -> None:
    asked, scores = study.stored_prompts("director", ["persuasion"]), study.scores()
    damaged = study.one_file("scores/director/*/persuasion-*.parquet")
    cut_short(damaged)

    aggregated = study.run("aggregate")
    assert aggregated.code == 1
    assert f"{damaged} cannot be read" in aggregated.said
    assert "Traceback" not in aggregated.said

    again = study.run("score", "--relation", "director")
    assert (again.code, again.prompts) == (0, asked), again.said
    assert study.scores() == scores
