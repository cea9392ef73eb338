"""Known questions, each with the authority that answers it: the pairs (q, d) of Eval-RAG, 2.

An authority is a provision, a part of a case, or what a known answer rests on. Its questions come
from rules, a model, or pairs of questions and answers. Any question leads to the authority that
answers the nearest known one (figure 2).
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import Literal

import numpy as np
from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from lexloop.core.jsonl import read_jsonl
from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.core.types import Chunk
from lexloop.documents.chunks.statements import statements_in_text
from lexloop.documents.structure.references import Cited, cited, every_cited
from lexloop.documents.text.tokens import tokenize
from lexloop.models.embedding import Embedder, Vectors
from lexloop.store.opening import open_corpus, tools_for
from lexloop.store.view import View
from lexloop_eval.asking import Asker, Progress, questions_on, side_by_side
from lexloop_eval.score import Unresolved


class KnownAnswer(BaseModel):
    """A question with its answer; gold questions with a ``reference_answer`` are such too."""

    model_config = ConfigDict(frozen=True)

    question: str = Field(min_length=1, pattern=r"\S")
    answer: str = Field(
        min_length=1, pattern=r"\S", validation_alias=AliasChoices("answer", "reference_answer")
    )


def read_pairs(path: Path) -> list[KnownAnswer]:
    """Return the questions with their answers of a JSON Lines file.

    Raises:
        InputError: The file cannot be read, or a line is malformed.
    """
    return read_jsonl(path, KnownAnswer)


MOST_CHARS = 4000
"""Maximum characters of an authority, which goes into prompts whole. Questions of the LL144
development half find the right provision as often at 2,500, those of the sample less often."""
_CASE_NUMBER = re.compile(r"\b(?=\w*\d)(?:\d{2,4}[A-Z]{1,4}\d{1,6}|\w+[-/]\d+(?:[-/]\w+)*)\b")
_LEAST_TITLE = 8
"""Shorter titles of cases may occur in texts that do not mean the case."""


@dataclass(frozen=True)
class Authority:
    """A provision, a part of a case, or what the answer of a known pair rests on.

    Args:
        kind: Made from a pair, a provision or a case.
        origin: The source of its text. For a pair, ``cited`` if its answer cites provisions or
            cases of the corpus, else ``answer``. Otherwise ``corpus``.
        label: Its name for readers.
        text: Its words.
        documents: The documents of the corpus from which its text comes.
        section: Its label in its document, if it is from the corpus.
        title: The document's title, if it is from the corpus.
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
    metadata = view.metadata(view.documents)
    authorities: list[Authority] = []
    for _, section in groupby(
        view.every_chunk(), lambda chunk: (chunk["document"], chunk["section"])
    ):
        for part in _parts(section):
            name, label = part[0]["document"], part[0]["section"]
            full_text, end = view.text_of(name) or "", max(chunk["end"] for chunk in part)
            if text := full_text[part[0]["start"] : end][:MOST_CHARS].strip():
                kind: Literal["provision", "case"] = (
                    "case" if metadata[name].kind == "case" else "provision"
                )
                called, title = f"{name} {label}".strip(), part[0]["title"]
                authorities.append(Authority(kind, "corpus", called, text, (name,), label, title))
    return authorities


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
        for authority in authorities:
            if reference := cited(authority.section):
                self._by_section[_section(reference)].append(authority)
            for name in _names_of_case(authority) if authority.kind == "case" else ():
                self._cases[name].append(authority)

    def of(self, text: str) -> list[Authority]:
        """Return the provisions and cases that ``text`` cites, in order and without repetition.

        If several documents have a section number, it stands for the document that the reference
        names, or else for the one that shares most words with ``text``.
        """
        places = [
            (reference.start, _meant(candidates, reference.act.lower(), set(tokenize(text))))
            for reference in every_cited(text)
            if (candidates := self._by_section.get(_section(reference)))
        ]
        cases = ((text.lower().find(name), candidates) for name, candidates in self._cases.items())
        places += [(place, candidates) for place, candidates in cases if place >= 0]
        places.sort(key=lambda placed: placed[0])
        return list(
            dict.fromkeys(authority for _, candidates in places for authority in candidates)
        )


