"""A corpus is counted file by file, an index at once: what changed is counted again, what was counted is kept."""

import json
import os
import re
import signal
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from swaymeter.data.errors import StudyFileError, UnknownName
from swaymeter.data.sources.corpus import Piece, Reading
from swaymeter.data.sources.http.session import close_sessions
from swaymeter.flows.api import Study
from swaymeter.flows.config.places import STUDIES
from swaymeter.flows.graph.graph import Graph, Step, StepId
from swaymeter.flows.graph.selection import Selection
from swaymeter.flows.study_graph import graph_of
from tests.data.sources.pieces import Pieces
from tests.data.sources.servers.faults import unused_address
from tests.flows.small_study import PREPARED, run, selected, small_study, write_study

MADE_UP = STUDIES / "made-up-corpus"
FREQUENCIES = StepId("build", "corpus", "frequencies")


def study_of(folder: Path, address: str = "", /, **frequency: Any) -> Study:
    """address: of infini-gram's API."""
    measures = {"susceptibility": {}}
    facts = {"relations": ["capital", "birthPlace"], "real_entities": 12, "invented_entities": 1}
    services = {"contact": "tests@example.org"}
    if address:
        services |= {"infini_gram": {"address": address, "requests_per_minute": 60_000}}
    changes = {"measures": measures, "facts": facts, "frequency": frequency, "services": services}
    return selected(folder, questions=None, **changes)


def built(study: Study) -> tuple[Graph, list[str]]:
    """The study's graph with its prompts and counts, and which files were counted."""
    counted: list[str] = []

    def note(step: Step) -> None:
        if step.id.product == "counts":
            counted.append(step.id.part)

    shared_results: dict[Any, Any] = {}
    graph = run(lambda: graph_of(study.plan, shared_results), Selection(stages=PREPARED), note)
    return graph, sorted(counted)


def frequencies(graph: Graph) -> list[dict[str, Any]]:
    return graph.nodes[FREQUENCIES].output("frequencies").read().to_pylist()  # type: ignore[no-any-return]


def test_a_corpus_is_not_a_relation(tmp_path: Path) -> None:
    study = study_of(tmp_path, corpus=["x"])
    assert FREQUENCIES in study.graph.nodes
    with pytest.raises(UnknownName, match="no relation is named 'corpus'"):
        Study.load(study.name, relations=["corpus"])


def test_ten_counts_are_those_of_a_few_lines(tmp_path: Path) -> None:
    graph, _ = built(study_of(tmp_path, corpus=[str(MADE_UP)], window_words=6))
    lines = [line for file in sorted(MADE_UP.glob("*.jsonl")) for line in file.read_text().splitlines()]
    texts = [re.sub(r"[^\w\s]", "", line[len('{"text": "') :].replace("\\n", " ")).split() for line in lines]
    most = sorted(frequencies(graph), key=lambda row: -row["pair_count"])[:10]
    assert most[-1]["pair_count"] > 0
    for row in most:
        entity, answer = row["entity"].split(), row["answer"].split()
        alone = near = 0
        for words in texts:
            for at in range(len(words)):
                if words[at : at + len(entity)] == entity:
                    alone += 1
                    end = at + len(entity)
                    around = [words[max(0, at - 5 - len(answer)) : at], words[end : end + 5 + len(answer)]]
                    near += any(part[i : i + len(answer)] == answer for part in around for i in range(len(part)))
        assert (row["entity_count"], row["pair_count"]) == (alone, near), row["entity"]
        assert (row["words"], row["documents"], row["shards"]) == (sum(map(len, texts)), len(texts), 2)


@pytest.fixture
def closed() -> Iterator[None]:
    yield
    close_sessions()


def made_up_texts() -> list[str]:
    lines = [line for file in sorted(MADE_UP.glob("*.jsonl")) for line in file.read_text().splitlines()]
    return [json.loads(line)["text"] for line in lines]


