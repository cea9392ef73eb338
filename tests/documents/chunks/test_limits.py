"""What limits a statement, and what is quoted with what it belongs to."""

from itertools import product

import pytest
from indexes import view_of
from sets import rows, whole_text

from lexloop.core.types import Passage
from lexloop.documents.chunks.carrying import carried_from
from lexloop.documents.chunks.limits import limits_of
from lexloop.documents.chunks.statements import statements
from lexloop.documents.document import Document
from lexloop.documents.structure.parse import parse
from lexloop.documents.text.abbreviations import Abbreviations
from lexloop.models.minilm import load_minilm
from lexloop.nodes.generate.score import Quotable
from lexloop.nodes.generate.write import paragraph_of

RULES = [
    ("The Keeper shall not lend the key to anybody.", "lend the key to a doctor"),
    ("No guest may moor at the east quay.", "moor there in a storm"),
    ("The Board pays for every broken oar.", "pay for oars broken by the tenant"),
    ("Every stall is closed at nine in the evening.", "close the stalls on fair days"),
    ("A member must not sell honey outside the market.", "sell honey to hospitals"),
]
BUT = "shall not apply to whoever must {but}"
PLACES = {
    "the next sentence names it": f"{{n}}.1 {{rule}} This Section {{n}}.1 {BUT}.",
    "the next sentence goes on": "{n}.1 {rule} However, one may {but}.",
    "the next sentence provides": "{n}.1 {rule} It may, provided that notice is given, {but}.",
    "a clause of it": "{n}.1 {rule} That is so unless one must {but}.",
    "the next paragraph": f"(a) {{rule}}\n\n(b) Paragraph (a) {BUT}.",
    "the foregoing": f"{{rule}}\n\nThe foregoing {BUT}.",
    "this section": f"{{rule}}\n\nNothing else is said here of ropes.\n\nThis section {BUT}.",
    "the preceding paragraph": f"{{rule}}\n\nThe preceding paragraph {BUT}.",
    "a numbered paragraph": f"1. {{rule}}\n\n2. Ropes are dry.\n\n3. Paragraph 1 {BUT}.",
    "another section": f"{{rule}}\n\nSection 8 Hardship\n\nSection {{n}} {BUT}.",
    "notwithstanding": "{rule}\n\nSection 8 Need\n\nNotwithstanding Section {n}, one may {but}.",
    "an earlier section": "{rule}",
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(("rule", "but"), RULES)
def test_an_exception_is_quoted_with_what_it_limits(place: str, rule: str, but: str) -> None:
    first = f"Section 1 Scope\n\nSection 4 is subject to this: one may {but}.\n\n"
    before = first if place == "an earlier section" else ""
    body = PLACES[place].format(n=4, rule=rule, but=but)
    law = "Section 9 Law\n\nThe law of Malta governs.\n"
    text = f"Harbour Terms\n\n{before}Section 4 Keys\n\n{body}\n\n{law}"
    said = quoted_of(text, rule)
    assert any(but in one for one in said), said
    assert not any("Malta" in one or "ropes" in one.lower() for one in said)


def quoted_of(text: str, rule: str) -> list[str]:
    """What is quoted of the paragraph with a rule, and what limits it."""
    view = view_of(Document("t.txt", "Harbour Terms", text), embedder=load_minilm())
    for chunk in view.every_chunk():
        for said in view.statements(chunk["id"])[0]:
            if said.own.startswith(rule[:12]) and not said.points:
                passage: Passage = {**chunk, "n": 1, "score": 1.0, "signals": {}}
                quoted = paragraph_of(Quotable(passage, said), view)
                tree = view.tree_of("t.txt")
                assert tree is not None
                limits = limits_of(quoted[0].start, quoted[-1].end, tree, text)
                return [one.own for one in [*quoted, *limits]]
    raise AssertionError(text)


@pytest.mark.parametrize("other", rows("limits_of_others"))
def test_what_limits_something_else_is_not_quoted(other: str) -> None:
    rule, _ = RULES[0]
    text = (
        f"Harbour Terms\n\nSection 4 Keys\n\n{rule}\n\nSection 6 Guests\n\n{other}\n\n"
        "Section 7 Food\n\nFood is sold.\n"
    )
    assert quoted_of(text, rule) == [rule]


def test_this_section_with_a_number_is_the_one_of_that_number() -> None:
    rule, other = RULES[0][0], RULES[1][0]
    text = (
        f"Harbour Terms\n\n4. Keys\n\n4.1 Lending. {rule}\n\n4.2 Mooring. {other} This Section 4.2 "
        "shall not apply in a storm.\n\n5. Food\n\n5.1 Sale. Food is sold.\n"
    )
    assert quoted_of(text, rule) == [rule]
    assert any("storm" in said for said in quoted_of(text, other))


def test_a_document_is_read_once_for_all_that_may_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    begin = Abbreviations.__init__

    def counted(self: Abbreviations, text: str) -> None:
        read.append(text)
        begin(self, text)

    monkeypatch.setattr(Abbreviations, "__init__", counted)
    limits = " ".join(f"Rule {n} of Section 4 shall not apply to boat {n}." for n in range(40))
    text = f"Harbour Terms\n\nSection 4 Keys\n\n{RULES[0][0]}\n\nSection 5 Boats\n\n{limits}\n"
    tree = Document("t.txt", "Harbour Terms", text).tree
    assert len(limits_of(text.index(RULES[0][0]), text.index("Section 5"), tree, text)) == 3
    assert read.count(text) == 1


def test_there_are_sixty_pairs() -> None:
    assert len([*product(PLACES, RULES)]) == 60


INDIAN = """THE BOATS ACT, 1999

1. Licences.—(1) Every boat shall have a licence.
Provided that a raft needs none.
(2) The harbour master shall issue it.
Provided further that section 1 binds no navy.

2. Appeals.—No court shall hear a complaint under section 1 but of the harbour master.
Provided that the court may hear an owner whom section 1 harms.
"""


@pytest.mark.parametrize(
    ("opening", "limits"),
    [
        ("Every boat", ["Provided that a raft needs none."]),
        ("The harbour master", ["Provided further that section 1 binds no navy."]),
        ("No court", ["Provided that the court may hear an owner whom section 1 harms."]),
    ],
)
def test_a_proviso_limits_what_it_stands_under_and_nothing_that_it_names(
    opening: str, limits: list[str]
) -> None:
    tree = parse(INDIAN)
    [said] = [one for one in statements(tree, INDIAN) if one.own.startswith(opening)]
    assert [one.own for one in limits_of(said.start, said.end, tree, INDIAN)] == limits


ACT = whole_text("dogs_act.txt")


def carried(opening: str, text: str = ACT) -> list[str]:
    tree = parse(text)
    [said] = [one for one in statements(tree, text) if one.own.startswith(opening)]
    return [before.own for before in carried_from(said, tree, text)]


@pytest.mark.parametrize("opening", ["A person convicted", "Whoever helps"])
def test_a_paragraph_carries_on_from_the_one_that_it_names(opening: str) -> None:
    assert carried(opening) == ["A person who sells a dog without a tag commits an offence."]


def test_a_sentence_that_points_back_carries_on_from_the_one_before() -> None:
    assert carried("It bears") == ["A tag is of brass."]


def test_a_proviso_carries_on_from_what_it_limits() -> None:
    fee, first = "The fee of section 1 is paid to the council.", "Provided that the council"
    assert carried(first) == [fee]
    assert carried("Provided further") == [fee, f"{first} may waive it."]


@pytest.mark.parametrize(
    "line", ["Penalty: 40 crowns.", "Maximum penalty: 40 crowns.", "Note 1: It is."]
)
def test_a_line_that_belongs_to_a_paragraph_carries_on_from_it(line: str) -> None:
    text = f"1 Lamps\n(1) A boat must have a lamp.\n{line}\n\n2 Oars\nOars float.\n"
    assert carried(line.split(":", maxsplit=1)[0], text) == ["A boat must have a lamp."]


@pytest.mark.parametrize("opening", ["A person who sells", "This section", "A tag", "The fee"])
def test_what_stands_alone_carries_on_from_nothing(opening: str) -> None:
    assert carried(opening) == []


def test_a_long_paragraph_is_not_carried() -> None:
    long = ACT.replace("without a tag", "without " + "a tag or " * 30)
    assert carried("Whoever helps", long) == []
