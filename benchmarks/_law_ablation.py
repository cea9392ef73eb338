"""Which cut and which signal finds the provision that answers, by kind of question.

Every way of cutting a law, the default's also without the words that place a chunk, is searched by
BM25, by vectors, by both fused by reciprocal ranks, by late interaction over what both found, and
by the sum of these three, once over all chunks and once with what is
not operative, recitals above all, ranked apart. A chunk hits when half of it lies in the provision,
or half of the provision in it; ``hit@k`` is the share of the questions with a hit among the best k.
Nothing else of the state machine takes part.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from _law_asking import chosen

from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.core.types import Chunk
from lexloop.documents.document import Document
from lexloop.documents.structure.tree import Tree
from lexloop.models.minilm import load_minilm
from lexloop.nodes.hybrid_retrieve import standardised
from lexloop.store.opening import open_corpus, tools_for
from lexloop.store.view import View
from lexloop.store.writer import build_collection

Span = tuple[int, int]

_WAYS = (("provisions", True), ("provisions", False), ("sentence", True), ("semantic", True))
"""The chunker, and whether the headings and the lead-in of a chunk are searched with it."""
_TOPS = (1, 3, 10, 20)
_DEPTH, _SMOOTHING = 100, 60


def ablated(folder: Path, kinds: str | None, limit: int | None) -> dict[str, dict[str, float]]:
    """Hits by cut, signal and whether recitals are apart; printed as they come.

    Args:
        folder: Holds one text, ``structure.json`` and ``probes.jsonl``.
        kinds: Of the probes, with commas; None for all that can be answered at once.
        limit: How many of each kind.
    """
    (text,) = folder.glob("*.txt")
    spans = spans_of(json.loads((folder / "structure.json").read_text(encoding="utf-8")))
    asked = [
        (probe["kind"], probe["question"], gold)
        for probe in chosen(folder / "probes.jsonl", kinds, limit)
        if not probe["history"] and (gold := gold_of(probe, spans))
    ]
    report: dict[str, dict[str, float]] = {}
    print(f"{len(asked)} questions; hit@{', @'.join(map(str, _TOPS))} by kind")
    for cut, placed in _WAYS:
        view = _view(text, cut, placed)
        name = cut if placed else f"{cut} without headings"
        found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for kind, question, gold in asked:
            for way, chunks in _rankings(question, view):
                first = first_hit(chunks, gold)
                for top in _TOPS:
                    found[f"{name}, {way}"][f"{kind}@{top}"].append(float(first < top))
        for way, figures in found.items():
            report[way] = {name: round(fmean(hits), 3) for name, hits in figures.items()}
            print(way, json.dumps(report[way]), flush=True)
    return report


def spans_of(structure: Iterable[Mapping[str, Any]]) -> dict[tuple[str, ...], Span]:
    """The span of each provision: by article, paragraph and point, or by its label alone."""
    spans: dict[tuple[str, ...], Span] = {}
    for unit in structure:
        if "label" in unit:
            spans[unit["label"],] = unit["start"], unit["end"]
            continue
        spans[unit["article"],] = unit["start"], unit["end"]
        for paragraph in unit["paragraphs"]:
            name = unit["article"], paragraph["n"]
            spans[name] = paragraph["start"], paragraph["end"]
            spans |= {(*name, p["p"]): (p["start"], p["end"]) for p in paragraph["points"]}
    return spans


def gold_of(probe: Mapping[str, Any], spans: Mapping[tuple[str, ...], Span]) -> list[Span]:
    """Where the answer stands; nothing where the law does not give it."""
    if "gold" in probe:
        return [spans[label,] for label in probe["gold"]]
    if not probe["article"]:
        return []
    name = (probe["article"], probe["paragraph"], probe.get("point", ""))
    while not name[-1]:  # an article alone, or a paragraph of it
        name = name[:-1]
    return [spans[name], *(spans[*also,] for also in probe.get("also", []))]


def first_hit(chunks: Iterable[Chunk], gold: Iterable[Span]) -> int:
    """The place, from 0, of the first chunk that lies in a span or holds it; else a million."""
    spans = list(gold)
    for place, chunk in enumerate(chunks):
        for start, end in spans:
            shared = min(end, chunk["end"]) - max(start, chunk["start"])
            if 2 * shared >= min(end - start, chunk["end"] - chunk["start"]):
                return place
    return 1_000_000


def _view(text: Path, cut: str, placed: bool) -> View:
    settings = Settings.model_validate({"chunker": cut, "knowledge_graph": "none"})
    tools = tools_for(settings, load_minilm())
    if placed:
        return open_corpus(str(text), tools)[0].seen_by(Filters.of(settings))

    def bare(document: Document) -> list[Chunk]:
        return [{**chunk, "context": "", "section": ""} for chunk in tools.chunk(document)]

    document = Document(text.name, text.stem, text.read_text(encoding="utf-8"))
    made = build_collection([document], replace(tools, chunk=bare))
    return made.seen_by(Filters.of(settings))


def _rankings(question: str, view: View) -> Iterable[tuple[str, list[Chunk]]]:
    """By signal the best chunks, then the same without what is not operative."""
    (lexical,), (dense,) = (
        search([question], _DEPTH) for search in (view.search_lexical, view.search_vector)
    )
    ranked = [[hit.chunk_id for hit in hits] for hits in (lexical, dense)]
    named = {"bm25": ranked[0], "vectors": ranked[1], "rrf": fused(ranked)}
    scores = [{hit.chunk_id: hit.score for hit in hits} for hits in (lexical, dense)]
    ids = [*dict.fromkeys([*scores[1], *scores[0]])]
    if (close := view.closeness(question, ids)) is not None:
        late = dict(zip(ids, close.mean(axis=0).tolist(), strict=True))
        for name, sums in (("tokens", late), ("standardised", standardised(*scores, late))):
            named[name] = sorted(sums, key=lambda chunk_id: -sums[chunk_id])
    for signal, ids in named.items():
        chunks = view.chunks(ids)
        yield signal, chunks
        yield f"{signal}, recitals apart", [chunk for chunk in chunks if _operative(chunk, view)]


def fused(rankings: Iterable[list[str]]) -> list[str]:
    """Several rankings as one by the sum of their reciprocal ranks, the first rank being 1."""
    scores: dict[str, float] = defaultdict(float)
    for ranking in rankings:
        for rank, name in enumerate(ranking, 1):
            scores[name] += 1 / (_SMOOTHING + rank)
    return sorted(scores, key=lambda name: -scores[name])


def _operative(chunk: Chunk, view: View) -> bool:
    tree = view.tree_of(chunk["document"])
    assert tree is not None
    return is_operative(tree, chunk["start"], chunk["end"])


def is_operative(tree: Tree, start: int, end: int) -> bool:
    """Whether at least half of a span says what holds, whatever units it reaches over."""
    idle, reached = 0, start
    for place in range(max(0, tree.at(start)), len(tree)):
        unit = tree.units[place]
        if unit.start >= end:
            break
        if not tree.operative(place) and unit.end > reached:
            idle += min(unit.end, end) - max(unit.start, reached)
            reached = unit.end
    return 2 * idle <= end - start
