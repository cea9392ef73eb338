"""The embedded generator: statements of the passages selected, judged, ordered and cited."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from functools import cached_property
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from lexloop.core.running import computing
from lexloop.core.settings_groups import LEAST, Care
from lexloop.core.types import (
    ABSTENTION,
    BESIDE,
    DEFINING,
    MOST_POINTED,
    Advice,
    Citation,
    Draft,
    Kind,
    ParsedQuestion,
    Passage,
    Pointed,
    PointedUnit,
    Triplet,
)
from lexloop.documents.chunks.statements import Statement, sentence_before
from lexloop.documents.structure.telling import heading_span
from lexloop.documents.structure.tree import Tree
from lexloop.documents.text.quantities import facts, holds
from lexloop.documents.text.tokens import sentence_spans, term_set, tokenize, words
from lexloop.models.embedding import Vectors
from lexloop.nodes.answering import answering, repeats
from lexloop.nodes.context import drafted
from lexloop.nodes.generate.quoting import LEFT_OUT, cite, quote_all
from lexloop.nodes.markers import unmarked
from lexloop.nodes.pointing import unit_at
from lexloop.nodes.question import words_of_asking
from lexloop.nodes.relevance import (
    Query,
    Sources,
    coverage,
    defines,
    query_of,
    query_of_part,
    relevance,
)
from lexloop.nodes.weights import Weights, load_weights
from lexloop.store.view import View

NEARLY_BEST = 0.9
"""A further statement must score this share of the best one's."""
LISTS_OF_DUTIES = 0.85
"""A further list where all duties are asked for: half of them would be taken for the whole."""
TOKENS = 1.6
_COPY = 0.85
_LEAST = 0.3
"""What the kind of fact that is asked for adds to a score, and the share of the best one's score
that a further passage must reach: below it nothing was found of what laws were asked."""
_DEFINES = 0.5
_LINK = re.compile(r"\b\w+://\S+")
_SUPPORTING = 0.7
"""A recital explains what an article says: it answers where it is clearly closer."""


@dataclass(frozen=True)
class Quotable:
    """A statement that can be quoted of a passage; ``order`` is its place in the passages."""

    passage: Passage
    said: Statement
    order: int
    question: str = ""  # of the document, which it answers; see ``Answering``
    before: Statement | None = None

    @property
    def text(self) -> str:
        """It as it can stand alone, behind the question that it answers."""
        return f"{self.question} {self.said.text}".strip()

    @cached_property
    def wording(self) -> frozenset[str]:
        """Its search terms but for numbers."""
        return frozenset(term for term in term_set(self.text) if not term[0].isdigit())

    @property
    def words(self) -> int:
        """Length in words."""
        return len(self.text.split())


@dataclass(frozen=True)
class ScoredQuotables:
    """The quotable statements of the passages; ``scores`` has shape (parts, quotables)."""

    quotables: list[Quotable]
    vectors: Vectors
    scores: NDArray[np.float32]

    @property
    def best(self) -> NDArray[np.float32]:
        """Each piece of evidence by the part it suits best."""
        top: NDArray[np.float32] = self.scores.max(axis=0)
        return top

    @property
    def among_the_best(self) -> "ScoredQuotables":
        """The statements of the best passages and of those with the best statement of a part."""
        best = {self.quotables[i].passage["id"] for i in self.scores.argmax(axis=1).tolist()}
        of = (item.passage for item in self.quotables)
        kept = [n for n, p in enumerate(of) if BESIDE not in p["signals"] or p["id"] in best]
        return self.only(kept)

    def within(self, units: Sequence[PointedUnit]) -> "ScoredQuotables | None":
        """Return the statements that lie in provisions; None where none does."""
        kept = [i for i, item in enumerate(self.quotables) if any(_lies_in(item, u) for u in units)]
        return self.only(kept) if kept else None

    def only(self, kept: list[int]) -> "ScoredQuotables":
        """Return the statements at some places."""
        return ScoredQuotables(
            [self.quotables[i] for i in kept], self.vectors[kept], self.scores[:, kept]
        )


def _lies_in(item: Quotable, unit: PointedUnit) -> bool:
    inside = unit["start"] <= item.said.start and item.said.end <= unit["end"]
    return inside and item.passage["document"] == unit["document"]


