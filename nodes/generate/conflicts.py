"""Quoting other documents that contradict or change the sources of a draft."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count
from typing import NamedTuple

from lexloop.core.metadata import Metadata, host_score
from lexloop.core.running import heed_deadline
from lexloop.core.types import Citation, Draft, Passage, Triplet
from lexloop.documents.chunks.statements import Statement
from lexloop.documents.structure.references import find_references
from lexloop.documents.text.parties import parties_of
from lexloop.documents.text.tokens import term_set
from lexloop.nodes.alignment import contradictions
from lexloop.nodes.generate.score import lies_in
from lexloop.nodes.markers import numbers_in, unmarked
from lexloop.nodes.question.naming import of_one_form
from lexloop.store.view import View

_QUOTES, _HITS = 4, 6
"""How many citations of a draft are compared, the first ones, and how many chunks with each."""
_WORDS = range(6, 401)
"""The number of words of a statement that is compared; the time grows with its square."""
_ALIKE = 0.6
"""The least share of its words that another statement must have to be compared with it."""
_NEARLY, _TERMS = 0.75, 5
"""The least share, and the least number of common terms, if the documents are not versions of one
text: many documents say "the fee is 5 euros a day"."""

_VERSIONS, _LINES, _SHORT = 0.75, 60, 20
"""The least share of common lines of two versions, the number of lines compared, evenly spread, and
the least length of a line in characters."""


def with_conflicts(
    draft: Draft,
    passages: Sequence[Passage],
    view: View,
    named: Collection[str] = (),
    authority: Mapping[str, float] | None = None,
) -> Draft:
    """Return the draft with the contradicting statements of other documents, each under its name.

    They come from the passages and from a search for the words of each quote. Their sources are
    numbered after all markers of the draft. A text that the source has replaced is quoted, but is
    not a disagreement.

    Args:
        draft: The draft.
        passages: The passages of the draft.
        view: The documents.
        named: The documents that the question names; if any, others are not compared.
        authority: The weight of publishers' hosts and kinds of source, in [0, 1].
    """
    if draft["abstained"] or len(named or view.titles) < 2:
        return draft
    citations, number = [*draft["citations"]], max(numbers_in(draft["answer"]), default=0)
    lines: list[str] = []
    disagreements: list[str] = []
    chunk_ids = [*(passage["id"] for passage in passages), *draft["quoted"]]
    versions = _Versions(view, chunk_ids, named or view.titles)
    for source, other, differences in versions.against(citations[:_QUOTES]):
        n = next((c["n"] for c in citations if _covers(c, other)), 0)
        if not n:
            n = number = number + 1
            citations.append({**other, "n": n})
        names = source["document"], other["document"]
        metadata = view.metadata(names)
        mine, theirs = (metadata[name] for name in names)
        source_name, other_name = (_described(name, metadata[name]) for name in names)
        replaced = _follows(mine, theirs)
        name, quote = unmarked(other_name), unmarked(" ".join(other["quote"].split()))
        lines.append(
            f"{name} said otherwise: {quote} [{n}]"
            if replaced
            else f"{name} says otherwise: {quote} [{n}]"
        )
        if not replaced:
            differs = f"{source_name} disagrees with {other_name}: {'; '.join(differences)}."
            weightier = _weightier(*names, mine, theirs, authority or {})
            disagreements.append(f"{differs} {weightier}".strip())
    if not lines:
        return draft
    return {
        **draft,
        "answer": "\n".join([draft["answer"], *lines]),
        "told": [*draft["told"], *lines],
        "citations": citations,
        "conflicts": disagreements,
    }


def _weightier(
    source: str, other: str, mine: Metadata, theirs: Metadata, authority: Mapping[str, float]
) -> str:
    """Return a sentence on which of two documents weighs more, or "" if that is unknown."""
    weight, its = host_score(mine, authority), host_score(theirs, authority)
    if _follows(theirs, mine):
        sentence = f"{other} has replaced {source}."
    else:
        sentence = "" if weight == its else f"{source if weight > its else other} weighs more."
    return " ".join(sentence.split())


def _described(name: str, metadata: Metadata) -> str:
    """Return a document's name with its kind, publisher and version in brackets, if known."""
    known = ", ".join(filter(None, (metadata.kind, metadata.host, metadata.version)))
    return " ".join((f"{name} ({known})" if known else name).split())


def _follows(later: Metadata, earlier: Metadata) -> bool:
    """Return whether a version comes into force only after another has expired."""
    begins, ends = later.in_force_from, earlier.in_force_to
    return begins is not None and ends is not None and ends < begins


