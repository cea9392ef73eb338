"""What ``benchmarks/generator.py`` has a model prefer: never what another passage says."""

from generator import preferences

from lexloop.core.types import ABSTENTION


def test_what_is_rejected_is_the_first_sentence_of_a_passage_that_is_not_cited() -> None:
    passages = ["The master keeps it.", "Boats are green. They are small."]
    row = {"question": "Who keeps it?", "passages": passages, "answer": "The master [1]."}
    unanswered = {**row, "answer": ABSTENTION}
    of_both = {**row, "answer": "The master [1]. Boats [2]."}

    assert [*preferences([unanswered, of_both, row])] == [
        {
            "question": "Who keeps it?",
            "passages": passages,
            "chosen": "The master [1].",
            "rejected": "Boats are green [2].",
        }
    ]
