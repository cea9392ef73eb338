"""Collections by name: describing each, and choosing those for a question."""

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from lexloop.core.errors import CorpusError, SettingsError
from lexloop.core.settings import SAMPLE_CORPUS
from lexloop.core.types import Candidate, Turn
from lexloop.documents.text.tokens import sentence_spans, term_set
from lexloop.nodes.context import Context, Guard
from lexloop.nodes.question.parts import ASKING, AUXILIARY, leans, without_context
from lexloop.nodes.relevance import coverage
from lexloop.store.address import is_address
from lexloop.store.view import View

_HINT = "Write names and paths, as in `sample,lease=contracts/lease.txt,laws`."
_MOST_NAME_CHARS = 60
_MOST_COLLECTIONS = 100
_RESERVED = frozenset(":|=,/\\[]`")
"""They have a meaning in lists of collections, in answers, or in names of LangGraph's nodes."""
_MOST_TITLES, _TITLE_CHARS = 5, 100
_MOST_PHRASES, _PHRASE_WORDS = 10, 8
_MOST_TREES, _MOST_UNITS = 50, 3000


def named_collections(text: str) -> dict[str, str]:
    """Return the collections of a list such as ``sample,lease=contracts/lease.txt``.

    Args:
        text: Paths of documents, addresses of indexes, or ``name=path``, separated by commas. The
            name of a path is its last part.

    Returns:
        The corpus of each collection by its name, in the order of the list.

    Raises:
        SettingsError: A name is missing, cannot be used, or occurs twice.
        CorpusError: A path does not exist; indexes in an engine are not looked for.
    """
    corpora: dict[str, str] = {}
    for item in _items(text):
        name, given, corpus = (part.strip() for part in item.rpartition("="))
        if not corpus or (given and not name):
            problem = f"{item.strip()!r} in {text!r}" if text.strip() else "An empty list"
            raise SettingsError(f"{problem} names no collection.", _HINT)
        if not given:
            path = Path(corpus).expanduser()
            name = corpus if corpus == SAMPLE_CORPUS else path.name or path.resolve().name
        check_name(name)
        if name in corpora:
            raise SettingsError(
                f"The collection {name!r} is named twice: {corpora[name]} and {corpus}.",
                "Give one of them another name: `name=path`.",
            )
        if corpus != SAMPLE_CORPUS and not is_address(corpus) and not _exists(corpus):
            raise CorpusError(
                f"There is nothing at {corpus}, the documents of the collection {name!r}.",
                "Name a folder, a file, an index, or `sample`.",
            )
        corpora[name] = corpus
    if len(corpora) > _MOST_COLLECTIONS:
        raise SettingsError(
            f"{len(corpora)} collections are named; the limit is {_MOST_COLLECTIONS}.",
            "Put documents that belong together into one.",
        )
    return corpora


def _items(text: str) -> Iterator[str]:
    """Yield the items between commas; commas between the hosts of an address do not separate."""
    item = ""
    for part in text.split(","):
        item = f"{item},{part}" if item else part
        _, engine, rest = item.partition("://")
        if not engine or "/" in rest:
            yield item
            item = ""
    if item:
        yield item


def check_name(name: str) -> None:
    """Check a name for a collection.

    Raises:
        SettingsError: The name cannot be used.
    """
    controls = [c for c in name if unicodedata.category(c)[0] in "CZ" and c != " "]
    if not name.strip() or name != name.strip() or len(name) > _MOST_NAME_CHARS:
        problem = f"A collection cannot be called {name[:80]!r}."
    elif unusable := sorted(_RESERVED.intersection(name) | set(controls)):
        problem = f"The name {name!r} of a collection holds {unusable[0]!r}."
    elif not any(character.isalnum() for character in name):
        problem = f"The name {name!r} of a collection holds no letter."
    else:
        return
    raise SettingsError(problem, f"Give it a name of 1 to {_MOST_NAME_CHARS} letters: `name=path`.")


def _exists(corpus: str) -> bool:
    try:
        return Path(corpus).expanduser().exists()
    except (OSError, ValueError, RuntimeError):
        return False


