"""Exact words, phrases and provisions: what is found is there, and what is there is found."""

import re
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from indexes import ANYBODY, letter_tools
from sets import rows

from lexloop.core.errors import InputError, NotFoundError
from lexloop.core.folding import accented, plain
from lexloop.core.metadata import Filters, Metadata
from lexloop.documents.document import Document
from lexloop.store.view import View
from lexloop.store.writer import build_collection
from lexloop_workbench.search import Asked, Found, search

LEASE = """Lease of the Mill

Section 1. Term
1.1 The lease ends on 31 May 2030.
1.2 Time is of the
essence. The tenant’s rent is 1,500 euro.

Section 2. Assignment
2.1 The tenant may not assign the lease.
2.2 A breach of section 2.1 terminates the lease.
"""
LOAN = """Loan to O'Brien

Section 1. Interest
The rate is 4.2 per cent, and 14.2 after the naïve borrower’s default. It’s non-exclusive.

Section 2. Termination
The lender may terminate on default. Each default counts.
"""
CAFE = "Rules of the Café\n\nArticle 7\nA CAFÉ closes at ten.\n"


def views(*documents: tuple[str, str], access: Filters = ANYBODY, **known: Metadata) -> Any:
    made = [
        Document(name, name, text, known.get(name.partition(".")[0], Metadata()))
        for name, text in documents
    ]
    return {"": build_collection(made, letter_tools()).seen_by(access)}


@pytest.fixture(scope="module")
def three() -> dict[str, View]:
    return views(("lease.txt", LEASE), ("loan.txt", LOAN), ("cafe.txt", CAFE))


def sought(three: dict[str, View], query: str, **more: Any) -> Found:
    return search(three, Asked.of(query), **more)


def marks(found: Found) -> dict[str, list[str]]:
    return {
        one.document: [p.quote[a:b] for p in one.passages for a, b in p.marks]
        for one in found.documents
    }


@pytest.mark.parametrize(("query", "expected"), rows("exact_words"))
def test_whole_words_whatever_their_case_and_accents(
    three: dict[str, View], query: str, expected: dict[str, list[str]]
) -> None:
    found = sought(three, query, passages=9)
    assert marks(found) == expected
    assert found.total == len(expected)
    assert found.places == sum(map(len, expected.values()))


def test_a_letter_behind_a_number_is_found_where_an_index_takes_both_for_one() -> None:
    made = views(("a.txt", "See 4.2(b) of the plan."), ("b.txt", "See 4.2(c) of the plan."))
    assert marks(sought(made, "4.2(b)")) == {"a.txt": ["4.2(b"]}
    assert marks(sought(made, '"the plan" -"4.2(b)"')) == {"b.txt": ["the plan"]}


def test_other_forms_are_found_when_asked_for(three: dict[str, View]) -> None:
    found = search(three, Asked.of("terminate", any_form=True), passages=9)
    words = marks(found)
    assert words["lease.txt"] == ["terminates"]
    assert words["loan.txt"] == ["Termination", "terminate"]


def test_a_place_has_its_provision_and_its_span(three: dict[str, View]) -> None:
    (one,) = sought(three, "assign").documents
    (passage,) = one.passages
    assert (passage.section, passage.page) == ("Section 2.1", None)
    assert passage.quote == "2.1 The tenant may not assign the lease."
    assert LEASE[passage.start : passage.end] == passage.quote
    assert passage.marks == [(23, 29)]


def test_what_stands_together_comes_first() -> None:
    apart = f"Rent\n\n{'Other words stand here. ' * 40}\n\nand a fee. Rent. Rent."
    near = "The rent is a fee."
    found = sought(views(("a.txt", apart), ("b.txt", near)), "rent fee", passages=1)
    assert [one.document for one in found.documents] == ["a.txt", "b.txt"]
    split = f"Rent. Rent.\n\n{'Other words stand here. ' * 40}\n\nA fee."
    found = sought(views(("a.txt", split), ("b.txt", near)), "rent fee", passages=1)
    assert [(one.document, one.places, one.more) for one in found.documents] == [
        ("b.txt", 2, False),
        ("a.txt", 3, True),
    ]


@pytest.mark.parametrize(("query", "expected"), rows("exact_provisions"))
def test_a_provision_goes_to_its_place(
    three: dict[str, View], query: str, expected: dict[str, str]
) -> None:
    found = sought(three, query)
    assert {one.document: one.passages[0].section for one in found.documents} == expected
    assert found.sought.provision
    assert found.places == len(expected)


