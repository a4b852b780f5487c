"""Steps that count the files of a corpus, or a whole index; only a change is counted again."""

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
from tests.data.sources.servers.faults import unused_address
from tests.data.sources.word_index import WordIndex
from tests.flows.small_study import PREPARED, load_study, run, small_study, write_study

MADE_UP = STUDIES / "made-up-corpus"
FREQUENCIES = StepId("build", "corpus", "frequencies")


def frequency_study(folder: Path, address: str = "", /, **frequency: Any) -> Study:
    """Return a study with `frequency` as its section; `address` is the address of infini-gram's API."""
    measures = {"susceptibility": {}}
    facts = {"relations": ["capital", "birthPlace"], "real_entities": 12, "invented_entities": 1}
    services = {"contact": "tests@example.org"}
    if address:
        services |= {"infini_gram": {"address": address, "requests_per_minute": 60_000}}
    changes = {"measures": measures, "facts": facts, "frequency": frequency, "services": services}
    return load_study(folder, questions=None, **changes)


def build_counts(study: Study) -> tuple[Graph, list[str]]:
    """Build the prompts and counts of a study; return its graph, and the names of the counted files."""
    counted: list[str] = []

    def record(step: Step) -> None:
        if step.id.product == "counts":
            counted.append(step.id.part)

    shared_results: dict[Any, Any] = {}
    graph = run(lambda: graph_of(study.plan, shared_results), Selection(stages=PREPARED), record)
    return graph, sorted(counted)


def frequencies(graph: Graph) -> list[dict[str, Any]]:
    return graph.nodes[FREQUENCIES].output("frequencies").read().to_pylist()  # type: ignore[no-any-return]


def test_a_corpus_is_not_a_relation(tmp_path: Path) -> None:
    study = frequency_study(tmp_path, corpus=["x"])
    assert FREQUENCIES in study.graph.nodes
    with pytest.raises(UnknownName, match="no relation is named 'corpus'"):
        Study.load(study.name, relations=["corpus"])


def test_ten_counts_agree_with_a_plain_search(tmp_path: Path) -> None:
    graph, _ = build_counts(frequency_study(tmp_path, corpus=[str(MADE_UP)], window_words=6))
    lines = [line for file in sorted(MADE_UP.glob("*.jsonl")) for line in file.read_text().splitlines()]
    texts = [re.sub(r"[^\w\s]", "", line[len('{"text": "') :].replace("\\n", " ")).split() for line in lines]
    frequent = sorted(frequencies(graph), key=lambda row: -row["pair_count"])[:10]
    assert frequent[-1]["pair_count"] > 0
    for row in frequent:
        entity, answer = row["entity"].split(), row["answer"].split()
        entity_count = pair_count = 0
        for words in texts:
            for start in range(len(words)):
                if words[start : start + len(entity)] == entity:
                    entity_count += 1
                    end = start + len(entity)
                    # At a distance of at most 6 words, 5 words stand between the entity and its answer.
                    neighbours = [words[max(0, start - 5 - len(answer)) : start], words[end : end + 5 + len(answer)]]
                    pair_count += any(
                        part[offset : offset + len(answer)] == answer
                        for part in neighbours
                        for offset in range(len(part))
                    )
        assert (row["entity_count"], row["pair_count"]) == (entity_count, pair_count), row["entity"]
        assert (row["words"], row["documents"], row["shards"]) == (sum(map(len, texts)), len(texts), 2)


@pytest.fixture
def closed_sessions() -> Iterator[None]:
    yield
    close_sessions()


def made_up_texts() -> list[str]:
    lines = [line for file in sorted(MADE_UP.glob("*.jsonl")) for line in file.read_text().splitlines()]
    return [json.loads(line)["text"] for line in lines]


