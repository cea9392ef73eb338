"""What one document is called and others are not narrows a question to it, by rule and asked."""

import pytest
from indexes import view_of
from sets import rows

from lexloop.documents.document import Document
from lexloop.models.minilm import load_minilm
from lexloop.nodes.question.naming import inside, told_apart
from lexloop.store.view import View

_INVOICE = """Invoice {n}

1. Sum
The sum of {sum} euros is due within {days} days. {more}
"""
_INVOICES = {
    "bills/3310.txt": ("Invoice 3310", _INVOICE.format(n=3310, sum=300, days=30, more="")),
    "bills/3311.txt": (
        "Invoice 3311",
        _INVOICE.format(n=3311, sum=450, days=14, more="Order 90125 came by mail."),
    ),
    "bills/3312.txt": ("Invoice 3312", _INVOICE.format(n=3312, sum=700, days=60, more="")),
}
_LEASE = """LEASE OF THE {what}

made on {day} between Ada Alder ("the Landlord") and {tenant} ("the Tenant")

1. Rent
The rent is {rent} euros. {more}
"""
_LEASES = {
    "a.txt": (
        "LEASE OF THE KILN",
        _LEASE.format(what="KILN", day="3 May 2021", tenant="Sam Sorrel", rent=100, more=""),
    ),
    "b.txt": (
        "LEASE OF THE MEADOW",
        _LEASE.format(
            what="MEADOW",
            day="9 June 2022",
            tenant="Ute Voss",
            rent=200,
            more="Hay may be stored in the kiln.",
        ),
    ),
}
_PERMIT = {"permits.txt": ("Permits", "Permits\n\n1. Boats\nPermit K-51 is for boats of 500 kg.")}


def _view(texts: dict[str, tuple[str, str]]) -> View:
    documents = [Document(name, title, text) for name, (title, text) in texts.items()]
    return view_of(*documents, embedder=load_minilm())


@pytest.fixture(scope="module")
def invoices() -> View:
    return _view(_INVOICES)


@pytest.fixture(scope="module")
def leases() -> View:
    return _view(_LEASES)


@pytest.mark.parametrize(("question", "numbers", "asked"), rows("apart_numbers"))
def test_a_number_or_a_file_names_its_document(
    invoices: View, question: str, numbers: list[int], asked: str | None
) -> None:
    found = told_apart(question, invoices)
    assert (found.documents, found.absent) == ([f"bills/{n}.txt" for n in numbers], [])
    assert inside(question, found.outside) == (asked or question)


@pytest.mark.parametrize(("question", "absent"), rows("apart_absent"))
def test_a_number_of_no_document_is_absent_where_it_is_a_name(
    invoices: View, question: str, absent: list[str]
) -> None:
    assert told_apart(question, invoices).absent == absent


def test_a_number_is_absent_from_a_single_document_too() -> None:
    permits = _view(_PERMIT)
    assert told_apart("What is permit K-52 for?", permits).absent == ["K-52"]
    assert told_apart("When does contract 4799 end?", permits).absent == ["4799"]
    for question in ("What is permit K-51 for?", "Is the fee 4799?", "May I pay 4799 for it?"):
        assert told_apart(question, permits).absent == []


@pytest.mark.parametrize(("question", "document", "asked"), rows("apart_titles"))
def test_words_of_titles_days_and_parties_name_their_document(
    leases: View, question: str, document: str | None, asked: str
) -> None:
    found = told_apart(question, leases)
    assert found.documents == ([document] if document else [])
    assert inside(question, found.outside) == asked


def test_a_file_name_may_have_blanks_and_a_number_of_the_text_stays_in_the_question() -> None:
    view = _view(
        {
            "Kiln Lease.txt": (
                "Kiln",
                "Kiln\n\nPermit K-51 is for fires. Permit K-52 is for smoke.",
            ),
            "meadow.txt": ("Meadow", "Meadow\n\nHay is cut in June."),
        }
    )
    found = told_apart("what is permitted in kiln lease.txt?", view)
    assert (found.documents, inside("what is permitted in kiln lease.txt?", found.outside)) == (
        ["Kiln Lease.txt"],
        "what is permitted?",
    )
    found = told_apart("What is permit K-52 for?", view)
    assert (found.documents, found.outside) == (["Kiln Lease.txt"], {})
