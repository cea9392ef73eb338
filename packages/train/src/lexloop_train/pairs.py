"""Pairs of a question and a provision that answers it: made, read, written, split by document."""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Collection as Names
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from lexloop.core.errors import CorpusError, InputError
from lexloop.core.jsonl import read_jsonl, write_checked
from lexloop.core.settings import Settings
from lexloop.documents.reading.workers import Progress, silent
from lexloop.documents.text.tokens import term_set, words
from lexloop.store.view import Collection
from lexloop_eval.case import Case
from lexloop_eval.graph_runs import retriever
from lexloop_train.questions import AnsweredQuestion, ProvisionText
from lexloop_train.rows import read_csv

FEWEST = 2
CLICKED = ("clicks, title", "clicks, body")
"""The sources of the two pairs that a click makes."""
MOST_ANSWERS = 3
"""Maximum provisions that answer a question. Others are too general to learn from."""
_MOST_NEGATIVES = 3
_DEPTH = 12
_SAME = 0.7
"""Minimum share of common stems, of the shorter text, at which two texts say the same."""
Mine = Callable[[str, Sequence[ProvisionText], Names[str]], tuple[str, ...]]
"""From a question, its answers and the documents to look in to the texts of its negatives."""


@dataclass(frozen=True)
class TrainingPair:
    """A question and a provision that answers it.

    Args:
        heading: The headings above the provision, or empty.
        document: The document of the provision, or similar. Other pairs of the same document are
            hard negatives, and no document is on both sides of a split.
        negatives: Texts that are near the question but do not answer it, if known.
    """

    question: str
    text: str
    heading: str
    document: str
    source: str = ""
    negatives: tuple[str, ...] = ()


class _Line(BaseModel):
    """A line of a file of pairs. Other fields are ignored."""

    question: str = Field(pattern=r"\S")
    text: str = Field(pattern=r"\S")
    heading: str = ""
    document: str = Field(pattern=r"\S")
    source: str = ""
    negatives: tuple[str, ...] = ()


