"""Combining the answers of several collections into one, with one list of sources."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar, cast

from lexloop.core.state import AgentUpdate, State
from lexloop.core.types import ABSTENTION, Citation, Evaluation, Finding, ParsedQuestion, Passage
from lexloop.nodes.context import TRIAD
from lexloop.nodes.evaluate.checks import citation_problems
from lexloop.nodes.generate.model import abstains, with_markers
from lexloop.nodes.markers import as_markers, numbers_in, renumbered, unmarked
from lexloop.nodes.messages import with_sources
from lexloop.nodes.question.small_talk import UNSCORED

T = TypeVar("T")
TextIn = Callable[[str, str], str | None]
"""Returns the text of a document by its collection and name."""
_UNBACKED = "The answer comes from the model alone: no document backs it."


class Reply(NamedTuple):
    """A collection's reply to a question.

    Args:
        collection: The collection's name.
        part: Its part of the question; "" for the whole.
        state: The working state at the end of its run.
    """

    collection: str
    part: str
    state: State

    @property
    def answers(self) -> bool:
        """True if it is not an abstention."""
        return not self.state["abstained"]


def absent() -> AgentUpdate:
    """Return the state keys of the abstention if no collection was asked."""
    reasons = ["None of the collections is about this."]
    return {
        "answer": ABSTENTION,
        "abstained": True,
        "finding": "absent",
        "evaluation": {**UNSCORED, "reasons": reasons},
    }


def combined(replies: Sequence[Reply]) -> AgentUpdate:
    """Return one answer of the replies of at least one collection, in order."""
    answering = [reply for reply in replies if reply.answers]
    left = [reply.part for reply in replies if answering and reply.part and not reply.answers]
    sources = numbered(answering or replies)
    evaluation = _evaluation(answering or replies, left, many=len(replies) > 1)
    finding: Finding = "near" if sources else "absent"
    if answering:
        finding = "answers" if evaluation["passed"] else "in part"
    passages: list[Passage] = _labelled(replies, "passages")
    first = replies[0].state
    return {
        "complexity": first["complexity"],
        "turn": {"probabilities": first["turn"]["probabilities"]},
        "plan": first["plan"],
        "answer": _written(replies) if answering else ABSTENTION,
        "abstained": not answering,
        "warning": _warnings(replies, left),
        "read_as": _once(item for reply in replies for item in reply.state["read_as"]),
        "citations": sources if answering else [],
        "near": [] if answering else sources,
        "finding": finding,
        "evaluation": evaluation,
        "passages": [{**passage, "n": n} for n, passage in enumerate(passages, 1)],
        "triplets": _labelled(replies, "triplets"),
        "candidates": _labelled(replies, "candidates"),
        "graph_candidates": _labelled(replies, "graph_candidates"),
        "attempts": _labelled(replies, "attempts"),
        "degraded": _labelled(replies, "degraded"),
        "reasoning": [thought for reply in replies for thought in reply.state.get("reasoning", [])],
        "collections": _once(reply.collection for reply in replies),
    }


def searched(question: ParsedQuestion, replies: Sequence[Reply]) -> ParsedQuestion:
    """Return the whole question with the queries, keywords and documents of all collections."""
    parsed = [reply.state["parsed"] for reply in replies]
    return {
        **question,
        "queries": _once(query for each in parsed for query in each["queries"]),
        "keywords": _once(word for each in parsed for word in each["keywords"]),
        "documents": _once(name for each in parsed for name in each["documents"]),
    }


def written(text: str, replies: Sequence[Reply], text_in: TextIn) -> AgentUpdate:
    """Return the answer that a model wrote from the collections' answers, with checked citations.

    A marker without a source is removed and reported. The answer has no verdict yet.

    Args:
        text: The model's text, with the numbers of ``numbered``.
        replies: The answers that the model was given.
        text_in: Returns the text of a document.
    """
    base = combined(replies) if replies else absent()
    sources = base.get("citations", [])
    known = {source["n"] for source in sources}
    text = with_markers(text.strip(), known)
    if abstains(text):
        near = [*sources, *base.get("near", [])]
        return {
            **base,
            "answer": ABSTENTION,
            "abstained": True,
            "warning": "",
            "citations": [],
            "near": near,
            "finding": "near" if near else "absent",
            "evaluation": {**UNSCORED, "reasons": ["The model abstained."]},
        }
    used = list(dict.fromkeys(numbers_in(text)))
    numbers = {old: n for n, old in enumerate((n for n in used if n in known), 1)}
    answer = renumbered(text, numbers)
    citations: list[Citation] = [
        {**source, "n": numbers[source["n"]]} for source in sources if source["n"] in numbers
    ]
    citations.sort(key=lambda citation: citation["n"])
    problems = _problems(answer, citations, text_in) if replies else [_UNBACKED]
    foreign = as_markers(n for n in used if n not in known)
    dropped = [f"Left out: {foreign}, which no collection gave."] if foreign else []
    evaluation: Evaluation = {
        **UNSCORED,
        "citations_verified": not problems,
        "reasons": problems,
    }
    failed = " ".join(problems[:3])
    return {
        **base,
        "answer": answer,
        "abstained": False,
        "warning": " ".join(filter(None, [*dropped, failed, base.get("warning", "")])),
        "citations": citations,
        "near": [],
        "finding": "in part",
        "evaluation": evaluation,
    }


def _problems(answer: str, citations: list[Citation], text_in: TextIn) -> list[str]:
    """Return why the citations cannot be verified.

    Documents are renamed, as two collections may have one of the same name.
    """
    places = [(c["collection"], c["document"]) for c in citations]
    names = {": ".join(place): place for place in places}
    named: list[Citation] = [
        {**c, "document": ": ".join(place)} for c, place in zip(citations, places, strict=True)
    ]
    return citation_problems(answer, named, lambda name: text_in(*names[name]))


def tool_reply(reply: Reply, before: Sequence[Reply]) -> tuple[str, list[Citation]]:
    """Return a tool's text for a collection's answer, with sources numbered after earlier ones.

    Args:
        reply: The collection's answer.
        before: The answers of earlier tools.
    """
    earlier = [other for other in before if other.answers]
    sources = numbered([*earlier, reply])[len(numbered(earlier)) :] if reply.answers else []
    own = dict(
        zip((c["n"] for c in _sources(reply.state)), (c["n"] for c in sources), strict=False)
    )
    answer = renumbered(reply.state["answer"], own)
    return with_sources(answer, sources, reply.state["warning"]), sources


def numbered(replies: Sequence[Reply]) -> list[Citation]:
    """Return the sources of collections as one list, numbered from 1 in the order of their use."""
    return [
        {**source, "n": numbers[source["n"]], "collection": reply.collection}
        for reply, numbers in zip(replies, _numbers(replies), strict=True)
        for source in _sources(reply.state)
    ]


def _numbers(replies: Sequence[Reply]) -> list[dict[int, int]]:
    """Return for each collection the new numbers by the old ones."""
    numbers: list[dict[int, int]] = []
    last = 0
    for reply in replies:
        cited = [source["n"] for source in _sources(reply.state)]
        used = [n for n in numbers_in(reply.state["answer"]) if n in cited]
        own = {old: last + place for place, old in enumerate(dict.fromkeys([*used, *cited]), 1)}
        numbers.append(own)
        last += len(own)
    return numbers


def _sources(state: State) -> list[Citation]:
    """Return the citations of an answer, or the nearest passages of an abstention."""
    return state.get("near", []) if state["abstained"] else state["citations"]


def _written(replies: Sequence[Reply]) -> str:
    """Return the answers below one another, each under the name of its collection."""
    numbers = iter(_numbers([reply for reply in replies if reply.answers]))
    if len(replies) == 1:
        return renumbered(replies[0].state["answer"], next(numbers))
    return "\n\n".join(
        f"In {unmarked(reply.collection)}:\n{renumbered(reply.state['answer'], next(numbers))}"
        if reply.answers
        else f"{unmarked(reply.collection)} does not answer this."
        for reply in replies
    )


def _evaluation(replies: Sequence[Reply], left: list[str], *, many: bool) -> Evaluation:
    """Return the verdict on all answers: the lowest of each score, passed if each passed."""
    verdicts = [reply.state["evaluation"] for reply in replies]
    merged: Evaluation = {
        **UNSCORED,
        "citations_verified": all(verdict["citations_verified"] for verdict in verdicts),
        "passed": not left and all(verdict["passed"] for verdict in verdicts),
        "reasons": [
            *(f"Not answered: {part}" for part in left),
            *(
                f"{reply.collection}: {reason}" if many else reason
                for reply in replies
                for reason in reply.state["evaluation"]["reasons"]
            ),
        ],
    }
    for score in TRIAD:
        known = [value for verdict in verdicts if (value := verdict[score]) is not None]
        merged[score] = min(known) if len(known) == len(verdicts) else None
    likely = [verdict["answers"] for verdict in verdicts if "answers" in verdict]
    if len(likely) == len(verdicts):
        merged["answers"] = min(likely)
    return merged


def _warnings(replies: Sequence[Reply], left: list[str]) -> str:
    many = len(replies) > 1
    warnings = [
        f"{reply.collection}: {warning}" if many else warning
        for reply in replies
        if (warning := reply.state["warning"])
    ]
    return " ".join([*(f"Not answered: {part}" for part in left), *warnings])


def _labelled(replies: Sequence[Reply], key: str) -> list[Any]:
    lists = [(reply.collection, cast("list[Any]", reply.state.get(key, []))) for reply in replies]
    return [{**item, "collection": name} for name, items in lists for item in items]


def _once(items: Iterable[T]) -> list[T]:
    """Return the items without repetitions; they need not be hashable."""
    distinct: list[T] = []
    for item in items:
        if item not in distinct:
            distinct.append(item)
    return distinct
