"""Some documents alone, or one passage, over HTTP: what is not one's own cannot be chosen."""

from typing import Any

import httpx
from servers import DOGS

ASK = "/ask"


def asked(client: httpx.Client, **more: Any) -> httpx.Response:
    return client.post(ASK, json={"question": "What does a dog licence cost?", **more})


def test_a_document_alone(ann: httpx.Client) -> None:
    told = asked(ann, documents=["dogs.txt"]).json()
    assert (told["only"], told["passage"]) == (["acts/dogs.txt"], None)
    assert told["collections"] == ["dogs"]
    assert {one["document"] for one in told["passages"]} == {"acts/dogs.txt"}


def test_a_passage_alone(ann: httpx.Client) -> None:
    start = DOGS.index("Section 2.")
    end = DOGS.index("\n", start)
    told = asked(ann, documents=["dogs.txt"], passage=[start, end]).json()
    (one,) = told["citations"]
    assert start <= one["start"] < one["end"] <= end
    assert told["passage"] == [start, end]
    other = {"question": "What is the penalty?", "documents": ["dogs.txt"], "passage": [start, end]}
    assert "90 dollars" not in ann.post(ASK, json=other).text
