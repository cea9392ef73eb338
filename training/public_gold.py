"""The questions that the verdict is fitted on, of published sets, each with what answers it.

    python -m training.public_gold DATA --out SETS

DATA holds the sets as ``../shared/data/README.md`` describes them. A set becomes a folder of
collections: documents, and ``gold.jsonl`` with cases as ``lexloop eval`` takes them, out of scope
where the documents do not answer. ``finetune.answerable`` is fitted on them.
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
    """A question and what answers it: the document, where in its text, and the words."""

    question: str
    answers: tuple[tuple[str, int, str], ...]
    history: tuple[str, ...] = ()


@dataclass(frozen=True)
class Texts:
    """A collection: the texts of its documents by name, and what is asked of it."""

    name: str
    texts: dict[str, str]
    asked: list[Question]


def main() -> None:
    """Write the folders and print how many questions each has."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    sets: dict[str, Iterable[Texts]] = {law: [law_texts(given.data / law)] for law in _LAWS}
    sets["contracts"] = _contracts(given.data / "contracts")
    sets["regulations"] = _regulations(given.data / "reader" / "cfr_questions")
    sets["guides"] = _guides(given.data / "conditionalqa")
    sets["articles"] = _articles(given.data / "squad2")
    for name, collections in sets.items():
        count = sum(write_gold(given.out / name / one.name, one) for one in collections)
        print(f"{name}: {count}")


def write_gold(folder: Path, collection: Texts) -> int:
    """Write a collection, and return how many questions it has.

    A question is left out whose answer the text, as it is read, does not have.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in collection.texts.items():
        write_text(folder / name, text)
    read = {one.name: one.text for one in load_documents(folder)[0]}
    lines: list[str] = []
    for asked in collection.asked:
        found = [(n, _place(read[n], at, said), len(said)) for n, at, said in asked.answers]
        if all(start >= 0 for _, start, _ in found):
            case = Case(
                question=asked.question,
                question_type="" if found else OUT_OF_SCOPE,
                conversation_history=tuple(Said(role="user", content=t) for t in asked.history),
                evidence=tuple(Span(document=n, start=at, end=at + far) for n, at, far in found),
            )
            lines.append(case.model_dump_json(exclude_defaults=True))
    write_text(folder / GOLD, "".join(f"{line}\n" for line in lines))
    return len(lines)


def _place(text: str, at: int, words: str) -> int:
    """Return where words stand in a text as it is read, which may lack some lines; -1 nowhere."""
    later = text.find(words, at)
    return later if later >= 0 else text.rfind(words)


def law_texts(folder: Path) -> Texts:
    """A law's probes but those that ask by number; a turn is asked behind the first before it."""
    [path] = folder.glob("*.txt")
    text = path.read_text(encoding="utf-8")
    structure = json.loads((folder / "structure.json").read_text(encoding="utf-8"))
    units = {unit.get("label", unit.get("article")): unit for unit in structure}
    asked: list[Question] = []
    for probe in _rows(folder / _PROBES):
        if probe["kind"] in _BY_NUMBER:
            continue
        spans: list[Row] = []
        if probe["kind"] != "not_there":
            named = probe.get("gold") or [(probe["article"], probe["paragraph"])]
            spans = [_unit(units, at) for at in [*named, *probe.get("also", [])]]
        answers = tuple(_words(path.name, text, one["start"], one["end"]) for one in spans)
        asked.append(Question(probe["question"], answers, (*probe["history"][:1],)))
    return Texts("law", {path.name: text}, asked)


def _words(name: str, text: str, start: int, end: int) -> tuple[str, int, str]:
    return name, start, text[start:end]


def _unit(units: dict[Any, Row], at: Any) -> Row:
    """Return the provision that a probe names: a label, or an article and a paragraph of it."""
    found = units[at if isinstance(at, str) else at[0]]
    if isinstance(at, str) or not at[1]:
        return found
    return next((part for part in found["paragraphs"] if part["n"] == at[1]), found)


