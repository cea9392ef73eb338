"""The context of a user: what it leaves out and puts first, and that the answer tells so."""

from pathlib import Path
from typing import Any

import pytest

from lexloop.core.settings import Settings
from lexloop.core.types import ABSTENTION
from lexloop.graph.build import Lexloop, build_graph
from lexloop.graph.resources import Resources

ASKED = "How long may a dog be on a lead in the park?"
TEXTS = {
    "north.md": "jurisdiction: North\naudience: owner, guest\n"
    "---\nA dog shall be held in the park on a lead not longer than 2 metres.\n",
    "south.md": "jurisdiction: South\naudience: keeper\n"
    "---\nIn the park your dog may be on a lead of up to 3 metres.\n",
    "any.md": "title: Cats\n---\nA cat may climb the trees of the meadow.\n",
}
ONLY = "Only documents of {} or of no named jurisdiction were searched."


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Lexloop:
    folder: Path = tmp_path_factory.mktemp("parks")
    for name, text in TEXTS.items():
        (folder / name).write_text(f"---\n{text}", "utf-8")
    return build_graph(Resources(defaults=Settings(corpus=str(folder))))


def ask(graph: Lexloop, question: str = ASKED, **user: Any) -> Any:
    return graph.invoke({"question": question}, context={"user": user} if user else {})


@pytest.mark.parametrize(("own", "other"), [("north", "south"), ("South", "north")])
def test_documents_that_name_another_jurisdiction_are_left_out(
    graph: Lexloop, own: str, other: str
) -> None:
    found = ask(graph, jurisdiction=own)
    assert {p["document"] for p in found["passages"]} == {f"{own.lower()}.md", "any.md"}
    assert found["answer"].endswith(ONLY.format(own))
    assert found["evaluation"]["citations_verified"]
    assert f"{other}.md" not in found["answer"]


@pytest.mark.parametrize(
    ("user", "first"),
    [
        ({"role": "Guest"}, "north.md"),
        ({"role": "keeper"}, "south.md"),
        ({"documents": ["north.md"]}, "north.md"),
        ({"documents": ["south.md"]}, "south.md"),
    ],
)
def test_documents_for_a_role_and_preferred_ones_come_first(
    graph: Lexloop, user: dict[str, Any], first: str
) -> None:
    found = ask(graph, **user)
    assert found["citations"][0]["document"] == first
    assert f"Put first for you: {first}." in found["answer"]


def test_a_preferred_document_that_is_not_there_is_named(graph: Lexloop) -> None:
    found = ask(graph, documents=["north.md", "west.md"])
    assert found["answer"].endswith(
        "Put first for you: north.md. No document has a name that ends with west.md."
    )


def test_what_does_not_apply_changes_nothing_and_an_abstention_tells_it_too(graph: Lexloop) -> None:
    assert ask(graph, role="judge")["answer"] == ask(graph)["answer"]
    chosen = {"user": {"jurisdiction": "East"}, "access.only": ["north.md"]}
    nowhere = graph.invoke({"question": ASKED}, context=chosen)
    assert "[1]\nNo document is of East; those of other jurisdictions" in nowhere["answer"]
    refused = ask(graph, "How is a lemon cake baked?", jurisdiction="North")
    assert refused["answer"] == ABSTENTION
    assert ONLY.format("North") in refused["evaluation"]["reasons"]
