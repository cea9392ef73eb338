"""How well vectors find what answers a question: hit rate, MRR and nDCG at several depths."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from lexloop.finetune.pairs import Pair
from lexloop.models.embedding import Vectors

DEPTHS = (1, 3, 5, 10, 15)
MOST_QUESTIONS = 400
Vectorise = Callable[[Sequence[str], int], tuple[Vectors, list[Vectors]]]
"""From texts and the most tokens of one to sentence vectors and each text's token vectors."""


@dataclass(frozen=True)
class Hits:
    """The places, from 0, at which the first right text of each question stands.

    Args:
        places: By signal and scope: ``late, document`` for MaxSim among the texts of the same
            document, ``cosine, all`` for the cosine among all texts.
    """

    places: Mapping[str, Sequence[int]]

    def figures(self) -> dict[str, float]:
        """``late, all hit@5`` and the like; with one right text nDCG is 1 / log2(place + 2)."""
        found: dict[str, float] = {}
        for name, places in self.places.items():
            for depth in DEPTHS:
                inside = [place if place < depth else None for place in places]
                found[f"{name} hit@{depth}"] = fmean(p is not None for p in inside)
                found[f"{name} MRR@{depth}"] = fmean(
                    0 if p is None else 1 / (p + 1) for p in inside
                )
                found[f"{name} nDCG@{depth}"] = fmean(
                    0 if p is None else float(1 / np.log2(p + 2)) for p in inside
                )
        return {name: round(value, 4) for name, value in found.items()}


def hits(pairs: Sequence[Pair], vectorise: Vectorise) -> Hits:
    """Search for the texts of pairs by their questions.

    Args:
        pairs: What is kept from training; of very many questions some, evenly spread, are asked.
        vectorise: The model to be measured.
    """
    texts = list(dict.fromkeys(_whole(pair) for pair in pairs))
    owners = {_whole(pair): pair.document for pair in pairs}
    right: dict[str, set[str]] = {}
    for pair in pairs:
        right.setdefault(pair.question, set()).add(_whole(pair))
    asked = pairs[:: -(-len(pairs) // MOST_QUESTIONS)]
    sentences, tokens = vectorise(texts, 256)
    # a text of no words is as far from everything as can be
    tokens = [
        rows if len(rows) else np.zeros((1, rows.shape[1]), dtype=np.float32) for rows in tokens
    ]
    questions, words = vectorise([pair.question for pair in asked], 64)
    ends = np.cumsum([0, *map(len, tokens)])[:-1]
    rows = np.concatenate(tokens)
    documents = np.array([owners[text] for text in texts])
    places: dict[str, list[int]] = {}
    for pair, question, own in zip(asked, questions, words, strict=True):
        signals = {
            "cosine": sentences @ question,
            "late": np.maximum.reduceat(own @ rows.T, ends, axis=1).mean(axis=0),
        }
        wanted = np.array([text in right[pair.question] for text in texts])
        beside = documents != pair.document
        for name, scores in signals.items():
            places.setdefault(f"{name}, all", []).append(_first(scores, wanted))
            inside = np.where(beside, -np.inf, scores)
            places.setdefault(f"{name}, document", []).append(_first(inside, wanted))
    return Hits(places)


def _whole(pair: Pair) -> str:
    return f"{pair.heading}\n{pair.text}" if pair.heading else pair.text


def _first(scores: Vectors, wanted: NDArray[np.bool_]) -> int:
    """How many others come before the best of those wanted, or do not come after it.

    A model for which all texts are alike, or none has a number, finds nothing.
    """
    return int((~(scores < scores[wanted].max()) & ~wanted).sum())
