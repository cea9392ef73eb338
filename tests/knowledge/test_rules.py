import time

import pytest
import records
from hypothesis import given
from hypothesis import strategies as st

from lexloop.core.types import Chunk, Triplet
from lexloop.documents.document import Document
from lexloop.knowledge.predicates import PREDICATES
from lexloop.knowledge.rules import extract_document


def chunk(text: str, *, start: int = 0, number: int = 1) -> Chunk:
    return records.chunk(text, start=start, id=f"c{number}", section="", page=3)


def triplets(text: str) -> list[Triplet]:
    return extract_document(Document("d.txt", "Act", text), [chunk(text)])


def relations(text: str) -> list[tuple[str, str, str]]:
    return [(t["subject"], t["predicate"], t["object"]) for t in triplets(text)]


def placed(text: str) -> list[tuple[str, str, str, str]]:
    """The relations with the provisions that state them."""
    return [(t["section"], t["subject"], t["predicate"], t["object"]) for t in triplets(text)]


DEFINITIONS = [
    (
        'The term "lift" means a machine that moves people between floors.',
        ("lift", "defines", "a machine that moves people between floors"),
    ),
    (
        "“Mooring fee” or “fee” means the sum due for a berth.",
        ("mooring fee", "defines", "the sum due for a berth"),
    ),
    (
        'The term "boat" does not include a raft.',
        ("boat", "excludes", "a raft"),
    ),
    (
        "Personal data includes your name and your address.",
        ("personal data", "includes", "your name and your address"),
    ),
    (
        "A harbour pilot is any person licensed to steer ships.",
        ("harbour pilot", "defines", "any person licensed to steer ships"),
    ),
    (
        'In this Part, "group", in relation to a company, means the company and its parents.',
        ("group", "defines", "the company and its parents"),
    ),
    (
        "Owner is defined as the holder of the title.",
        ("Owner", "defines", "the holder of the title"),
    ),
]

DUTIES = [
    (
        "Every keeper of a kennel that houses dogs shall keep a register.",
        ("keeper of a kennel", "requires", "keep a register"),
    ),
    (
        "The Harbour Master must, without delay, report each accident.",
        ("Harbour Master", "requires", "report each accident"),
    ),
    (
        "In the port, a captain, mate, or pilot is required to carry a lamp.",
        ("captain, mate, or pilot", "requires", "carry a lamp"),
    ),
    (
        "A Dealer, other than a Bank, must not hold deposits.",
        ("Dealer", "prohibits", "hold deposits"),
    ),
    ("No person may feed the swans.", ("person", "prohibits", "feed the swans")),
    (
        "It is unlawful for a landlord to enter a flat without notice.",
        ("landlord", "prohibits", "enter a flat without notice"),
    ),
    (
        "A tenant is entitled to inspect the accounts.",
        ("tenant", "permits", "inspect the accounts"),
    ),
    (
        "If a Fund Manager finds an error, it must correct the register.",
        ("Fund Manager", "requires", "correct the register"),
    ),
    ("We will not sell your address.", ("We", "prohibits", "sell your address")),
    ("You can opt out of our letters.", ("You", "permits", "opt out of our letters")),
    (
        "The rules provide that an owner must insure the boat.",
        ("owner", "requires", "insure the boat"),
    ),
]

LIMITS = [
    (
        "A dealer must not sell fireworks unless the buyer shows a permit.",
        ("the buyer shows a permit", "exception_to", "sell fireworks"),
    ),
    (
        "This section does not apply to fishing boats.",
        ("fishing boats", "exception_to", "§ 7"),
    ),
    ("This section applies to river ferries.", ("§ 7", "applies_to", "river ferries")),
    (
        "Notwithstanding paragraph 4, a pilot may sail at night.",
        ("a pilot may sail at night", "exception_to", "paragraph 4"),
    ),
    (
        "A captain who sails without a lamp is liable for a fine of $300.",
        ("fine of $300", "penalises", "captain who sails without a lamp"),
    ),
    (
        "A captain who sails without a lamp is liable for a fine of $300.",
        ("fine", "amount", "$300"),
    ),
    (
        "A fund must hold capital of at least USD 1,000,000.",
        ("capital", "amount", "at least USD 1,000,000"),
    ),
    (
        "The price must not exceed 30% of the net value.",
        ("price", "amount", "exceed 30% of the net value"),
    ),
    (
        "The operator must notify the office within 10 business days of the spill.",
        ("notify the office", "deadline", "within 10 business days of the spill"),
    ),
    (
        "Such notice shall be given no less than five days before the sale.",
        ("notice", "deadline", "no less than five days before the sale"),
    ),
    (
        "This ordinance takes effect on March 1, 2024.",
        ("ordinance", "deadline", "takes effect on March 1, 2024"),
    ),
    (
        "The keeper must count the dogs annually.",
        ("count the dogs", "deadline", "annually"),
    ),
]

