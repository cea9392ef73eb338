"""What changes a provision that an answer quotes: another document amends, repeals or replaces it.

The relation is the knowledge graph's ``amends``. Which document it means, its words, its title and
its opening tell: all words of that document's title stand in them, or it is the only one that is
called so, as "the Lease".
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from lexloop.core.types import Citation, Draft, Triplet
from lexloop.documents.structure.references import find_references
from lexloop.documents.structure.tree import Tree
from lexloop.documents.text.tokens import term_set
from lexloop.nodes.markers import numbers_in, unmarked
from lexloop.store.view import View

CHANGED = "Changed by:"
"""The line before what changes the statement above it."""
_MOST, _SHOWN = 2_000, 3
"""The most relations that are looked through, and the most changes of one quote that are shown."""
_BEFORE, _OPENING, _LONGEST = 400, 600, 1_200
"""The characters before a change that may say of what it is, those of an opening, and the longest
change that is quoted."""
_QUOTED = re.compile(r"[\"“„«](?P<said>[^\"“”„«»]{2,300})[\"”“»]")
_BROUGHT = re.compile(r"\s*+[\"“„«][^\"”“»]{1,1000}[\"”“»]")


class Change(NamedTuple):
    """A provision of a document that another one changes.

    Args:
        document: The document that is changed.
        start: Where the provision begins; 0 where all of it is changed.
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

    A change that exchanges words changes the sentences that have them, where any of them does.
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
            " ".join(m["said"].split()).lower() for m in _QUOTED.finditer(by["quote"])
        )
        for start, end in spans if references else [(0, len(text))]:
            own = " ".join(text[start:end].split()).lower()
            held = frozenset(one for one in words if one in own)
            if document:
                yield Change(document, start, end, held, by)


def _meant(triplet: Triplet, view: View) -> str:
    """Return the document that a relation changes; empty where that is not sure."""
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
    """Return the citation of a change, with the text that it brings where that stands behind it."""
    document, start, end = triplet["document"], triplet["start"], triplet["end"]
    text, tree = view.text_of(document) or "", view.tree_of(document) or Tree()
    if text[start:end].rstrip().endswith((":", "—", "–")):
        place = tree.at(start)
        end = max(end, tree.units[place].end if place >= 0 else end)
        if brought := _BROUGHT.match(text, triplet["end"]):
            end = max(end, brought.end())
        end = min(end, start + _LONGEST)
    return view.cited(document, start, start + len(text[start:end].rstrip()), triplet["section"])


def _holds(citation: Citation, other: Citation) -> bool:
    return (
        citation["document"] == other["document"]
        and citation["start"] <= other["start"]
        and other["end"] <= citation["end"]
    )