def test_an_api_counts_tokens_and_says_so(closed: None, tmp_path: Path) -> None:
    texts = made_up_texts()
    with Pieces(texts, parts=3).served() as server:
        study = study_of(tmp_path, server.address, source="infini-gram", index="pieces", window_words=6)
        graph, counted = built(study)
    assert counted == ["pieces"]
    rows = frequencies(graph)
    most = sorted(rows, key=lambda row: -row["entity_count"])[:10]
    assert most[-1]["entity_count"] > 0
    for row in most:
        behind_a_space = rf" {re.escape(row['entity'])}(?!\w)"
        assert row["entity_count"] == sum(len(re.findall(behind_a_space, text)) for text in texts), row["entity"]
        assert row["pair_count"] <= row["entity_count"]
    kinds = {(row["entity_counted"], row["pair_counted"], row["words"], row["tokens"] > 0) for row in rows}
    assert kinds == {("tokens", "approximate", None, True)}
    assert built(study)[1] == []
    with Pieces(["another corpus"]).served() as server:
        other = study_of(tmp_path, server.address, source="infini-gram", index="pieces", window_words=6)
        assert built(other)[1] == ["pieces"]


def test_api_that_is_away_stops_counts_alone(closed: None, tmp_path: Path) -> None:
    graph, _ = built(study_of(tmp_path, unused_address(), source="infini-gram", index="pieces"))
    states = {node.id.product: node for node in graph if node.id.stage == "build"}
    assert re.search(r"infini-gram .* cannot be reached: .*; or count a corpus of your own", states["counts"].reason)
    assert (states["frequencies"].state, states["queries and contexts"].state) == ("blocked", "done")


REFUSED = {
    "no index": ({"source": "infini-gram"}, "frequency.index"),
    "a name that is an address": ({"source": "infini-gram", "index": "https://a/"}, "frequency.index"),
    "a key of files": ({"source": "infini-gram", "index": "a", "corpus": ["b"]}, "is a key of source corpus"),
    "no source": ({"source": "infinigram"}, "choose one of corpus, infini-gram"),
}


