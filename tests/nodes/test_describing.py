"""The document first: a question that describes one is asked inside it, by rule and end to end."""

from pathlib import Path

import pytest
from langchain_core.messages import AnyMessage, HumanMessage
from sets import rows

from lexloop.core.metadata import Filters, Metadata
from lexloop.core.settings import Settings
from lexloop.documents.document import Document
from lexloop.graph.app import graph
from lexloop.models.minilm import load_minilm
from lexloop.nodes.describing import documents_called, documents_described, unnamed
from lexloop.nodes.markers import unmarked
from lexloop.nodes.question import parse
from lexloop.store.opening import tools_for
from lexloop.store.view import View
from lexloop.store.writer import build_collection

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
    return build_collection(documents, tools_for(Settings(), load_minilm())).seen_by(Filters())


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


def test_of_two_short_documents_the_one_described_is_found() -> None:
    question = parse("Consider the lease of Otto Lind; what is the rent?")
    assert documents_described(question, _leases(2)) == ["lease-2.txt"]


def test_nothing_of_other_documents_is_seen_from_inside(leases: View) -> None:
    assert len(leases.titles) == 3
    inner = leases.within(["lease-3.txt", "unknown.txt"])
    lexical, dense = inner.search(["rent a month"], 10)
    assert {hit.document for [hits] in (lexical, dense) for hit in hits} == {"lease-3.txt"}
    assert (*inner.titles,) == ("lease-3.txt",)
    assert 0 < len(inner) < len(leases)
    assert leases.within([]) is leases
    assert len(leases.titles) == 3


def _written(folder: Path) -> str:
    """Write the leases as files, and return the folder as a corpus."""
    for n, (a, b, c, d) in enumerate(_PARTIES, 1):
        text = _LEASE.format(owner=a, tenant=b, rent=c, notice=d)
        (folder / f"lease-{n}.txt").write_text(text, encoding="utf-8")
    return str(folder)


def test_the_answer_and_what_follows_are_of_the_document_described(tmp_path: Path) -> None:
    corpus = _written(tmp_path)
    messages: list[AnyMessage] = []
    for question, answer, document in (
        ("Consider the lease between Amsel Quays Ltd and Otto Lind; what is the rent?", "$500", 2),
        ("And how much notice must be given?", "two months", 2),
        ("In the lease of Clara Falk, how much notice must be given?", "six months", 3),
        ("And the rent?", "$700", 3),
    ):
        messages.append(HumanMessage(question))
        done = graph.invoke({"messages": messages}, context={"corpus": corpus})
        messages = done["messages"]
        assert answer in messages[-1].text, question
        cited = {citation["document"] for citation in done["citations"]}
        assert cited == {f"lease-{document}.txt"}, question


def test_the_heading_of_a_document_described_is_not_what_is_asked(tmp_path: Path) -> None:
    question = "Consider the lease between Amsel Quays Ltd and Otto Lind; has it a pet clause?"
    text = "LEASE between Amsel Quays Ltd and {}\n\n1. Rent. The Tenant pays $500 a month.\n"
    for tenant in ("Otto Lind", "Ruth Voss"):
        (tmp_path / f"{tenant}.txt").write_text(text.format(tenant), encoding="utf-8")
    done = graph.invoke({"question": question}, context={"corpus": str(tmp_path)})
    assert done["abstained"]


def test_documents_that_differ_in_a_figure_alone_each_answer_by_name(tmp_path: Path) -> None:
    done = graph.invoke({"question": "What is the rent?"}, context={"corpus": _written(tmp_path)})
    pairs = zip(*[iter(done["answer"].split("\n"))] * 2, strict=True)
    told = {named: said.split(" [")[0] for named, said in pairs}
    assert told == {
        f"In lease-{n}.txt:": f"The Tenant shall pay {rent} a month."
        for n, (*_, rent, _) in enumerate(_PARTIES, 1)
    }


def test_documents_that_answer_in_words_of_their_own_each_answer_by_name(tmp_path: Path) -> None:
    for name, law in (
        ("lease", "This lease is governed by the law of Kent, but for its rules on conflicts."),
        ("licence [7]", "Disputes under this licence are for the courts and the law of Surrey."),
        ("list", "Boats are washed on Mondays."),
    ):
        (tmp_path / f"{name}.txt").write_text(
            f"{name.split()[0].title()} of a Berth\n\n1. {law}\n", encoding="utf-8"
        )
    done = graph.invoke({"question": "Which law governs?"}, context={"corpus": str(tmp_path)})
    named = [line for line in done["answer"].split("\n") if line.startswith("In ")]
    assert named == ["In lease.txt:", f"In {unmarked('licence [7]')}.txt:"]
    assert "[7]" not in done["answer"]  # it would be the marker of a source
    one = graph.invoke(
        {"question": "Which law governs under the Licence of a Berth?"},
        context={"corpus": str(tmp_path)},
    )
    assert one["citations"][0]["document"] == "licence [7].txt"


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
    view = build_collection(documents, tools_for(Settings(), load_minilm())).seen_by(Filters())
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
    view = build_collection(documents, tools_for(Settings(), load_minilm())).seen_by(Filters())
    assert documents_called("How much is paid under the Harbour Act?", view) == []


_PREAMBLE = """{name}

Preamble

The {name} protects berths. The {name} is for rafts, boats and all who moor under the {name}.

1. Mooring. A raft may be moored for nine days.

2. Fees. The owner of a raft pays {fee} a day.
"""


@pytest.mark.parametrize(
    ("count", "name"), [(1, "Harbour Act"), (2, "Harbour Act"), (2, "Quay Act")]
)
def test_the_preamble_that_has_the_name_is_not_quoted(
    tmp_path: Path, count: int, name: str
) -> None:
    fees = {"Harbour Act": "$7", "Quay Act": "$9"}
    for one in [*fees][:count]:
        text = _PREAMBLE.format(name=one, fee=fees[one])
        (tmp_path / f"{one}.txt").write_text(text, encoding="utf-8")
    question = f"How much does a raft cost a day under the {name}?"
    done = graph.invoke({"question": question}, context={"corpus": str(tmp_path)})
    assert done["answer"] == f"The owner of a raft pays {fees[name]} a day. [1]"


@pytest.mark.parametrize(("asked", "found"), rows("called"))
def test_a_name_may_be_spelled_in_one_word_by_the_question_or_the_file(
    asked: str, found: list[str]
) -> None:
    text = "We keep your address for a year. We give it to nobody but those who carry parcels."
    names = ("dairyfair.example.txt", "moor-gazette.txt", "data-sheet.txt")
    documents = [Document(name, "What we keep", text, Metadata()) for name in names]
    view = build_collection(documents, tools_for(Settings(), load_minilm())).seen_by(Filters())
    assert documents_called(asked, view) == found
