"""The questions that the verdict is fitted on, from published sets, with their answers.

    python -m training.public_gold DATA --out SETS

DATA has the sets that ``../shared/data/README.md`` describes. A set becomes a folder of
collections: documents, and ``gold.jsonl`` with cases for ``lexloop eval``, out of scope if the
documents do not answer. ``training.answerable`` is fitted on them.
"""

import argparse
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from lexloop.core.files import write_text
from lexloop.documents.reading.folder import load_documents
from lexloop_eval.case import OUT_OF_SCOPE, Case, Said, Span

GOLD, _PROBES = "gold.jsonl", "probes.jsonl"
_LAWS = ("gdpr", "us_cfr")
_BY_NUMBER = {"article", "provision", "no_such", "typo"}
_CONTRACTS, _OF_A_CONTRACT, _LONGEST = 40, 5, 120_000
_PARTS, _OF_A_PART, _SECTIONS = 34, 6, range(12, 61)
_GROUPS, _PAGES, _OF_A_PAGE, _LEAST_PASSAGES = 24, 4, 3, 12
_OF_AN_ARTICLE = 33
_GENERAL = re.compile(r"purpose of this|definitions|terms")
_TAG = re.compile(r"<[^<>]+>")
Row = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True)
class Question:
    """A question and its answers: the document, the place in its text, and the words."""

    question: str
    answers: tuple[tuple[str, int, str], ...]
    history: tuple[str, ...] = ()


@dataclass(frozen=True)
class Texts:
    """A collection: the texts of its documents by name, and its questions."""

    name: str
    texts: dict[str, str]
    asked: list[Question]


def main() -> None:
    """Write the folders and print how many questions each has."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    sets: dict[str, Iterable[Texts]] = {law: [law_texts(arguments.data / law)] for law in _LAWS}
    sets["contracts"] = _contracts(arguments.data / "contracts")
    sets["regulations"] = _regulations(arguments.data / "reader" / "cfr_questions")
    sets["guides"] = _guides(arguments.data / "conditionalqa")
    sets["articles"] = _articles(arguments.data / "squad2")
    for name, collections in sets.items():
        count = sum(
            write_gold(arguments.out / name / collection.name, collection)
            for collection in collections
        )
        print(f"{name}: {count}")


def write_gold(folder: Path, collection: Texts) -> int:
    """Write a collection, and return its number of questions.

    A question is left out if the text, as it is read, does not have its answer.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in collection.texts.items():
        write_text(folder / name, text)
    texts = {document.name: document.text for document in load_documents(folder)[0]}
    lines: list[str] = []
    for question in collection.asked:
        places = [
            (name, _place(texts[name], at, words), len(words))
            for name, at, words in question.answers
        ]
        if all(start >= 0 for _, start, _ in places):
            case = Case(
                question=question.question,
                question_type="" if places else OUT_OF_SCOPE,
                conversation_history=tuple(Said(role="user", content=t) for t in question.history),
                evidence=tuple(
                    Span(document=name, start=at, end=at + length) for name, at, length in places
                ),
            )
            lines.append(case.model_dump_json(exclude_defaults=True))
    write_text(folder / GOLD, "".join(f"{line}\n" for line in lines))
    return len(lines)


def _place(text: str, place_before: int, words: str) -> int:
    """Return the place of words in a text as it is read, which may lack lines, or -1."""
    later = text.find(words, place_before)
    return later if later >= 0 else text.rfind(words)


def law_texts(folder: Path) -> Texts:
    """Return a law's probes except those by number. A turn follows the first one before it."""
    [path] = folder.glob("*.txt")
    text = path.read_text(encoding="utf-8")
    structure = json.loads((folder / "structure.json").read_text(encoding="utf-8"))
    units = {unit.get("label", unit.get("article")): unit for unit in structure}
    questions: list[Question] = []
    for probe in _rows(folder / _PROBES):
        if probe["kind"] in _BY_NUMBER:
            continue
        spans: list[Row] = []
        if probe["kind"] != "not_there":
            gold_units = probe.get("gold") or [(probe["article"], probe["paragraph"])]
            spans = [_unit(units, label) for label in [*gold_units, *probe.get("also", [])]]
        answers = tuple(_words(path.name, text, span["start"], span["end"]) for span in spans)
        questions.append(Question(probe["question"], answers, (*probe["history"][:1],)))
    return Texts("law", {path.name: text}, questions)


def _words(name: str, text: str, start: int, end: int) -> tuple[str, int, str]:
    return name, start, text[start:end]