def score_quotables(
    asked: Query, passages: list[Passage], sources: Sources
) -> ScoredQuotables | None:
    """Score every statement and list of the passages; None when there is none."""
    quotables: list[Quotable] = []
    said: list[Statement] = []
    rows: list[Vectors] = []
    for passage in passages:
        for one in answering(asked, passage, sources):
            place = len(quotables)
            quotables.append(Quotable(passage, one.said, place, one.question, one.before))
            said.append(one.scored)
            rows.append(one.vector)
    if not quotables:
        return None
    vectors = np.stack(rows)
    near = _closeness(asked, passages, sources)
    weights = [_SUPPORTING if item.passage.get("supporting") else 1.0 for item in quotables]
    scores = relevance(asked, said, vectors, sources) * np.array(weights, dtype=np.float32)
    scores += [near[item.passage["id"]] for item in quotables]
    for row, term in enumerate(asked.definitions):
        if term is not None:
            scores[row] += [_DEFINES * is_definition(item, term) for item in quotables]
    return ScoredQuotables(quotables, vectors, scores)


def _closeness(asked: Query, passages: list[Passage], sources: Sources) -> dict[str, float]:
    """Return each passage's weighted MaxSim less that of the best; 0 without token vectors."""
    ids = [passage["id"] for passage in passages]
    found = sources.closeness(asked.text, ids)
    if found is None:
        return dict.fromkeys(ids, 0.0)
    close = found.mean(axis=0)
    return dict(zip(ids, (TOKENS * (close - close.max())).tolist(), strict=True))


def is_definition(item: Quotable, term: str) -> bool:
    """Return whether a statement is the documents' own definition of a term."""
    if DEFINING not in item.passage["signals"]:
        return False
    return defines(term, item.text)


@dataclass(frozen=True)
class Chosen:
    """The statements that make an answer."""

    best: list[Quotable]  # the best evidence for each part of the question
    more: list[Quotable]  # statements that are nearly as good
    # by the order of a statement, those that except from it
    limits: Mapping[int, list[Quotable]] = field(default_factory=dict)


@dataclass(frozen=True)
class Lengths:
    """The most that an answer may hold; the first statement is always quoted."""

    statements: int = 4  # how many are quoted beside the best for each part of the question
    words: int = 300  # how many they may have together
    whole: int = 800  # how many words of provisions and lists are quoted whole


def select(
    asked: Query,
    scored: ScoredQuotables,
    lengths: Lengths,
    sure: bool = True,
    each: Sequence[int] = (),
) -> Chosen:
    """Return the best evidence for each part, then more that is nearly as good.

    Where all duties are asked for, every list that is nearly as good is of the best. Where it is
    not sure that the best answers, each further passage says what it has nearest to the question.
    ``each`` are the places of statements by which other documents answer as well.
    """
    duties = any(part["duties"] for part in asked.parts)
    chosen: list[Quotable] = []
    for row in range(len(asked.parts)):
        ranked = sorted(range(len(scored.quotables)), key=lambda i: -scored.scores[row][i])
        _take_first(ranked, scored, chosen, lengths)
    for i in each:
        _take_first([i], scored, chosen, lengths)
    ranked = sorted(range(len(scored.quotables)), key=lambda i: -scored.best[i])
    top = float(scored.best.max())
    best = [*chosen]
    if not sure:
        # a document that has a passage so that it may answer, and does not, says nothing
        found = (i.passage for i in scored.quotables if BESIDE not in i.passage["signals"])
        of = {item["document"] for item in ([i.passage for i in best] if each else found)}
        for i in _nearest_by_passage(scored, of):
            if len(chosen) < lengths.statements and scored.best[i] >= _LEAST * top:
                _take_first([i], scored, chosen, lengths)
        return Chosen(best, chosen[len(best) :])
    for i in ranked:
        listed = scored.quotables[i].said.points > 0
        if len(chosen) >= lengths.statements or scored.best[i] < LISTS_OF_DUTIES * top:
            break
        if duties if listed else scored.best[i] >= NEARLY_BEST * top:
            _take_first([i], scored, chosen, lengths)
    more = chosen[len(best) :]
    best += [item for item in more if item.said.points]
    if duties:  # in the order of the text
        first = best[0].passage["document"] if best else ""
        best.sort(
            key=lambda i: (i.passage["document"] != first, i.passage["document"], i.said.start)
        )
    return Chosen(best, [item for item in more if not item.said.points])


