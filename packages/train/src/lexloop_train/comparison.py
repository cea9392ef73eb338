"""Compare embedders by how well questions find their texts (LQ-RAG, tables 6 and 7, figure 4)."""

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexloop.core.errors import InputError
from lexloop.core.folding import folded
from lexloop.core.settings import Settings
from lexloop.core.types import Chunk
from lexloop.documents.chunks.chunkers import chunker_for
from lexloop.documents.reading.folder import load_documents
from lexloop.documents.reading.workers import Progress
from lexloop.models.embedding import Embedder, TokenEmbedder, Vectors, unit_rows
from lexloop.models.minilm import load_shipped
from lexloop.store.opening import tools_for
from lexloop.store.preparing import windows_of
from lexloop.store.protocol import MARK, PreparedChunk
from lexloop_eval.case import Case, read_cases
from lexloop_eval.evidence import EvidenceIndex
from lexloop_eval.report.tables import (
    Figure,
    cell,
    escaped,
    figure,
    markdown_table,
    number,
    rounded,
)
from lexloop_eval.score import Score, Unresolved
from lexloop_eval.statistics import paired_randomisation
from lexloop_train.pairs import TrainingPair, read_pairs
from lexloop_train.retrieval_figures import first_place, maxsim

MEASURES = {"hit": "Hit rate", "mrr": "MRR"}
_AT_ONCE = 256


@dataclass(frozen=True)
class SearchSet:
    """Questions, the texts they search, and which of these are right.

    Args:
        texts: All texts to search.
        right: For each question, indices in ``texts``.
        left_out: The number of questions without a known right text.
    """

    name: str
    texts: Sequence[Chunk]
    questions: Sequence[str]
    right: Sequence[frozenset[int]]
    left_out: int = 0


def read_sets(paths: Sequence[Path], corpus: Path | None, settings: Settings) -> list[SearchSet]:
    """Return the sets of files of pairs and of gold questions, each with a unique name.

    Args:
        paths: Files that ``lexloop finetune pairs`` or ``lexloop testset`` wrote.
        corpus: The documents of gold questions. None for the folder of the file.
        settings: The settings for cutting documents.

    Raises:
        InputError: A file is neither, or none of its questions has evidence in the documents.
    """
    names = _names(paths)
    return [
        _of_pairs(name, read_pairs(path))
        if _is_pairs(path)
        else _of_gold(name, path, corpus or path.parent, settings)
        for name, path in zip(names, paths, strict=True)
    ]


def _names(paths: Sequence[Path]) -> list[str]:
    """Return files' names without their common suffix and the folders above all of them."""
    names = [path.name.removesuffix(".jsonl") for path in paths]
    if len(set(names)) == len(names):
        return names
    absolute = [path.absolute() for path in paths]
    if repeated := [path for path, count in Counter(absolute).items() if count > 1]:
        raise InputError(f"{repeated[0]} is given twice.", "Name each file once.")
    above = os.path.commonpath(absolute)
    return [path.relative_to(above).as_posix().removesuffix(".jsonl") for path in absolute]


def _is_pairs(path: Path) -> bool:
    """Return whether the first line has the text of a pair. Read errors are reported later."""
    try:
        with path.open(encoding="utf-8") as file:
            first = next((line for line in file if line.strip()), "")
        return "text" in json.loads(first)
    except (OSError, ValueError, TypeError):
        return False


def _of_pairs(name: str, pairs: Sequence[TrainingPair]) -> SearchSet:
    """A question searches the texts of all pairs; each that answers it in some pair is right."""
    places: dict[tuple[str, str], int] = {}
    right: dict[str, set[int]] = {}
    for pair in pairs:
        place = places.setdefault((pair.heading, pair.text), len(places))
        right.setdefault(pair.question, set()).add(place)
    texts = [
        Chunk(
            id=str(place),
            document="",
            title="",
            section="",
            page=None,
            start=0,
            end=len(text),
            text=text,
            context=heading,
        )
        for (heading, text), place in places.items()
    ]
    return SearchSet(name, texts, [*right], [frozenset(indices) for indices in right.values()])


def _of_gold(name: str, path: Path, corpus: Path, settings: Settings) -> SearchSet:
    """Return a set in which questions search all chunks, and those with evidence are right."""
    cases = [case for case in read_cases(path) if not case.out_of_scope]
    if not any(case.evidence or case.reference_context or case.documents for case in cases):
        raise InputError(
            f"{path} names no evidence, so nothing is known to be right.",
            "Give gold questions with evidence, reference_context or documents, or pairs.",
        )
    documents, _ = load_documents(corpus)
    cut = chunker_for(settings.chunking, load_shipped())
    chunks = [chunk for document in documents for chunk in cut(document)]
    index, places = EvidenceIndex(chunks), {chunk["id"]: i for i, chunk in enumerate(chunks)}
    with_evidence: list[tuple[Case, frozenset[int]]] = []
    for case in cases:
        graded = index.relevant(case).chunks
        if not isinstance(graded, Unresolved):
            with_evidence.append((case, frozenset(places[chunk_id] for chunk_id in graded)))
    if not with_evidence:
        raise InputError(
            f"No evidence of {path} is in the documents of {corpus}.",
            "Name the folder of its documents with --corpus.",
        )
    questions = [case.whole_question for case, _ in with_evidence]
    return SearchSet(
        name,
        chunks,
        questions,
        [right for _, right in with_evidence],
        len(cases) - len(with_evidence),
    )


