"""A LangChain retriever of the caller's own, in place of the search of a corpus."""

from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from lexloop.core.errors import SettingsError
from lexloop.core.types import ABSTENTION
from lexloop.graph.build import build_graph

PAGES = [
    ("The Landlord must repair the roof. The rent is 700 euros.", {"page": 3}),
    ("The Tenant must sweep the yard.", {"page": 1, "title": "The lease"}),
]
RULES = Document("Dogs are not allowed in the garden.", metadata={"source": "rules.html"})


class Shelf(BaseRetriever):
    """Returns all that it has, and remembers what it was asked."""

    found: list[Document]
    asked: list[str]

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        self.asked.append(query)
        return self.found


@pytest.fixture
def shelf() -> Shelf:
    lease = [Document(text, metadata={"source": "lease.pdf", **more}) for text, more in PAGES]
    return Shelf(found=[*lease, RULES], asked=[])


def test_what_a_retriever_finds_is_quoted_and_checked(shelf: Shelf) -> None:
    graph = build_graph(retriever=shelf)
    found = graph.invoke({"question": "Who must repair the roof?"})
    (cited,) = found["citations"]
    assert found["answer"].startswith("The Landlord must repair the roof. [1]")
    # "The Tenant must sweep the yard.", on page 1, and a blank line stand before: 31 + 2
    assert (cited["document"], cited["page"], cited["start"]) == ("lease.pdf", 3, 33)
    assert found["evaluation"]["citations_verified"]
    assert {passage["title"] for passage in found["passages"]} == {"The lease", "rules.html"}
    assert found["degraded"] == []
    assert shelf.asked[0] == "Who must repair the roof?"


def test_a_turn_begins_without_what_the_last_one_found(shelf: Shelf) -> None:
    graph = build_graph(retriever=shelf, settings={"loop.max_retries": 1})
    found = graph.invoke({"question": "How is cheese made?"})
    assert (found["answer"], found["citations"]) == (ABSTENTION, [])
    shelf.found = []
    found = graph.invoke({"question": "Who must repair the roof?"})
    assert (found["answer"], found["passages"]) == (ABSTENTION, [])


async def _nothing(question: str) -> list[Document]:
    return []


@pytest.mark.parametrize("given", [{"retriever": _nothing}, {"contexts": lambda *_: None}])
def test_what_is_no_retriever_is_refused(shelf: Shelf, given: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match="and was given a function"):
        build_graph(**{"retriever": shelf, **given})
