"""The shipped embedder's training pairs, from sets whose licences let weights be passed on.

    python -m training.public_pairs DATA --out PAIRS.jsonl

DATA has ``reader``, ``conditionalqa`` and ``policyqa``, which ``../shared/data/README.md``
describes. A tenth of the parts of the regulations, a fifth of ConditionalQA's guides and a tenth of
Doc2Dial's pages are left out, by the SHA-256 of their names, for measuring.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from lexloop_train.pairs import TrainingPair, deduplicated, split, write_pairs

LICENCES = {
    "cfr_questions": "public domain",
    "conditionalqa": "BSD-2-Clause",
    "doc2dial": "CC BY 3.0 and Apache-2.0",
    "sharc": "CC BY-SA 3.0",
    "faq": "public domain, CC0 and CC BY 4.0",
    "policyqa": "MIT",
    "squad": "CC BY-SA 4.0",
}
KEPT = {"cfr_questions": 0.1, "conditionalqa": 0.2, "doc2dial": 0.1}
"""The share of the documents of a set that is never trained on."""
_MOST = 700
_OFTEN = 3
_PLAIN = 0.42
_POLICY, _SQUAD = 900, 700
_FAQ = ("va_gov_faq", "ada_gov_faq", "misc_us_gov_faq", "creativecommons_faq")


def main() -> None:
    """Write the file and the kept pairs, and print the number of pairs of each set."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    training, held_out = divided(options.data)
    write_pairs(options.out, training)
    write_pairs(options.out.with_suffix(".kept.jsonl"), held_out)
    for source, count in Counter(pair.source for pair in training).items():
        print(f"{source} ({LICENCES[source]}): {count}")


def divided(data: Path) -> tuple[list[TrainingPair], list[TrainingPair]]:
    """Return the pairs to learn, and those of documents kept for measuring."""
    training: list[TrainingPair] = []
    held_out: list[TrainingPair] = []
    pairs = deduplicated([*_every_pair(data)])
    for source in LICENCES:
        of_source = [pair for pair in pairs if pair.source == source]
        learned, rest = split(of_source, KEPT[source]) if source in KEPT else (of_source, [])
        training += learned
        held_out += rest
    return training, held_out


def _every_pair(data: Path) -> Iterator[TrainingPair]:
    """Yield the pairs of all sets, each text starting near its answer."""
    rng = np.random.default_rng(0)
    yield from _regulations(data / "reader" / "cfr_questions", rng)
    yield from _guides(data / "conditionalqa", rng)
    for name in ("doc2dial_val", "multidoc2dial_evaltest"):
        yield from _dialogues(data / "reader" / name, rng)
    yield from _rules(data / "reader" / "or_sharc_devtest", rng)
    for name in _FAQ:
        for row in read_rows(data / "reader" / name / "pairs.jsonl"):
            yield TrainingPair(
                row["q"], row["pos"][:_MOST], row.get("title") or "", row["doc"], "faq"
            )
    yield from _policies(data / "policyqa", rng)
    yield from _articles(data / "reader" / "squad_train_part", rng)


def _regulations(folder: Path, rng: np.random.Generator) -> Iterator[TrainingPair]:
    """Yield sections whose heading is a question.

    General ones come only a few times, more often in the first person. A third of the long ones
    give a later part, so that answers do not always come first.
    """
    counts: Counter[str] = Counter()
    for row in read_rows(folder / "pairs.jsonl"):
        counts[row["q"].lower()] += 1
        often = counts[row["q"].lower()] > _OFTEN
        if often or row["lost_italics"] > 2 or (not row["first_person"] and rng.random() > _PLAIN):
            continue
        lines = [line for line in row["pos"].split("\n") if line.strip()]
        first = 0
        if len(row["pos"]) > _MOST and len(lines) > 2 and rng.random() < 0.3:
            first = int(rng.integers(1, len(lines) - 1))
        heading = (row["subpart"] or row["part_title"]).capitalize()
        text = "\n".join(lines[first:])[:_MOST]
        yield TrainingPair(row["q"], text, heading, row["doc"], "cfr_questions")


def _guides(folder: Path, rng: np.random.Generator) -> Iterator[TrainingPair]:
    texts = {row["id"]: row["text"] for row in read_rows(folder / "train_passages.jsonl")}
    for row in read_rows(folder / "train.jsonl"):
        pages = [texts[name] for name in row["relevant_ids"] if len(texts.get(name, "")) > 40]
        if row["not_answerable"] or not pages:
            continue
        question = row["question"]
        if rng.random() > 0.6:
            question = f"{row['scenario']} {question}"
        heading = row["document_id"].replace("-", " ").capitalize()
        text = pages[int(rng.integers(len(pages)))][:_MOST]
        yield TrainingPair(question, text, heading, row["document_id"], "conditionalqa")


def _dialogues(folder: Path, rng: np.random.Generator) -> Iterator[TrainingPair]:
    """Turns that ask; a quarter of the later ones with the turn before."""
    for row in read_rows(folder / "pairs.jsonl"):
        if not row.get("is_question") or row.get("title_only") or len(row["q"].split()) < 4:
            continue
        before = [turn[5:] for turn in row.get("history") or [] if turn.startswith("user:")]
        question = f"{before[-1]} {row['q']}" if before and rng.random() < 0.25 else row["q"]
        title = row.get("title") or row["doc"].split("/")[-1].split("#")[0]
        heading, text = title.split("|")[0].strip(), _around(row["pos"], row["sents"])
        yield TrainingPair(question, text, heading, row["doc"], "doc2dial")


def _rules(folder: Path, rng: np.random.Generator) -> Iterator[TrainingPair]:
    for row in read_rows(folder / "pairs.jsonl"):
        with_scenario = row["scenario"] and rng.random() > 0.5
        question = f"{row['scenario']} {row['question']}" if with_scenario else row["question"]
        yield TrainingPair(question, row["pos"][:_MOST], "", row["doc"].rsplit("/", 1)[0], "sharc")


def _policies(folder: Path, rng: np.random.Generator) -> Iterator[TrainingPair]:
    for row in _some(folder / "dev.jsonl", _POLICY, rng):
        text = _around(row["context"], [row["answers"][0]["text"]])
        if len(row["context"]) >= 80:
            heading = row["policy"].split(".")[0]
            yield TrainingPair(row["question"], text, heading, row["policy"], "policyqa")


def _articles(folder: Path, rng: np.random.Generator) -> Iterator[TrainingPair]:
    for row in _some(folder / "pairs.jsonl", _SQUAD, rng):
        document = f"{row['doc']} {row['row'] // 400}"
        yield TrainingPair(row["q"], _around(row["pos"], row["sents"]), "", document, "squad")


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file of JSON Lines."""
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def _some(path: Path, count: int, rng: np.random.Generator) -> list[dict[str, Any]]:
    rows = [*read_rows(path)]
    return [rows[place] for place in rng.permutation(len(rows))[:count]]


def _around(text: str, answers: list[str]) -> str:
    """The part of a text with the beginning of its first answer."""
    place = text.find(answers[0]) if answers else -1
    return text[:_MOST] if place < _MOST // 2 else text[place - 150 : place + 500]


if __name__ == "__main__":
    main()