class _Versions:
    """The statements of other documents that contradict citations, for one question.

    Args:
        view: The documents.
        chunk_ids: The chunks that are compared in any case.
        among: The documents that are compared.
    """

    def __init__(self, view: View, chunk_ids: Sequence[str], among: Collection[str]) -> None:
        self._view, self._among = view, among
        self._chunks = view.chunks([*dict.fromkeys(chunk_ids)])
        self._versions: dict[tuple[str, str], bool] = {}

    def against(
        self, citations: Sequence[Citation]
    ) -> Iterator[tuple[Citation, Citation, list[str]]]:
        """Yield citations, each with a contradicting citation, its number 0, and the differences.

        A difference is a sentence whose "it" is the first. Each contradicting span comes once.
        """
        known: list[Citation] = []
        for citation in citations:
            if any(_covers(citation, other) for other in known):
                continue  # compared with an earlier one
            for quote in self._statements(citation):
                heed_deadline("while other documents were compared")
                for other, differences in self._contradicting(quote, citation["document"]):
                    if not any(_covers(earlier, other) for earlier in known):
                        known.append(other)
                        yield citation, other, differences

    def _statements(self, citation: Citation) -> Iterator[str]:
        """Yield the statements of a citation that are long enough to compare."""
        for chunk in self._chunks:
            if chunk["document"] == citation["document"] and chunk["end"] > citation["start"]:
                for statement in self._view.statements(chunk["id"])[0]:
                    inside = lies_in(statement, chunk["document"], citation)
                    if inside and len(statement.text.split()) in _WORDS:
                        yield statement.text

    def _contradicting(self, quote: str, document: str) -> Iterator[tuple[Citation, list[str]]]:
        """Yield each other document's nearest statement if it contradicts, and the differences."""
        words = set(quote.lower().split())
        nearest: dict[str, tuple[float, Statement]] = {}
        [hits] = self._view.search_lexical([quote], _HITS)
        known = {chunk["id"] for chunk in self._chunks}
        ids = [hit.chunk_id for hit in hits if hit.chunk_id not in known]
        for chunk in [*self._chunks, *self._view.chunks(ids)]:
            other = chunk["document"]
            if other == document or other not in self._among:
                continue
            versions = self._are_versions(document, other)
            if not versions and are_apart(document, other, self._view):
                continue
            for statement in self._view.statements(chunk["id"])[0]:
                its = statement.text.lower().split()
                share = len(words & set(its)) / max(1, len(words), len(set(its)))
                best, _ = nearest.get(other, (_ALIKE if versions else _NEARLY, None))
                common = term_set(quote) & term_set(statement.text)
                if share >= best and (versions or len(common) >= _TERMS) and len(its) in _WORDS:
                    nearest[other] = share, statement
        for name, (_, statement) in nearest.items():
            if statement.text != quote and (differences := contradictions(quote, statement.text)):
                span = statement.start, statement.end, statement.label
                yield self._view.cited(name, *span), differences

    def _are_versions(self, document: str, other: str) -> bool:
        """Return whether two documents are versions of one text, not two contracts of one form.

        The longer text must have most lines of the shorter one.
        """
        pair = document, other
        if pair not in self._versions:
            short, long = sorted((self._view.text_of(name) or "" for name in pair), key=len)
            lines = [line for line in short.split("\n") if len(line) > _SHORT]
            sample = lines[:: -(-len(lines) // _LINES) or 1]
            whole = set(long.split("\n"))  # usually the other text has it as a whole line
            shared = sum(line in whole or line in long for line in sample) / max(1, len(sample))
            self._versions[pair] = shared >= _VERSIONS
        return self._versions[pair]


def are_apart(document: str, other: str, view: View) -> bool:
    """Return whether documents have different parties, or different titles of one form.

    The lease of the mill does not contradict the lease of the barn.
    """
    mine, theirs = (parties_of(view.text_of(name) or "") for name in (document, other))
    if mine and theirs and {p.name for p in mine} != {p.name for p in theirs}:
        return True
    titles = view.titles[document], view.titles[other]
    return term_set(titles[0]) != term_set(titles[1]) and of_one_form(*titles)


def _covers(citation: Citation, other: Citation) -> bool:
    return (
        citation["document"] == other["document"]
        and citation["start"] <= other["start"]
        and other["end"] <= citation["end"]
    )


CHANGED = "Changed by:"
"""The line before the changes of the statement above it."""
_MOST, _SHOWN = 2_000, 3
"""The most relations that are read, and the most changes of one quote that are shown."""
_BEFORE, _OPENING, _LONGEST = 400, 600, 1_200
"""How many characters before a change, and of a document's opening, may name the changed document;
and the most characters of a change that are quoted."""
_EXCHANGED = re.compile(r"[\"“„«](?P<said>[^\"“”„«»]{2,300})[\"”“»]")
_INSERTED = re.compile(r"\s*+[\"“„«][^\"”“»]{1,1000}[\"”“»]")


class Change(NamedTuple):
    """A change of a provision by another document.

    Args:
        document: The changed document.
        start: Start of the changed provision; 0 if the whole document is changed.
        end: Its end.
        quoted: The words that are inserted or deleted.
        by: The citation of the change, its number 0.
    """

    document: str
    start: int
    end: int
    quoted: frozenset[str]
    by: Citation


def with_changes(draft: Draft, view: View) -> Draft:
    """Return the draft with the changes of each quote below it, after the line ``CHANGED``."""
    if draft["abstained"] or len(view.titles) < 2:
        return draft
    known = [*changes(view)]
    lines, told, citations = draft["answer"].split("\n"), [*draft["told"]], [*draft["citations"]]
    numbers = count(max(numbers_in(draft["answer"]), default=0) + 1)
    for citation in draft["citations"]:
        changing: list[Citation] = [
            {**change.by, "n": next(numbers)}
            for change in _changing(citation, known, citations)[:_SHOWN]
        ]
        if changing:
            citations += changing
            quotes = (f"{unmarked(' '.join(c['quote'].split()))} [{c['n']}]" for c in changing)
            below = [CHANGED, *quotes]
            told += below
            quoting = [i for i, line in enumerate(lines) if citation["n"] in numbers_in(line)]
            place = quoting[-1] + 1 if quoting else len(lines)
            lines[place:place] = below
    if len(citations) == len(draft["citations"]):
        return draft
    return {**draft, "answer": "\n".join(lines), "told": told, "citations": citations}


def _changing(
    citation: Citation, known: Sequence[Change], cited: Sequence[Citation]
) -> list[Change]:
    """Return the changes of a quote that are not cited yet.

    A change of single words counts if the quote has them.
    """
    quote = " ".join(citation["quote"].split()).lower()
    return [
        change
        for change in known
        if change.document == citation["document"]
        and change.start < citation["end"]
        and citation["start"] < change.end
        and not any(_covers(other, change.by) for other in cited)
        and (not change.quoted or any(words in quote for words in change.quoted))
    ]


def changes(view: View) -> Iterator[Change]:
    """Yield the changes of provisions by other documents."""
    triplets = view.graph.of_kind("amends", _MOST)
    inner = {(t["document"], t["start"]) for t in triplets if find_references(t["object"])}
    for triplet in triplets:
        references = find_references(triplet["object"])
        if not references and (triplet["document"], triplet["start"]) in inner:
            continue  # only a provision of the act is changed
        name, by = _changed(triplet, view), _quoted(triplet, view)
        if not name:
            continue
        document = view.document(name)
        spans = [
            (unit.start, unit.end)
            for reference in references[:1]
            for unit in map(document.tree.units.__getitem__, document.tree.find(reference))
        ]
        words = [" ".join(m["said"].split()).lower() for m in _EXCHANGED.finditer(by["quote"])]
        for start, end in spans if references else [(0, len(document.text))]:
            own = " ".join(document.text[start:end].split()).lower()
            yield Change(name, start, end, frozenset(each for each in words if each in own), by)


def _changed(triplet: Triplet, view: View) -> str:
    """Return the document that a relation changes, or "" if that is uncertain."""
    own, named = triplet["document"], f" {triplet['object']}".partition(" of ")[2]
    text = view.text_of(own) or ""
    before = text[max(0, triplet["start"] - _BEFORE) : triplet["end"]]
    around = term_set(f"{view.titles[own]}\n{text[:_OPENING]}\n{before}")
    titles = {name: term_set(title) for name, title in view.titles.items() if name != own}
    fitting = {name: title for name, title in titles.items() if title and title <= around}
    act = frozenset(term for term in term_set(named) if not term.isdigit())
    fitting = {name: title for name, title in fitting.items() if act <= title} or fitting
    if not fitting and act:
        fitting = {name: title for name, title in titles.items() if act <= title}
    longest = max(map(len, fitting.values()), default=0)
    names = [name for name, title in fitting.items() if len(title) == longest]
    return names[0] if len(names) == 1 else ""


def _quoted(triplet: Triplet, view: View) -> Citation:
    """Return the citation of a change, with the inserted text after it, if any."""
    name, start, end = triplet["document"], triplet["start"], triplet["end"]
    document = view.document(name)
    text, tree = document.text, document.tree
    if text[start:end].rstrip().endswith((":", "—", "–")):
        place = tree.at(start)
        end = max(end, tree.units[place].end if place >= 0 else end)
        if inserted := _INSERTED.match(text, triplet["end"]):
            end = max(end, inserted.end())
        end = min(end, start + _LONGEST)
    return view.cited(name, start, start + len(text[start:end].rstrip()), triplet["section"])
