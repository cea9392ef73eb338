"""hybrid_retrieve: lexical and vector search over every query, fused into candidates."""

from collections.abc import Sequence
from itertools import islice
from math import ceil

from langgraph.runtime import Runtime

from lexloop.core.metadata import host_score
from lexloop.core.running import computing
from lexloop.core.settings_groups import Linear
from lexloop.core.state import State, Update, advice_of
from lexloop.core.types import (
    DEFINING,
    FOLLOWED,
    MOST_POINTED,
    POINTED,
    Chunk,
    ParsedQuestion,
    Passage,
    Pointed,
    PointedUnit,
    Scored,
)
from lexloop.nodes.context import Context
from lexloop.nodes.fusion import Scores, SearchResults, fuse, searched
from lexloop.nodes.question.lookups import parties_asked, rows_asked
from lexloop.nodes.question.provisions import other_sections, point, unit_at
from lexloop.store.view import View

_DEPTH = 4
"""Hits of each signal that are fused for every candidate that goes on."""
_SUPPORT = 1 / 6
"""Recitals, notes and the like that go on for every operative candidate: ranked in one list
with them they crowd out the provisions that they explain."""
_BROADER = 2
"""The factor by which a retry that broadens raises the number of candidates."""


@computing
def hybrid_retrieve(state: State, runtime: Runtime[Context]) -> Update:
    """Write the fused candidates, or none if nothing is retrieved.

    What the question points to by its number comes first, in the order of the text.
    """
    view, settings = runtime.context.view, runtime.context.settings
    if view is None:
        return {"candidates": []}
    parsed = state["parsed"]
    view = view.within(parsed["documents"])
    limit = max(settings.retrieval.candidates, state["plan"]["k"])
    advice = advice_of(state)
    strategy = advice["strategy"] if advice else None
    if strategy == "broaden":
        limit *= _BROADER
    queries = list(dict.fromkeys([parsed["inside"], *parsed["queries"]]))
    found = searched(view, queries, settings.fusion, limit * _DEPTH)
    hosts: Scores = {}
    if isinstance(settings.fusion, Linear) and settings.fusion.host_boost:
        scores = settings.retrieval.host_scores
        metadata = view.metadata(set(found.documents.values()))
        hosts = {name: host_score(of, scores) for name, of in metadata.items()}
    pointed = _pointed(parsed, view)
    best = _best(found, fuse(found, settings.fusion, hosts), hosts, limit)
    terms = [part["term"] for part in parsed["parts"] if part["term"]]
    if strategy == "whole":
        best = _followed(provisions_around(state["passages"], view), best)
    best = _first(view.defining(terms), DEFINING, best)
    best = _first(_chunks_of(pointed, best, view), POINTED, best)
    if not any(pointed.values()):
        return {"candidates": best}
    return {"candidates": best, "parsed": {**parsed, "pointed": pointed}}


def _pointed(parsed: ParsedQuestion, view: View) -> Pointed:
    """Return what a question asks for by name or number: parties, rows of tables, provisions."""
    told = parties_asked(parsed, view) or rows_asked(parsed, view)
    pointed = told or point(parsed["pointing"], view)
    if pointed["units"] or pointed["told"]:
        return pointed
    others, names = other_sections(parsed["text"], view)
    return {**pointed, "others": others, "names": names} if others else pointed


def _best(found: SearchResults, fused: Scores, hosts: Scores, limit: int) -> list[Scored]:
    """Return the ``limit`` best operative chunks, then the best of those that support them.

    Of equal ones the first by id.
    """
    # two sorts that call no Python function are the quickest; the second keeps the order of ids
    order = sorted(sorted(fused), key=fused.__getitem__, reverse=True)
    apart = [name for name in order if name in found.supporting][: ceil(limit * _SUPPORT)]
    order = [name for name in order if name not in found.supporting][:limit] + apart
    candidates: list[Scored] = []
    for name in order:
        signals, document = found.signals(name), found.documents[name]
        if document in hosts:
            signals["host"] = hosts[document]
        candidates.append({"id": name, "score": fused[name], "signals": signals})
    return candidates


def _chunks_of(pointed: Pointed, found: list[Scored], view: View) -> list[str]:
    """Return the ids of the chunks of what the question points to.

    Of a whole chapter, what the search finds in it says more than its beginning.
    """
    if len(pointed["chunks"]) < MOST_POINTED or pointed["only"]:
        return pointed["chunks"]
    chunks = view.candidates(found)
    inside = [c["id"] for c in chunks if any(_overlaps(c, unit) for unit in pointed["units"])]
    return inside[:MOST_POINTED] or pointed["chunks"]


def _first(chunk_ids: list[str], signal: str, found: list[Scored]) -> list[Scored]:
    """Put the candidates that the question itself leads to before the others."""
    top = max((candidate["score"] for candidate in found), default=1.0)
    known = {candidate["id"]: candidate["signals"] for candidate in found}
    first: list[Scored] = [
        {"id": name, "score": top, "signals": {**known.get(name, {}), signal: 1.0}}
        for name in chunk_ids
    ]
    return [*first, *(c for c in found if c["id"] not in set(chunk_ids))]


def _followed(chunk_ids: list[str], found: list[Scored]) -> list[Scored]:
    """Put the candidates that the passages before lead to behind the others; mark all of these."""
    wanted, known = set(chunk_ids), {candidate["id"] for candidate in found}
    last = min((candidate["score"] for candidate in found), default=0.0)
    behind: list[Scored] = [
        {"id": name, "score": last, "signals": {}} for name in chunk_ids if name not in known
    ]
    return [
        {**one, "signals": {**one["signals"], FOLLOWED: 1.0}} if one["id"] in wanted else one
        for one in (*found, *behind)
    ]


def _overlaps(chunk: Chunk, unit: PointedUnit) -> bool:
    beside = chunk["end"] <= unit["start"] or unit["end"] <= chunk["start"]
    return chunk["document"] == unit["document"] and not beside


def provisions_around(passages: Sequence[Passage], view: View) -> list[str]:
    """Return the ids of the chunks of the provisions around passages, those of the best first."""
    units = (unit for passage in passages if (unit := _provision(passage, view)))
    found = dict.fromkeys(name for unit in units for name in view.chunks_over(unit))
    return list(islice(found, MOST_POINTED))


def _provision(passage: Passage, view: View) -> PointedUnit | None:
    document = passage["document"]
    tree = view.tree_of(document)
    place = tree.at(passage["start"]) if tree else -1
    if tree is None or place < 0:
        return None
    for above in (place, *tree.above(place)):
        if tree.units[above].kind == "provision":
            return unit_at(document, tree, above)
    return None
