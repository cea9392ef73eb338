"""Statements as the reader reads them."""

from collections.abc import Sequence

import numpy as np
import pytest
from indexes import view_of

from lexloop.documents.document import Document
from lexloop.models.minilm import load_minilm
from lexloop.models.reader import Readings
from lexloop.nodes import reading
from lexloop.nodes.reading import SHORTLIST, Stated, reads
from lexloop.store.view import View

KEEPING = "A dog is kept in a kennel of two rooms, and a cat is not."
FEEDING = "A dog is fed twice a day, and the owner of the dog pays for the food."
LAW = f"# Kennels\n\n## Section 1 Keeping\n\n{KEEPING}\n\n## Section 2 Feeding\n\n{FEEDING}\n"


class Counting:
    """A reader by whom the longer of two texts answers better."""

    def __init__(self) -> None:
        self.given: list[tuple[str, list[str]]] = []

    def read(self, question: str, texts: Sequence[str]) -> Readings:
        self.given.append((question, [*texts]))
        lengths = np.array([len(text) for text in texts], dtype=np.float32)
        return Readings(lengths, -lengths)


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Counting:
    reader = Counting()
    monkeypatch.setattr(reading, "load_reader", lambda: reader)
    return reader


def stated_in(view: View) -> list[Stated]:
    return [
        Stated(chunk["document"], said, said.text)
        for chunk in view.every_chunk()
        for said in view.statements(chunk["id"])[0]
    ]


def test_a_statement_is_read_behind_its_title_and_headings(counting: Counting) -> None:
    view = view_of(Document("law.md", "Dog Act", LAW), embedder=load_minilm())
    stated = stated_in(view)
    read = reads("Who pays?", stated, np.zeros(len(stated), dtype=np.float32), view)
    [(question, texts)] = counting.given
    assert question == "Who pays?"
    told = (f"Keeping. {KEEPING}", f"Feeding. {FEEDING}")
    assert texts == [f"Dog Act. Kennels. {one}" for one in told]
    assert read.order.tolist() == [len(text) for text in texts]
    assert read.answers.tolist() == [-len(text) for text in texts]


@pytest.mark.parametrize(
    ("asked", "read"),
    [
        ("Who pays?", "Who pays of this act?"),
        ("Who pays under the act?", "Who pays under the act?"),
        ("Who pays for the food of a dog?", "Who pays for the food of a dog?"),
    ],
)
def test_a_short_question_is_read_with_the_documents_own_name(
    counting: Counting, asked: str, read: str
) -> None:
    text = LAW + "\n## Section 3 Name\n\nThis Act is called the Dog Act.\n"
    view = view_of(Document("law.md", "Dog Act", text), embedder=load_minilm())
    stated = stated_in(view)
    reads(asked, stated, np.zeros(len(stated), dtype=np.float32), view)
    assert [question for question, _ in counting.given] == [read]


def test_only_the_best_are_read_and_the_others_count_as_the_worst_of_them(
    counting: Counting,
) -> None:
    view = view_of(Document("law.md", "Dog Act", LAW), embedder=load_minilm())
    first = stated_in(view)[0]
    stated = [first._replace(text="x" * n) for n in range(1, SHORTLIST + 3)]
    scores = np.arange(len(stated), dtype=np.float32)  # the last are the best
    read = reads("Who pays?", stated, scores, view)
    [(_, texts)] = counting.given
    assert len(texts) == SHORTLIST
    assert read.order[:2].tolist() == [min(map(len, texts))] * 2
    assert read.order[2:].tolist() == sorted(map(len, texts))
    assert read.answers[:2].tolist() == [-max(map(len, texts))] * 2


def test_a_definition_of_what_is_asked_about_may_be_read_too(counting: Counting) -> None:
    text = (
        "Kennel Act\n\nSection 1 Definitions\n\n"
        "“Kennel” means a house for one dog.\n\n“Run” means a yard of a kennel.\n"
    )
    view = view_of(Document("law.txt", "Kennel Act", text), embedder=load_minilm())
    kennel, run = [said for said in stated_in(view) if "means" in said.text]
    others = [kennel._replace(text="x")] * SHORTLIST
    scores = np.array([2.0] * SHORTLIST + [1.0, 1.0], dtype=np.float32)
    stated = [*others, run, kennel]
    reads("Who builds a kennel?", stated, scores, view)
    reads("Who builds a kennel?", stated, scores, view, definitions=2)
    (_, few), (_, texts) = counting.given
    assert few == texts[:SHORTLIST]
    assert [text for text in texts if "means" in text] == [texts[-1]]
    assert "a house for one dog" in texts[-1]


def test_what_is_in_other_languages_is_not_read(counting: Counting) -> None:
    text = (
        "Der Halter muss den Hund zweimal am Tag füttern, und das Futter wird von ihm bezahlt. "
        "Wer den Hund nicht füttert, darf ihn nicht halten. Die Gemeinde ist für die Aufsicht "
        "zuständig und kann den Hund in einem Heim unterbringen, wenn es nötig ist."
    )
    view = view_of(Document("g.txt", "Hundegesetz", text), embedder=load_minilm())
    stated = stated_in(view)
    read = reads("Wer zahlt?", stated, np.zeros(len(stated), dtype=np.float32), view)
    assert not np.stack(read).any()
    assert counting.given == []