def _unit(units: dict[Any, Row], label: Any) -> Row:
    """Return the provision that a probe names, by a label, or an article and a paragraph."""
    unit = units[label if isinstance(label, str) else label[0]]
    if isinstance(label, str) or not label[1]:
        return unit
    return next((part for part in unit["paragraphs"] if part["n"] == label[1]), unit)


def _contracts(folder: Path) -> Iterator[Texts]:
    """Yield contracts that are not very long, with questions for clauses, present or not."""
    for name, rows in _some(_by(_rows(folder / _PROBES), "document"), _CONTRACTS, folder):
        text = (folder / "documents" / name).read_text(encoding="utf-8")
        questions: list[Question] = []
        for there in (True, False):
            kind = [row for row in rows if row["answerable"] is there]
            for row in _drawn(kind, _OF_A_CONTRACT):
                answers = tuple(_words("contract.txt", text, *span) for span in row["spans"])
                questions.append(Question(row["bare_question"], answers))
        yield Texts(Path(name).stem, {"contract.txt": text}, questions)


def _regulations(folder: Path) -> Iterator[Texts]:
    """Yield parts of regulations whose headings are turned into questions, without general ones."""
    parts = _by(_rows(folder / "pairs.jsonl"), "doc")
    parts = {name: rows for name, rows in parts.items() if len(rows) in _SECTIONS}
    for name, rows in _some(parts, _PARTS):
        for row in rows:
            row["said"] = row["pos"].replace("_", "").strip()
        text = "".join(f"§ {row['cite'].split()[-1]}\n{row['said']}\n" for row in rows)
        telling = [row for row in rows if not _GENERAL.search(row["q"])]
        questions = [
            Question(row["q"], (("law.txt", 0, row["said"]),))
            for row in _drawn(telling, _OF_A_PART)
        ]
        yield Texts(re.sub(r"\W+", "-", name), {"law.txt": text}, questions)


def _guides(folder: Path) -> Iterator[Texts]:
    """Yield groups of pages of guidance, with questions without the person's story."""
    pages = _by(_rows(folder / "train_passages.jsonl"), "document_id")
    pages = {name: rows for name, rows in pages.items() if len(rows) >= _LEAST_PASSAGES}
    questions = _by(_rows(folder / "train.jsonl"), "document_id")
    chosen = _some(pages, _GROUPS * _PAGES)
    for number, group in enumerate(iter(lambda: dict(islice(chosen, _PAGES)), {})):
        placed = {
            row["id"]: (f"{name}.txt", 0, _TAG.sub("", row["text"]).strip())
            for name, rows in group.items()
            for row in rows
        }
        texts = {
            f"{name}.txt": "\n\n".join(placed[row["id"]][2] for row in rows)
            for name, rows in group.items()
        }
        asked = [
            Question(
                row["question"],
                tuple(placed[page_id] for page_id in row["relevant_ids"] if page_id in placed),
            )
            for name in group
            for row in questions.get(name, [])[:_OF_A_PAGE]
        ]
        yield Texts(str(number), texts, asked)


def _articles(folder: Path) -> Iterator[Texts]:
    """Yield encyclopaedia articles with questions, half of which only seem to be answered."""
    for name, rows in _by(_rows(folder / "dev.jsonl"), "article").items():
        text = "\n\n".join(dict.fromkeys(row["context"] for row in rows))
        questions: list[Question] = []
        for row in _drawn(rows, _OF_AN_ARTICLE):
            start = text.index(row["context"])
            spans = [(start + answer["answer_start"], answer["text"]) for answer in row["answers"]]
            answers = tuple(("article.txt", *span) for span in spans) if row["answerable"] else ()
            questions.append(Question(row["question"], answers))
        yield Texts(name, {"article.txt": text}, questions)


def _rows(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def _by(rows: Iterable[Row], key: str) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row[key]].append(row)
    return groups


def _some(
    groups: dict[str, list[Row]], count: int, folder: Path | None = None
) -> Iterator[tuple[str, list[Row]]]:
    """Yield some of the groups drawn at random; of a folder's, those whose text is not long."""
    names = _drawn(sorted(groups), len(groups))
    if folder is not None:
        sizes = {path.name: path.stat().st_size for path in (folder / "documents").iterdir()}
        names = [name for name in names if sizes[name] <= _LONGEST]
    for name in names[:count]:
        yield name, groups[name]


def _drawn(items: list[T], count: int) -> list[T]:
    places = np.random.default_rng(0).permutation(len(items))[:count]
    return [items[place] for place in places]


if __name__ == "__main__":
    main()
