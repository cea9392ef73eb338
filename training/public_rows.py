"""Rows that teach a generator to answer from passages and to write follow-ups out, of public sets.

    python -m training.public_rows DATA --out DIR

DATA holds ``reader``, ``conditionalqa`` and ``policyqa`` as ``../shared/data/README.md`` describes
them. DIR gets ``answers.jsonl`` and ``rewrites.jsonl`` to train on, and ``answers.kept.jsonl`` and
``rewrites.kept.jsonl``, rows of other documents and conversations, to be measured on: what
``lexloop finetune generator`` reads. An answer is what its passages say, sentence by sentence, each
with the passage that it is from; of every seventh row the passages answer nothing.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lexloop.core.files import write_text
from lexloop.core.types import ABSTENTION, Turn
from lexloop.documents.text.tokens import sentence_spans
from lexloop_train.pairs import place_of
from training.public_pairs import read_rows

_KEPT = 0.1
"""The share of the documents and conversations that are measured on."""
_MEASURED = 240
_OF_EACH_SET = 800
_MOST = 600
_OTHERS = 3
_ANSWERED = 6 / 7
_TURNS = 8
Row = dict[str, Any]


@dataclass(frozen=True)
class _Source:
    """A question, its document, and the texts of which some sentences answer."""

    question: str
    document: str
    texts: list[str]
    answers: list[list[str]]  # of each text, the words that answer


def main() -> None:
    """Write the four files, and print how many rows each has."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    made = {"answers": _answers(options.data), "rewrites": _rewrites(options.data)}
    for name, (training, kept) in made.items():
        for file, rows in ((name, training), (f"{name}.kept", kept)):
            text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            write_text(options.out / f"{file}.jsonl", text)
            print(f"{file}: {len(rows)}")


def is_kept(document: str) -> bool:
    """Return whether the rows of a document or conversation are measured on, and never trained."""
    return place_of(document) < _KEPT