def limiting(
    quoted: Sequence[Quotable], triplets: Sequence[Triplet], scored: ScoredQuotables
) -> dict[int, list[Quotable]]:
    """Return what excepts from statements that are quoted, by their order, the nearest first."""
    excepting = [triplet for triplet in triplets if triplet["predicate"] == EXCEPTION]
    excepting.sort(key=lambda triplet: -len(triplet["object"]))
    limits: dict[int, list[Quotable]] = {}
    known = {item.order for item in quoted}
    for item in quoted:
        for triplet in (one for one in excepting if _excepts(one, item)):
            stated = next((one for one in scored.quotables if _states(one, triplet)), None)
            if stated is not None and stated.order not in known and len(known) < _MOST_QUOTED:
                known.add(stated.order)
                limits.setdefault(item.order, []).append(stated)
    return limits


def _excepts(triplet: Triplet, item: Quotable) -> bool:
    within = f"{item.said.label}(".startswith(f"{triplet['object']}(")
    return within and item.passage["document"] == triplet["document"]


def _states(item: Quotable, triplet: Triplet) -> bool:
    inside = item.said.start <= triplet["start"] < item.said.end
    return inside and item.passage["document"] == triplet["document"]


# carries, by benchmarks/rules.py, .19 of the GDPR's everyday answers found
def _nearest_by_passage(scored: ScoredQuotables, of: Collection[str]) -> list[int]:
    """Return the best statement of each passage ``of`` some documents, in the passages' order."""
    found: dict[str, int] = {}
    for i, item in enumerate(scored.quotables):
        if item.said.points:
            continue  # a list is quoted whole or not at all
        if _is_line_of_names(item.text):
            continue
        if item.passage["document"] not in of:
            continue
        held = found.setdefault(item.passage["id"], i)
        if scored.best[i] > scored.best[held]:
            found[item.passage["id"]] = i
    return [*found.values()]


def _is_line_of_names(text: str) -> bool:
    """Return whether a line says nothing of anything: "Version 2.0, January 2004"."""
    words = re.findall(r"[^\W\d_]+", _LINK.sub("", text))
    return all(word[0].isupper() for word in words) and not all(map(str.isupper, words))


def _take_first(
    ranked: list[int], scored: ScoredQuotables, chosen: list[Quotable], lengths: Lengths
) -> None:
    """Take the first that fits the length and says something that is not yet said."""
    if len(chosen) > lengths.statements:
        return
    for i in ranked[:5]:
        item = scored.quotables[i]
        if sum(other.words for other in chosen) + item.words > lengths.words and chosen:
            continue
        if item.said.own.endswith((":", " means")) and not item.said.points:
            continue  # it leads into what is no list of its own
        if any(_repeats(item, other) for other in chosen):
            return
        chosen.append(item)
        return


def _repeats(item: Quotable, other: Quotable) -> bool:
    """Return whether a statement has the words of another, and no fact of its own."""
    return _alike(item, other) and facts(item.text) <= facts(other.text)


def _alike(item: Quotable, other: Quotable) -> bool:
    """Return whether two statements are the same but for their numbers."""
    mine, theirs = item.wording, other.wording
    return len(mine & theirs) >= _COPY * max(1, min(len(mine), len(theirs)))


_TOP = 5


@dataclass(frozen=True)
class AnswerabilityFeatures:
    """The features for an answer being there, then those against it; about in [0, 1]."""

    # the share of a part's terms, weighted by idf, that its best statement has with its label, and
    # by how much that statement's score lies over the mean of those not like it; over all parts
    own: float
    over: float
    first: float  # the highest cosine of a statement of the first passage with the question
    unknown: float  # how many of the question's terms the documents do not know, up to 3, over 3
    foreign: float  # whether a name or section number in the question is unknown to the documents
    undefined: float  # whether a definition is asked for that no statement gives
    # whether the kind of fact asked for (a duration, a sum ...) is in no good statement
    lacking: float


AGAINST = ("unknown", "foreign", "undefined", "lacking")
"""The features against an answer."""


