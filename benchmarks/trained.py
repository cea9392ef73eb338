"""How well embedders find what answers, in documents that the shipped one was not trained on.

    python benchmarks/trained.py [--data FOLDER] [--embedders minilm,embedded] [--limit N]

FOLDER, by default ``LEXLOOP_DATA``, holds ``reader``, ``conditionalqa`` and ``policyqa``. Asked are
the questions of the guides of ConditionalQA and the headings of the federal regulations that
``finetune/public_pairs.py`` keeps from training, among all passages of the same document and among
those of all kept documents. ``late`` is MaxSim, ``sum`` standardised MaxSim, plus .6 of the
standardised cosine. Intervals are of 95 %, by resampling documents.
"""

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexloop.core.settings import Connection
from lexloop.finetune.public_pairs import divided
from lexloop.models.embedders import load_embedder
from lexloop.models.embedding import TokenEmbedder, unit_rows

_LONGEST = 1100
_TOPS = (1, 5, 10)


@dataclass(frozen=True)
class Questions:
    """Passages with their documents, and questions with the places of the passages that answer."""

    name: str
    texts: list[str]
    owners: list[str]
    asked: list[tuple[str, set[int], str]]


def main() -> None:
    """Measure each embedder, print a table, and write the figures where asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    data = os.environ.get("LEXLOOP_DATA")
    parser.add_argument("--data", type=Path, default=Path(data) if data else None)
    parser.add_argument("--embedders", default="minilm,embedded")
    parser.add_argument("--limit", type=int, default=300, help="questions of each set")
    parser.add_argument("--json", type=Path, metavar="OUT")
    options = parser.parse_args()
    if options.data is None or not (options.data / "reader").is_dir():
        print(f"Left out: no data in {options.data}; give --data FOLDER or set LEXLOOP_DATA.")
        return
    kept = {pair.document for pair in divided(options.data)[1]}
    report: dict[str, dict[str, list[float]]] = {}
    for name in options.embedders.split(","):
        embedder = load_embedder(name, Connection())
        assert isinstance(embedder, TokenEmbedder)
        for found in (_guides(options.data, kept), _regulations(options.data, kept)):
            for key, hits in _hits(found, embedder, options.limit).items():
                report.setdefault(key, {})[name] = hits
    print("\n".join(_table(report)))
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


def _guides(data: Path, kept: set[str]) -> Questions:
    folder = data / "conditionalqa"
    rows = [r for r in _rows(folder / "train_passages.jsonl") if r["document_id"] in kept]
    places = {row["id"]: place for place, row in enumerate(rows)}
    asked = [
        (r["question"], {places[i] for i in r["relevant_ids"] if i in places}, r["document_id"])
        for r in _rows(folder / "train.jsonl")
        if r["document_id"] in kept and not r["not_answerable"]
    ]
    texts, owners = [r["text"] for r in rows], [r["document_id"] for r in rows]
    return Questions("conditionalqa", texts, owners, [one for one in asked if one[1]])


def _regulations(data: Path, kept: set[str]) -> Questions:
    rows = _rows(data / "reader" / "cfr_questions" / "pairs.jsonl")
    rows = [row for row in rows if row["doc"] in kept]
    asked = [(row["q"], {place}, row["doc"]) for place, row in enumerate(rows)]
    texts, owners = [row["pos"][:_LONGEST] for row in rows], [row["doc"] for row in rows]
    return Questions("cfr_questions", texts, owners, asked)


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _hits(found: Questions, embedder: TokenEmbedder, limit: int) -> dict[str, list[float]]:
    """By set, scope, signal and depth the share of the questions, and the ends of its interval."""
    halves, codes = embedder.encode_tokens(found.texts, lambda *_: None)
    vectors = halves.astype(np.float32)
    ends = np.cumsum([0, *(max(1, len(one)) for one in codes)])[:-1]
    blank = np.zeros((1, codes[0].shape[1]), dtype=np.int8)
    rows = unit_rows(np.concatenate([one if len(one) else blank for one in codes]))
    owners = np.array(found.owners)
    asked = found.asked[:: -(-len(found.asked) // limit)]
    places: dict[str, list[int]] = {}
    for question, gold, document in asked:
        cosine = vectors @ embedder.embed([question])[0]
        words = unit_rows(embedder.token_codes(question))
        late = np.maximum.reduceat(words @ rows.T, ends, axis=1).mean(axis=0)
        both = _standard(late) + 0.6 * _standard(cosine)
        for signal, scores in (("cosine", cosine), ("late", late), ("sum", both)):
            inside = np.where(owners == document, scores, -np.inf)
            for scope, ranked in (("document", inside), ("all", scores)):
                best = max(float(ranked[place]) for place in gold)
                key = f"{found.name}, {scope}, {signal}"
                places.setdefault(key, []).append(int((ranked > best).sum()))
    groups = [document for _, _, document in asked]
    return {
        f"{key} hit@{top}": _interval(np.array(ranks) < top, groups)
        for key, ranks in places.items()
        for top in _TOPS
    }


def _standard(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    made: NDArray[np.float32] = (scores - scores.mean()) / max(1e-9, float(scores.std()))
    return made


def _interval(hits: NDArray[np.bool_], groups: Sequence[str]) -> list[float]:
    names = sorted(set(groups))
    parts = [hits[np.array(groups) == name] for name in names]
    rng = np.random.default_rng(0)
    drawn = [
        np.concatenate([parts[i] for i in rng.integers(len(parts), size=len(parts))]).mean()
        for _ in range(500)
    ]
    low, high = np.quantile(drawn, [0.025, 0.975])
    return [round(float(value), 3) for value in (hits.mean(), low, high)]


def _table(report: dict[str, dict[str, list[float]]]) -> list[str]:
    names = list(next(iter(report.values())))
    lines = [f"| | {' | '.join(names)} |", "|---" * (1 + len(names)) + "|"]
    for key, figures in report.items():
        cells = (f"{f[0]:.3f} [{f[1]:.3f}, {f[2]:.3f}]" for f in figures.values())
        lines.append(f"| {key} | {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    main()