def _contracts(folder: Path) -> Iterator[Texts]:
    """Contracts that are not very long, each asked alone for clauses that it has and has not."""
    for name, rows in _some(_by(_rows(folder / _PROBES), "document"), _CONTRACTS, folder):
        text = (folder / "documents" / name).read_text(encoding="utf-8")
        asked: list[Question] = []
        for there in (True, False):
            kind = [row for row in rows if row["answerable"] is there]
            for row in _drawn(kind, _OF_A_CONTRACT):
                answers = tuple(_words("contract.txt", text, *span) for span in row["spans"])
                asked.append(Question(row["bare_question"], answers))
        yield Texts(Path(name).stem, {"contract.txt": text}, asked)


def _regulations(folder: Path) -> Iterator[Texts]:
    """Parts of regulations, their questions no longer headings; general ones are left out."""
    parts = _by(_rows(folder / "pairs.jsonl"), "doc")
    parts = {name: rows for name, rows in parts.items() if len(rows) in _SECTIONS}
    for name, rows in _some(parts, _PARTS):
        for row in rows:
            row["said"] = row["pos"].replace("_", "").strip()
        text = "".join(f"§ {row['cite'].split()[-1]}\n{row['said']}\n" for row in rows)
        telling = [row for row in rows if not _GENERAL.search(row["q"])]
        asked = [
            Question(row["q"], (("law.txt", 0, row["said"]),))
            for row in _drawn(telling, _OF_A_PART)
        ]
        yield Texts(re.sub(r"\W+", "-", name), {"law.txt": text}, asked)


def _guides(folder: Path) -> Iterator[Texts]:
    """Groups of pages of guidance, each question without the story of who asks."""
    pages = _by(_rows(folder / "train_passages.jsonl"), "document_id")
    pages = {name: rows for name, rows in pages.items() if len(rows) >= _LEAST_PASSAGES}
    questions = _by(_rows(folder / "train.jsonl"), "document_id")
    every = _some(pages, _GROUPS * _PAGES)
    for number, group in enumerate(iter(lambda: dict(islice(every, _PAGES)), {})):
        said = {
            row["id"]: (f"{name}.txt", 0, _TAG.sub("", row["text"]).strip())
            for name, rows in group.items()
            for row in rows
        }
        texts = {
            f"{name}.txt": "\n\n".join(said[row["id"]][2] for row in rows)
            for name, rows in group.items()
        }
        asked = [
            Question(
                row["question"], tuple(said[one] for one in row["relevant_ids"] if one in said)
            )
            for name in group
            for row in questions.get(name, [])[:_OF_A_PAGE]
        ]
        yield Texts(str(number), texts, asked)


def _articles(folder: Path) -> Iterator[Texts]:
    """Encyclopaedia articles with questions of which half only look as if they were answered."""
    for name, rows in _by(_rows(folder / "dev.jsonl"), "article").items():
        text = "\n\n".join(dict.fromkeys(row["context"] for row in rows))
        asked: list[Question] = []
        for row in _drawn(rows, _OF_AN_ARTICLE):
            start = text.index(row["context"])
            spans = [(start + one["answer_start"], one["text"]) for one in row["answers"]]
            answers = tuple(("article.txt", *span) for span in spans) if row["answerable"] else ()
            asked.append(Question(row["question"], answers))
        yield Texts(name, {"article.txt": text}, asked)


def _rows(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def _by(rows: Iterable[Row], key: str) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[row[key]].append(row)
    return found


def _some(
    found: dict[str, list[Row]], count: int, folder: Path | None = None
) -> Iterator[tuple[str, list[Row]]]:
    """Yield some of the groups drawn at random; of a folder's, those whose text is not long."""
    names = _drawn(sorted(found), len(found))
    if folder is not None:
        sizes = {path.name: path.stat().st_size for path in (folder / "documents").iterdir()}
        names = [name for name in names if sizes[name] <= _LONGEST]
    for name in names[:count]:
        yield name, found[name]


def _drawn(things: list[T], count: int) -> list[T]:
    places = np.random.default_rng(0).permutation(len(things))[:count]
    return [things[place] for place in places]


if __name__ == "__main__":
    main()