REFERENCES = [
    ("Notice is given under § 20-871(b)(1) of the Code.", "§ 20-871(b)(1) of the Code"),
    ("A berth is let as section 5-301 of this Chapter says.", "section 5-301"),
    ("Consent is governed by Article 6(1) alone.", "Article 6(1)"),
    ("See also 29 C.F.R. § 1607.4.", "29 C.F.R. § 1607.4"),
    (
        "Breach of paragraph 2 of subdivision b of section 9-12 counts.",
        "paragraph 2 of subdivision b of section 9-12",
    ),
]


@pytest.mark.parametrize(("text", "expected"), DEFINITIONS + DUTIES)
def test_reads_definitions_and_duties(text: str, expected: tuple[str, str, str]) -> None:
    assert expected in relations(text)


@pytest.mark.parametrize(("text", "expected"), LIMITS)
def test_reads_exceptions_penalties_and_measures(text: str, expected: tuple[str, str, str]) -> None:
    assert expected in relations(f"§ 7\n{text}")


@pytest.mark.parametrize(("text", "target"), REFERENCES)
def test_reads_cross_references(text: str, target: str) -> None:
    assert ("§ 7", "refers_to", target) in relations(f"§ 7\n{text}")


def test_each_number_of_a_reference_is_one_triplet() -> None:
    found = relations("Rule 9\nFees follow Rules 3.2 and 3.4 of the Fee Rulebook.")
    assert found == [
        ("Rule 9", "states", "Fees follow Rules 3.2 and 3.4 of the Fee Rulebook"),
        ("Rule 9", "refers_to", "Rule 3.2 of the Fee Rulebook"),
        ("Rule 9", "refers_to", "Rule 3.4 of the Fee Rulebook"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n ",
        "The harbour was built long ago.",
        "It may rain in May.",
        "The fee may vary.",
        "This may be available elsewhere.",
        "There must be an end.",
        "What must an owner do?",
        "48% 47% 52%",
    ],
)
def test_says_nothing_where_nothing_is_stated(text: str) -> None:
    assert relations(text) == []


def test_list_items_carry_the_lead_in() -> None:
    text = (
        "A ferry operator must:\n"
        "(a) keep life vests on board; and\n"
        "(b) train the crew, including:\n"
        "(i) the captain; and\n"
        "(ii) the cook.\n"
        "The office may inspect any ferry."
    )
    assert relations(text) == [
        ("ferry operator", "requires", "keep life vests on board"),
        ("ferry operator", "requires", "train the crew, including"),
        ("ferry operator", "requires", "train the crew: the captain"),
        ("ferry operator", "requires", "train the crew: the cook"),
        ("office", "permits", "inspect any ferry"),
    ]


def test_items_after_unless_are_exceptions() -> None:
    text = (
        "It shall be unlawful for a shop or a stall to sell knives unless:\n"
        "1. The buyer is of age; and\n"
        "2. The sale is recorded."
    )
    assert relations(text) == [
        ("shop or a stall", "prohibits", "sell knives"),
        ("The buyer is of age", "exception_to", "sell knives"),
        ("The sale is recorded", "exception_to", "sell knives"),
    ]


def test_items_of_a_condition_are_no_duties() -> None:
    text = "An agent must stop work if:\n(a) the licence lapses; or\n(b) the office says so."
    assert relations(text) == [("agent", "requires", "stop work")]