def read_features(asked: Query, scored: ScoredQuotables, sources: Sources) -> AnswerabilityFeatures:
    """Read the features off the scored evidence."""
    evidence = scored.quotables
    first = [item.passage["id"] == evidence[0].passage["id"] for item in evidence]
    unknown = [term for term in asked.all_terms if not sources.knows(term)]
    stands_out = [
        _stands_out(*part, evidence) for part in zip(asked.terms, scored.scores, strict=True)
    ]
    own, over = np.mean(stands_out, axis=0).tolist()
    return AnswerabilityFeatures(
        own=own,
        over=over,
        first=float((asked.vectors[:2] @ scored.vectors[first].T).max()),
        unknown=min(len(unknown), 3) / 3,
        foreign=float(
            any(
                not sources.knows(term)
                for part in asked.parts
                for name in part["named"]
                for term in tokenize(name)
            )
        ),
        undefined=float(bool(_undefined(asked, evidence))),
        lacking=float(bool(_lacking(asked, scored))),
    )


def _undefined(asked: Query, evidence: Sequence[Quotable]) -> list[str]:
    """Return the terms whose definition is asked for and that no statement gives."""
    return [
        term
        for term in asked.definitions
        if term and not any(defines(term, i.text) or is_definition(i, term) for i in evidence)
    ]


def _lacking(asked: Query, scored: ScoredQuotables) -> list[Kind]:
    """Return the kinds of facts that are asked for and in no good statement."""
    good = [scored.quotables[i].text for i in np.argsort(-scored.best, kind="stable")[:_TOP]]
    return [
        kind
        for part in asked.parts
        if (kind := part["kind"]) is not None
        and not any(holds(kind, text, frozenset(part["counted"])) for text in good)
    ]


_TOLD_KINDS: Mapping[Kind, str] = {
    "duration": "period of time",
    "money": "sum of money",
    "percentage": "percentage",
    "measure": "measure",
    "number": "number",
    "contact": "address or number to call",
    "name": "name",
}
_MOST_UNKNOWN = 3
_SHORTENED = re.compile(r"['’](?:t|re|ve|ll|d|m)$")


def lacks(
    asked: Query, scored: ScoredQuotables, sources: Sources, given: bool = False
) -> list[str]:
    """Return what a question asks for and the documents lack, in sentences.

    Words that only ask, and those of earlier questions, are not told. Beside an answer that is
    ``given`` only names and numbers are: it may have other words for the rest.
    """
    untold = frozenset[str]().union(
        *(words_of_asking(part["text"]).union(part.get("earlier", ())) for part in asked.parts)
    )
    named = frozenset(
        word for part in asked.parts for name in part["named"] for word in words(name)
    )
    said = dict.fromkeys(word for part in asked.parts for word in words(part["text"]))
    plain = [word for word in said if word not in untold and not _SHORTENED.search(word)]
    told = [word for word in plain if not given or word in named or word[0].isdigit()]
    unknown = [word for word in told if not all(map(sources.knows, tokenize(word)))]
    shown = ", ".join(f"“{word}”" for word in unknown[:_MOST_UNKNOWN])
    lacking = [f"Not in the documents: {shown}."] if shown else []
    lacking += [
        f"No definition of “{term}” was found." for term in _undefined(asked, scored.quotables)
    ]
    kinds = dict.fromkeys(_lacking(asked, scored))
    return lacking + [f"What comes nearest gives no {_TOLD_KINDS[kind]}." for kind in kinds]


def _stands_out(
    terms: Mapping[str, float], scores: NDArray[np.float32], evidence: Sequence[Quotable]
) -> tuple[float, float]:
    """Return how much of a part its best statement has, and by how much that beats the others."""
    best = evidence[int(scores.argmax())]
    others = [i for i, item in enumerate(evidence) if not _alike(item, best)]
    beaten = float(scores[others].mean()) if others else 0.0
    said = term_set(f"{best.passage['section']} {best.text}")
    return coverage(terms, said), float(scores.max()) - beaten


def probability_there(features: AnswerabilityFeatures) -> float:
    """Return the probability that the documents answer the question at all, in [0, 1]."""
    return _weights("there").probability(astuple(features))


def probability_found(features: AnswerabilityFeatures) -> float:
    """Return the probability that the best statement, which is quoted, answers it, in [0, 1]."""
    return _weights("found").probability(astuple(features))


def _weights(part: str) -> Weights:
    return load_weights("judges/answerable.json", part, AnswerabilityFeatures)


