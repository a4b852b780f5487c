import json
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data.errors import ServiceError
from swaymeter.data.sources.infini_gram import Ids, InfiniGramApi, Occurrence, Passage
from tests.data.sources.servers.faults import FaultServer, ServedResponse, json_response, recorded_response
from tests.data.sources.sessions import session_with_server
from tests.data.sources.word_index import WordIndex

INDEX = "v4_rpj_llama_s4"
WASHINGTON, WASHINGTON_COUNT = (3014, 310, 7660), 2349754
"""Tokens of "University of Washington", and their count in the recorded response."""


def response(name: str) -> ServedResponse:
    return recorded_response(f"infini_gram/{name}.json")


def queries_of(server: FaultServer) -> list[dict[str, Any]]:
    return [json.loads(request.body) for request in server.received]


def test_counts_are_requested_as_documented(tmp_path: Path) -> None:
    script = [
        response("count"),
        response("count"),
        json_response({"count": 7}),
        response("count_cnf"),
        response("find_cnf"),
    ]
    with session_with_server(tmp_path, *script) as (session, server):
        api = InfiniGramApi(session, INDEX)
        assert (api.count(WASHINGTON), api.count(WASHINGTON)) == (WASHINGTON_COUNT, WASHINGTON_COUNT)
        assert (api.spellings("University of Washington"), api.count(WASHINGTON)) == ((WASHINGTON,), WASHINGTON_COUNT)
        assert api.count(()) == 7
        assert api.near([[(5613, 4086, 9068)], [(6483, 6509)] * 5], 5000) == 6  # limits: 4 names, 1,000 tokens
        assert api.occurrences(WASHINGTON) == [Occurrence(0, 40), Occurrence(0, 4000), Occurrence(2, 18)]
    count, spellings, corpus_size, near, occurrences = queries_of(server)
    assert spellings == {"index": INDEX, "query_type": "count", "query": "University of Washington"}
    assert count == {"index": INDEX, "query_type": "count", "query_ids": [*WASHINGTON]}
    assert corpus_size == {"index": INDEX, "query_type": "count", "query": ""}
    assert near["query_ids"] == [[[5613, 4086, 9068]], [[6483, 6509]] * 4]
    assert (near["max_diff_tokens"], near["max_clause_freq"]) == (1000, 500_000)
    assert (occurrences["query_type"], occurrences["query_ids"]) == ("find_cnf", [[[*WASHINGTON]]])
    assert {(request.method, request.headers["content-type"]) for request in server.received} == {
        ("POST", "application/json")
    }


def test_passage_has_its_position_in_the_document(tmp_path: Path) -> None:
    with session_with_server(tmp_path, response("document")) as (session, server):
        passage = InfiniGramApi(session, INDEX).passage(Occurrence(2, 18), WASHINGTON, 1000)
    assert passage == Passage((2, 7), 0, (278, *WASHINGTON, 297, 27689), 1, begins=True, ends=True)
    (query,) = queries_of(server)
    assert {name: query[name] for name in ("query_type", "s", "ptr", "max_disp_len")} == {
        "query_type": "get_doc_by_ptr",
        "s": 2,
        "ptr": 18,
        "max_disp_len": 1000,
    }


def test_operators_in_names_are_sent_as_words(tmp_path: Path) -> None:
    script = [json_response({"count": 1, "token_ids": [number]}) for number in range(3)]
    with session_with_server(tmp_path, *script) as (session, server):
        assert InfiniGramApi(session, INDEX).spellings("This AND That OR else") == ((0, 1, 2),)
    assert [query["query"] for query in queries_of(server)] == ["This", "AND That", "OR else"]


def test_after_space_leaves_out_other_spellings(tmp_path: Path) -> None:
    index = WordIndex(["an Ion\nIon"])
    response_after_space = json_response({"count": 1, "token_ids": list(index.spellings("Ion")[0])})
    with session_with_server(tmp_path, response_after_space) as (session, _):
        api = InfiniGramApi(session, INDEX, index)
        assert (len(api.spellings("Ion")), api.after_space("Ion")) == (2, index.spellings("Ion")[:1])


class FixedDecoder(WordIndex):
    """A tokenizer that decodes all tokens as the same text."""

    def __init__(self, text: str) -> None:
        super().__init__([])
        self.text = text

    def decode(self, ids: Ids) -> str:
        return self.text


def test_tokenizer_of_another_index_is_refused(tmp_path: Path) -> None:
    with session_with_server(tmp_path, response("count")) as (session, _):
        assert InfiniGramApi(session, INDEX, FixedDecoder(" Zürich")).spellings("Zu\u0308rich")[0] == WASHINGTON
    refused = pytest.raises(ServiceError, match=r"frequency\.tokenizer")
    with session_with_server(tmp_path / "2", response("count")) as (session, _), refused:
        InfiniGramApi(session, INDEX, FixedDecoder("¿Qué?")).spellings("University of Washington")