def _meant(candidates: Sequence[Authority], act: str, words_of_text: set[str]) -> list[Authority]:
    """Return all parts of the section in the document that is meant."""
    by_document: dict[tuple[str, ...], list[Authority]] = defaultdict(list)
    for authority in candidates:
        by_document[authority.documents].append(authority)

    def merit(parts: Sequence[Authority]) -> tuple[bool, int]:
        # title and file name, as a reference might write them
        stem = re.sub(r"[_-]+", " ", PurePosixPath(parts[0].documents[0]).stem)
        is_named = len(act) >= _LEAST_TITLE and act in f"{parts[0].title}\n{stem}".lower()
        return is_named, len(words_of_text & set(tokenize(" ".join(part.text for part in parts))))

    return max(by_document.values(), key=merit)


def _section(reference: Cited) -> tuple[str, str]:
    """Return the key that a text and a label share, without subdivisions."""
    return reference.kind, reference.number.partition("|")[0]


def _names_of_case(case: Authority) -> set[str]:
    """The names of a case in texts: its title, or the number in its title or file name."""
    title = case.title.strip()
    names = f"{title}\n{PurePosixPath(case.documents[0]).stem}"
    own_names = {number.lower() for number in _CASE_NUMBER.findall(names)}
    return own_names | ({title.lower()} if len(title) >= _LEAST_TITLE else set())


def pair_entries(pairs: Sequence[KnownAnswer], authorities: Sequence[Authority]) -> list[Entry]:
    """Return each question with the document extracted from its answer (Eval-RAG, section 2).

    That is the text of the provisions and cases that the answer cites, if the corpus has them, or
    else the answer itself. The authority's ``origin`` says which.
    """
    lookup = CitedAuthorities(authorities)
    return [Entry(pair.question, _of_pair(pair, lookup.of(pair.answer))) for pair in pairs]


def _of_pair(pair: KnownAnswer, cited: Sequence[Authority]) -> Authority:
    if not cited:
        return Authority("pair", "answer", "a known answer", pair.answer.strip())
    chosen: list[Authority] = []
    for authority in cited:
        if (
            not chosen
            or sum(len(other.text) for other in chosen) + len(authority.text) <= MOST_CHARS
        ):
            chosen.append(authority)
    return Authority(
        "pair",
        "cited",
        ", ".join(dict.fromkeys(authority.label for authority in chosen)),
        "\n\n".join(authority.text for authority in chosen),
        tuple(dict.fromkeys(name for authority in chosen for name in authority.documents)),
    )


_MOST_HEADING = 120
_MARKS = re.compile(r"^[#\s]+")
Write = Callable[[Sequence[Authority], Progress], tuple[list[Entry], list[str]]]
Match = tuple[Entry, float]
"""The nearest known question, and its cosine to the question that was asked, in [-1, 1]."""


class QuestionIndex:
    """Known questions, their vectors, and the authority that answers each.

    Args:
        entries: The known questions, at least one.
        embedder: Embeds known questions and new ones.
        progress: Called with the number of embedded questions.
    """

    def __init__(self, entries: Sequence[Entry], embedder: Embedder, progress: Progress) -> None:
        self.entries, self._embedder = list(entries), embedder
        questions = [entry.question for entry in self.entries]
        self._vectors = embedder.encode(questions, progress).astype(np.float32)

    def __len__(self) -> int:
        return len(self.entries)

    def nearest(
        self, questions: Sequence[str], documents: Sequence[Collection[str] | None]
    ) -> list[Match | None]:
        """Return the most similar known question for each question, by cosine.

        Args:
            questions: The questions.
            documents: For each question, the documents that its authority may come from, or None
                for any.

        Returns:
            None for a question if no authority comes from its documents.
        """
        if not questions:
            return []
        vectors = self._embedder.embed(list(questions))
        return [self._nearest(*pair) for pair in zip(vectors, documents, strict=True)]

    def _nearest(self, vector: Vectors, documents: Collection[str] | None) -> Match | None:
        cosines = self._vectors @ vector
        if documents is not None:
            allowed = set(documents)
            fits = [not allowed.isdisjoint(entry.authority.documents) for entry in self.entries]
            cosines = np.where(fits, cosines, -np.inf)
        best = int(cosines.argmax())
        return (self.entries[best], float(cosines[best])) if np.isfinite(cosines[best]) else None


