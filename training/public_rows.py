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
    """A question, its document, and texts with some sentences that answer it."""

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
    divided = {"answers": _answers(options.data), "rewrites": _rewrites(options.data)}
    for name, (training, held_out) in divided.items():
        for file, rows in ((name, training), (f"{name}.kept", held_out)):
            text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            write_text(options.out / f"{file}.jsonl", text)
            print(f"{file}: {len(rows)}")


def is_kept(document: str) -> bool:
    """Return whether the rows of a document or conversation are measured on, and never trained."""
    return place_of(document) < _KEPT


def _divided(rows: Sequence[tuple[str, Row]]) -> tuple[list[Row], list[Row]]:
    """Return the rows to train on, and some of those of kept documents, evenly spread."""
    training = [row for document, row in rows if not is_kept(document)]
    held_out = [row for document, row in rows if is_kept(document)]
    return training, held_out[:: -(-len(held_out) // _MEASURED) or 1]


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
    rows: list[tuple[str, Row]] = []
    for place in rng.permutation(len(sources)):
        source = sources[place]
        same = [text for text in dict.fromkeys(beside[source.document]) if text not in source.texts]
        strange = [sources[n].texts[0] for n in rng.integers(len(sources), size=_OTHERS)]
        distractors = [*(same[n] for n in rng.permutation(len(same))), *strange][:_OTHERS]
        if row := _row(source, [text[:_MOST] for text in distractors], rng):
            rows.append((source.document, row))
        if len(rows) == _OF_EACH_SET:
            break
    return rows


def _row(source: _Source, distractors: Sequence[str], rng: np.random.Generator) -> Row | None:
    """Return a question with its texts among others, or None if no sentence of them answers."""
    pairs = zip(source.texts, source.answers, strict=True)
    cut = [part for part in (_cut(*pair) for pair in pairs) if part]
    answered = rng.random() < _ANSWERED
    if not cut:
        return None
    passages = [text for text, _ in cut] if answered else []
    order = rng.permutation(len(passages) + len(distractors))
    shown = [[*passages, *distractors][place] for place in order]
    statements = [
        f"{sentence.rstrip(' .;:,')} [{shown.index(text) + 1}]."
        for text, sentences in cut
        if answered
        for sentence in sentences
    ]
    return {
        "question": source.question,
        "passages": shown,
        "answer": " ".join(statements) or ABSTENTION,
    }


def _cut(text: str, answers: Sequence[str]) -> tuple[str, list[str]] | None:
    """Return some sentences of a text, and those that contain the answer."""
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
        pages = [texts[name] for name in row["relevant_ids"] if len(texts.get(name, "")) > 40][:3]
        if pages and not row["not_answerable"]:
            question = f"{row['scenario']} {row['question']}"
            yield _Source(question, row["document_id"], pages, [[text] for text in pages])


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
            earlier = turns(row["history"], answers=conversation == "dialog")[-_TURNS:]
            yield (
                row[conversation],
                {"question": row["q"], "history": earlier, "answer": row["standalone"]},
            )


def turns(history: Sequence[str], answers: bool) -> list[Turn]:
    """Return a history in the product's form.

    With ``answers``, its first entry names a subject, the second a part of it, which is left out,
    and then questions and answers alternate. Otherwise every entry is the user's.
    """
    entries = [history[0], *history[2:]] if answers else [*history]
    asks = [not answers or n == 0 or n % 2 == 1 for n in range(len(entries))]
    return [
        {"role": "user" if asking else "assistant", "content": content}
        for asking, content in zip(asks, entries, strict=True)
    ]


if __name__ == "__main__":
    main()