REFUSED = {
    "invalid index": (response("invalid_index"), "Invalid index: v4_nothing"),
    "too long": (response("too_long"), "limit your input"),
    "no count": (json_response({"approx": False}), "not the expected response"),
    "a negative count": (json_response({"count": -1}), "not the expected response"),
    "an impossible count": (json_response({"count": 10**30}), "not the expected response"),
    "a page": (ServedResponse("<html>moved</html>"), "not JSON"),
    "a list": (json_response([1]), "not a JSON object"),
}


@pytest.mark.parametrize(("refused", "message"), REFUSED.values(), ids=REFUSED)
def test_nonsense_is_an_error_and_not_cached(refused: ServedResponse, message: str, tmp_path: Path) -> None:
    with session_with_server(tmp_path, *[refused] * 2, response("count")) as (session, server):
        api = InfiniGramApi(session, INDEX)
        while len(server.received) < 2:  # a transient error is retried in the same call
            with pytest.raises(ServiceError, match=message):
                api.count(WASHINGTON)
        assert api.count(WASHINGTON) == WASHINGTON_COUNT


@pytest.mark.parametrize("error", ["internal_error", "timed_out"])
def test_transient_error_is_tried_again(error: str, tmp_path: Path) -> None:
    with session_with_server(tmp_path, response(error), response("count")) as (session, _):
        assert InfiniGramApi(session, INDEX).count(WASHINGTON) == WASHINGTON_COUNT
    with (
        session_with_server(tmp_path / "2", response(error)) as (session, _),
        pytest.raises(ServiceError, match="after 2 tries"),
    ):
        InfiniGramApi(session, INDEX).count(WASHINGTON)


def test_wrong_number_of_occurrences_is_refused(tmp_path: Path) -> None:
    too_few = json_response({"cnt": 2, "approx": False, "ptrs_by_shard": [[40]]})
    with (
        session_with_server(tmp_path, too_few) as (session, _),
        pytest.raises(ServiceError, match="`cnt` is 2, but the number of positions in `ptrs_by_shard` is 1"),
    ):
        InfiniGramApi(session, INDEX).occurrences(WASHINGTON)


POSITIONS = {
    "near the beginning": ({"token_ids": [1, 1, 5, 1, 1]}, (98, 2, True, False)),
    "near the end": ({"token_ids": [1, 1, 1, 5, 1]}, (97, 3, False, True)),
    "ambiguous": ({"token_ids": [1, 1, 5, 5, 1]}, (0, 0, False, False)),
    "with an offset": ({"token_ids": [1, 1, 5, 5, 1], "needle_offset": 2}, (98, 2, True, False)),
    "blocked": ({"token_ids": [], "blocked": True}, (0, 0, False, False)),
    "a whole document": ({"token_ids": [5, 5], "doc_len": 2}, (0, 0, True, True)),
}
"""Fields of a response; then `first`, `at`, `begins` and `ends` of the passage around position 100, with token 5."""


@pytest.mark.parametrize(("fields", "expected"), POSITIONS.values(), ids=POSITIONS)
def test_position_of_the_name_is_inferred_or_unknown(fields: dict[str, Any], expected: Any, tmp_path: Path) -> None:
    with session_with_server(tmp_path, json_response({"doc_ix": 0, "doc_len": 99} | fields)) as (session, _):
        passage = InfiniGramApi(session, INDEX).passage(Occurrence(0, 200), (5,), 6)  # a token has two bytes
    assert (passage.first, passage.at, passage.begins, passage.ends) == expected


WRONG: list[dict[str, Any]] = [
    {"token_ids": [1, 2]},
    {"doc_len": 9, "token_ids": [3014, 1, 1]},
    {"doc_ix": None},
    {"token_ids": [1, *WASHINGTON, None]},
    {"token_ids": [*WASHINGTON, -1]},
    {"token_ids": [*WASHINGTON, 2**40]},
    {"doc_len": 9, "needle_offset": 1},  # the passage is shorter than requested
]


@pytest.mark.parametrize("wrong", WRONG)
def test_an_invalid_or_unrequested_passage_is_refused(wrong: dict[str, Any], tmp_path: Path) -> None:
    document = json.loads(response("document").body) | wrong
    with (
        session_with_server(tmp_path, json_response(document)) as (session, _),
        pytest.raises(ServiceError, match="not the expected response"),
    ):
        InfiniGramApi(session, INDEX).passage(Occurrence(2, 18), WASHINGTON, 1000)
