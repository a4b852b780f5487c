from pathlib import Path

import pytest

from swaymeter.data.errors import ServiceError
from swaymeter.data.records import WikidataId
from swaymeter.data.sources.wikimedia.wembedder import Similar, Wembedder
from tests.data.sources.servers.faults import Say, recorded, says
from tests.data.sources.sessions import answering

Q42 = WikidataId("Q42")


def listed(*pairs: tuple[object, object]) -> dict[str, object]:
    return {"most_similar": [{"item": item, "similarity": similarity} for item, similarity in pairs]}


def test_similar_items_come_with_their_similarity_and_without_properties(tmp_path: Path) -> None:
    with answering(tmp_path, recorded("wembedder_Q42")) as (session, server):
        found = Wembedder(session).most_similar(Q42)
    assert found == (Similar(WikidataId("Q3107329"), 0.8831), Similar(WikidataId("Q180736"), 0.71))
    assert [asked.path for asked in server.asked] == ["/ask/most-similar/Q42"]


def test_an_unknown_item_is_none_and_not_asked_for_again(tmp_path: Path) -> None:
    with answering(tmp_path, recorded("wembedder_missing")) as (session, server):
        wembedder = Wembedder(session)
        assert wembedder.most_similar(WikidataId("Q99999999")) is None
        assert wembedder.most_similar(WikidataId("Q99999999")) is None
    assert len(server.asked) == 1


def test_the_most_similar_comes_first_without_the_item(tmp_path: Path) -> None:
    said = listed(("Q7", 0.2), ("Q42", 1.0), ("Q8", 0.9), ("Q9", -0.1), ("L12", 0.95), ("Q0", 0.94), ("Q6", 0.2))
    with answering(tmp_path, says(said)) as (session, _):
        found = Wembedder(session).most_similar(Q42)
    assert found is not None
    assert [(one.item_id, one.similarity) for one in found] == [("Q8", 0.9), ("Q7", 0.2), ("Q6", 0.2), ("Q9", -0.1)]


NONSENSE = {
    "a page": recorded("wembedder_bad_id"),
    "half": Say('{"most_similar":[{"item":"Q1","simi'),
    "nothing": says({}),
    "another message": says({"message": "The database sleeps"}),
    "no list": says({"most_similar": {"item": "Q1", "similarity": 1}}),
    "no item": says({"most_similar": [{"similarity": 1}]}),
    "true": says(listed(("Q1", True))),
    "no cosine": says(listed(("Q1", 7))),
    "no finite number": Say('{"most_similar":[{"item":"Q1","similarity":1e999}]}'),
    "a huge number": Say('{"most_similar":[{"item":"Q1","similarity":1' + "0" * 400 + "}]}"),
}


@pytest.mark.parametrize("said", NONSENSE.values(), ids=NONSENSE)
def test_nonsense_is_an_error_and_not_cached(said: Say, tmp_path: Path) -> None:
    with answering(tmp_path, said, recorded("wembedder_Q42")) as (session, _):
        wembedder = Wembedder(session)
        with pytest.raises(ServiceError, match=r"The service \(http://127"):
            wembedder.most_similar(Q42)
        assert wembedder.most_similar(Q42)
