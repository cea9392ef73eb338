"""Hit rate, MRR and nDCG of an embedder at several depths: counted, as a table and as a plot."""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lexloop.models.embedding import Vectors, blocks
from lexloop_eval.report.drawing import drawn
from lexloop_eval.report.tables import markdown_table
from lexloop_train.pairs import TrainingPair

DEPTHS = (1, 3, 5, 10, 15)
TITLE = "Kept pairs among all their texts, before and after training"
_MOST_QUESTIONS = 400
_ROWS_AT_ONCE = 1 << 16
_MEASURES = {"hit": "hit rate", "MRR": "MRR", "nDCG": "nDCG"}
_SIGNALS = {"cosine": "#d1603d", "late": "#2f6690"}
_STYLES = {"before": ":", "after": "-"}
Vectorise = Callable[[Sequence[str], bool], tuple[Vectors, list[Vectors] | None]]
"""From texts, and whether they are questions, to sentence vectors and each text's token vectors."""


def retrieval_figures(pairs: Sequence[TrainingPair], vectorise: Vectorise) -> dict[str, float]:
    """Search for the texts of pairs by their questions, and return how well they are found.

    Returns:
        In [0, 1], by names such as ``late, all hit@5``; see ``figures_of``.
    """
    return figures_of(places_of(pairs, vectorise))


def figures_of(places: Mapping[str, Sequence[int]]) -> dict[str, float]:
    """Return hit rate, MRR and nDCG at each of ``DEPTHS``."""
    values: dict[str, float] = {}
    for name, ranks in places.items():
        place = np.array(ranks)
        for depth in DEPTHS:
            inside = place < depth
            values[f"{name} hit@{depth}"] = inside.mean()
            values[f"{name} MRR@{depth}"] = (inside / (place + 1)).mean()
            # with one right text nDCG is 1 / log2(place + 2)
            values[f"{name} nDCG@{depth}"] = (inside / np.log2(place + 2)).mean()
    return {name: round(float(value), 4) for name, value in values.items()}


def places_of(pairs: Sequence[TrainingPair], vectorise: Vectorise) -> dict[str, list[int]]:
    """Return the ranks, from 0, of the first right text of each question.

    Of very many pairs, only some are asked, evenly spread.

    Returns:
        By signal and scope: ``late, document`` for MaxSim among the texts of the same document,
        if there are token vectors, ``cosine, all`` for the cosine among all texts.
    """
    owners = {_whole(pair): pair.document for pair in pairs}
    texts = list(owners)
    right: dict[str, set[str]] = {}
    for pair in pairs:
        right.setdefault(pair.question, set()).add(_whole(pair))
    sampled = pairs[:: -(-len(pairs) // _MOST_QUESTIONS)]
    sentences, tokens = vectorise(texts, False)
    questions, words = vectorise([pair.question for pair in sampled], True)
    documents = np.array(list(owners.values()))
    places: dict[str, list[int]] = {}
    close = maxsim(tokens, words) if tokens and words else None
    for place, (pair, question) in enumerate(zip(sampled, questions, strict=True)):
        signals = {"cosine": sentences @ question}
        if close is not None:
            signals["late"] = close[place]
        is_right = np.array([text in right[pair.question] for text in texts])
        beside = documents != pair.document
        for name, scores in signals.items():
            places.setdefault(f"{name}, all", []).append(first_place(scores, is_right))
            inside = np.where(beside, -np.inf, scores)
            places.setdefault(f"{name}, document", []).append(first_place(inside, is_right))
    return places


def maxsim(texts: Sequence[Vectors], questions: Sequence[Vectors]) -> Vectors:
    """Return the MaxSim of every question with every text, shape (questions, texts).

    It is the mean over the question's tokens of the best cosine in the text; a question without
    tokens is near nothing.

    Args:
        texts: Of each its tokens' unit vectors; one of no tokens is as far from all as can be.
        questions: The same of questions.
    """
    scores = np.zeros((len(questions), len(texts)), dtype=np.float32)
    for block in blocks(map(len, texts), len(texts), _ROWS_AT_ONCE):
        some = (texts[i] for i in block)
        filled = [text if len(text) else np.zeros((1, text.shape[1]), np.float32) for text in some]
        ends, rows = np.cumsum([0, *map(len, filled)])[:-1], np.concatenate(filled).T
        for place, own in enumerate(questions):
            if len(own):
                best = np.maximum.reduceat(own @ rows, ends, axis=1)
                scores[place, block.start : block.stop] = best.mean(axis=0)
    return scores


def told_apart(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    """Return figures of before and after a training under one name each."""
    return {
        f"{when}: {name}": value
        for when, figures in (("before", before), ("after", after))
        for name, value in figures.items()
    }


def _whole(pair: TrainingPair) -> str:
    return f"{pair.heading}\n{pair.text}" if pair.heading else pair.text


def first_place(scores: Vectors, wanted: NDArray[np.bool_]) -> int:
    """Return the rank, from 0, of the best right text: the number of others not below it.

    If all texts are equal, or no score is a number, nothing is found.
    """
    return int((~(scores < scores[wanted].max()) & ~wanted).sum())


def figures_listed(figures: Mapping[str, float]) -> list[str]:
    """Return the lines of a Markdown table: a row for each measure, a column for each depth K."""
    rows: list[list[str]] = []
    for scope, signal in product(("document", "all"), _signals_of(figures)):
        for measure, name in _MEASURES.items():
            names = [f"{signal}, {scope} {measure}@{k}" for k in DEPTHS]
            cells = (
                f"{figures[f'before: {name}']:.3f} -> {figures[f'after: {name}']:.3f}"
                for name in names
            )
            rows.append([f"{signal}, {scope}: {name}", *cells])
    return markdown_table(["before -> after, K =", *map(str, DEPTHS)], rows)


def _signals_of(figures: Mapping[str, float]) -> list[str]:
    """The signals that there are figures of."""
    return [signal for signal in _SIGNALS if f"after: {signal}, all MRR@{DEPTHS[0]}" in figures]


def figures_drawn(figures: Mapping[str, float]) -> str:
    """Return hit rate, MRR and nDCG by the depth K as a standalone SVG picture.

    Args:
        figures: Values in [0, 1], with the names of ``train_embedder``.
    """

    def draw(figure: Any) -> None:
        places = range(len(DEPTHS))
        grid = figure.subplots(1, len(_MEASURES), sharey=True)
        for axes, (measure, name) in zip(grid, _MEASURES.items(), strict=True):
            for signal in _signals_of(figures):
                colour = _SIGNALS[signal]
                for when, style in _STYLES.items():
                    values = [figures[f"{when}: {signal}, all {measure}@{k}"] for k in DEPTHS]
                    label = f"{signal}, {when}" if axes is grid[0] else None
                    axes.plot(places, values, style, marker=".", color=colour, label=label)
            axes.set_xticks(places, [f"{depth}" for depth in DEPTHS])
            axes.set_xlabel("K")
            axes.set_title(name)
        figure.suptitle(TITLE, fontsize=10, fontweight="bold", x=0.01, ha="left")
        figure.legend(loc="outside lower center", ncols=4, frameon=False)

    return drawn(draw, 9.0, 3.4, TITLE) + "\n"