def known_questions(
    settings: Settings | None,
    pairs: Sequence[KnownAnswer],
    embedder: Embedder,
    write: Write | None,
    progress: Callable[[str, int, int], None],
) -> tuple[QuestionIndex | None, list[str]]:
    """Return the index that gives each question its document.

    Args:
        settings: Their ``corpus`` gives the provisions and cases that their filters admit. None for
            no corpus.
        pairs: Questions with their answers.
        embedder: Embeds questions, and a corpus that is not indexed yet.
        write: Has a model write the questions of provisions. None for questions by rule.
        progress: Called with a stage's name, the number done and the total.

    Returns:
        The index, or None without a corpus and pairs; and what ``write`` reports as missing.

    Raises:
        CorpusError: The corpus is missing, empty or unreadable.
        DataError: An index is damaged or was built with another embedder.
        ModelError: The model's host cannot answer anything.
    """
    authorities: list[Authority] = []
    if settings:
        collection, _ = open_corpus(settings.corpus, tools_for(settings, embedder), progress)
        with closing(collection):
            authorities = authorities_of(collection.seen_by(Filters.of(settings)))
    entries, missing = entries_by_rule(authorities), list[str]()
    if write is not None:
        entries, missing = write(authorities, partial(progress, "writing questions"))
    entries += pair_entries(pairs, authorities)
    if not entries:
        return None, missing
    return QuestionIndex(entries, embedder, partial(progress, "embedding questions")), missing


def entries_by_rule(authorities: Sequence[Authority]) -> list[Entry]:
    """Return the questions of every provision: one on the heading, and its statements.

    Statements are used unchanged: an embedder trained on questions and answers puts a question
    closer to the words that answer it than to a template filled with them.
    """
    entries: list[Entry] = []
    for authority in authorities:
        heading = _MARKS.sub("", authority.text.partition("\n")[0])[:_MOST_HEADING]
        texts = [statement.text for statement in statements_in_text(authority.text)]
        questions = [f"What does {authority.section} say? {heading}".strip(), *texts]
        entries += [Entry(question, authority) for question in dict.fromkeys(questions)]
    return entries


def entries_by_model(
    asker: Asker, count: int, workers: int, authorities: Sequence[Authority], progress: Progress
) -> tuple[list[Entry], list[str]]:
    """Return the questions that a model writes for every provision.

    Args:
        asker: Asks the model.
        count: The number of questions per provision.
        workers: The number of provisions put to the model at once.
        authorities: The provisions and cases.
        progress: Called with the number of finished provisions and their total.

    Returns:
        The entries; and for each provision without a question from the model, its label and the
        reason. Such a provision has the questions by rule instead.

    Raises:
        ModelError: No further question could be asked.
    """

    def ask(authority: Authority) -> list[str] | Unresolved:
        return asker.settle(questions_on(asker, authority.label, authority.text, count))

    entries: list[Entry] = []
    missing: list[str] = []
    replies = side_by_side(ask, authorities, progress, workers)
    for authority, reply in zip(authorities, replies, strict=True):
        if isinstance(reply, Unresolved) or not reply:
            why = reply.reason if isinstance(reply, Unresolved) else "no question was written"
            missing.append(f"{authority.label}: {why}")
            entries += entries_by_rule([authority])
        else:
            entries += [Entry(question, authority) for question in reply[:count]]
    return entries, missing
