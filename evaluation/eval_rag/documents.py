"""From a corpus and known pairs to the index that gives each question its document."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial

from lexloop.core.filters import Filters
from lexloop.core.settings import Settings
from lexloop.corpus.opening import cache_folder, open_corpus, tools_for
from lexloop.evaluation.asking import Asker
from lexloop.evaluation.eval_rag.authority import Entry
from lexloop.evaluation.eval_rag.index import QuestionIndex, kept_index
from lexloop.evaluation.eval_rag.pairs import Pair, pair_entries
from lexloop.evaluation.eval_rag.provisions import Provision, provisions_of
from lexloop.evaluation.eval_rag.questions import entries_by_model, entries_by_rule
from lexloop.models.embedding import Embedder

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Writer:
    """A model that writes the questions of provisions and cases.

    Args:
        asker: Asks it.
        count: How many for each.
        workers: For how many at once.
    """

    asker: Asker
    count: int
    workers: int


@dataclass(frozen=True)
class Known:
    """The index, and for each provision without questions by the model why there are none."""

    index: QuestionIndex | None
    missing: tuple[str, ...] = ()


def known_questions(
    settings: Settings | None,
    pairs: Sequence[Pair],
    embedder: Embedder,
    writer: Writer | None,
    progress: Progress,
) -> Known:
    """The index over everything that is known; without a corpus and without pairs there is none.

    Args:
        settings: Their ``corpus`` gives provisions and cases, those that their filters admit; None
            for no corpus.
        pairs: Questions with their answers.
        embedder: Makes the vectors of questions, and those of a corpus not indexed yet.
        writer: Writes the questions of provisions; None for questions by rule.
        progress: Called with a stage's name, what is done and how much there is.

    Raises:
        CorpusError: The corpus is missing, empty or unreadable.
        DataError: An index is damaged, was built with another embedder, or cannot be kept.
        ModelError: The model's host can answer nothing.
    """
    provisions = _provisions(settings, embedder, progress) if settings else []
    entries, missing = _questions_of(provisions, writer, progress)
    entries += pair_entries(pairs, provisions)
    if not entries:
        return Known(None, missing)
    folder = cache_folder().parent / "questions"
    index = kept_index(entries, embedder, folder, partial(progress, "embedding questions"))
    return Known(index, missing)


def _provisions(settings: Settings, embedder: Embedder, progress: Progress) -> list[Provision]:
    collection, _ = open_corpus(settings.corpus, tools_for(settings, embedder), progress)
    with closing(collection):
        return provisions_of(collection.seen_by(Filters.of(settings)))


def _questions_of(
    provisions: Sequence[Provision], writer: Writer | None, progress: Progress
) -> tuple[list[Entry], tuple[str, ...]]:
    if writer is None:
        return entries_by_rule(provisions), ()
    entries, missing = entries_by_model(
        provisions,
        writer.asker,
        writer.count,
        partial(progress, "writing questions"),
        writer.workers,
    )
    return entries, tuple(missing)