def described(name: str, views: Mapping[str, View]) -> str:
    """Describe the contents of a collection that others lack, so that one can be chosen.

    Only documents that the user may see are mentioned.

    Args:
        name: The collection's name.
        views: The user's view of each collection, by its name.
    """
    contents = contents_of(name, views)
    lines = [f"{head}: {'; '.join(phrases)}." for head, phrases in contents.items() if phrases]
    opening = f"Answer a question from the collection {name!r}, with citations."
    return "\n".join([opening, *lines])


def contents_of(name: str, views: Mapping[str, View]) -> dict[str, list[str]]:
    """Return the contents of a collection that others lack: titles, kinds, places and headings.

    Args:
        name: The collection's name.
        views: The user's view of each collection, by its name.
    """
    view = views[name]
    others = [other for key, other in views.items() if key != name]
    metadata = view.metadata(view.documents).values()
    titles = [title or document for document, title in view.titles.items()]
    headings = _headings(view, "provision", "annex")
    provisions = (heading for heading in headings if heading not in titles)
    more = [f"{len(titles) - _MOST_TITLES} more"] if len(titles) > _MOST_TITLES else []
    kinds = sorted({known.kind for known in metadata if known.kind})
    places = sorted({known.jurisdiction for known in metadata if known.jurisdiction})
    return {
        "Documents": [*map(_line, titles[:_MOST_TITLES]), *more],
        "Kinds": [*map(_line, kinds)],
        "Jurisdictions": [*map(_line, places)],
        "Defines": _typical(_headings(view, "definition"), view, others),
        "About": _typical(provisions, view, others),
    }


def _headings(view: View, *kinds: str) -> Iterator[str]:
    """Yield the headings of the first documents' units of some kinds."""
    documents = map(view.document, view.documents[:_MOST_TREES])
    units = (unit for document in documents for unit in document.tree.units)
    for unit in islice(units, _MOST_UNITS):
        if unit.kind in kinds and unit.heading:
            yield unit.heading


def _typical(phrases: Iterable[str], view: View, others: list[View]) -> list[str]:
    """Return the phrases whose words are rarest in the other collections, in order."""
    scores: dict[str, float] = {}
    for phrase in dict.fromkeys(map(_line, phrases)):
        terms = term_set(phrase)
        if terms and len(phrase.split()) <= _PHRASE_WORDS:
            rare = (sum(o.idf(t) for o in others) - len(others) * view.idf(t) for t in terms)
            scores[phrase] = sum(rare) / len(terms)
    best = set(sorted(scores, key=scores.__getitem__, reverse=True)[:_MOST_PHRASES])
    return [phrase for phrase in scores if phrase in best]


def _line(text: str) -> str:
    """Return a document's words on one line, without punctuation that could end it."""
    return re.sub(r"\s+", " ", text).strip(" .;")[:_TITLE_CHARS]


