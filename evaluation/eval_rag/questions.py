"""Known questions, by rules, by a model (Eval-RAG, section 2) and of pairs, and their index."""

import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from typing import TypeVar

from pydantic import BaseModel, Field

from lexloop import prompts
from lexloop.core.filters import Filters
from lexloop.core.score import Unresolved
from lexloop.core.settings import Settings
from lexloop.corpus.opening import cache_folder, open_corpus, tools_for
from lexloop.corpus.structure.statements import statements_in_text
from lexloop.evaluation.asking import Asker
from lexloop.evaluation.eval_rag.answers import KnownAnswer
from lexloop.evaluation.eval_rag.authorities import Authority, Entry, authorities_of, pair_entries
from lexloop.evaluation.eval_rag.index import QuestionIndex, cached_index
from lexloop.models.embedding import Embedder
from lexloop.models.request import Chat, ChatRequest, parsed

Thing = TypeVar("Thing")
Result = TypeVar("Result")
Progress = Callable[[int, int], None]
Write = Callable[[Sequence[Authority], Progress], tuple[list[Entry], list[str]]]
_MOST_HEADING = 120
_MOST_QUESTIONS = 10
_MARKS = re.compile(r"^[#\s]+")


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


async def written_questions(chat: Chat, authority: Authority, count: int) -> list[str]:
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
        return asker.settle(written_questions(asker, authority, count))

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
