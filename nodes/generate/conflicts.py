"""Where another document says the same as a draft's sources, but for what binds."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from lexloop.core.metadata import Metadata, host_score
from lexloop.core.running import heed_deadline
from lexloop.core.types import Citation, Draft, Passage, Triplet
from lexloop.documents.chunks.statements import Statement
from lexloop.documents.structure.references import find_references
from lexloop.documents.structure.tree import Tree
from lexloop.documents.text.parties import parties_of
from lexloop.documents.text.tokens import term_set
from lexloop.nodes.alignment import contradictions
from lexloop.nodes.markers import numbers_in, unmarked
from lexloop.nodes.question.naming import of_one_form
from lexloop.store.view import View

_QUOTES, _HITS = 4, 6
"""The citations of a draft that are looked up, the first ones, and the chunks of each."""
_WORDS = range(6, 401)
"""Words of a statement that is laid beside another: fewer say too little, and time grows with the
square of their number."""
_ALIKE = 0.6
"""The share of its words that another statement must have to be laid beside it."""
_NEARLY, _TERMS = 0.75, 5
"""That share, and the least terms of both, if the documents are no versions of one text: of many
things it is said that "the fee is 5 euros a day"."""

_VERSIONS, _LINES, _SHORT = 0.75, 60, 20
"""The share of lines that versions of one text have in common, how many are looked at, evenly
spread, and the characters that a line has at least."""


class Conflict(NamedTuple):
    """A statement of another document beside a source that it is a copy of.

    Args:
        source: The citation.
        other: Where the other document says otherwise; its number is 0.
        differs: What the source ("it") differs in, a sentence each.
    """

    source: Citation
    other: Citation
    differs: list[str]


def with_conflicts(
    draft: Draft,
    passages: Sequence[Passage],
    view: View,
    named: Collection[str] = (),
    authority: Mapping[str, float] | None = None,
) -> Draft:
    """Return the draft with what versions of its documents say otherwise, each under its name.

    They are looked for in the passages and by their words. Their sources are numbered after all
    markers of the draft. What its source has replaced is told, and is no disagreement.

    Args:
        draft: As it was written.
        passages: What it was written from.
        view: The documents. Nothing is looked up if there is one alone.
        named: Those that the question names; if there are some, none else is looked at.
        authority: Of publishers' hosts and kinds of source, in [0, 1]: the higher one weighs more.
    """
    if draft["abstained"] or len(named or view.titles) < 2:
        return draft
    answer, told, citations = draft["answer"], [*draft["told"]], [*draft["citations"]]
    number = max(numbers_in(answer), default=0)
    disagree: list[str] = []
    found = [*(passage["id"] for passage in passages), *draft["quoted"]]
    for source, other, differs in Versions(view, found, named or view.titles).against(
        citations[:_QUOTES]
    ):
        place = next((c["n"] for c in citations if _holds(c, other)), 0)
        if not place:
            place = number = number + 1
            citations.append({**other, "n": place})
        standing = _standing(source["document"], other["document"], view, authority or {})
        quote = unmarked(" ".join(other["quote"].split()))
        name = unmarked(standing.other)
        told.append(
            f"{name} said otherwise: {quote} [{place}]"
            if standing.replaced
            else f"{name} says otherwise: {quote} [{place}]"
        )
        answer = f"{answer}\n{told[-1]}"
        if not standing.replaced:
            said = f"{standing.source} disagrees with {standing.other}: {'; '.join(differs)}."
            disagree.append(f"{said} {standing.weighs}".strip())
    if len(told) == len(draft["told"]):
        return draft
    return {**draft, "answer": answer, "told": told, "citations": citations, "conflicts": disagree}


class _Standing(NamedTuple):
    """How a source stands to what disagrees with it.

    Args:
        source: Its name, with kind, publisher and days in brackets if they are known.
        other: The same of the other.
        replaced: Whether the source is in force only since the other is no more.
        weighs: Which one weighs more, in a sentence, or "" if nothing tells.
    """

    source: str
    other: str
    replaced: bool
    weighs: str


def _standing(source: str, other: str, view: View, authority: Mapping[str, float]) -> _Standing:
    held = view.metadata([source, other])
    mine, theirs = held[source], held[other]
    weights = host_score(mine, authority), host_score(theirs, authority)
    if _follows(theirs, mine):
        weighs = f"{other} has replaced {source}."
    elif weights[0] != weights[1]:
        weighs = f"{source if weights[0] > weights[1] else other} weighs more."
    else:
        weighs = ""
    names = _known(source, mine), _known(other, theirs)
    return _Standing(*names, _follows(mine, theirs), " ".join(weighs.split()))


def _known(name: str, metadata: Metadata) -> str:
    known = ", ".join(filter(None, (metadata.kind, metadata.host, metadata.version)))
    return " ".join(f"{name} ({known})".split()) if known else " ".join(name.split())


def _follows(later: Metadata, earlier: Metadata) -> bool:
    """Tell whether a version is in force only since another is no more."""
    begins, ends = later.in_force_from, earlier.in_force_to
    return begins is not None and ends is not None and ends < begins


class Versions:
    """What versions of the documents cited say, for one question.

    Args:
        view: The documents.
        found: The ids of chunks that are looked at in any case.
        among: The documents that count.
    """

    def __init__(self, view: View, found: Sequence[str], among: Collection[str]) -> None:
        self._view, self._among = view, among
        self._found = view.chunks([*dict.fromkeys(found)])
        self._versions: dict[tuple[str, str], bool] = {}

    def against(self, citations: Sequence[Citation]) -> Iterator[Conflict]:
        """Yield each document's statement that copies a source and contradicts it, once."""
        known: list[Citation] = []
        for citation in citations:
            if any(_holds(citation, other) for other in known):
                continue  # it was laid beside an earlier one
            for said in self._quoted(citation):
                heed_deadline("while other documents were compared")
                for other, differs in self._otherwise(said, citation["document"]):
                    if not any(_holds(one, other) for one in known):
                        known.append(other)
                        yield Conflict(citation, other, differs)

    def _quoted(self, citation: Citation) -> Iterator[str]:
        """Yield the statements of a quote that can be told from others."""
        for chunk in self._found:
            if chunk["document"] == citation["document"] and chunk["end"] > citation["start"]:
                for said in self._view.statements(chunk["id"])[0]:
                    inside = citation["start"] <= said.start and said.end <= citation["end"]
                    if inside and len(said.text.split()) in _WORDS:
                        yield said.text

    def _otherwise(self, said: str, document: str) -> Iterator[tuple[Citation, list[str]]]:
        """Yield the statement of each version of a document that is nearest, if they contradict."""
        words = set(said.lower().split())
        nearest: dict[str, tuple[float, Statement]] = {}
        [hits] = self._view.search_lexical([said], _HITS)
        known = {chunk["id"] for chunk in self._found}
        ids = [hit.chunk_id for hit in hits if hit.chunk_id not in known]
        for chunk in [*self._found, *self._view.chunks(ids)]:
            other = chunk["document"]
            if other == document or other not in self._among:
                continue
            versions = self._are_versions(document, other)
            if not versions and self._are_apart(document, other):
                continue
            least = _ALIKE if versions else _NEARLY
            for statement in self._view.statements(chunk["id"])[0]:
                its = statement.text.lower().split()
                alike = len(words & set(its)) / max(1, len(words), len(set(its)))
                nearer = alike >= max(least, nearest.get(other, (0.0, None))[0])
                telling = versions or len(term_set(said) & term_set(statement.text)) >= _TERMS
                if nearer and telling and len(its) in _WORDS:
                    nearest[other] = alike, statement
        for name, (_, found) in nearest.items():
            if found.text != said and (differs := contradictions(said, found.text)):
                yield self._view.cited(name, found.start, found.end, found.label), differs

    def _are_apart(self, one: str, other: str) -> bool:
        """Tell whether documents are of different things: by parties, or by titles of one form.

        The lease of the mill says nothing against that of the barn, nor contract 12 against 13.
        """
        mine, theirs = (parties_of(self._view.text_of(name) or "") for name in (one, other))
        if mine and theirs and {p.name for p in mine} != {p.name for p in theirs}:
            return True
        titles = self._view.titles[one], self._view.titles[other]
        return term_set(titles[0]) != term_set(titles[1]) and of_one_form(*titles)

    def _are_versions(self, one: str, other: str) -> bool:
        """Tell whether two documents are versions of one text, and not two contracts of one form.

        The share of lines counts that the longer text has of the shorter one.
        """
        pair = one, other
        if pair not in self._versions:
            texts = [self._view.text_of(name) or "" for name in pair]
            short, long = sorted(texts, key=len)
            lines = [line for line in short.split("\n") if len(line) > _SHORT]
            some = lines[:: -(-len(lines) // _LINES) or 1]
            whole = set(long.split("\n"))  # most lines are lines of the other, too
            shared = sum(line in whole or line in long for line in some) / max(1, len(some))
            self._versions[pair] = shared >= _VERSIONS
        return self._versions[pair]


def _holds(citation: Citation, other: Citation) -> bool:
    return (
        citation["document"] == other["document"]
        and citation["start"] <= other["start"]
        and other["end"] <= citation["end"]
    )


CHANGED = "Changed by:"
"""The line before what changes the statement above it."""
_MOST, _SHOWN = 2_000, 3
"""The most relations that are looked through, and the most changes of one quote that are shown."""
_BEFORE, _OPENING, _LONGEST = 400, 600, 1_200
"""The characters before a change that may say of what it is, those of an opening, and the longest
change that is quoted."""
_EXCHANGED = re.compile(r"[\"“„«](?P<said>[^\"“”„«»]{2,300})[\"”“»]")
_BROUGHT = re.compile(r"\s*+[\"“„«][^\"”“»]{1,1000}[\"”“»]")


class Change(NamedTuple):
    """A provision of a document that another one changes.

    Args:
        document: The document that is changed.
        start: Where the provision begins, or 0 if all of it is changed.
        end: Where it ends.
        quoted: The words that are put in or taken out.
        by: What changes it, whose number is 0.
    """

    document: str
    start: int
    end: int
    quoted: frozenset[str]
    by: Citation


def with_changes(draft: Draft, view: View) -> Draft:
    """Return the draft, each quote followed by what changes it, under ``CHANGED``."""
    if draft["abstained"] or len(view.titles) < 2:
        return draft
    known = [*changes(view)]
    answer, told, citations = draft["answer"].split("\n"), [*draft["told"]], [*draft["citations"]]
    number = max(numbers_in(draft["answer"]), default=0)
    for citation in draft["citations"]:
        behind: list[str] = []
        for change in changing(citation, known, citations)[:_SHOWN]:
            number += 1
            citations.append({**change.by, "n": number})
            behind.append(f"{unmarked(' '.join(change.by['quote'].split()))} [{number}]")
        if behind:
            behind = [CHANGED, *behind]
            told += behind
            lines = [n for n, line in enumerate(answer) if citation["n"] in numbers_in(line)]
            place = lines[-1] + 1 if lines else len(answer)
            answer[place:place] = behind
    if len(citations) == len(draft["citations"]):
        return draft
    return {**draft, "answer": "\n".join(answer), "told": told, "citations": citations}


def changing(
    citation: Citation, known: Sequence[Change], cited: Sequence[Citation] = ()
) -> list[Change]:
    """Return what changes a quote and is not cited yet.

    A change that exchanges words changes the sentences that have them, if any of them does.
    """
    found = [
        one
        for one in known
        if one.document == citation["document"]
        and one.start < citation["end"]
        and citation["start"] < one.end
        and not any(_holds(other, one.by) for other in cited)
    ]
    said = " ".join(citation["quote"].split()).lower()
    return [one for one in found if not one.quoted or any(words in said for words in one.quoted)]


def changes(view: View) -> Iterator[Change]:
    """Yield the provisions of the documents that others change, and by what."""
    told = view.graph.of_kind("amends", _MOST)
    inner = {(t["document"], t["start"]) for t in told if find_references(t["object"])}
    for triplet in told:
        references = find_references(triplet["object"])
        if not references and (triplet["document"], triplet["start"]) in inner:
            continue  # a part of the act is changed
        document = _meant(triplet, view)
        tree, text = view.tree_of(document) or Tree(), view.text_of(document) or ""
        spans = [
            (u.start, u.end)
            for r in references[:1]
            for u in map(tree.units.__getitem__, tree.find(r))
        ]
        by = _quoted(triplet, view)
        words = frozenset(
            " ".join(m["said"].split()).lower() for m in _EXCHANGED.finditer(by["quote"])
        )
        for start, end in spans if references else [(0, len(text))]:
            own = " ".join(text[start:end].split()).lower()
            held = frozenset(one for one in words if one in own)
            if document:
                yield Change(document, start, end, held, by)


def _meant(triplet: Triplet, view: View) -> str:
    """Return the document that a relation changes, or "" if that is not sure."""
    own, named = triplet["document"], f" {triplet['object']}".partition(" of ")[2]
    before = (view.text_of(own) or "")[max(0, triplet["start"] - _BEFORE) : triplet["end"]]
    around = f"{view.titles[own]}\n{(view.text_of(own) or '')[:_OPENING]}\n{before}"
    said = term_set(around)
    titles = {name: _title(title) for name, title in view.titles.items() if name != own}
    fitting = {name: title for name, title in titles.items() if title and title <= said}
    act = _plain(named)
    fitting = {name: title for name, title in fitting.items() if act <= title} or fitting
    if not fitting and act:
        fitting = {name: title for name, title in titles.items() if act <= title}
    longest = max(map(len, fitting.values()), default=0)
    found = [name for name, title in fitting.items() if len(title) == longest]
    return found[0] if len(found) == 1 else ""


@lru_cache(maxsize=1 << 13)
def _title(title: str) -> frozenset[str]:
    return term_set(title)


def _plain(act: str) -> frozenset[str]:
    return frozenset(term for term in term_set(act) if not term.isdigit())


def _quoted(triplet: Triplet, view: View) -> Citation:
    """Return the citation of a change, with the text that it brings if that stands behind it."""
    document, start, end = triplet["document"], triplet["start"], triplet["end"]
    text, tree = view.text_of(document) or "", view.tree_of(document) or Tree()
    if text[start:end].rstrip().endswith((":", "—", "–")):
        place = tree.at(start)
        end = max(end, tree.units[place].end if place >= 0 else end)
        if brought := _BROUGHT.match(text, triplet["end"]):
            end = max(end, brought.end())
        end = min(end, start + _LONGEST)
    return view.cited(document, start, start + len(text[start:end].rstrip()), triplet["section"])
