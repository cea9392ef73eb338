"""An answer as one JSON object, from which all other formats are made.

It includes the verdict in words, and the hosts that receive text of questions and documents.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict

from lexloop.apps.shapes.text import one_line, places
from lexloop.core.errors import ConflictError, ModelError
from lexloop.core.types import (
    Attempt,
    Candidate,
    Citation,
    Degradation,
    Evaluation,
    Finding,
    Passage,
    Plan,
    Reading,
    Reasoning,
    Scored,
    Triplet,
    Usage,
)

if TYPE_CHECKING:
    from lexloop.core.settings import Connection, Settings
    from lexloop.graph.resources import Resources

SCORES = ("answer_relevance", "context_relevance", "groundedness")
HEADS: dict[Finding, str] = {
    "answers": "Passed",
    "in part": "Not passed: at best in part",
    "near": "Abstained: found near it, but not this",
    "absent": "Abstained: not in the documents",
    "reply": "Replied: no document was needed",
}
"""The finding on an answer, in a few words."""
_OF_THE_STATE = (
    *("complexity", "plan", "passages"),
    *("attempts", "degraded", "usage"),
)
_SOURCED = ("citations", "near", "passages", "triplets")
_FOUND: dict[Finding, str] = {
    "answers": "The documents answer this question.",
    "in part": "The documents answer at best a part of this question.",
    "near": "The documents do not answer this question. What comes nearest to it is shown.",
    "absent": "The documents do not answer this question, and nothing in them comes near it.",
    "reply": "No document was needed for this reply.",
}
_USED = {
    "embedded": "Lexloop's own rules",
    "embedded, and the search by words alone": "the search by words alone",
}
"""Fallbacks in plain words."""
_STEPS = {
    "model": "for the whole question",
    "agent": "to join the answers",
    "classify": "to tell how hard the question is",
    "rewrite": "to word the searches",
    "hybrid_retrieve": "to search",
    "kg_retrieve": "to follow relations",
    "rerank": "to order the passages",
    "generate": "to write the answer",
    "evaluate": "to judge the answer",
    "engineer_prompt": "to prepare another attempt",
}
"""Steps in plain words."""
_MEASURED = {
    "groundedness": "What it says is borne out by what it cites",
    "answer_relevance": "It is about what was asked",
    "context_relevance": "The passages found are about what was asked",
}

_TRACING = (
    "LANGSMITH_TRACING",
    "LANGSMITH_TRACING_V2",
    "LANGCHAIN_TRACING_V2",
    "LANGCHAIN_TRACING",
)
_OPENAI = "https://api.openai.com"

_OWNER_ENDS = "~"  # no name of one's own has it


def shared_name(owner: str, name: str) -> str:
    """Return what others call a collection that its owner shares with them: OWNER~NAME."""
    return f"{owner}{_OWNER_ENDS}{name}"


def owner_and_name(called: str) -> tuple[str, str]:
    """Return the owner of a collection that is called so, "" of one's own, and its name there."""
    owner, _, name = called.rpartition(_OWNER_ENDS)
    return owner, name


class Verdict(BaseModel):
    """The verdict on an answer, in words. ``probability`` is calibrated."""

    head: str
    words: list[str]
    probability: float | None
    checked: list[str]


class Relation(Triplet):
    """A relation, and how its predicate reads."""

    reads: str


class Scores(BaseModel):
    """The scores of the triad, from 0 to 1, or None if one could not be resolved."""

    answer_relevance: float | None
    context_relevance: float | None
    groundedness: float | None


class Feedback(BaseModel):
    """A person's opinion of an answer."""

    vote: str
    comment: str


class Answer(BaseModel):
    """An answer with its sources, its verdict, and how it came about.

    Offsets are code points in a document's extracted text, half-open. ``citations`` have the
    numbers of the markers in ``answer``. If only some documents were asked, ``only`` names them,
    and ``passage`` is the span of a single passage. ``thread`` is null if the caller keeps the
    conversation. ``steps`` are the progress messages.
    """

    model_config = ConfigDict(extra="forbid")

    id: str
    thread: str | None
    at: str
    collections: list[str]
    as_of: str
    question: str
    answer: str
    abstained: bool
    finding: Finding
    near: list[Citation]
    answers: float | None
    passed: bool
    warning: str
    read_as: list[Reading]
    citations: list[Citation]
    citations_verified: bool
    scores: Scores
    reasons: list[str]
    verdict: Verdict
    retries: int
    complexity: int | None
    probabilities: list[float] | None
    plan: Plan | None
    standalone: str
    inside: list[str] = []
    only: list[str] = []
    passage: tuple[int, int] | None = None
    queries: list[str]
    keywords: list[str]
    passages: list[Passage]
    triplets: list[Relation]
    attempts: list[Attempt]
    degraded: list[Degradation]
    usage: Usage
    variant: str
    corpus: str
    model: str | None
    hosts: list[str]
    candidates: list[Candidate]
    graph_candidates: list[Candidate]
    reasoning: list[Reasoning]
    steps: list[dict[str, Any]] = []
    feedback: Feedback | None = None