def _divided(rows: Sequence[tuple[str, Row]]) -> tuple[list[Row], list[Row]]:
    """Return the rows to train on, and up to a number of those of kept documents, spread evenly."""
    training = [row for document, row in rows if not is_kept(document)]
    kept = [row for document, row in rows if is_kept(document)]
    return training, kept[:: -(-len(kept) // _MEASURED) or 1]


def _answers(data: Path) -> tuple[list[Row], list[Row]]:
    rng = np.random.default_rng(0)
    sets = (
        _marked(data / "reader" / "selqa_devtest"),
        _marked(data / "reader" / "squad_train_part"),
        _marked(data / "reader" / "doc2dial_val"),
        _regulations(data / "reader" / "cfr_questions"),
        _guides(data / "conditionalqa"),
        _policies(data / "policyqa"),
    )
    rows = [row for sources in sets for row in _rows_of([*sources], rng)]
    return _divided([rows[place] for place in rng.permutation(len(rows))])


def _rows_of(sources: Sequence[_Source], rng: np.random.Generator) -> list[tuple[str, Row]]:
    """Return rows of a set, each with the document that it is from."""
    beside: dict[str, list[str]] = defaultdict(list)
    for source in sources:
        beside[source.document] += source.texts
    found: list[tuple[str, Row]] = []
    for place in rng.permutation(len(sources)):
        source = sources[place]
        same = [text for text in dict.fromkeys(beside[source.document]) if text not in source.texts]
        strange = [sources[n].texts[0] for n in rng.integers(len(sources), size=_OTHERS)]
        others = [*(same[n] for n in rng.permutation(len(same))), *strange][:_OTHERS]
        if row := _row(source, [text[:_MOST] for text in others], rng):
            found.append((source.document, row))
        if len(found) == _OF_EACH_SET:
            break
    return found


def _row(source: _Source, others: Sequence[str], rng: np.random.Generator) -> Row | None:
    """Return a question with its texts among others; None where no sentence of them answers."""
    pairs = zip(source.texts, source.answers, strict=True)
    told = [found for found in (_cut(*pair) for pair in pairs) if found]
    answered = rng.random() < _ANSWERED
    if not told:
        return None
    passages = [text for text, _ in told] if answered else []
    order = rng.permutation(len(passages) + len(others))
    shown = [[*passages, *others][place] for place in order]
    said = [
        f"{sentence.rstrip(' .;:,')} [{shown.index(text) + 1}]."
        for text, sentences in told
        if answered
        for sentence in sentences
    ]
    return {
        "question": source.question,
        "passages": shown,
        "answer": " ".join(said) or ABSTENTION,
    }


def _cut(text: str, answers: Sequence[str]) -> tuple[str, list[str]] | None:
    """Return some sentences of a text, and those of them that hold what answers."""
    places = [(start, start + len(words)) for words in answers if (start := text.find(words)) >= 0]
    spans = list(sentence_spans(text))
    hits = [
        n for n, (a, b) in enumerate(spans) if any(a < end and start < b for start, end in places)
    ]
    if not hits or spans[hits[-1]][1] - spans[hits[0]][0] > _MOST:
        return None
    first, last = hits[0], hits[-1]
    while True:
        wider = (max(first - 1, 0), min(last + 1, len(spans) - 1))
        if wider == (first, last) or spans[wider[1]][1] - spans[wider[0]][0] > _MOST:
            break
        first, last = wider
    shown = text[spans[first][0] : spans[last][1]]
    return shown, [" ".join(text[slice(*spans[n])].split()) for n in hits]


def _marked(folder: Path) -> Iterator[_Source]:
    """Questions whose answering sentences were marked by people."""
    for row in read_rows(folder / "pairs.jsonl"):
        if row["answerable"] and row["sents"] and row.get("is_question", True):
            document = f"{row['doc']} {row.get('row', 0) // 40}"
            yield _Source(row["q"], document, [row["pos"]], [row["sents"][:2]])


def _regulations(folder: Path) -> Iterator[_Source]:
    """Sections whose heading asks: their first sentence answers."""
    for row in read_rows(folder / "pairs.jsonl"):
        text = row["pos"]
        first = next(iter(sentence_spans(text)), (0, 0))
        if not row["lost_italics"] and 40 < first[1] - first[0] < _MOST / 2:
            yield _Source(row["q"], row["doc"], [text], [[text[slice(*first)]]])


def _guides(folder: Path) -> Iterator[_Source]:
    texts = {row["id"]: row["text"] for row in read_rows(folder / "train_passages.jsonl")}
    for row in read_rows(folder / "train.jsonl"):
        found = [texts[name] for name in row["relevant_ids"] if len(texts.get(name, "")) > 40][:3]
        if found and not row["not_answerable"]:
            asked = f"{row['scenario']} {row['question']}"
            yield _Source(asked, row["document_id"], found, [[text] for text in found])


def _policies(folder: Path) -> Iterator[_Source]:
    for row in read_rows(folder / "dev.jsonl"):
        answers = [row["answers"][0]["text"]]
        yield _Source(row["question"], row["policy"], [row["context"]], [answers])


def _rewrites(data: Path) -> tuple[list[Row], list[Row]]:
    rng = np.random.default_rng(0)
    rows = [
        *_written_out(read_rows(data / "reader" / "canard_dev" / "rewrites.jsonl"), "dialog"),
        *_written_out(
            read_rows(data / "reader" / "trec_cast_rewrites" / "rewrites.jsonl"), "topic"
        ),
    ]
    return _divided([rows[place] for place in rng.permutation(len(rows))])


def _written_out(rows: Iterable[Row], conversation: str) -> Iterator[tuple[str, Row]]:
    for row in rows:
        if row["history"]:
            told = turns(row["history"], answers=conversation == "dialog")[-_TURNS:]
            yield (
                row[conversation],
                {"question": row["q"], "history": told, "answer": row["standalone"]},
            )


def turns(history: Sequence[str], answers: bool) -> list[Turn]:
    """Return a history as the product keeps it.

    With ``answers`` its first entry names a subject, the second a part of it, which is left out,
    and then questions and answers take turns; else every entry is the user's.
    """
    told = [history[0], *history[2:]] if answers else [*history]
    asks = [not answers or n == 0 or n % 2 == 1 for n in range(len(told))]
    return [
        {"role": "user" if asking else "assistant", "content": said}
        for asking, said in zip(asks, told, strict=True)
    ]


if __name__ == "__main__":
    main()
