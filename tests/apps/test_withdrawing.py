"""What is kept of an answer when a document is forgotten."""

from answers import citation, record

from lexloop.apps.withdrawing import Traces, withdrawn


def test_an_attempt_loses_the_passages_that_its_ids_name() -> None:
    cats, dogs = ({"id": f"{name}.txt#0", "n": n} for n, name in enumerate(("cats", "dogs"), 1))
    source = citation(document="cats.txt", quote="A cat needs no licence.")
    attempt = {"passages": [cats, dogs], "citations": [], "near": []}
    answer = record(
        answer="A cat needs no licence. [1]",
        citations=[source],
        passages=[source],
        attempts=[attempt],
    )
    kept = withdrawn(answer, Traces(lambda _: True, lambda _, name: name == "dogs.txt"))
    assert kept["answer"] == answer["answer"]
    assert kept["attempts"] == [{**attempt, "passages": [cats]}]