@pytest.mark.parametrize(("frequency", "message"), REFUSED.values(), ids=REFUSED)
def test_what_an_index_cannot_be_is_refused(frequency: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(StudyFileError, match=message):
        study_of(tmp_path, **frequency)


def test_an_unknown_tokenizer_is_refused(tmp_path: Path) -> None:
    graph = study_of(tmp_path, source="infini-gram", index="a", tokenizer="nothing").graph
    assert "frequency.tokenizer: no language model is named 'nothing'" in graph.nodes[FREQUENCIES].reason


def test_only_a_new_or_changed_file_is_counted(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "a.txt").write_text("Norway and Oslo. " * 3)
    (corpus / "b.jsonl").write_text('{"text": "Norway"}\n')
    study = study_of(tmp_path, corpus=[str(corpus)])
    assert built(study)[1] == ["a.txt", "b.jsonl"]
    assert built(study)[1] == []
    (corpus / "b.jsonl").write_text('{"text": "Norway Norway"}\n')
    (corpus / "c.txt").write_text("Norway")
    graph, counted = built(study)
    assert counted == ["b.jsonl", "c.txt"]
    assert {row["shards"] for row in frequencies(graph)} == {3}
    assert built(study_of(tmp_path, corpus=[str(corpus)], common_word_share=0.5))[1] == []
    graph, counted = built(study_of(tmp_path, corpus=[str(corpus)], title="My texts"))
    assert (counted, {row["corpus"] for row in frequencies(graph)}) == ([], {"My texts"})


def test_file_that_changes_while_counted_is_counted_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.txt"
    file.write_text("Norway")
    pieces = Reading.pieces

    def grown(shard: Reading) -> Iterator[Piece]:
        file.write_text("Norway Norway")
        return pieces(shard)

    monkeypatch.setattr(Reading, "pieces", grown)
    graph, counted = built(study_of(tmp_path, corpus=[str(file)]))
    (counts,) = [node for node in graph if node.id.product == "counts"]
    (shard,) = counts.output("shards").read().to_pylist()
    assert (shard["words"], shard["digest"]) == (2, blake2b(b"Norway Norway").hexdigest())
    assert counted == ["a.txt", "a.txt"]  # what was read first is of no digest that is known


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # fork with threads
def test_a_killed_run_keeps_the_files_it_counted(tmp_path: Path) -> None:
    study = study_of(tmp_path, corpus=[str(MADE_UP)])
    if (child := os.fork()) == 0:
        shared_results: dict[Any, Any] = {}
        renew_graph = lambda: graph_of(study.plan, shared_results)  # noqa: E731
        run(renew_graph, Selection(stages=PREPARED), lambda step: step.id.product != "counts" or _die())
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    graph, counted = built(study)
    assert len(counted) == 1
    elsewhere = study_of(tmp_path / "undisturbed", corpus=[str(MADE_UP)])
    when = {"counted_at": ""}
    assert [row | when for row in frequencies(graph)] == [row | when for row in frequencies(built(elsewhere)[0])]


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_file_cut_short_stops_the_counts_alone(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "a.txt").write_text("Norway")
    packed = pa.compress(os.urandom(1000), "zstd", asbytes=True)
    (corpus / "b.txt.zst").write_bytes(packed[:500])
    (corpus / "c.jsonl").write_bytes(b"")
    graph, _ = built(study_of(tmp_path, corpus=[str(corpus)]))
    states = {node.id.part: node for node in graph if node.id.product == "counts"}
    assert [states[name].state for name in ("a.txt", "b.txt.zst", "c.jsonl")] == ["done", "failed", "failed"]
    assert "b.txt.zst cannot be read to its end" in states["b.txt.zst"].reason
    assert "c.jsonl has no text that can be read" in states["c.jsonl"].reason
    assert all("move it out of the folder" in states[name].reason for name in ("b.txt.zst", "c.jsonl"))
    assert graph.nodes[FREQUENCIES].state == "blocked"
    assert {node.state for node in graph if node.id.product == "queries and contexts"} == {"done"}


def test_counts_wait_for_the_first_queries(tmp_path: Path) -> None:
    graph = study_of(tmp_path, corpus=[str(MADE_UP)]).graph
    assert [node.state for node in graph if node.id.subject == "corpus"] == ["blocked"] * 4


def test_aliases_of_other_names_are_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    corpus, aliases = tmp_path / "a.txt", tmp_path / "aliases.csv"
    corpus.write_text("Norway")
    entity = frequencies(built(study_of(tmp_path, corpus=[str(corpus)]))[0])[0]["entity"]
    aliases.write_text(f"name,alias\nNowhere,Erewhon\n{entity},Norge\n")
    graph, _ = built(study_of(tmp_path, corpus=[str(corpus)], aliases=str(aliases)))
    assert graph.nodes[FREQUENCIES].state == "done"
    assert "1 of 2 names are neither entities nor answers: 'Nowhere'" in caplog.text
    aliases.write_text("name,alias\nNowhere,Erewhon\n")
    graph, _ = built(study_of(tmp_path, corpus=[str(corpus)], aliases=str(aliases)))
    reasons = {node.id.product: node.reason for node in graph if node.id.subject == "corpus"}
    assert "1 of 1 names are neither entities nor answers: 'Nowhere'" in reasons["names to count"]


def test_a_corpus_that_is_not_there_is_refused(tmp_path: Path) -> None:
    graph = study_of(tmp_path, corpus=[str(tmp_path / "nothing")]).graph
    assert "frequency.corpus" in graph.nodes[FREQUENCIES].reason
    with pytest.raises(StudyFileError, match=r"frequency: is compared with susceptibility"):
        Study.load(write_study(tmp_path, small_study(tmp_path, measures=["answers"], frequency={"corpus": ["x"]})))