def test_a_provision_that_is_not_there_is_sought_as_it_is_written() -> None:
    text = "The offer relies on Rule 144 and on nothing else."
    found = sought(views(("a.txt", text)), "rule 144")
    assert marks(found) == {"a.txt": ["Rule 144"]}
    assert (found.sought.provision, found.sought.phrases) == ("", ["rule 144"])


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("", "The query holds no word."),
        (" \t\n", "The query holds no word."),
        ('"" .,*', "The query holds no word."),
        ("\u202e\x00", "The query holds no word."),
        ("the of", "Nearly every text has the, of."),
        ("-lease", "says only what must not be there"),
        ("a" * 10_000, "has 10000 characters"),
        (" ".join(f"w{n}x" for n in range(99)), "has 99 words"),
    ],
)
def test_a_query_that_says_nothing_is_refused(query: str, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        Asked.of(query)


def test_stop_words_alone_are_left_out_and_sought_in_phrases(three: dict[str, View]) -> None:
    found = sought(three, "the rate")
    assert (found.sought.left_out, marks(found)) == (["the"], {"loan.txt": ["rate"]})
    assert sought(three, '"of the"').total == 2


def test_pages_of_documents_are_whole_and_in_one_order(three: dict[str, View]) -> None:
    every = [one.document for one in sought(three, '"the"').documents]
    paged = [
        one.document
        for first in range(3)
        for one in sought(three, '"the"', first=first, limit=1).documents
    ]
    assert (paged, sorted(every)) == (every, ["cafe.txt", "lease.txt", "loan.txt"])
    assert sought(three, '"the"', first=9).documents == []


def test_one_document_alone(three: dict[str, View]) -> None:
    assert [d.document for d in sought(three, "default", documents=["loan"]).documents] == [
        "loan.txt"
    ]
    assert sought(three, "default", documents=["lease"]).total == 0
    with pytest.raises(NotFoundError, match="Near it are: lease"):
        sought(three, "default", documents=["leese.txt"])


def test_who_may_not_see_a_document_finds_nothing_of_it() -> None:
    secret = Metadata(tags=("board",), in_force_from=date(2020, 1, 1))
    for tags, expected in (
        (frozenset[str](), ["a.txt"]),
        (frozenset({"board"}), ["a.txt", "b.txt"]),
    ):
        made = views(
            ("a.txt", "A fee."), ("b.txt", "A secret fee."), access=Filters(tags), b=secret
        )
        found = search(made, Asked.of("fee"))
        assert [one.document for one in found.documents] == expected
        assert found.total == found.places == len(expected)
        assert search(made, Asked.of("secret")).total == len(expected) - 1
    early = Filters(frozenset({"board"}), as_of=date(2019, 1, 1))
    made = views(("a.txt", "A fee."), ("b.txt", "A fee."), access=early, b=secret)
    assert [one.document for one in search(made, Asked.of("fee")).documents] == ["a.txt"]


def test_several_collections_are_one_list() -> None:
    made = {**views(("a.txt", "A fee.")), "laws": views(("a.txt", "A fee, a fee."))[""]}
    found = search(made, Asked.of("fee"))
    assert [(d.collection, d.document, d.places) for d in found.documents] == [
        ("laws", "a.txt", 2),
        ("", "a.txt", 1),
    ]


WORDS = st.sampled_from(["fee", "Fée", "fees", "FEE'S", "feet", "rent", "σας", "ΣΑΣ", "don't"])
TEXTS = st.lists(WORDS, max_size=8).map(" ".join)


@settings(max_examples=40, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=4), st.sampled_from(["fee", "fées", "rent", "σας"]))
def test_every_document_with_the_word_is_found_and_no_other(texts: list[str], word: str) -> None:
    made = [(f"{n}.txt", f"Text {text}.") for n, text in enumerate(texts)]
    own = re.compile(rf"(?<!\w){plain(word)}(?:'s)?(?!\w)")
    expected = {name: len(own.findall(plain(text))) for name, text in made}
    found = sought(views(*made), word)
    assert {d.document: d.places for d in found.documents} == {
        n: c for n, c in expected.items() if c
    }


@given(st.text())
def test_folding_moves_nothing(text: str) -> None:
    assert len(plain(text)) == len(text)
    assert plain(plain(text)) == plain(text)
    assert [plain(one) for one in text] == list(plain(text))


def test_accents_of_latin_and_greek_letters_are_taken_off() -> None:
    assert plain("Ünïcode ŁÓDŹ Άλφα Йод がく") == "unicode łodz αλφα йод がく"
    assert {"é", "È", "ẽ"} <= {*accented("e")}
    assert accented("7") == ""


@pytest.mark.parametrize(
    ("word", "count"), [("\u516b\u518c", 1), ("\u518c", 2), ("\u4e66", 2), ("\u516b\u4e66", 0)]
)
def test_words_of_a_script_without_blanks_are_found_within_others(word: str, count: int) -> None:
    # "A reader borrows eight volumes.", "A late volume costs two crowns. The book is returned."
    text = (
        "\u8bfb\u8005\u501f\u4e66\u516b\u518c\u3002\n"
        "\u6bcf\u518c\u4e8c\u5143\uff0c\u8fd8\u4e66\u3002"
    )
    found = search(views(("law.txt", text)), Asked.of(word))
    assert found.places == count
    assert all(mark == word for marked in marks(found).values() for mark in marked)