class _Click(BaseModel):
    """A line of a click log; a document without a name is known by its title."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    query: str = Field(pattern=r"\S")
    document: str = ""
    title: str = Field(pattern=r"\S")
    body: str = ""
    clicks: int = Field(ge=0)


def read_pairs(path: Path) -> list[TrainingPair]:
    """Return the pairs of a JSON Lines file, one object a line with the fields of a pair.

    Raises:
        InputError: The file cannot be read, a line is malformed, which the message names by number
            and field, or there are too few pairs.
    """
    return _enough([TrainingPair(**line.model_dump()) for line in read_jsonl(path, _Line)], path)


def write_pairs(path: Path, pairs: Sequence[TrainingPair]) -> None:
    """Replace a file by these pairs. ``negatives`` is written only if there are some.

    Raises:
        InputError: It cannot be written.
    """
    rows = [asdict(pair) for pair in pairs]
    for row in rows:
        if not row["negatives"]:
            del row["negatives"]
    write_checked(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def read_clicks(path: Path) -> list[TrainingPair]:
    """Return pairs of a click log: (query, title) and (query, body) (Sultania et al., appendix A).

    Args:
        path: A ``.jsonl`` file, or a ``.csv`` file with a header line: ``query``, ``title``,
            ``body``, ``clicks``, and perhaps ``document``, the name by which a split goes.

    Raises:
        InputError: The file is of another kind, cannot be read or is malformed, or too few of its
            rows were clicked.
    """
    if path.suffix.lower() not in (".jsonl", ".csv"):
        raise InputError(f"{path} is not a click log.", "Give a .jsonl or .csv file.")
    rows = (read_jsonl if path.suffix.lower() == ".jsonl" else read_csv)(path, _Click)
    pairs = [
        TrainingPair(row.query, text, heading, row.document or row.title, source)
        for row in rows
        if row.clicks
        for source, text, heading in zip(
            CLICKED, (row.title, row.body), ("", row.title), strict=True
        )
        if text.strip()
    ]
    return _enough(deduplicated(pairs), path)


def deduplicated(pairs: Sequence[TrainingPair]) -> list[TrainingPair]:
    """Return the first of the pairs that have the same question and text word for word."""
    distinct: dict[tuple[str, str], TrainingPair] = {}
    for pair in pairs:
        distinct.setdefault((_wording(pair.question), _wording(pair.text)), pair)
    return list(distinct.values())


def split(
    pairs: Sequence[TrainingPair], share: float, seed: int = 0
) -> tuple[list[TrainingPair], list[TrainingPair]]:
    """Return training pairs, and those kept for measuring.

    A document is kept by the SHA-256 of its name, the same on every machine and with any other
    documents. If that keeps fewer than two pairs, or every document, the next ones change sides. A
    pair whose text is also that of a kept one is left out of training.

    Args:
        pairs: All pairs.
        share: About the share of documents to keep, above 0 and below 1.
        seed: Another seed keeps other documents.

    Raises:
        InputError: The share is not allowed, or a side has no pairs.
    """
    if not 0.0 < share < 1.0:
        raise InputError(f"The share to keep is {share}.", "Give one above 0 and below 1.")
    places = {pair.document: place_of(pair.document, seed) for pair in pairs}
    names = sorted(places, key=places.__getitem__)
    count = sum(place < share for place in places.values())
    sizes = Counter(pair.document for pair in pairs)
    while sum(sizes[name] for name in names[:count]) < FEWEST and count < len(names):
        count += 1
    kept_names = set(names[: min(count, max(len(names) - 1, 0))])
    kept = [pair for pair in pairs if pair.document in kept_names]
    kept_texts = {_wording(pair.text) for pair in kept}
    training = [
        pair
        for pair in pairs
        if pair.document not in kept_names and _wording(pair.text) not in kept_texts
    ]
    if not training or not kept:
        raise InputError(
            f"Of {len(pairs)} pairs of {len(names)} documents {len(training)} are for training and "
            f"{len(kept)} for measuring.",
            "Give pairs of more documents, or another share; a document is never on both sides.",
        )
    return training, kept


def place_of(document: str, seed: int = 0) -> float:
    """Return the place of a document between 0 and 1."""
    digest = hashlib.sha256(f"{seed}:{document}".encode()).digest()
    return int.from_bytes(digest[:8]) / 2**64


def _wording(text: str) -> str:
    return " ".join(words(text)) or text.strip()


def _enough(pairs: list[TrainingPair], path: Path) -> list[TrainingPair]:
    if len(pairs) < FEWEST:
        raise InputError(f"{path} holds {len(pairs)} pairs.", f"Give at least {FEWEST}.")
    return pairs


@dataclass(frozen=True)
class MadePairs:
    """The pairs of some questions.

    Args:
        training: The training pairs, in the order of the documents.
        kept: Pairs of other documents, to measure on. Empty if nothing is to be kept, or if a side
            would have fewer than two pairs, which is too few to use.
        left_out: The number of questions left out, because they repeat, are too general, or their
            provision is in a kept document word for word.
    """

    training: list[TrainingPair]
    kept: list[TrainingPair]
    left_out: int


def make_pairs(
    asked: Iterable[AnsweredQuestion],
    documents: Names[str],
    *,
    share: float,
    seed: int,
    mine: Mine | None = None,
    report: Progress = silent,
) -> MadePairs:
    """Make pairs of questions.

    The share of documents kept for measuring may be 0. ``mine`` finds the negatives of a question
    in the documents on its side of the split. None for no negatives.

    Raises:
        CorpusError: There are fewer than two pairs.
        InputError: The share is not allowed, or one side of the split is empty.
    """
    questions = list(asked)
    groups = by_question(questions)
    answers = {group[0].question: [answered.provision for answered in group] for group in groups}
    all_answered = [
        replace(answered, question=group[0].question) for group in groups for answered in group
    ]
    all_answered.sort(key=lambda answered: (answered.provision.document, answered.provision.start))
    pairs = [
        TrainingPair(answered.question, there.text, there.heading, there.document, answered.source)
        for answered in all_answered
        for there in [answered.provision]
    ]
    if len(pairs) < FEWEST:
        raise CorpusError(
            f"The documents give {len(pairs)} pairs.",
            "They hold too little text, or none that states rules; with --model a model asks.",
        )
    training, kept = split(pairs, share, seed) if share else (pairs, [])
    if min(len(training), len(kept)) < FEWEST:
        training, kept = pairs, []
    left_out = len(questions) - len(training) - len(kept)
    if mine is not None:
        kept_documents = {pair.document for pair in kept}
        apart = [name for name in documents if name not in kept_documents]
        done = 0
        for side, allowed in ((training, apart), (kept, kept_documents)):
            found_for: dict[str, tuple[str, ...]] = {}
            for place, pair in enumerate(side):
                asking = pair.question
                if asking not in found_for:
                    found_for[asking] = mine(asking, answers[asking], frozenset(allowed))
                side[place] = replace(pair, negatives=found_for[asking])
                done += 1
                report("negatives", done, len(training) + len(kept))
    return MadePairs(training, kept, left_out)


def by_question(asked: Iterable[AnsweredQuestion]) -> list[list[AnsweredQuestion]]:
    """Group answers by question, compared by its words. Repeated texts of a question count once.

    Questions that more than three texts answer are left out.
    """
    groups: dict[str, dict[str, AnsweredQuestion]] = defaultdict(dict)
    for answered in asked:
        key = " ".join(words(answered.question)) or answered.question
        groups[key].setdefault(" ".join(words(answered.provision.text)), answered)
    return [[*group.values()] for group in groups.values() if len(group) <= MOST_ANSWERS]


def miner(collection: Collection, settings: Settings) -> Mine:
    """Return a function that finds hard negatives by retrieval without a model.

    They are up to three texts that do not answer, only from the given documents, highest rank
    first.
    """
    retrieve = retriever(collection, settings, _DEPTH)

    def mine(
        question: str, answers: Sequence[ProvisionText], documents: Names[str]
    ) -> tuple[str, ...]:
        answer_terms = [term_set(answer.text) for answer in answers]
        texts: dict[str, None] = {}
        for passage in retrieve(Case(question=question)):
            place = passage["document"], passage["start"], passage["end"]
            apart = not any(answer.overlaps(*place) for answer in answers)
            text = " ".join(passage["text"].split())
            if apart and passage["document"] in documents and not _repeats(text, answer_terms):
                texts[text] = None
            if len(texts) == _MOST_NEGATIVES:
                break
        return tuple(texts)

    return mine


def _repeats(text: str, answer_terms: Sequence[frozenset[str]]) -> bool:
    terms = term_set(text)
    return any(
        len(terms & own) >= _SAME * max(1, min(len(terms), len(own))) for own in answer_terms
    )
