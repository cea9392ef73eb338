import pytest

from lexloop.core.types import Chunk, Triplet
from lexloop.corpus.triplets.model import ExtractedTriplet, Extraction, extract_with_model
from lexloop.models.background import finished
from lexloop.models.request import ChatReply, ChatRequest

TEXT = "An owner must pay\nthe fee (40 dollars) within  10 days."
CHUNK: Chunk = {
    "id": "c1",
    "document": "d.txt",
    "title": "Act",
    "section": "§ 1",
    "page": None,
    "start": 500,
    "end": 500 + len(TEXT),
    "text": TEXT,
}


def extracted(*items: tuple[str, str, str, str]) -> tuple[ChatRequest, list[Triplet]]:
    reply = Extraction(
        triplets=[
            ExtractedTriplet(subject=s, predicate=p, object=o, quote=q) for s, p, o, q in items
        ]
    )
    asked: list[ChatRequest] = []

    class Scripted:
        async def ask(self, request: ChatRequest) -> ChatReply:
            asked.append(request)
            return ChatReply("", reply)

    triplets = finished(extract_with_model(Scripted(), CHUNK))
    return asked[0], triplets


def test_asks_for_the_relations_of_the_passage() -> None:
    request, triplets = extracted()
    assert TEXT in request.user
    assert request.schema is Extraction
    assert triplets == []


def test_a_quote_is_found_whatever_its_white_space() -> None:
    _, [found] = extracted(
        ("An owner", "must pay", "the fee", "pay the fee (40 dollars) within 10")
    )
    assert found["quote"] == "pay\nthe fee (40 dollars) within  10"
    assert (found["start"], found["end"]) == (514, 549)
    assert TEXT[found["start"] - 500 : found["end"] - 500] == found["quote"]
    assert (found["subject"], found["predicate"], found["object"]) == (
        "owner",
        "requires",
        "pay the fee",
    )


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (("owner", "means", "holder"), ("owner", "defines", "holder")),
        (("owner", "Is defined as", "holder"), ("owner", "defines", "holder")),
        (("owner", "shall not moor", "at night"), ("owner", "prohibits", "moor at night")),
        (("owner", "may ask", "for time"), ("owner", "permits", "ask for time")),
        (("owner", "must", "pay"), ("owner", "requires", "pay")),
        (("Part 2", "Applies To", "boats"), ("Part 2", "applies_to", "boats")),
        (("fine", "penalises", "late payment"), ("fine", "penalises", "late payment")),
        (("owner", "exception_to", "fee"), ("owner", "exception_to", "fee")),
        (("fee", "is collected by", "office"), ("fee", "is collected by", "office")),
    ],
)
def test_a_verb_that_means_a_predicate_becomes_it(
    said: tuple[str, str, str], kept: tuple[str, str, str]
) -> None:
    _, [found] = extracted((*said, "An owner"))
    assert (found["subject"], found["predicate"], found["object"]) == kept


@pytest.mark.parametrize(
    "item",
    [
        ("owner", "must pay", "the fee", "An owner may pay the fee"),
        ("owner", "must pay", "the fee", ""),
        ("owner", "must pay", "the fee", " \n"),
        ("owner", "must pay", "the fee", ".*"),
        ("", "must pay", "the fee", "An owner"),
        ("owner", " ", "the fee", "An owner"),
        ("owner", "must pay", "", "An owner"),
    ],
)
def test_what_the_passage_does_not_state_is_dropped(item: tuple[str, str, str, str]) -> None:
    assert extracted(item)[1] == []
