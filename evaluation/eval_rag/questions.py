"""Known questions, by rules, by a model (Eval-RAG, section 2) and of pairs.

From a question the way leads to the authority that answers the nearest known one (figure 2).
"""

import json
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

import numpy as np
from pydantic import BaseModel, Field

from lexloop import prompts
from lexloop.core.errors import DataError
from lexloop.core.files import cache_folder, write_bytes
from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.documents.chunks.statements import statements_in_text
from lexloop.evaluation.asking import Asker
from lexloop.evaluation.eval_rag.answers import KnownAnswer
from lexloop.evaluation.eval_rag.authorities import Authority, Entry, authorities_of, pair_entries
from lexloop.evaluation.score import Unresolved
from lexloop.models.embedding import Embedder, Halves, Vectors
from lexloop.models.request import Chat, ChatRequest, parsed
from lexloop.store.opening import open_corpus, tools_for

_MOST_HEADING = 120
_MOST_QUESTIONS = 10
_MARKS = re.compile(r"^[#\s]+")
Thing = TypeVar("Thing")
Result = TypeVar("Result")
Progress = Callable[[int, int], None]
Write = Callable[[Sequence[Authority], Progress], tuple[list[Entry], list[str]]]
Match = tuple[Entry, float]
"""The nearest known question, and its cosine to the question that was asked, in [-1, 1]."""


class QuestionIndex:
    """Known questions, their vectors, and the authority that answers each.

    Args:
        entries: At least one.
        vectors: Those of the questions, shape (entries, dimension).
        embedder: Made them, and embeds what is asked.
    """

    def __init__(self, entries: Sequence[Entry], vectors: Halves, embedder: Embedder) -> None:
        self.entries, self._embedder = list(entries), embedder
        self._vectors = vectors.astype(np.float32)

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


def kept_vectors(
    questions: Sequence[str], embedder: Embedder, folder: Path, progress: Progress
) -> Halves:
    """Return the vectors of questions, from ``folder`` where those of the same were made before.

    Their file is named by a hash of the questions and begins with one of the vectors: damaged ones
    are made anew.

    Raises:
        DataError: It cannot be written.
    """
    told = json.dumps([embedder.name, embedder.dimension, *questions])
    path = folder / f"{sha256(told.encode()).hexdigest()[:32]}.vectors"
    with suppress(OSError):
        data = path.read_bytes()
        digest, kept = data[:32], data[32:]
        if sha256(kept).digest() == digest:
            return np.frombuffer(kept, np.float16).reshape(len(questions), embedder.dimension)
    vectors = embedder.encode(questions, progress)
    body = vectors.tobytes()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_bytes(path, sha256(body).digest() + body)
    except OSError as error:
        raise DataError(
            f"The vectors of questions cannot be kept in {path}: {error}.",
            "Name another folder for caches with LEXLOOP_CACHE.",
        ) from error
    return vectors


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
        DataError: An index is damaged, was built with another embedder, or cannot be written.
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
    folder, embedding = (
        cache_folder().parent / "questions",
        partial(progress, "embedding questions"),
    )
    vectors = kept_vectors([one.question for one in entries], embedder, folder, embedding)
    return QuestionIndex(entries, vectors, embedder), missing


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
    prompt = prompts.load("eval_rag_questions", {"document", "label", "count"})
    system, user = prompt.render(document=authority.text, label=authority.label, count=count)
    request = ChatRequest("eval_rag_questions", system, user, ProvisionQuestions)
    reply = parsed(await chat.ask(request), ProvisionQuestions)
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
        written = asker.settle(_written_questions(asker, authority, count))
        return written or Unresolved("no question was written")

    entries: list[Entry] = []
    missing: list[str] = []
    replies = side_by_side(ask, authorities, progress, workers)
    for authority, found in zip(authorities, replies, strict=True):
        if isinstance(found, Unresolved):
            missing.append(f"{authority.label}: {found.reason}")
            entries += entries_by_rule([authority])
        else:
            entries += [Entry(question, authority) for question in found]
    return entries, missing


def side_by_side(
    work: Callable[[Thing], Result], things: Sequence[Thing], progress: Progress, workers: int
) -> Iterator[Result]:
    """Yield what ``work`` makes of each thing in their order, in threads that wait for a model.

    Progress is told how many are done and how many there are. Nothing further is begun once
    ``work`` raised, which is raised here: a refused key refuses every other request too.
    """
    progress(0, len(things))
    with ThreadPoolExecutor(workers, thread_name_prefix="lexloop-asking") as threads:
        for done, result in enumerate(threads.map(work, things), start=1):
            yield result
            progress(done, len(things))
