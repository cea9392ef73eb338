"""The register of a document: entries with their quotes, kinds, days and conditions."""

from datetime import date
from typing import Any

import pytest
from indexes import ANYBODY, letter_tools
from sets import rows, whole_text

from lexloop.core.errors import InputError, NotFoundError
from lexloop.documents.document import Document
from lexloop.store.view import View
from lexloop.store.writer import build_collection
from lexloop_workbench.register import Register, Wanted, register

LAW = whole_text("register.txt")
GERMAN = """Hafengesetz

Artikel 1 Pflichten
Der Eigentümer muss das Boot streichen. Der Eigentümer darf kein Öl in das Wasser ablassen, wenn
er nicht zuvor die Erlaubnis der Behörde hat. Die Behörde entscheidet innerhalb von zehn Tagen.
"""
LEASE = """Berth Lease

This Lease is made on January 31, 2026 (the “Effective Date”) by the Tenant.

1. Rent. The Tenant shall pay $1,200 within one month after the Effective Date. The Tenant agrees.
2. Notice. The Tenant shall tell the Landlord's agent at least 5 business days before the sale.
"""


def viewed(**texts: str) -> View:
    documents = [Document(f"{name}.txt", name.title(), text) for name, text in texts.items()]
    return build_collection(documents, letter_tools()).seen_by(ANYBODY)


@pytest.fixture(scope="module")
def view() -> View:
    return viewed(law=LAW, lease=LEASE, gesetz=GERMAN)


def entries(found: Register) -> list[tuple[Any, ...]]:
    return [(one.section, one.kinds, one.who, one.what) for one in found.entries]


def test_a_law(view: View) -> None:
    found = register(view, ["law"])
    assert found.documents == ["law.txt"]
    assert entries(found) == [tuple(row) for row in rows("register")]


def test_each_entry_has_its_quote_and_its_conditions(view: View) -> None:
    by_section = {one.section: one for one in register(view, ["law"]).entries}
    assert all(LAW[one.start : one.end].strip() == one.quote for one in by_section.values())
    assert by_section["Article 2(1)(c)"].quote == "(c) not dump oil."
    sale = by_section["Article 2(3)"]
    assert sale.unless == ["if: the boat is dry; or; the Harbour Office agrees"]
    assert sale.quote.startswith("3. The owner may sell")
    assert sale.quote.endswith("(b) the Harbour Office agrees.")
    assert by_section["Article 3"].day == date(2027, 3, 1)


def test_days_are_computed_from_what_a_text_or_somebody_says(view: View) -> None:
    rent, notice = register(view, ["lease"]).entries
    assert (rent.kinds, rent.sums) == (["duty", "deadline", "sum"], ["$1,200"])
    assert (rent.event, rent.day, rent.note) == ("the Effective Date", date(2026, 2, 28), "")
    assert (notice.event, notice.day) == ("the sale", None)
    later = Wanted.of([], "", ["Effective Date=2026-03-31", "The sale=2026-03-09"])
    rent, notice = register(view, ["lease"], later).entries
    assert rent.day == date(2026, 4, 30)
    assert notice.day == date(2026, 3, 2)
    assert notice.note.startswith("Business days: Monday to Friday")


def test_only_what_is_wanted(view: View) -> None:
    of_office = register(view, (), Wanted.of([], "harbour OFFICE", []))
    assert [one.section for one in of_office.entries] == ["Article 3"]
    dated = register(view, (), Wanted.of(["deadline", "prohibition"], "", []))
    assert {kind for one in dated.entries for kind in one.kinds} >= {"deadline", "prohibition"}
    assert all({"deadline", "prohibition"} & {*one.kinds} for one in dated.entries)


def test_another_language_gives_nothing_and_says_so(view: View) -> None:
    found = register(view, ["gesetz"])
    assert found == Register(documents=[], unread=["gesetz.txt"], entries=[])


@pytest.mark.parametrize(
    ("kinds", "since", "said"),
    [
        (["dutys"], [], "There is no kind 'dutys'."),
        ([], ["sale"], "'sale' gives no day."),
        ([], ["sale=soon"], "gives no day"),
        ([], ["=2026-01-01"], "names no event"),
    ],
)
def test_what_cannot_be_wanted_is_said(kinds: list[str], since: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Wanted.of(kinds, "", since)


def test_too_many_documents_at_once_are_refused(view: View) -> None:
    assert register(view, most=3).documents == ["law.txt", "lease.txt"]
    with pytest.raises(InputError, match="3 documents are too many at once"):
        register(view, most=2)


def test_a_document_that_is_not_there(view: View) -> None:
    with pytest.raises(NotFoundError):
        register(view, ["nowhere"])


def test_sums_and_what_is_due_need_no_modal() -> None:
    text = "Fees\n\n1. A berth costs $30 a year.\n\n2. The fee is due within 5 days of the bill.\n"
    found = register(viewed(fees=text)).entries
    assert [(one.kinds, one.when, one.sums) for one in found] == [
        (["sum"], "", ["$30"]),
        (["deadline"], "within 5 days of the bill", []),
    ]


def test_an_empty_document_has_none() -> None:
    assert register(viewed(law=" ")).entries == []
