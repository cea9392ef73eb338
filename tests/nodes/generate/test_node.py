"""What the node adds to a draft, what is not answered, and which answers are withheld."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from records import candidate, chunk, passage
from running import runtime

from lexloop import prompts
from lexloop.core.running import waited
from lexloop.core.state import State
from lexloop.core.types import ABSTENTION, Candidate, Citation, Draft, StructureLine
from lexloop.documents.document import Document
from lexloop.models.minilm import load_minilm
from lexloop.nodes.context import drafted
from lexloop.nodes.generate.node import (
    PromptGuard,
    QuestionGuard,
    RefusalClassifier,
    generate,
    with_told,
)
from lexloop.nodes.question.parts import parse
from lexloop.store.view import View


def source(n: int, quote: str = "Article 1") -> Citation:
    at = {"start": 0, "end": len(quote)}
    return Citation(n=n, document="d.txt", section="Article 1", page=None, quote=quote, **at)


MISSING: StructureLine = {
    "line": "There is no Article 9.",
    "citations": [source(0), source(0, "Article")],
}


@pytest.mark.parametrize(
    ("draft", "answer", "numbers"),
    [
        (drafted("A. [1-3]", []), "A. [1-3]\nThere is no Article 9. [4][5]", [4, 5]),
        (drafted(ABSTENTION), "There is no Article 9. [1][2]", [1, 2]),
    ],
)
def test_sources_go_on_after_all_markers_of_the_draft(
    draft: Draft, answer: str, numbers: list[int]
) -> None:
    told = with_told(draft, [MISSING])
    assert told["answer"] == answer
    assert [citation["n"] for citation in told["citations"]] == numbers
    assert told["told"] == [answer.rsplit("\n", maxsplit=1)[-1]]
    assert not told["abstained"]


BACKEND = SimpleNamespace(
    titles={},
    chunks=lambda names: [chunk(id=name) for name in names],
    document=lambda name: Document(name, "", ""),
    located=lambda citation: citation,
)


class Quoting:
    """Quotes two chunks, of which one is a passage; withholds nothing."""

    instructions = ""

    async def generate(self, *_: object) -> Draft:
        return drafted("A. [1]", [source(1)], quoted=["c1#0", "c2#0"])

    def withholds(self, *_: str) -> bool:
        return False

    def refuses(self, *_: object) -> bool:
        return False


def test_what_is_quoted_is_among_the_passages() -> None:
    given = {**passage(1, "A."), "id": "c1#0"}
    state: State = {"parsed": parse("?"), "asked": "?", "passages": [given], "triplets": []}
    update = waited(generate(state, runtime(generator=Quoting(), guard=Quoting(), view=BACKEND)))
    assert update["passages"][0] == given
    assert [(p["id"], p["n"], p["score"], p["signals"]) for p in update["passages"][1:]] == [
        ("c2#0", 2, 0.0, {"quoted": 1.0})
    ]
    assert state["passages"] == [given]


class Refusing(Quoting):
    """Refuses orders."""

    def refuses(self, *texts: object) -> bool:
        return texts[0] == "Obey!"


@pytest.mark.parametrize(
    ("asked", "untranslated", "abstained"),
    [("plain?", "", False), ("Obey!", "", True), ("plain?", "It is in German.", True)],
)
def test_what_is_refused_is_not_written(asked: str, untranslated: str, abstained: bool) -> None:
    state: State = {
        "parsed": parse(asked),
        "asked": asked,
        "untranslated": untranslated,
        "passages": [],
        "triplets": [],
    }
    around = runtime(generator=Refusing(), guard=Refusing(), view=BACKEND)
    assert waited(generate(state, around))["draft"]["abstained"] is abstained


RULES = "one two three four five six seven eight nine ten"
INSTRUCTIONS = prompts.load("generate", {"passages", "triplets", "guidance", "question"}).system


@pytest.fixture
def guard(small: View) -> PromptGuard:
    return PromptGuard(small.embed, 0.8)


def test_a_recited_system_prompt_is_withheld_unless_the_question_has_it(
    guard: PromptGuard, small: View
) -> None:
    numbered = " ".join(f"{sentence}. [1]" for sentence in INSTRUCTIONS.split(". "))
    for recited in (INSTRUCTIONS, numbered):
        assert guard.withholds(recited, INSTRUCTIONS, "What do these rules say?")
    assert not guard.withholds(INSTRUCTIONS, INSTRUCTIONS, INSTRUCTIONS)
    half = "one two three four five six seven eight nine ten and then something else entirely new"
    assert PromptGuard(small.embed, 0.1).withholds(half, RULES, "?")
    assert not PromptGuard(small.embed, 1.0).withholds(RULES, RULES, "?")


DATA = Path(__file__).parents[3] / "data"
KEPT_BACK = [
    json.loads(line)
    for line in (DATA / "refusal" / "kept_back.jsonl").read_text("utf-8").splitlines()
]


@pytest.fixture(scope="module")
def refuses() -> RefusalClassifier:
    return RefusalClassifier(load_minilm().embed, comparable=True)


def near(cosine: float) -> list[Candidate]:
    return [candidate("c1#0", "A.", dense=cosine)]


def test_orders_and_obscenities_are_refused_whatever_is_found(refuses: RefusalClassifier) -> None:
    asked = [row["query"] for row in KEPT_BACK if row["kind"] != "irrelevant"]
    refused = [query for query in asked if refuses(query, query, near(0.9))]
    assert len(asked) == 39
    assert len(refused) >= 0.8 * len(asked)


def test_other_subjects_are_refused_unless_the_documents_are_about_them(
    refuses: RefusalClassifier,
) -> None:
    asked = [row["query"] for row in KEPT_BACK if row["kind"] == "irrelevant"]
    assert sum(refuses(query, query, near(0.15)) for query in asked) >= 0.8 * len(asked)
    assert sum(refuses(query, query, near(0.9)) for query in asked) <= 0.35 * len(asked)


def test_a_question_is_on_the_subject_whose_telling_words_it_has(
    refuses: RefusalClassifier, small: View
) -> None:
    guard = QuestionGuard(small, 1.0, refuses)
    for question, refused in (("How many boats make a berth?", False), ("How many lions?", True)):
        assert refuses(question, question, near(0.2))
        assert guard.refuses(question, question, near(0.2)) is refused


def test_a_correction_is_no_order(refuses: RefusalClassifier) -> None:
    said, meant = "Sorry, the gas kiln.", "Where is the fee for the gas kiln paid?"
    assert refuses(said, said, near(0.9))
    assert not refuses(said, meant, near(0.9))


def test_without_a_cosine_that_can_be_compared_no_subject_is_refused(
    refuses: RefusalClassifier,
) -> None:
    question = "How many litres are in a gallon?"
    assert refuses(question, question, near(0.1))
    assert not refuses(question, question, [])
    lexical: list[Candidate] = [{**near(0.1)[0], "signals": {"lexical": 3.0}}]
    assert not refuses(question, question, lexical)
    assert not RefusalClassifier(load_minilm().embed, comparable=False)(
        question, question, near(0.1)
    )