EXCEPTION = "exception_to"
LIMITED = "Except:"
"""The line before what limits the statements above it."""
MIN_NEAR, SURE = 0.1, 0.75
"""The least probability that the documents answer for what comes near an answer to be shown; and
that the best statement does for it alone to be quoted."""
EACH = 0.3
"""The least probability that a document's best statement answers for it to be quoted beside those
of other documents."""
_MOST_QUOTED = 7
"""The most statements that are quoted with those that except from them."""
_NEAR = 2
_LAST_MARKER = re.compile(r" \[(\d+)\]$")
_POINT, _OF_SEVERAL = 0.1, 0.3
"""The share of a question, weighted by idf, that one point must add to the words leading into its
list for the question to ask for that point: where one thing is asked, and where several are."""
_ITSELF = (
    r"(?!\s+(?:(?-i:[A-Z])|(?:act|article|chapter|clause|law|paragraph|part|policy|rule|section"
    r"|subpart|title)s?\b))"
)
"""Excludes a "this" by which a text speaks of itself: "This Act", "In this section"."""
_POINTS_BACK = re.compile(
    r"(?:however|nevertheless|moreover|furthermore|otherwise|therefore|thereafter|accordingly"
    r"|similarly|likewise|in addition|for (?:this|that|these|those|such) \w+"
    rf"|(?:in|to|under|by|on) (?:(?:such|that|those)\b|(?:this|these)\b{_ITSELF})"
    rf"|(?:this|these)\b{_ITSELF}|that|those|such|it|they|he|she"
    r"|the (?:latter|former|same))\b",
    re.IGNORECASE,
)