def searched_for(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return a question in its standalone form, and the searches for it."""
    parsed = state["parsed"]
    standalone = {"standalone": parsed["text"], "inside": parsed["documents"]}
    return {**standalone, **{name: parsed[name] for name in ("queries", "keywords")}}


def answer_record(
    state: Mapping[str, Any], settings: "Settings", hosts: Sequence[str]
) -> dict[str, Any]:
    """Return the answer in a graph's working state as one JSON object.

    Args:
        state: The state after a question.
        settings: The settings of the question.
        hosts: The hosts that received its text.
    """
    from lexloop.knowledge.relations import reading

    evaluation, turn = state["evaluation"], state["turn"]
    return {
        "id": turn["id"],
        "question": turn.get("typed") or state["asked"],
        **{name: state[name] for name in ("answer", "abstained", "finding", "near")},
        "answers": evaluation.get("answers"),
        "passed": evaluation["passed"],
        **{name: state[name] for name in ("warning", "read_as", "citations")},
        "citations_verified": evaluation["citations_verified"],
        "scores": {name: evaluation[name] for name in SCORES},
        "reasons": evaluation["reasons"],
        "verdict": verdict(state, settings),
        "retries": retries(state["attempts"]),
        **searched_for(state),
        **{name: state.get(name) for name in _OF_THE_STATE},
        "probabilities": turn.get("probabilities"),
        "triplets": [
            {**triplet, "reads": reading(triplet["predicate"])} for triplet in state["triplets"]
        ],
        "only": list(settings.access.only),
        "passage": settings.access.passage,
        "variant": settings.variant,
        "corpus": settings.corpus,
        "model": settings.model.name,
        "hosts": list(hosts),
    }


def compared(
    state: Mapping[str, Any],
    settings: "Settings",
    resources: "Resources",
    collections: "Mapping[str, Settings]",
) -> dict[str, Any]:
    """Return all candidates of the last attempt, and the model's reasoning before its replies.

    Args:
        state: The state after a question.
        settings: The settings of the question.
        resources: Open the documents, since a state does not hold the candidates' texts.
        collections: The settings of each collection, if several were asked.
    """

    def listed(found: Sequence[Scored]) -> list[dict[str, Any]]:
        whole: list[dict[str, Any]] = []
        for name, own in groupby(found, lambda one: one.get("collection", "")):
            view = resources(collections.get(name, settings), state["turn"]["snapshot"]).view
            label = {"collection": name} if name else {}
            # of documents that changed meanwhile none are shown
            with suppress(ConflictError):
                whole += [{**label, **one} for one in view.candidates([*own])] if view else []
        return whole

    found = {name: listed(state[name]) for name in ("candidates", "graph_candidates")}
    return {**found, "reasoning": state["reasoning"]}


def dated(
    record: Mapping[str, Any], collections: Sequence[str], as_of: str, thread: str | None = None
) -> dict[str, Any]:
    """Return the record of an answer that was given now, as it is kept and exported.

    Args:
        record: See ``answer_record``; its sources name their collections.
        collections: The collections that were asked.
        as_of: The day whose law answered, or ``today`` or ``any``.
        thread: The conversation's id, or None if it is not kept.
    """
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    scope = {"collections": list(collections), "as_of": as_of}
    return {**record, "thread": thread, "at": now, **scope}


def asked_of(record: Mapping[str, Any]) -> list[str]:
    """Return in words what was asked: a passage or some documents, or nothing for all."""
    if not record.get("passage"):
        return list(record.get("only", []))
    first = min(record["passages"], key=lambda passage: passage["start"], default=None)
    place = f" ({', '.join(words)})" if first and (words := places(first)) else ""
    return [f"a passage of {name}{place}" for name in record["only"]]


def retries(attempts: Sequence[Mapping[str, Any]]) -> int:
    """Return how often it was tried again, in all collections together."""
    return len(attempts) - len({attempt.get("collection") for attempt in attempts})


def of_collection(record: dict[str, Any], collection: str) -> dict[str, Any]:
    """Return the record with its collection named by every source that does not name one."""
    labelled = {
        part: [{"collection": collection, **item} for item in record[part]] for part in _SOURCED
    }
    return {**record, **labelled}


def verdict(state: Mapping[str, Any], settings: "Settings") -> dict[str, Any]:
    """Return an answer's verdict: in a few words, in sentences, and what was checked.

    ``probability`` is the calibrated probability that the answer answers the question, or None if
    unknown.
    """
    evaluation: Evaluation = state["evaluation"]
    finding: Finding = state["finding"]
    probability = None if state["abstained"] else evaluation.get("answers")
    words = [_FOUND[finding]]
    if probability is not None:
        words.append(f"It is {probability:.0%} likely that this answers the question.")
    if not evaluation["passed"]:
        words += [_sentence(reason) for reason in evaluation["reasons"]]
    return {
        "head": HEADS[finding],
        "words": words,
        "probability": probability,
        "checked": _checked(state, settings),
    }


def _checked(state: Mapping[str, Any], settings: "Settings") -> list[str]:
    evaluation: Evaluation = state["evaluation"]
    sentences = []
    if cited := len({(c["document"], c["start"], c["end"]) for c in state["citations"]}):
        if not evaluation["citations_verified"]:
            quotes = "Not every quote was found word for word at the place that is cited."
        elif cited == 1:
            quotes = "The one quote was found word for word at the place that is cited."
        else:
            quotes = f"All {cited} quotes were found word for word at the place that is cited."
        sentences.append(quotes)
    if not state["abstained"]:
        marks = settings.loop.marks(by_model=evaluation.get("by_model", False))
        for name, what in _MEASURED.items():
            value = evaluation.get(name)
            if isinstance(value, float):
                threshold = getattr(marks, name)
                sentences.append(
                    f"{what}: {value:.2f} of 1, where at least {threshold:.2f} is asked for."
                )
    if again := retries(state["attempts"]):
        sentences.append(f"It was tried {again} more {'time' if again == 1 else 'times'}.")
    return [*sentences, *map(lost_in_words, state["degraded"])]


def lost_in_words(lost: Mapping[str, Any]) -> str:
    """Return a sentence on what was skipped or replaced, and why."""
    part, used, why = (one_line(lost[name]) for name in ("wanted", "used", "reason"))
    place = f" in {one_line(lost['collection'])}" if lost.get("collection") else ""
    if place and lost["collection"] == lost["wanted"]:
        place = ""
    if used == "nothing of it":
        return f"Skipped {part}{place}: {why}"
    if used == "the rest of it":
        return f"Read {part}{place} only in part: {why}"
    if used == "nothing":
        return f"Did without {part}{place}: {why}"
    step = f" {_STEPS[lost['node']]}" if lost["node"] in _STEPS else ""
    return f"Used {_USED.get(used, used)} in place of {part}{step}{place}: {why}"


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?")) else f"{text}."


def text_hosts(settings: "Settings", connection: "Connection", *corpora: str) -> list[str]:
    """Return the hosts of models and engines that receive text; empty if all stays here.

    Raises:
        LexloopError: The model cannot be used and no fallback is allowed, or an address is invalid.
    """
    hosts: list[str] = []
    if settings.model.name is not None:
        from lexloop.models.chat import connect
        from lexloop.models.provider import HERE

        try:
            host = connect(settings, connection).host
            hosts += [host] if host != HERE else []
        except ModelError:
            if not settings.model.fallback:
                raise
    if settings.index.embedder.startswith("openai:"):
        variable = os.environ.get("OPENAI_API_BASE") or os.environ.get("OPENAI_BASE_URL")
        address = connection.base_url or variable or _OPENAI
        hosts.append(urlsplit(address).netloc.rpartition("@")[2])
    for corpus in (settings.corpus, *corpora):
        hosts += engine_hosts(corpus)
    return list(dict.fromkeys(hosts))


def engine_hosts(corpus: str) -> list[str]:
    """Return the hosts of the engine that holds an index; empty if it is on this machine.

    Raises:
        SettingsError: The address cannot be used.
    """
    from lexloop.store.address import Address, is_address

    if not is_address(corpus):
        return []
    return [f"{host}:{port}" for host, port in Address.parse(corpus).hosts]


def tracing() -> bool:
    """Return whether the environment asks for traces, which LangSmith gets."""
    return any(os.environ.get(name, "").lower() in ("true", "1") for name in _TRACING)
