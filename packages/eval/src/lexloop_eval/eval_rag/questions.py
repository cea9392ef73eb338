"""Known questions, each with the authority that answers it: the pairs (q, d) of Eval-RAG, 2.

An authority is a provision, a part of a case, or what a known answer rests on. Its questions come
of rules, of a model, or of pairs of questions and answers; from any question the way leads to the
authority that answers the nearest known one (figure 2).
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
from lexloop.models.request import Chat
from lexloop.store.opening import open_corpus, tools_for
from lexloop.store.view import View
from lexloop_eval.asking import Asker, Progress, prompted, side_by_side
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


_MOST_HEADING = 120
_MOST_QUESTIONS = 10
_MARKS = re.compile(r"^[#\s]+")
Write = Callable[[Sequence[Authority], Progress], tuple[list[Entry], list[str]]]
Match = tuple[Entry, float]
"""The nearest known question, and its cosine to the question that was asked, in [-1, 1]."""


class QuestionIndex:
    """Known questions, their vectors, and the authority that answers each.

    Args:
        entries: At least one.
        embedder: Makes their vectors, and embeds what is asked.
        progress: Told how many are made.
    """

    def __init__(self, entries: Sequence[Entry], embedder: Embedder, progress: Progress) -> None:
        self.entries, self._embedder = list(entries), embedder
        questions = [one.question for one in self.entries]
        self._vectors = embedder.encode(questions, progress).astype(np.float32)

    def __len__(self) -> int:
        return len(self.entries)

    def nearest(
        self, questions: Sequence[str], documents: Sequence[Collection[str] | None]
    ) -> list[Match | None]:
        """Return for each question the known question whose cosine is highest.

        Args:
            questions: What was asked.
            documents: Of each question the documents of which one must be the authority's; None
                for no such condition.

        Returns:
            None where no authority comes from those documents.
        """
        if not questions:
            return []
        vectors = self._embedder.embed(list(questions))
        return [self._nearest(*asked) for asked in zip(vectors, documents, strict=True)]

    def _nearest(self, vector: Vectors, documents: Collection[str] | None) -> Match | None:
        cosines = self._vectors @ vector
        if documents is not None:
            wanted = set(documents)
            fits = [not wanted.isdisjoint(one.authority.documents) for one in self.entries]
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
        settings: Their ``corpus`` gives provisions and cases, those that their filters admit; None
            for no corpus.
        pairs: Questions with their answers.
        embedder: Makes the vectors of questions, and those of a corpus not indexed yet.
        write: Has a model write the questions of provisions; None for questions by rule.
        progress: Called with a stage's name, what is done and how much there is.

    Returns:
        The index, None without a corpus and without pairs; and what ``write`` found missing.

    Raises:
        CorpusError: The corpus is missing, empty or unreadable.
        DataError: An index is damaged or was built with another embedder.
        ModelError: The model's host can answer nothing.
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

    Statements serve as they are: an embedder trained on questions and answers puts a question
    closer to the words that answer it than to a template filled with them.
    """
    entries: list[Entry] = []
    for authority in authorities:
        heading = _MARKS.sub("", authority.text.partition("\n")[0])[:_MOST_HEADING]
        said = [statement.text for statement in statements_in_text(authority.text)]
        questions = [f"What does {authority.section} say? {heading}".strip(), *said]
        entries += [Entry(question, authority) for question in dict.fromkeys(questions)]
    return entries


class ProvisionQuestions(BaseModel):
    """The questions that a provision answers."""

    questions: list[str] = Field(min_length=1, max_length=_MOST_QUESTIONS)


async def _written_questions(chat: Chat, authority: Authority, count: int) -> list[str]:
    """Have a model write so many questions that a provision answers."""
    reply = await prompted(
        chat,
        "eval_rag_questions",
        ProvisionQuestions,
        document=authority.text,
        label=authority.label,
        count=count,
    )
    return [question.strip() for question in reply.questions if question.strip()][:count]


def entries_by_model(
    asker: Asker, count: int, workers: int, authorities: Sequence[Authority], progress: Progress
) -> tuple[list[Entry], list[str]]:
    """Return the questions that a model writes for every provision.

    Args:
        asker: Asks the model.
        count: Questions for each.
        workers: Provisions that are put to the model at once.
        authorities: The provisions and cases.
        progress: Called with the provisions done and the provisions in all.

    Returns:
        The entries, and for each provision that the model gave none for, its label and why: it has
        the questions by rule instead.

    Raises:
        ModelError: No further question could be asked.
    """

    def ask(authority: Authority) -> list[str] | Unresolved:
        return asker.settle(_written_questions(asker, authority, count))

    entries: list[Entry] = []
    missing: list[str] = []
    replies = side_by_side(ask, authorities, progress, workers)
    for authority, found in zip(authorities, replies, strict=True):
        if isinstance(found, Unresolved) or not found:
            why = found.reason if isinstance(found, Unresolved) else "no question was written"
            missing.append(f"{authority.label}: {why}")
            entries += entries_by_rule([authority])
        else:
            entries += [Entry(question, authority) for question in found]
    return entries, missing
