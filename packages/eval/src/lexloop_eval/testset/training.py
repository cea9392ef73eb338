"""The complexity classifier's training set: questions labelled by how much they need, with noise.

Label 0 needs one piece of information, 1 needs two, 2 needs three or more (HyPA-RAG, section 7.1).
Noise prevents the classifier from learning the surface. With a model, it makes questions vaguer,
more verbose or more concise (appendix A.9).
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Literal

from pydantic import BaseModel, Field

from lexloop.core.errors import CorpusError, InputError
from lexloop.documents.text.tokens import STOP_WORDS
from lexloop.models.request import PlainReply
from lexloop_eval.asking import Asker, prompted
from lexloop_eval.score import Unresolved
from lexloop_eval.testset.facts import Fact, lowered

COLUMNS = ("question", "label", "question_clean")
"""Of a file of such questions, as `lexloop finetune classifier` reads it."""
_WORDS = ("what", "who", "why", "when", "where", "how", "which", "the", "a", "of", "in", "could",
          "can", "will", "and", "for", "is", "does", "when", "under")  # fmt: skip
_MARKS = "!#%*-/\\|<>{}[]()`~^.,;"
_VERBOSE = (
    "I would be grateful if you could give me a thorough answer to the following question: ",
    "There is something that I have been trying to understand for quite a while now, namely: ",
    "Could you please look into this for me and set it out step by step, in full sentences: ",
)
_OPENINGS = ("Explain {}.", "Please describe {}.", "Tell me {}.", "I need to know {}.",
             "Can you clarify {}?", "Could you tell me {}?")  # fmt: skip
_KEPT = {"who", "whom", "when", "where", "why", "how", "which", "not", "no", "before", "after"}
_QUALIFYING = re.compile(
    r",?\s(?:of|for|with|in|on|by|under|from|during|within|between|before|after|about)\s"
    r"(?!\w+ing\b)(?:an?\s|the\s)?[\w\-'§.“”]+"
)


def _noisy_words(text: str, rng: Random) -> str:
    """One to three words put in anywhere that do not belong there."""
    words = text.split()
    for _ in range(rng.randint(1, 3)):
        words.insert(rng.randint(0, len(words)), rng.choice(_WORDS))
    return " ".join(words)


def _noisy_marks(text: str, rng: Random) -> str:
    """One to four punctuation marks put in anywhere."""
    for _ in range(rng.randint(1, 4)):
        place = rng.randint(0, len(text))
        text = text[:place] + rng.choice(_MARKS) + text[place:]
    return text


def reordered(text: str, rng: Random) -> str:
    """The first words moved to the end."""
    words = text.split()
    place = rng.randrange(1, max(2, len(words)))
    return " ".join(words[place:] + words[:place])


def misspelt(text: str, rng: Random) -> str:
    """Swap two letters in one or two of the longer words, or double one if they are equal."""
    words = text.split()
    long = [i for i, word in enumerate(words) if len(word) > 3] or [*range(len(words))]
    for i in rng.sample(long, min(rng.randint(1, 2), len(long))):
        place = rng.randrange(max(1, len(words[i]) - 1))
        letter, following = words[i][place : place + 1], words[i][place + 1 : place + 2]
        changed = (
            letter * 2 + following if letter == following or not following else following + letter
        )
        words[i] = words[i][:place] + changed + words[i][place + 2 :]
    return " ".join(words)


def vaguer(text: str, rng: Random) -> str:
    """The question without one or two of the phrases that make it precise."""
    qualifying = list(_QUALIFYING.finditer(text))
    for match in sorted(rng.sample(qualifying, min(2, len(qualifying))), key=lambda m: -m.start()):
        text = text[: match.start()] + text[match.end() :]
    return text if qualifying else re.sub(r"[?.]?$", " in this regard?", text, count=1)


def shortened(text: str, _: Random) -> str:
    """The words that carry the meaning, without function words and question marks."""
    left_out = STOP_WORDS - _KEPT
    words = text.rstrip("?.").split()
    remaining = [word for word in words if word.strip(",.;").lower() not in left_out]
    return " ".join(remaining) if len(remaining) > 1 else text.rstrip("?.").lower()


NOISES: dict[str, Callable[[str, Random], str]] = {
    "vague": vaguer,
    "words or punctuation": lambda text, rng: rng.choice((_noisy_words, _noisy_marks))(text, rng),
    "words and punctuation": lambda text, rng: _noisy_marks(_noisy_words(text, rng), rng),
    "reordered": reordered,
    "misspelt": misspelt,
    "verbose": lambda text, rng: rng.choice(_VERBOSE) + lowered(text),
    "shortened": shortened,
}

MANNERS = {"vague": 1, "verbose": 2, "shortened": 3}
"""The kinds of noise that a model gives, and their numbers in the prompt."""


class Reworded(BaseModel):
    """A question in other words, as the model writes it."""

    question: str = Field(min_length=1)


class RewordedAlone(PlainReply):
    """A question in other words, and nothing beside it."""

    question: str = Field(min_length=1)

    @classmethod
    def found_in(cls, text: str) -> dict[str, Any]:
        """Return the whole reply as the question."""
        return {"question": text.strip()}


async def _reworded(asker: Asker, manner: int, text: str) -> Reworded | RewordedAlone:
    """Return the question in another manner, as the asker's rubrics have it done."""
    by, name = asker.rubrics, "augment_question"
    if by == "verbatim":  # the paper prints one for each manner
        return await prompted(asker, f"{name}_{manner}", RewordedAlone, by, question=text)
    if by == "reworded":
        return await prompted(asker, name, RewordedAlone, by, manner=manner, question=text)
    return await prompted(asker, name, Reworded, manner=manner, question=text)