def test_counts_of_an_api_are_marked_as_tokens(closed_sessions: None, tmp_path: Path) -> None:
    texts = made_up_texts()
    with WordIndex(texts, parts=3).served() as server:
        study = frequency_study(tmp_path, server.address, source="infini-gram", index="pieces", window_words=6)
        graph, counted = build_counts(study)
    assert counted == ["pieces"]
    rows = frequencies(graph)
    frequent = sorted(rows, key=lambda row: -row["entity_count"])[:10]
    assert frequent[-1]["entity_count"] > 0
    for row in frequent:
        pattern = rf" {re.escape(row['entity'])}(?!\w)"
        assert row["entity_count"] == sum(len(re.findall(pattern, text)) for text in texts), row["entity"]
        assert row["pair_count"] <= row["entity_count"]
    kinds = {(row["entity_counted"], row["pair_counted"], row["words"], row["tokens"] > 0) for row in rows}
    assert kinds == {("tokens", "approximate", None, True)}
    assert build_counts(study)[1] == []
    with WordIndex(["another corpus"]).served() as server:
        other_study = frequency_study(tmp_path, server.address, source="infini-gram", index="pieces", window_words=6)
        assert build_counts(other_study)[1] == ["pieces"]


def test_an_unreachable_api_stops_only_the_counts(closed_sessions: None, tmp_path: Path) -> None:
    graph, _ = build_counts(frequency_study(tmp_path, unused_address(), source="infini-gram", index="pieces"))
    nodes = {node.id.product: node for node in graph if node.id.stage == "build"}
    assert re.search(r"infini-gram .* cannot be reached: .*; or count a corpus of your own", nodes["counts"].reason)
    assert (nodes["frequencies"].state, nodes["queries and contexts"].state) == ("blocked", "done")


REFUSED = {
    "no index": ({"source": "infini-gram"}, "frequency.index"),
    "a name that is an address": ({"source": "infini-gram", "index": "https://a/"}, "frequency.index"),
    "a key of corpus files": ({"source": "infini-gram", "index": "a", "corpus": ["b"]}, "is a key of source corpus"),
    "unknown source": ({"source": "infinigram"}, "choose one of corpus, infini-gram"),
}