def places_of(
    embedder: Embedder, search_set: SearchSet, settings: Settings, report: Progress
) -> dict[str, list[int]]:
    """Return the place, from 0, of each question's first right text, by signal.

    A text longer than the embedder's window counts as much as its best part.

    Args:
        embedder: The embedder to measure.
        search_set: The set to search.
        settings: The settings for preparing texts, as for an index.
        report: Called with the number of embedded texts.

    Returns:
        ``cosine``, and ``late`` for an embedder with token vectors.

    Raises:
        LexloopError: The embedder failed.
    """
    tools = tools_for(settings, embedder)
    empty = np.zeros((0, embedder.dimension), np.float16), np.zeros((0, 2), MARK)
    windows = [
        windows_of(PreparedChunk(text, [], [], *empty, []), tools) for text in search_set.texts
    ]
    texts, prepared = (
        [window.text for parts in windows for window in parts],
        [folded(question) for question in search_set.questions],
    )
    first = np.cumsum([0, *map(len, windows)])[:-1]

    def progress(done: int, every: int) -> None:
        report(f"embedding {search_set.name}", done, every)

    scores: dict[str, Vectors] = {}
    if isinstance(embedder, TokenEmbedder):
        coded = embedder.encode_tokens(texts, [()] * len(texts), progress)
        vectors, tokens = coded.vectors, [unit_rows(codes) for codes in coded.codes]
        words = [unit_rows(embedder.token_codes(question)) for question in prepared]
        scores["late"] = maxsim(tokens, words)
    else:
        vectors = embedder.encode(texts, progress)
    parts = (prepared[n : n + _AT_ONCE] for n in range(0, len(prepared), _AT_ONCE))
    questions = np.concatenate([embedder.embed(part) for part in parts])
    scores = {"cosine": questions @ vectors.astype(np.float32).T, **scores}
    return {
        signal: [
            first_place(row, _marked(right, len(windows)))
            for row, right in zip(
                np.maximum.reduceat(similarities, first, axis=1), search_set.right, strict=True
            )
        ]
        for signal, similarities in scores.items()
    }


def _marked(places: frozenset[int], count: int) -> NDArray[np.bool_]:
    mask = np.zeros(count, dtype=bool)
    mask[[*places]] = True
    return mask


def scores_at(places: Sequence[int], depth: int) -> dict[str, list[Score]]:
    """Return of each question whether a right text is among the first, and 1 / its rank or 0.

    Source: LQ-RAG, section V-C, equations 5 and 6.
    """
    return {
        "hit": [float(place < depth) for place in places],
        "mrr": [1 / (place + 1) if place < depth else 0.0 for place in places],
    }


Places = Mapping[str, Mapping[str, Sequence[int]]]
"""By embedder, as a table calls it, and by set: the places of its questions."""


def compared(places: Places, depths: Sequence[int]) -> list[dict[str, Any]]:
    """Return hit rate and MRR of each embedder on each set at each depth, as JSON.

    Each is a figure with its bootstrap interval and, except for the first embedder, the p value of
    its difference from the first one (paired randomisation).
    """
    first, *_ = places.values()
    rows: list[dict[str, Any]] = []
    for depth in depths:
        for embedder, by_set in places.items():
            for name, places_of_set in by_set.items():
                row: dict[str, Any] = {"k": depth, "embedder": embedder, "set": name}
                base = scores_at(first[name], depth)
                for measure, scores in scores_at(places_of_set, depth).items():
                    row[measure] = figure(scores)
                    if by_set is not first:
                        p = paired_randomisation(base[measure], scores)
                        row[measure]["p"] = None if isinstance(p, Unresolved) else rounded(p)
                rows.append(row)
    return rows


def tables(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the lines of a Markdown table for each measure, with a column for each set.

    The mean is over the sets, as in LQ-RAG's tables 6 and 7.
    """
    sets = [*dict.fromkeys(row["set"] for row in rows)]
    lines: list[str] = []
    for measure, title in MEASURES.items():
        cells: dict[tuple[int, str], list[Figure]] = {}
        for row in rows:
            cells.setdefault((row["k"], row["embedder"]), []).append(row[measure])
        body = [
            [f"{title} @ {k}", escaped(name), number(_mean(figures)), *map(_shown, figures)]
            for (k, name), figures in cells.items()
        ]
        lines += [*markdown_table(["", "embedder", "mean", *map(escaped, sets)], body), ""]
    return lines[:-1]


def _mean(figures: Sequence[Figure]) -> float:
    return sum(figure["mean"] or 0.0 for figure in figures) / len(figures)


def _shown(figure: Figure) -> str:
    shown = cell(figure)
    return " ".join(filter(None, (shown.text, shown.interval, shown.p)))
