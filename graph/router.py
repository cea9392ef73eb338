"""The embedded router: which collections a question is for, and which part of it."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from lexloop.core.types import Candidate, Hit, Turn
from lexloop.corpus.index.view import View
from lexloop.corpus.text.sentences import sentence_spans
from lexloop.corpus.text.tokens import term_set
from lexloop.nodes.context import Context
from lexloop.nodes.question import ASKING, AUXILIARY, asking_sentences, leans, without_context
from lexloop.nodes.relevance import coverage
from lexloop.nodes.rewrite.rules import resolved

_LEAST, _SURE, _APART = 0.75, 0.9, 0.1
"""The least nearness of a collection that is asked; and by how much two parts of a question must
each be nearer to their own collection than to the other's to be asked apart. Both were set on
questions about other collections; `benchmarks/routing.py` shows what they reach."""
_DEPTH = 10
_COSINE, _COVERED = 0.5, 0.3
_JOINT = re.compile(
    r"[?.!;:]\s+|,\s+(?:(?:and|but|or|while|whereas)\s+)?|\s+(?:and|or|but|while|whereas)\s+",
    re.IGNORECASE,
)
_COMPARES = re.compile(
    r"\b(?:compar\w+|differ\w*|distinction|versus|vs|than|both|similarit\w+)\b", re.IGNORECASE
)
_SIDES = re.compile(rf"{_JOINT.pattern}|\s+(?:with|to|than|from|versus|vs\.?)\s+", re.IGNORECASE)
_ASKS = re.compile(rf"(?:{ASKING}|{AUXILIARY})\b", re.IGNORECASE)
_LEAST_TERMS = 3
"""The terms of a side of a comparison, or of another part that is no question by itself."""
_MOST_JOINTS = 8


@dataclass(frozen=True)
class Routing:
    """Whom to ask what: ``ways`` has "" for a collection that is asked the whole question.

    ``reply`` answers what no documents are needed for; without ways and reply the question is about
    none of the collections.
    """

    standalone: str
    ways: dict[str, str] = field(default_factory=dict)
    reply: str = ""


def route(question: str, history: Sequence[Turn], contexts: Mapping[str, Context]) -> Routing:
    """Choose the collections that a question is for.

    The whole question goes to the collection that is nearest to it, unless it can be cut in two of
    which each is clearly nearer to another.

    Args:
        question: As it was asked.
        history: The turns before it.
        contexts: What knows each collection, by its name.
    """
    views = {name: one.wording for name, one in contexts.items() if one.wording is not None}
    if reply := small_talk(question, list(contexts)):
        return Routing(question, reply=reply)
    standalone, _ = resolved(question, list(history))
    near = _Nearness(views)
    # a follow-up with its topic behind it is one question
    alone = standalone == without_context(standalone)
    parts = _apart(" ".join(asking_sentences(standalone)), near) if alone else []
    chosen = dict(parts)
    if len(chosen) < 2:
        name, score = near.best(standalone)
        on = [standalone, *(standalone[a:b] for a, b in sentence_spans(standalone))]
        if score < _SURE:
            score = max(near.of(text)[name] for text in on)
        refused = score < _SURE and contexts[name].guard.refuses(
            question, standalone, near.nearest(standalone, name)
        )
        return Routing(standalone, {name: ""} if score >= _LEAST and not refused else {})
    ways = {
        name: " ".join(part for one, part in parts if one == name)
        for name in views
        if name in chosen
    }
    return Routing(standalone, ways)


def _apart(text: str, near: "_Nearness") -> list[tuple[str, str]]:
    """Return the parts of a question, each with the collection that it is for."""
    cuts = list(_cuts(text))
    near.prepare([part for cut in cuts for part in cut])
    margin, left, right = max(((near.margin(*cut), *cut) for cut in cuts), default=(0.0, "", ""))
    if margin < _APART:
        return [(near.best(text)[0], text)]
    return [*_apart(left, near), *_apart(right, near)]


def _cuts(text: str) -> Iterator[tuple[str, str]]:
    """Yield where a question can be cut in two: between questions, or sides of a comparison."""
    compares = _COMPARES.search(text) is not None
    for joint in islice((_SIDES if compares else _JOINT).finditer(text), _MOST_JOINTS):
        left, right = text[: joint.start()].strip(), text[joint.end() :].strip()
        asks = not compares and _ASKS.match(right) and not leans(right)
        if min(len(term_set(left)), len(term_set(right))) >= (1 if asks else _LEAST_TERMS):
            yield left, right


class _Nearness:
    """How near each collection comes to a text.

    That is: the best MaxSim of a chunk, and with less weight the best cosine, and the best share of
    the text's terms that one chunk and the names above it hold, each term weighted by how rare it
    is in the collections together.
    """

    def __init__(self, views: Mapping[str, View]) -> None:
        self._views = views
        self._known: dict[str, dict[str, float]] = {}

    def prepare(self, texts: list[str]) -> None:
        """Embed texts in one go."""
        for view in self._views.values():
            view.embed(texts)

    def best(self, text: str) -> tuple[str, float]:
        """Return the nearest collection, the first of equal ones, and its nearness."""
        scores = self.of(text)
        name = max(scores, key=scores.__getitem__)
        return name, scores[name]

    def margin(self, left: str, right: str) -> float:
        """Return by how much each text is nearer to its own collection than to the other's.

        0 where they have the same, or none comes near enough.
        """
        (one, mine), (other, yours) = self.best(left), self.best(right)
        if one == other or min(mine, yours) < _LEAST:
            return 0.0
        return min(mine - self.of(left)[other], yours - self.of(right)[one])

    def nearest(self, text: str, name: str) -> list[Candidate]:
        """Return the chunk of a collection with the best cosine, and that as its signal."""
        view = self._views[name]
        hits = view.search_vector([text], 1)[0]
        chunks = view.chunks([hit.chunk_id for hit in hits])
        return [
            {**chunk, "score": hit.score, "signals": {"dense": hit.score}}
            for chunk, hit in zip(chunks, hits, strict=True)
        ]

    def of(self, text: str) -> dict[str, float]:
        """Return how near each collection comes."""
        if text not in self._known:
            weights = self._weights(term_set(text))
            self._known[text] = {
                name: _near(text, weights, name, view) for name, view in self._views.items()
            }
        return self._known[text]

    def _weights(self, terms: frozenset[str]) -> dict[str, float]:
        """Return the weight of each term: collections count alike, however large they are."""
        views = self._views.values()
        return {term: math.fsum(view.idf(term) for view in views) for term in terms}


def _near(text: str, weights: Mapping[str, float], name: str, view: View) -> float:
    hits = [*view.search_lexical([text], _DEPTH)[0], *view.search_vector([text], _DEPTH)[0]]
    ids = list(dict.fromkeys(hit.chunk_id for hit in hits))
    if not ids:
        return 0.0
    cosine = float((view.search_vector([text], 1)[0] or [Hit("", "", 0.0)])[0].score)
    close = view.closeness(text, ids)
    late = cosine if close is None else float(close.mean(axis=0).max())
    named = term_set(name)
    held = (
        named.union(*map(term_set, (chunk["title"], chunk.get("context", ""), chunk["text"])))
        for chunk in view.chunks(ids)
    )
    covered = max(coverage(weights, has) for has in held)
    return late + _COSINE * cosine + _COVERED * covered


_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_PLEASANT = frozenset(
    """a again all am and answer answers any appreciate are as at awesome be been bit brilliant but
    clear cool day dear did evening everyone everything excellent explanation fine folks for friend
    from fully glad going got good great have help helped helpful helps hope how i information
    interesting is it it's its just kind later lot lots lovely made makes me meet morning much my
    need needed nice night no now of oh ok okay one perfect please quick rest right see sense so
    soon that that's the then there this time to today tomorrow understand understood very was week
    weekend well what with wonderful worked yes you your you're""".split()
)
_OPENS = {
    "hello": """afternoon evening greetings hello hey hi howdy morning""",
    "thanks": """appreciate cheers grateful thank thanks thx""",
    "bye": """bye cya farewell goodbye goodnight later night tomorrow""",
}
_ABOUT = re.compile(
    r"(?:(?:so|and|ok|okay|please)\W+)*(?:what (?:can|do|could|are|else can) (?:you|this|it)"
    r"(?: (?:do|know|able to do|for|good at|cover|answer|help(?: me)? with))?(?: for me)?"
    r"(?: about)?|who are you|what is this|what can i ask(?: you)?(?: about)?"
    r"|(?:(?:can|could|will) you )?help(?: me)?|how (?:do|can) i use (?:you|this)"
    r"|how does this work|how do you work|(?:what|which) (?:documents|collections|sources|laws"
    r"|files) (?:do you (?:have|know|use|cover)|are (?:there|available|here)|can i ask))\W*",
    re.IGNORECASE,
)


def small_talk(said: str, names: Sequence[str]) -> str:
    """Return the reply to a greeting, thanks, or what can be asked; "" for a question."""
    words = [word.lower() for word in _WORD.findall(said)]
    known = ", ".join(names)
    offered = f"I answer questions from these collections, and cite where it stands: {known}."
    if _ABOUT.fullmatch(said.strip()):
        return offered
    pleasant = _PLEASANT.union(*(opens.split() for opens in _OPENS.values()))
    if not words or not set(words) <= pleasant:
        return ""
    for reply, opens in _OPENS.items():
        if set(words) & set(opens.split()):
            return {
                "hello": f"Hello. {offered}",
                "thanks": f"You are welcome. Ask on about {known}.",
                "bye": f"Goodbye. You find here again: {known}.",
            }[reply]
    return f"{offered}" if "you" in words else ""