class ModelNoise:
    """Applies noise by name. A model applies the noise that needs understanding.

    Args:
        asker: Asks the model. None leaves everything to rules.

    ``failed`` counts the questions that rules reworded because the model did not.
    """

    def __init__(self, asker: Asker | None) -> None:
        self._asker = asker
        self.failed = 0

    def __call__(self, kind: str, text: str, rng: Random) -> str:
        """The question with that noise."""
        if self._asker is None or kind not in MANNERS:
            return NOISES[kind](text, rng)
        reply = self._asker.settle(_reworded(self._asker, MANNERS[kind], text))
        if isinstance(reply, Unresolved):
            self.failed += 1
            return NOISES[kind](text, rng)
        return " ".join(reply.question.split())


Noise = Literal["paper", "independent"]
SHARES: dict[str, float] = {
    "vague": 0.10,
    "words or punctuation": 0.10,
    "words and punctuation": 0.10,
    "reordered": 0.05,
    "misspelt": 0.05,
}
"""Shares of all questions. A quarter of label 0 is also made verbose, one of label 2 short."""
TARGETED: dict[str, tuple[int, float]] = {"verbose": (0, 0.25), "shortened": (2, 0.25)}
NONE = "none"
_PIECES = {0: (1,), 1: (2,), 2: (3, 4)}
"""Number of facts asked for together, by label."""
_MOST_REPEATS = 200
Change = Callable[[str, str, Random], str]


@dataclass(frozen=True)
class TrainingRow:
    """A question, its label, itself before noise, and which noise it got."""

    question: str
    label: int
    question_clean: str
    noise: str = NONE


def training_set(
    facts: Sequence[Fact],
    n: int,
    seed: int,
    noise: Noise = "paper",
    change: Change = lambda kind, text, rng: NOISES[kind](text, rng),
) -> list[TrainingRow]:
    """Return ``n`` labelled questions, with labels as even as possible, in random order.

    Args:
        facts: The facts to ask about.
        n: The number of questions. There are fewer if the facts do not give as many.
        seed: The seed of all choices.
        noise: ``paper`` makes label 0 verbose and label 2 short, so that the noise gives the label
            away. ``independent`` spreads the same amounts evenly over all labels.
        change: Applies a noise by name to a question.

    Raises:
        InputError: ``n`` is less than 1.
        CorpusError: The facts give no question of some label.
    """
    if n < 1:
        raise InputError(f"n is {n}.", "Ask for at least 1 question.")
    rng = Random(f"{seed}:training")  # noqa: S311 - a choice, no secret
    rows: list[TrainingRow] = []
    for label in _PIECES:
        share = n // 3 + (label < n % 3)
        texts = _questions([fact for fact in facts if fact.clause], label, share, rng)
        if share and not texts:
            raise CorpusError(
                f"The documents give no question of label {label}.",
                "They state too few facts; give more documents.",
            )
        rows += [TrainingRow(text, label, text) for text in texts]
    kinds = _assigned([row.label for row in rows], noise, rng)
    noised = [
        row if kind == NONE else replace(row, question=change(kind, row.question, rng), noise=kind)
        for row, kind in zip(rows, kinds, strict=True)
    ]
    rng.shuffle(noised)
    return noised


def _questions(facts: Sequence[Fact], label: int, count: int, rng: Random) -> list[str]:
    """Different questions, of as many single facts as the label tells, or of one fact in pieces.

    They are drawn until hardly any is new.
    """
    single = [fact for fact in facts if fact.pieces == 1]
    complete = [[fact] for fact in facts if fact.pieces in _PIECES[label]]
    sizes = [size for size in _PIECES[label] if size <= len(single)]
    texts: dict[str, None] = {}
    repeats = 0
    while len(texts) < count and repeats < _MOST_REPEATS and (complete or sizes):
        alone = complete and (not sizes or rng.random() < len(complete) / len(facts))
        group = rng.choice(complete) if alone else rng.sample(single, rng.choice(sizes))
        text = rng.choice([*_worded(group)])
        repeats = repeats + 1 if text in texts else 0
        texts[text] = None
    return list(texts)


def _worded(facts: Sequence[Fact]) -> Iterator[str]:
    clauses = [fact.clause for fact in facts]
    joined = (
        ", and ".join(clauses)
        if len(clauses) < 3
        else f"{', '.join(clauses[:-1])}, and {clauses[-1]}"
    )
    yield f"{joined[0].upper()}{joined[1:]}?"
    yield from (opening.format(joined) for opening in _OPENINGS)


def _assigned(labels: Sequence[int], noise: Noise, rng: Random) -> list[str]:
    """Return the noise of each row, with exact shares up to rounding.

    The kinds of ``SHARES``, and in the independent variant all kinds, are spread over the rows of
    all labels in proportion, so that they say nothing about the label.
    """
    kinds = [NONE] * len(labels)
    drawn = rng.sample(range(len(labels)), len(labels))
    rows = {label: [row for row in drawn if labels[row] == label] for label in _PIECES}
    sizes = {label: len(own) for label, own in rows.items()}
    counts = {kind: round(share * len(labels)) for kind, share in SHARES.items()}
    for kind, (label, share) in TARGETED.items():
        count = round(share * sizes[label])
        if noise == "independent":
            counts[kind] = count
        else:
            for _ in range(count):
                kinds[rows[label].pop()] = kind
    places = (
        (rank / sizes[label], row) for label, own in rows.items() for rank, row in enumerate(own)
    )
    spread = (kind for kind, count in counts.items() for _ in range(count))
    for (_, row), kind in zip(sorted(places), spread, strict=False):
        kinds[row] = kind
    return kinds
