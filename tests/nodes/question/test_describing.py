"""The document first: a question that describes one is asked inside it, by rule and end to end."""

import pytest
from indexes import view_of
from sets import rows

from lexloop.core.metadata import Metadata
from lexloop.documents.document import Document
from lexloop.models.minilm import load_minilm
from lexloop.nodes.question.describing import documents_called, documents_described, unnamed
from lexloop.nodes.question.parts import parse
from lexloop.store.view import View

_LEASE = """Lease of a berth

This lease is made between {owner} ("the Owner") and {tenant} ("the Tenant").

1. Rent. The Tenant shall pay {rent} a month.

2. Notice. Either party may end this lease with {notice} of notice.
"""
_PARTIES = [
    ("Amsel Quays Ltd", "Ruth Voss", "$300", "one month"),
    ("Amsel Quays Ltd", "Otto Lind", "$500", "two months"),
    ("Brackwater Marina plc", "Clara Falk", "$700", "six months"),
]


def _leases(count: int) -> View:
    """Leases that differ in their parties and figures alone."""
    documents = [
        Document(f"lease-{n}.txt", "Lease", _LEASE.format(owner=a, tenant=b, rent=c, notice=d))
        for n, (a, b, c, d) in enumerate(_PARTIES[:count], 1)
    ]
    return view_of(*documents, embedder=load_minilm())


@pytest.fixture(scope="module")
def leases() -> View:
    return _leases(3)


@pytest.mark.parametrize(("question", "found"), rows("described"))
def test_a_description_before_the_question_finds_its_documents(
    leases: View, question: str, found: list[int]
) -> None:
    described = documents_described(parse(question), leases)
    assert sorted(described) == [f"lease-{n}.txt" for n in found]


def test_one_document_alone_is_never_singled_out() -> None:
    question = parse("Consider the lease between Amsel Quays Ltd and Ruth Voss; what is the rent?")
    assert documents_described(question, _leases(1)) == []


def test_nothing_of_other_documents_is_seen_from_inside(leases: View) -> None:
    assert len(leases.titles) == 3
    inner = leases.within(["lease-3.txt", "unknown.txt"])
    lexical, dense = inner.search(["rent a month"], 10)
    assert {hit.document for [hits] in (lexical, dense) for hit in hits} == {"lease-3.txt"}
    assert (*inner.titles,) == ("lease-3.txt",)
    assert 0 < len(inner) < len(leases)
    assert leases.within([]) is leases
    assert len(leases.titles) == 3


def _no_term(_: str) -> bool:
    return False


_ACT = {"harbour.txt": "Public Harbour Berths Act of 2019"}
_ACTS = {**_ACT, "FQC-2.txt": "Ferry Quays Code", "lease.txt": "Lease of a berth"}


@pytest.mark.parametrize(("asked", "inside"), rows("unnamed"))
def test_a_question_leaves_the_name_of_its_document_outside(asked: str, inside: str | None) -> None:
    assert unnamed(asked, _ACT, _no_term) == (asked if inside is None else inside)


def test_an_abbreviation_that_the_documents_use_is_what_is_asked_about() -> None:
    asked = "How do I apply for a PHB?"
    assert unnamed(asked, _ACT, _no_term) != asked
    assert unnamed(asked, _ACT, lambda name: name == "PHB") == asked


def test_of_several_documents_one_alone_is_left_out() -> None:
    assert unnamed("May I moor under the FQC 2?", _ACTS, _no_term) == "May I moor?"
    compared = "How do the FQC and the PHBA differ?"
    assert unnamed(compared, _ACTS, _no_term) == compared
    assert unnamed("When does the Lease end?", _ACTS, _no_term) == "When does the Lease end?"


def test_a_document_is_called_by_its_name_and_by_a_word_that_it_alone_has() -> None:
    texts = {
        "harbour.txt": "By the PHBA owners pay. The PHBA is for rafts. Its ferry pays.",
        "FQC-2.txt": "Who moors by the PHBA pays here, too.",
        "lease.txt": "The tenant pays.",
    }
    documents = [Document(name, _ACTS[name], text) for name, text in texts.items()]
    view = view_of(*documents, embedder=load_minilm())
    for question, called in (
        ("Who pays under the PHBA?", []),  # another document speaks of it
        ("Who pays under the FQC?", ["FQC-2.txt"]),
        ("Who pays at the Quays?", ["FQC-2.txt"]),
        ("Who pays at the Ferry?", []),
        ("Do the FQC and the Public Harbour Berths Act differ?", ["FQC-2.txt", "harbour.txt"]),
        ("Who pays?", []),
    ):
        assert documents_called(question, view) == called, question


def test_what_a_law_is_called_in_the_rules_made_for_it_calls_none() -> None:
    documents = [
        Document("act.txt", "Harbour Act", "Rafts pay."),
        Document("rules.txt", "Rules", "By the Harbour Act rafts pay $7."),
    ]
    view = view_of(*documents, embedder=load_minilm())
    assert documents_called("How much is paid under the Harbour Act?", view) == []


def test_a_month_of_a_title_names_no_document() -> None:
    documents = [
        Document("hire.txt", "Terms of hire (from 1 January 2025)", "A boat costs 7 crowns."),
        Document("rooms.txt", "Rooms", "Rooms are heated to 20 degrees."),
    ]
    view = view_of(*documents, embedder=load_minilm())
    assert documents_called("It is January, and my room is cold. Must I pay?", view) == []


@pytest.mark.parametrize(("asked", "found"), rows("called"))
def test_a_name_may_be_spelled_in_one_word_by_the_question_or_the_file(
    asked: str, found: list[str]
) -> None:
    text = "We keep your address for a year. We give it to nobody but those who carry parcels."
    names = ("dairyfair.example.txt", "moor-gazette.txt", "data-sheet.txt")
    documents = [Document(name, "What we keep", text, Metadata()) for name in names]
    view = view_of(*documents, embedder=load_minilm())
    assert documents_called(asked, view) == found


@pytest.mark.parametrize(
    "question",
    [
        "According to the privacy policy of Ferrolux, who reads my data?",
        "Ferrolux: who reads my data?",
    ],
)
def test_of_documents_of_one_kind_the_one_whose_company_is_named_is_found(question: str) -> None:
    said = "This privacy policy says according to what rules {} reads and keeps your data.\n"
    documents = [
        Document(f"{name.lower()}.example.txt", "Privacy policy", said.format(name))
        for name in ("Ferrolux", "Palmgate", "Quillon")
    ]
    view = view_of(*documents, embedder=load_minilm())
    found = documents_described(parse(question), view) or documents_called(question, view)
    assert found == ["ferrolux.example.txt"]
