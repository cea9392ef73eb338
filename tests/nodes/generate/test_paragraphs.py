"""The unit of quoting."""

import pytest
from indexes import view_of
from records import query

from lexloop.core.types import Passage
from lexloop.documents.document import Document
from lexloop.models.minilm import load_minilm
from lexloop.nodes.generate.paragraphs import SHORT, paragraph_of
from lexloop.nodes.generate.quotables import score_quotables


def quoted(text: str, of: str) -> list[str]:
    """What is quoted with the statement that begins so."""
    view = view_of(Document("d.txt", "Terms", text), embedder=load_minilm())
    passages: list[Passage] = [
        {**chunk, "n": n, "score": 1.0, "signals": {}}
        for n, chunk in enumerate(view.every_chunk(), 1)
    ]
    scored = score_quotables(query("What is due?", view), passages, view)
    assert scored is not None
    [item] = [one for one in scored.quotables if one.said.own.startswith(of)]
    return [said.own for said in paragraph_of(item, view)]


FILLER = "The quay is swept at dawn and washed at noon by two hands of the crew. "


@pytest.mark.parametrize("of", ["Whoever rents", "The penalty", "It is waived"])
def test_a_short_paragraph_is_quoted_whole(of: str) -> None:
    paragraph = [
        "Whoever rents out a raft shall pay a penalty of 80 pounds.",
        "The penalty shall be paid at the quay.",
        "It is waived if the raft sank.",
    ]
    text = (
        f"Terms\n\nSection 1 Rafts\n\n{' '.join(paragraph)}\n\nSection 2 Oars\n\nOars are lent.\n"
    )
    assert quoted(text, of) == paragraph


def test_of_a_longer_one_a_sentence_comes_with_those_that_refer_to_it() -> None:
    long = FILLER * (SHORT // len(FILLER.split()) + 1)
    said = "A raft needs a lamp. However, that does not hold by day. Oars are lent free of charge."
    text = f"Terms\n\nSection 1 Rafts\n\n{long}{said}\n"
    assert quoted(text, "A raft needs") == [
        "A raft needs a lamp.",
        "However, that does not hold by day.",
    ]
    assert quoted(text, "However") == [
        "A raft needs a lamp.",
        "However, that does not hold by day.",
    ]
    assert quoted(text, "Oars are") == ["Oars are lent free of charge."]


def test_what_answers_a_question_of_the_text_stands_without_it() -> None:
    text = "Who rents rafts? The club does. It is at the quay. Who lends oars? The master does.\n"
    assert quoted(text, "The club") == ["The club does.", "It is at the quay."]
    assert quoted(text, "The master") == ["The master does."]


def test_what_points_back_comes_with_the_paragraph_before() -> None:
    text = (
        "Terms\n\nSection 1 Rafts\n\nThe owner may ask for a receipt of each payment.\n\n"
        "Such a receipt shall be in writing.\n"
    )
    assert quoted(text, "Such a") == [
        "The owner may ask for a receipt of each payment.",
        "Such a receipt shall be in writing.",
    ]


def test_where_each_line_ends_with_a_sentence_a_line_is_a_paragraph() -> None:
    lines = ["A raft costs 4 pounds a day.", "A boat costs 9 pounds a day.", "An oar is free."]
    text = "Terms\n\nSection 1 Rents\n" + "\n".join(lines) + "\n"
    assert quoted(text, "A boat") == ["A boat costs 9 pounds a day."]
    wrapped = (
        "Terms\n\nSection 1 Rents\nA raft costs 4 pounds a day. A boat\ncosts 9 pounds a day.\n"
    )
    assert quoted(wrapped, "A boat") == [
        "A raft costs 4 pounds a day.",
        "A boat costs 9 pounds a day.",
    ]
