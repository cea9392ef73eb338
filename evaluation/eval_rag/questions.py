"""Known questions, by rules, by a model (Eval-RAG, section 2) and of pairs, and their index.

The index goes from a question to the authority that answers the nearest known one (figure 2).
"""

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Self, TypeVar

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
from lexloop.store.folder.dense import flat_index, one_thread, search_few, search_flat
from lexloop.store.opening import open_corpus, tools_for

_MOST_HEADING = 120
_MOST_QUESTIONS = 10
_MARKS = re.compile(r"^[#\s]+")
_VERSION = 1
_DIGEST_CHARS = 64
_WRITTEN = ("kind", "origin", "label", "text", "documents")
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
        vectors: Those of the questions, shape (entries, dimension), in half precision.
        embedder: Made them, and embeds what is asked.
    """

    def __init__(self, entries: Sequence[Entry], vectors: Halves, embedder: Embedder) -> None:
        self.entries = list(entries)
        self._vectors = vectors
        self._embedder = embedder
        self._flat = flat_index(vectors)

    def __len__(self) -> int:
        return len(self.entries)

    @classmethod
    def build(cls, entries: Sequence[Entry], embedder: Embedder, progress: Progress) -> Self:
        """Embed the questions of ``entries``."""
        vectors = embedder.encode([entry.question for entry in entries], progress)
        return cls(entries, vectors, embedder)

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
        with one_thread():
            return [
                self._nearest(vector[None, :], wanted)
                for vector, wanted in zip(vectors, documents, strict=True)
            ]

    def _nearest(self, vector: Vectors, documents: Collection[str] | None) -> Match | None:
        if documents is None:
            scores, rows = search_flat(self._flat, vector, 1)
        else:
            wanted = set(documents)
            mask = np.array([not wanted.isdisjoint(e.authority.documents) for e in self.entries])
            if not mask.any():
                return None
            scores, rows = search_few(self._vectors, vector, 1, mask)
        return self.entries[int(rows[0, 0])], float(scores[0, 0])

    def save(self, path: Path) -> None:
        """Write everything to one file, in one step.

        Raises:
            OSError: It cannot be written.
        """
        body = _described(self.entries, self._embedder) + b"\n" + self._vectors.tobytes()
        write_bytes(path, hashlib.sha256(body).hexdigest().encode() + body)

    @classmethod
    def load(cls, path: Path, embedder: Embedder) -> Self:
        """Read what ``save`` wrote.

        Raises:
            DataError: The file is missing, damaged, of another version or by another embedder.
        """
        try:
            data = path.read_bytes()
        except OSError as error:
            raise _unusable(path, str(error)) from error
        digest, body = data[:_DIGEST_CHARS], data[_DIGEST_CHARS:]
        if hashlib.sha256(body).hexdigest().encode() != digest:
            raise _unusable(path, "it is damaged")
        described, _, vectors = body.partition(b"\n")
        record = json.loads(described)
        made = (record["version"], record["embedder"], record["dimension"])
        if made != (_VERSION, embedder.name, embedder.dimension):
            raise _unusable(path, f"it was made by {made}")
        authorities = [
            Authority(**{**one, "documents": tuple(one["documents"])})
            for one in record["authorities"]
        ]
        entries = [Entry(question, authorities[at]) for question, at in record["questions"]]
        shape = (len(entries), embedder.dimension)
        return cls(entries, np.frombuffer(vectors, dtype=np.float16).reshape(shape), embedder)


def cached_index(
    entries: Sequence[Entry], embedder: Embedder, folder: Path, progress: Progress
) -> QuestionIndex:
    """Return the index over ``entries``, from ``folder`` where the same was made before.

    Its file is named by a hash of its content; a damaged one is made anew.

    Raises:
        DataError: It cannot be written.
    """
    key = hashlib.sha256(_described(entries, embedder)).hexdigest()[:32]
    path = folder / f"{key}.questions"
    if path.exists():
        with suppress(DataError):
            return QuestionIndex.load(path, embedder)
    index = QuestionIndex.build(entries, embedder, progress)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        index.save(path)
    except OSError as error:
        raise _unusable(path, str(error)) from error
    return index


def _described(entries: Sequence[Entry], embedder: Embedder) -> bytes:
    """Everything but the vectors, each authority once."""
    places: dict[Authority, int] = {}
    questions = [
        (entry.question, places.setdefault(entry.authority, len(places))) for entry in entries
    ]
    record = {
        "version": _VERSION,
        "embedder": embedder.name,
        "dimension": embedder.dimension,
        "authorities": [{name: getattr(one, name) for name in _WRITTEN} for one in places],
        "questions": questions,
    }
    return json.dumps(record).encode()


def _unusable(path: Path, reason: str) -> DataError:
    return DataError(
        f"The index of questions {path} cannot be used: {reason}.",
        "Name another folder for caches with LEXLOOP_CACHE.",
    )


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
    folder = cache_folder().parent / "questions"
    made = cached_index(entries, embedder, folder, partial(progress, "embedding questions"))
    return made, missing


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
        return asker.settle(_written_questions(asker, authority, count))

    entries: list[Entry] = []
    missing: list[str] = []
    replies = side_by_side(ask, authorities, progress, workers)
    for authority, found in zip(authorities, replies, strict=True):
        if isinstance(found, Unresolved) or not found:
            reason = found.reason if isinstance(found, Unresolved) else "no question was written"
            missing.append(f"{authority.label}: {reason}")
            entries += entries_by_rule([authority])
        else:
            entries += [Entry(question, authority) for question in found]
    return entries, missing


def side_by_side(
    work: Callable[[Thing], Result], things: Sequence[Thing], progress: Progress, workers: int
) -> Iterator[Result]:
    """Yield what ``work`` makes of each thing, in their order.

    Args:
        work: Run in one of so many threads, which wait for a model most of the time.
        things: What it is done to.
        progress: Called with how many are done and how many there are.
        workers: The number of threads.

    Raises:
        Whatever ``work`` raises: nothing further is begun then.
    """
    progress(0, len(things))
    threads = ThreadPoolExecutor(workers, thread_name_prefix="lexloop-asking")
    try:
        waiting = [threads.submit(work, thing) for thing in things]
        for done, future in enumerate(waiting, start=1):
            yield future.result()
            progress(done, len(things))
    finally:
        # a refused key refuses every other request too; the process ends with the calls under way
        threads.shutdown(wait=False, cancel_futures=True)