class ExtractiveGenerator:
    """A generator that answers in the documents' own words, or abstains."""

    instructions = ""

    def __init__(
        self, sources: View, lengths: Lengths | None = None, care: Care = "normal"
    ) -> None:
        self._sources, self._lengths = sources, lengths or Lengths()
        self._least = LEAST[care]

    @computing
    def generate(
        self,
        question: ParsedQuestion,
        passages: list[Passage],
        triplets: list[Triplet],
        advice: Advice | None,
        pointed: Pointed | None = None,
    ) -> Draft:
        """Quote the provisions that the question points to, else the most relevant statements.

        A longer question is answered from statements of what it points to. It abstains where the
        features are against an answer.
        """
        units = pointed["units"] if pointed else []
        only = pointed is not None and pointed["only"]
        if units and only:
            return self._quoted(units)
        draft = self._selected(question, passages, units, triplets)
        if draft["abstained"] and not (quoted := self._quoted(units))["abstained"]:
            return quoted
        return draft

    def _quoted(self, units: list[PointedUnit]) -> Draft:
        lines, citations = quote_all(units, self._sources, self._lengths.whole)
        return (
            drafted("\n".join(lines), citations, told=lines) if citations else drafted(ABSTENTION)
        )

    def _selected(
        self,
        question: ParsedQuestion,
        passages: list[Passage],
        units: list[PointedUnit],
        triplets: list[Triplet],
    ) -> Draft:
        asked = query_of(question, self._sources)
        scored = score_quotables(asked, passages, self._sources)
        if scored is not None and units:
            scored = scored.within(units)
        if scored is None:
            return drafted(ABSTENTION)
        if not any(map(self._sources.knows, asked.all_terms)):
            return drafted(ABSTENTION, lacks=lacks(asked, scored, self._sources))
        features = read_features(asked, scored.among_the_best, self._sources)
        there, answers = probability_there(features), probability_found(features)
        sure = answers >= SURE or (any(asked.definitions) and not features.undefined)
        alone = units or question["called"] or any(asked.definitions)
        each = [] if alone else self._of_each(asked, scored, answers)
        chosen = select(asked, scored, self._lengths, sure=sure, each=each)
        if there < self._least.there or answers < self._least.given:
            # what comes nearest to an answer, one citation a provision
            nearest = [*chosen.best, *chosen.more][: _NEAR if there >= MIN_NEAR else 0]
            near = [self._cited(item, [item.said], n) for n, item in enumerate(nearest, 1)]
            return drafted(ABSTENTION, near=near, lacks=lacks(asked, scored, self._sources))
        chosen = replace(chosen, limits=limiting([*chosen.best, *chosen.more], triplets, scored))
        draft = self._draft(asked, chosen, sure)
        return {
            **draft,
            "answers": answers,
            "unanswered": self._unanswered(asked, passages),
            "lacks": lacks(asked, scored, self._sources, given=True),
        }

    def _of_each(self, asked: Query, scored: ScoredQuotables, answers: float) -> list[int]:
        """Return the best statement of each document that may answer, if more than one may.

        Beside an answer that would pass they must be likely enough to pass themselves.
        """
        of = [item.passage["document"] for item in scored.quotables]
        if len(documents := dict.fromkeys(of)) < 2:
            return []
        least = self._least.passed if answers >= self._least.passed else EACH
        found: list[int] = []
        for document in documents:
            own = [i for i, name in enumerate(of) if name == document]
            alone = scored.only(own)
            if probability_found(read_features(asked, alone, self._sources)) >= least:
                found.append(own[int(alone.best.argmax())])
        return found if len(found) > 1 else []

    def _unanswered(self, asked: Query, passages: list[Passage]) -> list[str]:
        """Return the parts of a question that, asked alone, the passages would not answer."""
        if len(asked.parts) < 2:
            return []
        alone = [query_of_part(part, self._sources) for part in asked.parts]
        scored = [score_quotables(part, passages, self._sources) for part in alone]
        return [
            part.text
            for part, held in zip(alone, scored, strict=True)
            if held
            and probability_there(read_features(part, held.among_the_best, self._sources))
            < self._least.there
        ]

    def _draft(self, asked: Query, chosen: Chosen, sure: bool) -> Draft:
        """Write the chosen evidence as an answer; lists that are asked for as a whole come whole.

        Sources are numbered in the order of use, each once. What a list is headed and what of it is
        left out is told by code.
        """
        lines: list[str] = []
        told: list[str] = []
        citations: list[Citation] = []
        lists = [list_asked(item, asked, self._sources) for item in chosen.best]
        more = [] if any(lists) and sure else chosen.more
        room = self._lengths.whole
        quoted: list[PointedUnit] = []
        led = named = ""
        excepting = {one.order for limits in chosen.limits.values() for one in limits}
        quotes = [*zip(chosen.best, lists, strict=True), *((i, []) for i in more)]
        names = list(dict.fromkeys(item.passage["document"] for item, _ in quotes))
        quotes.sort(key=lambda quote: names.index(quote[0].passage["document"]))
        for item, units in self._with_limits(quotes, chosen.limits):
            document = item.passage["document"]
            if any(_within(item.said, document, citation) for citation in citations):
                continue
            if item.order in excepting:
                told.append(LIMITED)
                lines.append(LIMITED)
            if units:
                named = document  # it stands in the heading of the list
                quoted += units
                listed, cited = quote_all(units, self._sources, room, len(citations))
                room = max(1, room - sum(len(line.split()) for line in listed))
                lines += listed
                # the heading of a list, and what of it is left out
                told += [x for x in listed if x.startswith(LEFT_OUT) or not _LAST_MARKER.search(x)]
                citations += cited
                continue
            n = len(citations) + 1
            said = with_antecedent(item, self._sources)
            if citations:  # what the line before says already is not said again
                said = [one for one in said if not _within(one, document, citations[-1])]
            if item.question != led:  # the line before stands under it, too
                said = self._with_question(item, said, asked.text)
            led = item.question
            if said[0].start < item.passage["start"]:  # it is judged by what it is quoted from
                quoted += self._unit_of(document, said[0])
            text = unmarked(" ".join(statement.text for statement in said))
            text = text[:1].upper() + text[1:]
            if len(names) > 1 and document != named:
                named = document
                told.append(unmarked(" ".join(f"In {document}:".split())))
                lines.append(told[-1])
            # a marker after each sentence, so that none stands uncited
            lines.append(" ".join(f"{text[a:b]} [{n}]" for a, b in sentence_spans(text)))
            citations.append(self._cited(item, said, n))
        holding = (chunk_id for unit in quoted for chunk_id in self._sources.chunks_over(unit))
        chunks = dict.fromkeys(islice(holding, MOST_POINTED))
        return drafted("\n".join(lines), citations, told=told, quoted=[*chunks])

    def _with_limits(
        self,
        quotes: Sequence[tuple[Quotable, list[PointedUnit]]],
        limits: Mapping[int, list[Quotable]],
    ) -> Iterator[tuple[Quotable, list[PointedUnit]]]:
        """Yield what is quoted, each with what excepts from it behind it; lists of it are whole."""
        for item, units in quotes:
            yield item, units
            for one in limits.get(item.order, []):
                listed = one.said.points > 0
                yield one, self._unit_of(one.passage["document"], one.said) if listed else []

    def _with_question(self, item: Quotable, said: list[Statement], asked: str) -> list[Statement]:
        """Lead a statement by the question of the document that it answers, if another was asked.

        "No." may be right of that one alone.
        """
        question, before = item.question, item.before
        if not question or said[0].leads or repeats(question, asked):
            return said
        document = item.passage["document"]
        span = (before.start, before.end) if before else self._heading(document, said[0])
        return [replace(said[0], lead=question, leads=(span,)), *said[1:]] if span else said

    def _heading(self, document: str, said: Statement) -> tuple[int, int] | None:
        tree, text = self._sources.tree_of(document), self._sources.text_of(document)
        if tree is None or text is None or (at := tree.at(said.start)) < 0:
            return None
        headed = (p for p in (at, *tree.above(at)) if tree.units[p].heading == said.label)
        return next((heading_span(tree, place, text) for place in headed), None)

    def _unit_of(self, document: str, said: Statement) -> list[PointedUnit]:
        tree = self._sources.tree_of(document)
        place = tree.at(said.start) if tree is not None else -1
        return [unit_at(document, tree, place)] if tree is not None and place >= 0 else []

    def _cited(self, item: Quotable, said: list[Statement], n: int) -> Citation:
        start, document = said[0].start, item.passage["document"]
        if start >= item.passage["start"]:
            return cite(item.passage, said, n)
        label = item.said.label if said[0].label == item.said.label else item.passage["section"]
        return {**self._sources.cited(document, start, said[-1].end, label), "n": n}


