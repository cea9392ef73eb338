"""LQ-RAG's data sets of its table 2, from their public files, as rows for a generator.

    python -m training.lq_rag_rows NAME FILE --out rows.jsonl [--split train|test]

NAME is one of those below; FILE is the set's file as its publisher offers it, or a folder of them
with one split each (``train.tsv``, ``test.tsv``). The rows are what ``lexloop finetune generator``
reads: to train on (``legal_qa``, ``alpaca``), or to measure on by ``--test``. None of the sets
ships: docs/user/evaluating.md says where each is from and what cannot be had here.
"""

import argparse
import csv
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lexloop.core.errors import InputError
from lexloop.core.files import write_text

Row = dict[str, Any]
Read = Callable[[Path], Iterator[Row]]
_LETTERS = "ABCD"
_MMLU = ("question", *_LETTERS, "answer")


def main() -> None:
    """Write the rows, and print how many there are."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("name", choices=READERS)
    parser.add_argument("file", type=Path)
    parser.add_argument("--split", default="test")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    rows = read(given.name, given.file, given.split)
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    write_text(given.out, text)
    print(f"{given.name}: {len(rows)} rows in {given.out}")


def read(name: str, file: Path, split: str = "test") -> list[Row]:
    """Return the rows of a set.

    Args:
        name: A key of ``READERS``.
        file: Its file, or a folder with one for each split.
        split: The split to take of a folder.

    Raises:
        InputError: The file cannot be read, or is not of the set's form.
    """
    path = next(iter(sorted(file.glob(f"{split}.*"))), file) if file.is_dir() else file
    try:
        rows = list(READERS[name](path))
    except (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise InputError(
            f"{path} is not a file of {name}: {error!r}.",
            f"Give the publisher's own file, or a folder with {split}.* of it.",
        ) from error
    if not rows:
        raise InputError(f"{path} has no rows of {name}.", "Give another file.")
    return rows


def _table(path: Path, columns: tuple[str, ...] | None = None) -> Iterator[dict[str, str]]:
    """Yield the lines of a CSV or TSV file by column; without ``columns`` the first has them."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        tab = "\t" if path.suffix == ".tsv" else ","
        yield from csv.DictReader(file, columns, delimiter=tab)


def _objects(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON list or of JSON Lines."""
    text = path.read_text(encoding="utf-8-sig")
    if text.lstrip().startswith("["):
        yield from json.loads(text)
    else:
        yield from map(json.loads, filter(str.strip, text.splitlines()))


def _mmlu(path: Path) -> Iterator[Row]:
    """A question, four choices and the letter of the right one, without a header."""
    for line in _table(path, _MMLU):
        choices = [line[letter] for letter in _LETTERS]
        answer = _LETTERS.index(line["answer"].strip())
        yield {"question": line["question"], "choices": choices, "answer": answer}


def _legalbench(path: Path) -> Iterator[Row]:
    """A LegalBench task: a text, for some a question on it, and a label."""
    for line in _table(path):
        row = {"context": line["text"], "label": line["answer"]}
        yield {"question": line["question"], **row} if line.get("question") else row


def _law_stack_exchange(path: Path) -> Iterator[Row]:
    for entry in _objects(path):
        text = f"{entry['title']}\n\n{entry['body']}"
        yield {"context": text, "label": str(entry.get("text_label", entry["label"]))}


def _big_bench_hard(path: Path) -> Iterator[Row]:
    for example in json.loads(path.read_text("utf-8"))["examples"]:
        yield {"question": example["input"], "answer": example["target"]}


def _hellaswag(path: Path) -> Iterator[Row]:
    for entry in _objects(path):
        row = {"choices": entry["endings"], "answer": int(entry["label"])}
        yield {"question": "How does this go on?", "context": entry["ctx"], **row}


def _truthful_qa(path: Path) -> Iterator[Row]:
    for line in _table(path):
        yield {"question": line["Question"], "answer": line["Best Answer"]}


def _squad(path: Path) -> Iterator[Row]:
    """The questions that have an answer, each with its paragraph."""
    for article in json.loads(path.read_text("utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            for asked in paragraph["qas"]:
                if answers := asked["answers"]:
                    row = {"question": asked["question"], "context": paragraph["context"]}
                    yield {**row, "answer": answers[0]["text"]}


def _instructions(path: Path) -> Iterator[Row]:
    """Alpaca's form; rows without an answer teach nothing and are left out."""
    for entry in _objects(path):
        if str(entry["output"]).strip():
            yield {name: entry.get(name) or "" for name in ("instruction", "input", "output")}


def _legal_qa(path: Path) -> Iterator[Row]:
    for entry in _objects(path):
        yield {"question": entry["question"], "answer": entry["answer"]}


READERS: Mapping[str, Read] = {
    "legal_qa": _legal_qa,
    "alpaca": _instructions,
    "squad_v2": _squad,
    "truthful_qa": _truthful_qa,
    "law_stack_exchange": _law_stack_exchange,
    "big_bench_hard": _big_bench_hard,
    "canada_tax_court_outcomes": _legalbench,
    "mmlu_international_law": _mmlu,
    "hellaswag": _hellaswag,
    "mmlu_professional_law": _mmlu,
    "abercrombie": _legalbench,
    "contract_qa": _legalbench,
    "legal_reasoning_causality": _legalbench,
}
"""The thirteen sets of table 2: two to train on, eleven to measure on."""


if __name__ == "__main__":
    main()
