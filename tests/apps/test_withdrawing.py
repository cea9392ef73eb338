"""What is kept of an answer when a document is forgotten."""

from answers import citation, record

from lexloop.apps.withdrawing import Traces, withdrawn


def test_an_attempt_loses_the_passages_and_places_of_the_document() -> None:
    cats, dogs = ({"id": f"{name}.txt#0", "n": n} for n, name in enumerate(("cats", "dogs"), 1))
    source = citation(document="cats.txt", quote="A cat needs no licence.")
    places = [{"document": f"{name}.txt", "section": ""} for name in ("cats", "dogs")]
    look = {"tool": "search", "words": "licence", "found": places}
    advice = {"looked": [look], "opened": [cats, dogs]}
    attempt = {"passages": [cats, dogs], "citations": [], "near": [], "advice": advice}
    answer = record(
        answer="A cat needs no licence. [1]",
        citations=[source],
        passages=[source],
        attempts=[attempt],
    )
    kept = withdrawn(answer, Traces(lambda _: True, lambda _, name: name == "dogs.txt"))
    assert kept["answer"] == answer["answer"]
    left = {"looked": [{**look, "found": places[:1]}], "opened": [cats]}
    assert kept["attempts"] == [{**attempt, "passages": [cats], "advice": left}]