def _within(said: Statement, document: str, citation: Citation) -> bool:
    inside = citation["start"] <= said.start and said.end <= citation["end"]
    return inside and document == citation["document"]


# carries, by benchmarks/rules.py, all of whole lists, .05 of LL144's correct answers
def list_asked(item: Quotable, asked: Query, sources: View) -> list[PointedUnit]:
    """Return the units whose list a question asks for as a whole; none where it asks for none.

    It does where the words that lead into the list, with the headings above them, hold of the
    question nearly all that a point of it holds.
    """
    said, document = item.said, item.passage["document"]
    tree = sources.tree_of(document)
    if tree is None or (place := tree.at(said.start)) < 0 or tree.units[place].kind == "row":
        return []
    several = any(part["several"] for part in asked.parts)
    whole = said.points > 0 or (bool(tree.items(place)) and several)
    if not whole and said.leads:
        place = tree.at(said.leads[-1][0])
    elif not whole:
        return []
    if whole or (tree.units[place].kind == "definition" and any(asked.definitions)):
        return _units(document, tree, place)
    headings = (tree.units[p].heading for p in (place, *tree.above(place)))
    led = " ".join([said.lead, *headings])
    before, with_own = frozenset(tokenize(led)), frozenset(tokenize(f"{led} {said.own}"))
    gain = coverage(asked.all_terms, with_own) - coverage(asked.all_terms, before)
    return _units(document, tree, place) if gain < (_OF_SEVERAL if several else _POINT) else []


def _units(document: str, tree: Tree, place: int) -> list[PointedUnit]:
    """Return a paragraph with its list, or the items of the list that a provision leads into."""
    divides = tree.units[place].kind in ("provision", "annex", "part")
    places = tree.items(place) if divides else [place]
    return [unit_at(document, tree, one) for one in places]


def with_antecedent(item: Quotable, sources: View) -> list[Statement]:
    """Return the statement after the one before it where its first word points back to that."""
    before = _before(item.said, item, sources) if _POINTS_BACK.match(item.said.own) else None
    return [before, item.said] if before else [item.said]


def _before(said: Statement, item: Quotable, sources: View) -> Statement | None:
    if said.leads:
        return None
    document = item.passage["document"]
    found, _ = sources.statements(item.passage["id"])
    before = [other for other in found if other.end <= said.start and not other.points]
    if before:
        return before[-1]
    tree, text = sources.tree_of(document), sources.text_of(document)
    if tree is None or text is None or (place := tree.at(said.start)) < 0:
        return None
    if tree.units[place].kind in ("provision", "annex", "part"):
        return None  # what opens a provision points to nothing in the one before
    return sentence_before(tree, text, place)
