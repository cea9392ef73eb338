"""An extractive answer as it is written: quotes, markers, and what limits them."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from indexes import passages_of, view_of
from laws import examples
from records import problems, query
from sets import rows

from lexloop.core.types import Draft, Passage
from lexloop.documents.document import Document
from lexloop.models.minilm import load_minilm
from lexloop.nodes.generate.score import Quotable, score_quotables
from lexloop.nodes.generate.write import Writer, paragraph_of
from lexloop.nodes.relevance import Query
from lexloop.store.view import View

Passages = Callable[..., list[Passage]]


def answer_of(view: View, asked: Query, *items: Quotable) -> Draft:
    """The answer where this evidence is the best for the parts of the question."""
    return Writer(asked, view, 800).write(items, [])


def test_a_heading_that_asks_leads_what_stands_under_it_once() -> None:
    text = "## May a dog be kept?\n\n{}\n\n{}\n\n## Who pays the fine?\n\n{}\n"
    said = ["No dog may be kept.", "A cat may be kept in a basket.", "The owner pays it in coins."]
    view = view_of(Document("a.md", "A", text.format(*said)), embedder=load_minilm())
    asked = query("Which pets are allowed?", view)
    scored = score_quotables(asked, passages_of(view), view)
    assert scored is not None
    lines = answer_of(view, asked, *scored.quotables)["answer"].split("\n")
    dog, owner = "May a dog be kept? [1]", "Who pays the fine? [3]"
    assert lines == [f"{dog} {said[0]} [1]", f"{said[1]} [2]", f"{owner} {said[2]} [3]"]


HOLDING = """§ 1 Boats
A boat may be held by these methods:
(a) a rope that two people tie;
(b) a chain with papers, if the papers show:
(i) who forged it; and
(ii) when it was forged;
(c) an anchor.

§ 2 Words
In this Act:
(1) ‘rope’ means a line of hemp;
(2) ‘chain’ means a line of iron.
"""


@pytest.mark.parametrize(
    ("asked", "begins", "points"),
    [
        ("Which methods may a boat be held by?", "a chain with", "(a) (b) (i) (ii) (c)"),
        ("What must the papers of a chain show?", "a chain with", "(b) (i) (ii)"),
        ("Which chain is meant, and which rope?", "‘chain’ means", ""),
    ],
)
def test_the_list_that_is_asked_for_is_quoted_and_never_one_of_definitions(
    asked: str, begins: str, points: str
) -> None:
    view = view_of(Document("d.txt", "Boats Act", HOLDING), embedder=load_minilm())
    wanted = query(asked, view)
    scored = score_quotables(wanted, passages_of(view), view)
    assert scored is not None
    item = next(item for item in scored.quotables if begins in item.statement.own)
    lines = answer_of(view, wanted, item)["answer"].split("\n")
    assert [line.split()[0] for line in lines if line.startswith("(")] == points.split()


def test_among_passages_nothing_outside_them_is_quoted() -> None:
    first = "§ 1 Fee. An owner must pay the berth fee in March, unless section 2 applies."
    second = "Section 1 does not apply to a boat shorter than 4 metres."
    text = f"Berth Act\n\n{first}\n\n§ 2 Exception. {second}\n"
    view = view_of(Document("a.txt", "Berth Act", text), embedder=load_minilm())
    asked = query("When must an owner pay the fee?", view)
    [whole] = passages_of(view)
    scored = score_quotables(asked, [whole], view)
    assert scored is not None
    item = scored.quotables[0]
    alone: Passage = {**whole, "end": text.index("§ 2")}
    for among, limited in ((None, True), ([whole], True), ([alone], False)):
        draft = Writer(asked, view, 800, among).write([item], [])
        assert ("Except:" in draft["answer"]) == limited == (second in draft["answer"])
        assert draft["quoted"] == (["a.txt#0"] if among is None else [])


def test_every_possible_answer_verifies(small: View, passages: Passages) -> None:
    asked = query("What is a hull inspection?", small)
    scored = score_quotables(asked, passages(), small)
    assert scored is not None
    alone = [answer_of(small, asked, item) for item in scored.quotables]
    both = [answer_of(small, asked, *scored.quotables[n : n + 3]) for n in range(14)]
    for draft in [*alone, *both]:
        assert problems(small, draft) == []


SENTENCES = st.sampled_from(
    "The owner must pay a fee of $5.|(a) an item of the list;|1. one of the items|Is it due?"
    "|See § 5-2(b) of Smith v. Jones.|Notice:|“Berth” means a place.|e.g. no. 5 applies|[2] noted."
    "|- a dash item which is long|The following applies:|b. Another item is here.|A | b | c".split(
        "|"
    )
)


@settings(max_examples=examples(20), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(SENTENCES, st.sampled_from([" ", "\n", "\n\n"])), min_size=1, max_size=9))
def test_citations_and_markers_hold_on_any_document(pieces: list[tuple[str, str]]) -> None:
    text = "".join(sentence + gap for sentence, gap in pieces)
    view = view_of(Document("d.txt", "D", text), embedder=load_minilm())
    asked = query("What must the owner pay?", view)
    scored = score_quotables(asked, passages_of(view), view)
    for item in scored.quotables if scored else []:
        draft = answer_of(view, asked, item)
        for citation in draft["citations"]:
            assert text[citation["start"] : citation["end"]] == citation["quote"]
        found = problems(view, draft)
        assert not [problem for problem in found if problem.startswith("No citation")]


@pytest.mark.parametrize(("text", "begins", "quoted"), rows("quoted_with"))
def test_what_is_quoted_with_a_statement(text: str, begins: str, quoted: list[str]) -> None:
    """A short paragraph whole, of a longer one what refers to it, and what it points back to."""
    view = view_of(Document("d.txt", "Terms", text), embedder=load_minilm())
    scored = score_quotables(query("What is due?", view), passages_of(view), view)
    assert scored is not None
    [item] = [one for one in scored.quotables if one.statement.own.startswith(begins)]
    assert [said.own for said in paragraph_of(item, view)] == quoted