@pytest.mark.parametrize(("frequency", "message"), REFUSED.values(), ids=REFUSED)
def test_unusable_settings_of_an_index_are_refused(frequency: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(StudyFileError, match=message):
        frequency_study(tmp_path, **frequency)


def test_an_unknown_tokenizer_is_refused(tmp_path: Path) -> None:
    graph = frequency_study(tmp_path, source="infini-gram", index="a", tokenizer="nothing").graph
    assert "frequency.tokenizer: no language model is named 'nothing'" in graph.nodes[FREQUENCIES].reason


def test_only_a_new_or_changed_file_is_counted(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "a.txt").write_text("Norway and Oslo. " * 3)
    (corpus / "b.jsonl").write_text('{"text": "Norway"}\n')
    study = frequency_study(tmp_path, corpus=[str(corpus)])
    assert build_counts(study)[1] == ["a.txt", "b.jsonl"]
    assert build_counts(study)[1] == []
    (corpus / "b.jsonl").write_text('{"text": "Norway Norway"}\n')
    (corpus / "c.txt").write_text("Norway")
    graph, counted = build_counts(study)
    assert counted == ["b.jsonl", "c.txt"]
    assert {row["shards"] for row in frequencies(graph)} == {3}
    assert build_counts(frequency_study(tmp_path, corpus=[str(corpus)], common_word_share=0.5))[1] == []
    graph, counted = build_counts(frequency_study(tmp_path, corpus=[str(corpus)], title="My texts"))
    assert (counted, {row["corpus"] for row in frequencies(graph)}) == ([], {"My texts"})


def test_file_that_changes_while_counted_is_counted_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.txt"
    file.write_text("Norway")
    pieces = Reading.pieces

    def pieces_of_changed_file(shard: Reading) -> Iterator[Piece]:
        file.write_text("Norway Norway")
        return pieces(shard)

    monkeypatch.setattr(Reading, "pieces", pieces_of_changed_file)
    graph, counted = build_counts(frequency_study(tmp_path, corpus=[str(file)]))
    (counts,) = [node for node in graph if node.id.product == "counts"]
    (shard,) = counts.output("shards").read().to_pylist()
    assert (shard["words"], shard["digest"]) == (2, blake2b(b"Norway Norway").hexdigest())
    assert counted == ["a.txt", "a.txt"]  # the digest changed during the first count


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # fork with threads
def test_a_killed_run_keeps_the_counted_files(tmp_path: Path) -> None:
    study = frequency_study(tmp_path, corpus=[str(MADE_UP)])
    if (child := os.fork()) == 0:
        shared_results: dict[Any, Any] = {}

        def die_after_counts(step: Step) -> None:
            if step.id.product == "counts":
                os.kill(os.getpid(), signal.SIGKILL)

        run(lambda: graph_of(study.plan, shared_results), Selection(stages=PREPARED), die_after_counts)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    graph, counted = build_counts(study)
    assert len(counted) == 1
    undisturbed = frequency_study(tmp_path / "undisturbed", corpus=[str(MADE_UP)])
    no_time = {"counted_at": ""}
    assert [row | no_time for row in frequencies(graph)] == [
        row | no_time for row in frequencies(build_counts(undisturbed)[0])
    ]


def test_a_truncated_file_stops_only_the_counts(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "a.txt").write_text("Norway")
    compressed = pa.compress(os.urandom(1000), "zstd", asbytes=True)
    (corpus / "b.txt.zst").write_bytes(compressed[:500])
    (corpus / "c.jsonl").write_bytes(b"")
    graph, _ = build_counts(frequency_study(tmp_path, corpus=[str(corpus)]))
    nodes = {node.id.part: node for node in graph if node.id.product == "counts"}
    assert [nodes[name].state for name in ("a.txt", "b.txt.zst", "c.jsonl")] == ["done", "failed", "failed"]
    assert "b.txt.zst cannot be read to its end" in nodes["b.txt.zst"].reason
    assert "c.jsonl has no text that can be read" in nodes["c.jsonl"].reason
    assert all("move the file out of the folder" in nodes[name].reason for name in ("b.txt.zst", "c.jsonl"))
    assert graph.nodes[FREQUENCIES].state == "blocked"
    assert {node.state for node in graph if node.id.product == "queries and contexts"} == {"done"}


def test_counts_wait_for_the_first_queries(tmp_path: Path) -> None:
    graph = frequency_study(tmp_path, corpus=[str(MADE_UP)]).graph
    # The four steps: the names, the counts of two files, and the frequencies.
    assert [node.state for node in graph if node.id.subject == "corpus"] == ["blocked"] * 4


def test_aliases_of_unknown_names_are_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    corpus, aliases = tmp_path / "a.txt", tmp_path / "aliases.csv"
    corpus.write_text("Norway")
    entity = frequencies(build_counts(frequency_study(tmp_path, corpus=[str(corpus)]))[0])[0]["entity"]
    aliases.write_text(f"name,alias\nNowhere,Erewhon\n{entity},Norge\n")
    graph, _ = build_counts(frequency_study(tmp_path, corpus=[str(corpus)], aliases=str(aliases)))
    assert graph.nodes[FREQUENCIES].state == "done"
    assert "1 of 2 names are neither entities nor answers: 'Nowhere'" in caplog.text
    aliases.write_text("name,alias\nNowhere,Erewhon\n")
    graph, _ = build_counts(frequency_study(tmp_path, corpus=[str(corpus)], aliases=str(aliases)))
    reasons = {node.id.product: node.reason for node in graph if node.id.subject == "corpus"}
    assert "1 of 1 names are neither entities nor answers: 'Nowhere'" in reasons["names to count"]


def test_a_missing_corpus_or_susceptibility_is_refused(tmp_path: Path) -> None:
    graph = frequency_study(tmp_path, corpus=[str(tmp_path / "nothing")]).graph
    assert "frequency.corpus" in graph.nodes[FREQUENCIES].reason
    with pytest.raises(StudyFileError, match=r"frequency: is compared with susceptibility"):
        Study.load(write_study(tmp_path, small_study(tmp_path, measures=["answers"], frequency={"corpus": ["x"]})))
