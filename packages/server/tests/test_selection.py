"""Some documents alone, or one passage, over HTTP: what is not one's own cannot be chosen."""

from typing import Any

import httpx
import pytest
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


@pytest.mark.parametrize(
    ("given", "status", "said"),
    [
        ({"documents": ["dogz.txt"]}, 404, "Near it are: "),
        ({"documents": ["cats.txt"]}, 404, "There is no document"),
        ({"documents": ["dogs.txt"], "collections": ["sample"]}, 404, "There is no document"),
        ({"documents": ["dogs.txt"], "passage": [9, 3]}, 400, "behind its beginning"),
        ({"documents": ["dogs.txt"], "passage": [-1, 3]}, 422, ""),
        ({"documents": ["x"] * 501}, 422, ""),
        ({"settings": {"access.only": ["dogs.txt"]}}, 400, "nothing that a caller may set"),
    ],
)
def test_what_cannot_be_chosen(
    ann: httpx.Client, given: dict[str, Any], status: int, said: str
) -> None:
    answer = asked(ann, **given)
    assert answer.status_code == status, answer.text
    assert said in answer.text
    assert "cats.txt;" not in answer.text
