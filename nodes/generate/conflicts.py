"""Where another document says the same as a draft's sources, but for what binds."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from lexloop.core.running import heed_deadline
from lexloop.core.types import Citation, Draft, Passage
from lexloop.documents.chunks.statements import Statement
from lexloop.nodes.alignment import contradictions, read_words
from lexloop.nodes.markers import numbers_in, unmarked
from lexloop.store.view import View

_QUOTES, _HITS = 4, 6
"""The citations of a draft that are looked up, the first ones, and the chunks of each."""
_FEWEST = 6
"""Words of a statement that can be told to be about the same."""
_ALIKE = 0.6
"""The share of its words that another statement must have to be laid beside it."""

_COPIES, _LINES, _SHORT = 0.75, 60, 20
"""The share of lines that versions of one text have in common, how many are looked at, evenly
spread, and the characters that a line has at least."""


class Conflict(NamedTuple):
    """A statement of another document beside a source that it is a copy of.

    Args:
        source: The citation.
        other: Where the other document says otherwise; its number is 0.
        differs: What they differ in, a sentence each.
    """

    source: Citation
    other: Citation
    differs: list[str]


def with_conflicts(draft: Draft, passages: Sequence[Passage], view: View) -> Draft:
    """Return the draft with what copies of its documents say otherwise, each under its name.

    They are looked for in the passages and by their words. Their sources are numbered after all
    markers of the draft. Nothing is looked up where there is one document alone.
    """
    if draft["abstained"] or len(view.titles) < 2:
        return draft
    answer, told, citations = draft["answer"], [*draft["told"]], [*draft["citations"]]
    number = max(numbers_in(answer), default=0)
    known: list[str] = []
    found = [*(passage["id"] for passage in passages), *draft["quoted"]]
    for conflict in conflicts(citations[:_QUOTES], found, view):
        place = next((c["n"] for c in citations if _holds(c, conflict.other)), 0)
        if not place:
            place = number = number + 1
            citations.append({**conflict.other, "n": place})
        name, quote = (" ".join(conflict.other[of].split()) for of in ("document", "quote"))
        told.append(f"{unmarked(name)} says otherwise: {unmarked(quote)} [{place}]")
        answer = f"{answer}\n{told[-1]}"
        between = f"{conflict.source['document']} and {name}"
        known.append(f"The documents disagree, {between}: {'; '.join(conflict.differs)}.")
    return {**draft, "answer": answer, "told": told, "citations": citations, "conflicts": known}


def conflicts(
    citations: Sequence[Citation], found: Sequence[str], view: View
) -> Iterator[Conflict]:
    """Yield each document's statement that copies a source and contradicts it, once.

    ``found`` are the ids of chunks that are looked at in any case.
    """
    known: list[Citation] = []
    for citation in citations:
        if any(_holds(citation, other) for other in known):
            continue  # it was laid beside an earlier one
        heed_deadline("while other documents were compared")
        for said in _quoted(citation, found, view):
            for other, differs in _otherwise(said.text, citation, found, view):
                if not any(_holds(one, other) for one in known):
                    known.append(other)
                    yield Conflict(citation, other, differs)


def _quoted(citation: Citation, found: Sequence[str], view: View) -> Iterator[Statement]:
    """Yield the statements of a quote that are long enough to be told from others."""
    for chunk in view.chunks(found):
        if chunk["document"] != citation["document"] or chunk["end"] <= citation["start"]:
            continue
        for said in view.statements(chunk["id"])[0]:
            inside = citation["start"] <= said.start and said.end <= citation["end"]
            if inside and len(read_words(said.text)) >= _FEWEST:
                yield said


def _otherwise(
    said: str, source: Citation, found: Sequence[str], view: View
) -> Iterator[tuple[Citation, list[str]]]:
    """Yield the statement of each other document that is nearest to one, if they contradict."""
    words = set(said.lower().split())
    nearest: dict[str, tuple[float, Statement]] = {}
    [hits] = view.search_lexical([said], _HITS)
    ids = dict.fromkeys([*found, *(hit.chunk_id for hit in hits)])
    for chunk in view.chunks([*ids]):
        document = chunk["document"]
        if document == source["document"] or not _are_copies(view, source["document"], document):
            continue
        for statement in view.statements(chunk["id"])[0]:
            its = set(statement.text.lower().split())
            alike = len(words & its) / max(1, len(words), len(its))
            if alike >= max(_ALIKE, nearest.get(document, (0.0, None))[0]):
                nearest[document] = alike, statement
    for document, (_, statement) in nearest.items():
        if differs := contradictions(said, statement.text):
            yield view.cited(document, statement.start, statement.end, statement.label), differs


def _are_copies(view: View, one: str, other: str) -> bool:
    """Tell whether two documents are versions of one text, and not two contracts of one form."""
    texts = view.text_of(one) or "", view.text_of(other) or ""
    return _shared(*texts) >= _COPIES


@lru_cache(maxsize=64)
def _shared(one: str, other: str) -> float:
    """Return the share of some lines of the shorter text that the longer one has."""
    short, long = sorted((one, other), key=len)
    lines = [line for line in short.split("\n") if len(line) > _SHORT]
    some = lines[:: -(-len(lines) // _LINES) or 1]
    return sum(line in long for line in some) / max(1, len(some))


def _holds(citation: Citation, other: Citation) -> bool:
    return (
        citation["document"] == other["document"]
        and citation["start"] <= other["start"]
        and other["end"] <= citation["end"]
    )
