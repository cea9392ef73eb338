"""The verdict on an answer, in plain words."""

from typing import Any

from lexloop.apps.shapes.record import of_collection, verdict
from lexloop.core.settings import Settings

EVALUATION: dict[str, Any] = {
    "answer_relevance": 0.5,
    "context_relevance": None,
    "groundedness": 1.0,
    "citations_verified": True,
    "passed": True,
    "reasons": [],
    "answers": 0.876,
}
CITATION = {"document": "a.txt", "start": 0, "end": 9}


def state(**changes: Any) -> dict[str, Any]:
    return {
        "evaluation": EVALUATION,
        "finding": "answers",
        "abstained": False,
        "citations": [CITATION, CITATION, {**CITATION, "start": 3}],
        "attempts": [{}],
        "degraded": [],
        **changes,
    }


def test_an_answer_that_passed() -> None:
    assert verdict(state(), Settings()) == {
        "head": "Passed",
        "words": [
            "The documents answer this question.",
            "It is 88% likely that this answers the question.",
        ],
        "probability": 0.876,
        "checked": [
            "All 2 quotes were found word for word at the place that is cited.",
            "What it says is borne out by what it cites: 1.00 of 1, where at least 0.70 is "
            "asked for.",
            "It is about what was asked: 0.50 of 1, where at least 0.22 is asked for.",
        ],
    }


def test_one_that_did_not() -> None:
    evaluation = {**EVALUATION, "passed": False, "reasons": ["It says too much"], "answers": 0.2}
    lost = {"node": "generate", "wanted": "openai:x", "used": "embedded", "reason": "It is down."}
    found = verdict(
        state(
            evaluation={**evaluation, "citations_verified": False},
            finding="in part",
            attempts=[{"collection": "a"}, {"collection": "b"}, {"collection": "b"}],
            degraded=[lost],
        ),
        Settings(),
    )
    assert found["words"][-1] == "It says too much."
    assert found["checked"][0].startswith("Not every quote was found")
    assert found["checked"][-2:] == [
        "It was tried 1 more time.",
        "embedded stood in for openai:x: It is down.",
    ]

    absent = verdict(state(finding="absent", abstained=True, citations=[]), Settings())
    assert (absent["probability"], absent["checked"]) == (None, [])


def test_a_source_that_names_its_collection_keeps_it() -> None:
    record: dict[str, Any] = {"near": [], "passages": [], "triplets": []}
    named = of_collection({**record, "citations": [{"n": 1}, {"n": 2, "collection": "b"}]}, "a")
    assert [one["collection"] for one in named["citations"]] == ["a", "b"]
