"""The texts that answers are judged against: the document *d* of Eval-RAG, section 2."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import PurePosixPath
from typing import Literal

from lexloop.core.types import Chunk
from lexloop.documents.structure.references import Cited, cited, every_cited
from lexloop.documents.text.tokens import tokenize
from lexloop.evaluation.eval_rag.answers import KnownAnswer
from lexloop.store.view import View

MOST_CHARS = 4000
"""The most characters of one authority: it goes into prompts whole. Questions of the LL144
development half find the right provision as often at 2,500, those of the sample less often."""
_CASE_NUMBER = re.compile(r"\b(?=\w*\d)(?:\d{2,4}[A-Z]{1,4}\d{1,6}|\w+[-/]\d+(?:[-/]\w+)*)\b")
_LEAST_TITLE = 8
"""A shorter title of a case may well stand in a text that does not mean the case."""


@dataclass(frozen=True)
class Authority:
    """A provision, a part of a case, or what the answer of a known pair rests on.

    Args:
        kind: Made from a pair, a provision or a case.
        origin: The source of its text: for a pair ``cited`` (the provisions and cases that the
            pair's answer cites) or ``answer`` (the pair's answer itself, which cites none that
            the corpus holds); otherwise ``corpus``.
        label: Its name for a reader.
        text: Its words.
        documents: The documents of the corpus from which its text comes.
        section: Its label in its document, where it is of the corpus.
        title: The document's title, likewise.
    """

    kind: Literal["pair", "provision", "case"]
    origin: Literal["corpus", "cited", "answer"]
    label: str
    text: str
    documents: tuple[str, ...] = ()
    section: str = ""
    title: str = ""


@dataclass(frozen=True)
class Entry:
    """A question, and the authority that answers it: the pair (q, d) of Eval-RAG, section 2."""

    question: str
    authority: Authority


def authorities_of(view: View) -> list[Authority]:
    """Return the sections of all documents, in their order; long ones in parts.

    A document whose metadata says that it is a case gives cases.
    """
    known = view.metadata(view.documents)
    found: list[Authority] = []
    for _, section in groupby(view.every_chunk(), lambda one: (one["document"], one["section"])):
        for part in _parts(section):
            name, label = part[0]["document"], part[0]["section"]
            whole, end = view.text_of(name) or "", max(chunk["end"] for chunk in part)
            if text := whole[part[0]["start"] : end][:MOST_CHARS].strip():
                kind: Literal["provision", "case"] = (
                    "case" if known[name].kind == "case" else "provision"
                )
                called, title = f"{name} {label}".strip(), part[0]["title"]
                found.append(Authority(kind, "corpus", called, text, (name,), label, title))
    return found


def _parts(chunks: Iterator[Chunk]) -> Iterator[list[Chunk]]:
    part: list[Chunk] = []
    for chunk in chunks:
        if part and chunk["end"] - part[0]["start"] > MOST_CHARS:
            yield part
            part = []
        part.append(chunk)
    yield part


class CitedAuthorities:
    """Looks up references in a corpus.

    Args:
        authorities: All that the corpus holds.
    """

    def __init__(self, authorities: Sequence[Authority]) -> None:
        self._by_section: dict[tuple[str, str], list[Authority]] = defaultdict(list)
        self._cases: dict[str, list[Authority]] = defaultdict(list)
        for one in authorities:
            if found := cited(one.section):
                self._by_section[_section(found)].append(one)
            for name in _names_of_case(one) if one.kind == "case" else ():
                self._cases[name].append(one)

    def of(self, text: str) -> list[Authority]:
        """Return the provisions and cases that ``text`` cites, in its order, each once.

        A section number that several documents have stands for that of the document which the
        reference names, and otherwise for the one that shares most words with ``text``.
        """
        places = [
            (found.start, _meant(held, found.act.lower(), set(tokenize(text))))
            for found in every_cited(text)
            if (held := self._by_section.get(_section(found)))
        ]
        cases = ((text.lower().find(name), held) for name, held in self._cases.items())
        places += [(place, held) for place, held in cases if place >= 0]
        places.sort(key=lambda found: found[0])
        return list(dict.fromkeys(one for _, held in places for one in held))


def _meant(candidates: Sequence[Authority], act: str, said: set[str]) -> list[Authority]:
    """All parts of the section in the one document that is meant."""
    by_document: dict[tuple[str, ...], list[Authority]] = defaultdict(list)
    for one in candidates:
        by_document[one.documents].append(one)

    def merit(parts: Sequence[Authority]) -> tuple[bool, int]:
        # title and file name, as a reference might write them
        stem = re.sub(r"[_-]+", " ", PurePosixPath(parts[0].documents[0]).stem)
        named = len(act) >= _LEAST_TITLE and act in f"{parts[0].title}\n{stem}".lower()
        return named, len(said & set(tokenize(" ".join(one.text for one in parts))))

    return max(by_document.values(), key=merit)


def _section(found: Cited) -> tuple[str, str]:
    """The key that a text and a label share: subdivisions left out."""
    return found.kind, found.number.partition("|")[0]


def _names_of_case(case: Authority) -> set[str]:
    """The names of a case in texts: its title, or the number in its title or file name."""
    title = case.title.strip()
    names = f"{title}\n{PurePosixPath(case.documents[0]).stem}"
    found = {number.lower() for number in _CASE_NUMBER.findall(names)}
    return found | ({title.lower()} if len(title) >= _LEAST_TITLE else set())


def pair_entries(pairs: Sequence[KnownAnswer], authorities: Sequence[Authority]) -> list[Entry]:
    """Return each question with the document extracted from its answer (Eval-RAG, section 2).

    That is the text of the provisions and cases that the answer cites, where the corpus holds
    them; otherwise the answer itself. The authority's ``origin`` says which.
    """
    lookup = CitedAuthorities(authorities)
    return [Entry(pair.question, _of_pair(pair, lookup.of(pair.answer))) for pair in pairs]


def _of_pair(pair: KnownAnswer, cited: Sequence[Authority]) -> Authority:
    if not cited:
        return Authority("pair", "answer", "a known answer", pair.answer.strip())
    taken: list[Authority] = []
    for one in cited:
        if not taken or sum(len(held.text) for held in taken) + len(one.text) <= MOST_CHARS:
            taken.append(one)
    return Authority(
        "pair",
        "cited",
        ", ".join(dict.fromkeys(one.label for one in taken)),
        "\n\n".join(one.text for one in taken),
        tuple(dict.fromkeys(name for one in taken for name in one.documents)),
    )