def test_an_acronym_is_noted_and_left_as_the_law_writes_it() -> None:
    text = 'A floating landing stage ("FLS") is any raft tied to a quay.\nAn FLS must be lit.'
    assert relations(text) == [
        ("FLS", "alias_of", "floating landing stage"),
        ("floating landing stage", "defines", "any raft tied to a quay"),
        ("FLS", "requires", "be lit"),
    ]


def test_a_list_keeps_its_lead_in_where_a_chunk_ends_within_it() -> None:
    first = 'The Harbour Office ("HO") is open daily.\nThe owner must:\n(a) pay the HO; and\n'
    second = "(b) obey the HO.\n"
    chunks = [chunk(first), chunk(second, start=len(first), number=2)]
    document = Document("d.txt", "Act", first + second)
    found = [(t["chunk_id"], t["object"]) for t in extract_document(document, chunks)]
    assert found == [("c1", "Harbour Office"), ("c1", "pay the HO"), ("c2", "obey the HO")]
    assert extract_document(Document("d.txt", "Act", ""), []) == []


def test_a_lead_in_does_not_reach_into_the_next_section() -> None:
    text = "§ 1\nThe owner must:\n§ 2\n(a) obey the office.\n"
    assert ("owner", "requires", "obey the office") not in relations(text)


def test_a_triplet_says_where_it_stands() -> None:
    text = "Preamble here.\n§ 2\nAn owner must pay."
    document = Document("d.txt", "Act", text, pages=(0, 15))
    [found] = extract_document(document, [chunk(text)])
    expected: Triplet = {
        "subject": "owner",
        "predicate": "requires",
        "object": "pay",
        "chunk_id": "c1",
        "document": "d.txt",
        "section": "§ 2",
        "page": 2,
        "start": 19,
        "end": 37,
        "quote": "An owner must pay.",
    }
    assert found == expected


PIECES = st.sampled_from(
    [
        'The term "X" means ', "must ", "shall not ", "unless ", "(a) ", "i. ", ":\n", ";\n", "\n",
        "An Owner ", "within 10 days ", "$500 ", "§ 1-2(b) ", "Rule 3.2", ", ", ". ", "“", "”", "(",
        "AEDT", '("AEDT") ', "any tool ", "who ", "\u200e", "Ж", "  ", "not more than ", "5% of ",
    ]
)  # fmt: skip


@given(st.lists(PIECES, max_size=40).map("".join), st.integers(0, 40))
def test_spans_are_exact_and_phrases_short(text: str, cut: int) -> None:
    pieces = [chunk(text[:cut]), chunk(text[cut:], start=cut, number=2)]
    chunks = [piece for piece in pieces if piece["text"]]
    for triplet in extract_document(Document("d.txt", "", text), chunks):
        held = next(piece for piece in chunks if piece["id"] == triplet["chunk_id"])
        assert held["start"] <= triplet["start"] < triplet["end"] <= held["end"]
        assert triplet["quote"] == text[triplet["start"] : triplet["end"]]
        assert triplet["quote"].strip()
        assert triplet["predicate"] in PREDICATES
        assert 0 < len(triplet["subject"]) <= 120
        assert 0 < len(triplet["object"]) <= 120
        assert "\n" not in triplet["subject"] + triplet["object"]


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    triplets(text)


@pytest.mark.parametrize(
    "text",
    [
        "a" * 100_000,
        "word " * 20_000,
        "must " * 20_000,
        "$1 " * 33_000,
        "1(" * 50_000,
        "“a" * 50_000,
        "Section 1 of " * 8_000,
        "A " * 50_000,
        "unless x " * 11_000,
        "(" * 100_000,
        "(a) it must:\n" * 2_000,
    ],
    ids=lambda text: text[:12],
)
def test_hostile_text_takes_linear_time(text: str) -> None:
    document = Document("d.txt", "", text)
    assert document.tree is not None  # parsed once for everything; not what is timed here
    began = time.process_time()
    extract_document(document, [chunk(text)])
    assert time.process_time() - began < 1