_LEAST, _SURE = 0.85, 0.9
"""The least nearness, plus the lead over the next collection, for a collection to be asked; and the
nearness at which its guard is not asked."""
_PART, _APART = 0.75, 0.1
"""The least nearness of a part that is asked separately; and how much nearer each part must be to
its own collection than to the other's. All four were set on questions about other collections and
on the first sixty of tests/support/routing/questions.jsonl."""
_DEPTH = 10
_COSINE, _COVERED = 0.5, 0.3
_JOINT = re.compile(
    r"(?P<end>[?.!;:]\s+)|,\s+(?P<linked>(?:and|but|or|while|whereas)\s+)?"
    r"|(?<!\s)\s+(?P<joined>and|or|but|while|whereas)\s+",
    re.IGNORECASE,
)
_LINK = re.compile(
    r"^(?:(?:and|or|but|also|then|plus|finally|secondly|additionally|moreover)\b,?\s+)+",
    re.IGNORECASE,
)
_COMPARES = re.compile(
    r"\b(?:compar\w+|differ\w*|distinction|versus|vs|than|both|similarit\w+)\b", re.IGNORECASE
)
_SIDES = re.compile(
    r"(?:[?.!;:]|,)\s+(?:(?:and|but|or|while|whereas)\s+)?"
    r"|(?<!\s)\s+(?:and|or|but|while|whereas|with|to|than|from|versus|vs\.?)\s+",
    re.IGNORECASE,
)
_ASKS = re.compile(
    rf"(?:please\s+)?(?:{ASKING}|{AUXILIARY}|explain|tell me|describe|list|define|compare)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(rf"(?:when|where|while)\s+(?!(?:{AUXILIARY})\b)", re.IGNORECASE)
_THING = re.compile(r"(?:an?|the|my|your|our|his|her|their|for|on|under|in|to)\b", re.IGNORECASE)
_OF_ANOTHER = re.compile(r"\b(?:this|these|those|such)\s+\w", re.IGNORECASE)
_LEAST_TERMS = 3
"""The fewest terms of a side of a comparison, or of another incomplete question."""
_MOST_JOINTS = 8


@dataclass(frozen=True)
class Routing:
    """A question that stands alone, and the part for each collection; "" is the whole question.

    ``ways`` is empty if no collection is about the question.
    """

    standalone: str
    ways: dict[str, str] = field(default_factory=dict)


def route(question: str, history: Sequence[Turn], contexts: Mapping[str, Context]) -> Routing:
    """Choose the collections for a question.

    The whole question goes to the nearest collection, unless it can be split into parts that are
    each clearly nearer to another.

    Args:
        question: The user's question.
        history: The turns before it.
        contexts: The context of each collection, by its name.
    """
    # imports LangGraph, which listing collections does not need
    from lexloop.nodes.question.followups import resolved

    standalone = resolved(question, list(history))
    views = views_of(contexts)
    if len(views) < 2:
        return Routing(standalone, dict.fromkeys([*views, *contexts][:1], ""))
    near = _Nearness(views)
    # a follow-up with its topic after it is one question
    alone = standalone == without_context(standalone)
    parts = _apart(standalone, near) if alone else []
    chosen = dict(parts)
    if len(chosen) < 2:
        name = near.best(standalone)
        about = _is_about(question, standalone, near, contexts[name].guard)
        return Routing(standalone, {name: ""} if about else {})
    ways = {
        name: " ".join(part for collection, part in parts if collection == name)
        for name in views
        if name in chosen
    }
    return Routing(standalone, ways)


def views_of(contexts: Mapping[str, Context]) -> dict[str, View]:
    """Return the user's view of each collection that is searched."""
    views = {name: context.view for name, context in contexts.items()}
    return {name: view for name, view in views.items() if isinstance(view, View)}


def _is_about(question: str, standalone: str, near: "_Nearness", guard: Guard) -> bool:
    """Return whether the nearest collection is near enough to a question to be asked.

    Of a long question, one near sentence is enough. If the nearness is not certain, the
    collection's guard may refuse the question.
    """
    name = near.best(standalone)
    spans = sentence_spans(standalone)
    texts = [standalone, *(standalone[start:end] for start, end in spans)]
    score = max(near.of(text)[name] for text in texts)
    first, second, *_ = sorted(near.of(standalone).values(), reverse=True)
    if score + (first - second) < _LEAST:
        return False
    return score >= _SURE or not guard.refuses(question, standalone, near.nearest(standalone, name))


def _apart(text: str, near: "_Nearness") -> list[tuple[str, str]]:
    """Return the parts of a question with their collections, as pairs of collection and part.

    Splits between questions come first, then splits inside one.
    """
    for some in (_between(text), _within(text)):
        cuts = list(islice(some, _MOST_JOINTS))
        near.prepare([part for cut in cuts for part in cut])
        margin, left, right = max(
            ((near.margin(*cut), *cut) for cut in cuts), default=(0.0, "", "")
        )
        if margin >= _APART:
            return [*_apart(left, near), *_apart(right, near)]
    return [(near.best(text), text)]


def _between(text: str) -> Iterator[tuple[str, str]]:
    """Yield the ways to split a text before a question that can be understood alone.

    Statements and conditions before a question stay with it.
    """
    for joint, left, right in _cuts(text, _JOINT):
        spans = sentence_spans(left)
        last = left[spans[-1][0] :] if spans else ""
        asked = _ASKS.match(last) and not _CONDITION.match(last)
        linked = joint["linked"] or joint["joined"] or asked
        if (joint["end"] or "")[:1] == "?" or (_ASKS.match(right) and linked):
            yield left, right


def _within(text: str) -> Iterator[tuple[str, str]]:
    """Yield the ways to split one question: between sides of a comparison or items of a list."""
    compares = _COMPARES.search(text) is not None
    for joint, left, right in _cuts(text, _SIDES if compares else _JOINT):
        listed = compares or _THING.match(right) or ":" in text[: joint.start()]
        if listed and min(len(term_set(left)), len(term_set(right))) >= _LEAST_TERMS:
            yield left, right


def _cuts(text: str, joints: re.Pattern[str]) -> Iterator[tuple[re.Match[str], str, str]]:
    """Yield each joint with the text on both sides, if the second side stands alone."""
    for joint in joints.finditer(text):
        left, right = text[: joint.start()].strip(), _LINK.sub("", text[joint.end() :].strip(), 1)
        few = len(term_set(right)) < _LEAST_TERMS
        leaning = (few and leans(right)) or _OF_ANOTHER.search(right)
        if term_set(left) and term_set(right) and not leaning:
            yield joint, left, right


class _Nearness:
    """The nearness of each collection to a text.

    It is the best MaxSim of a chunk plus, with less weight, the best cosine and the best share of
    the text's terms in one chunk and its headings. Terms are weighted by their rarity in all
    collections together.
    """

    def __init__(self, views: Mapping[str, View]) -> None:
        self._views = views
        self._known: dict[str, dict[str, float]] = {}

    def prepare(self, texts: list[str]) -> None:
        """Embed texts in one batch."""
        for view in self._views.values():
            view.embed(texts)

    def best(self, text: str) -> str:
        """Return the nearest collection, the first of equal ones."""
        scores = self.of(text)
        return max(scores, key=scores.__getitem__)

    def margin(self, left: str, right: str) -> float:
        """Return how much nearer each text is to its own collection than to the other's.

        0 if both have the same collection, or one is not near enough.
        """
        own, other = self.best(left), self.best(right)
        ours, theirs = self.of(left), self.of(right)
        if own == other or min(ours[own], theirs[other]) < _PART:
            return 0.0
        return min(ours[own] - ours[other], theirs[other] - theirs[own])

    def nearest(self, text: str, name: str) -> list[Candidate]:
        """Return a collection's chunk with the best cosine, as its score and signal."""
        view = self._views[name]
        hits = view.search_vector([text], 1)[0]
        chunks = view.chunks([hit.chunk_id for hit in hits])
        return [
            {**chunk, "score": hit.score, "signals": {"dense": hit.score}}
            for chunk, hit in zip(chunks, hits, strict=True)
        ]

    def of(self, text: str) -> dict[str, float]:
        """Return the nearness of each collection."""
        if text not in self._known:
            views = self._views.values()  # collections count alike, however large they are
            weights = {t: math.fsum(view.idf(t) for view in views) for t in term_set(text)}
            self._known[text] = {
                name: _near(text, weights, name, view) for name, view in self._views.items()
            }
        return self._known[text]


def _near(text: str, weights: Mapping[str, float], name: str, view: View) -> float:
    by_vector = view.search_vector([text], _DEPTH)[0]
    hits = [*by_vector, *view.search_lexical([text], _DEPTH)[0]]
    ids = list(dict.fromkeys(hit.chunk_id for hit in hits))
    if not ids:
        return 0.0
    cosine = by_vector[0].score if by_vector else 0.0
    close = view.closeness(text, ids)
    late = cosine if close is None else float(close.mean(axis=0).max())
    named = term_set(name)
    terms = (
        named.union(*map(term_set, (chunk["title"], chunk.get("context", ""), chunk["text"])))
        for chunk in view.chunks(ids)
    )
    covered = max(coverage(weights, each) for each in terms)
    return late + _COSINE * cosine + _COVERED * covered
