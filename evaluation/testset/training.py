"""The complexity classifier's training set: questions labelled by how much they need, with noise.

Label 0 needs one piece of information, 1 needs two, 2 needs three or more (HyPA-RAG, section 7.1).
Noise is for the classifier to learn no surface; where a model is there it makes questions vaguer,
more verbose or more concise (appendix A.9).
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from random import Random
from typing import Literal

from pydantic import BaseModel, Field

from lexloop.core.errors import CorpusError, InputError
from lexloop.documents.text.tokens import STOP_WORDS
from lexloop.evaluation.asking import Asker
from lexloop.evaluation.score import Unresolved
from lexloop.evaluation.testset.phrases import lowered
from lexloop.evaluation.testset.templates import Fact
from lexloop.models.request import Chat, ChatRequest, parsed
from lexloop.prompts import load

_WORDS = ("what", "who", "why", "when", "where", "how", "which", "the", "a", "of", "in", "could",
          "can", "will", "and", "for", "is", "does", "when", "under")  # fmt: skip
_MARKS = "!#%*-/\\|<>{}[]()`~^.,;"
_VERBOSE = (
    "I would be grateful if you could give me a thorough answer to the following question: ",
    "Would you be so kind as to explain to me, in as much detail as you can, the following: ",
    "There is something that I have been trying to understand for quite a while now, namely: ",
    "Could you please look into this for me and set it out step by step, in full sentences: ",
    "For the sake of completeness, and so that I do not get it wrong, please tell me this: ",
)
_ASKING = {"who", "whom", "when", "where", "why", "how", "which", "not", "no", "before", "after"}
_FILLING = (STOP_WORDS - _ASKING) | {"must", "may", "shall", "please", "explain", "describe"}
_QUALIFYING = re.compile(
    r",?\s(?:of|for|with|in|on|by|under|from|during|within|between|before|after|about)\s"
    r"(?!\w+ing\b)(?:an?\s|the\s)?[\w\-'§.]+"
)
_LEAST_KEPT = 2


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


def _words_or_marks(text: str, rng: Random) -> str:
    """Either of the two."""
    return rng.choice((_noisy_words, _noisy_marks))(text, rng)


def _words_and_marks(text: str, rng: Random) -> str:
    """Both of them."""
    return _noisy_marks(_noisy_words(text, rng), rng)


def reordered(text: str, rng: Random) -> str:
    """A phrase of two to four words moved elsewhere."""
    words = text.split()
    if len(words) < _LEAST_KEPT:
        return text
    for _ in range(20):
        size = min(rng.randint(2, 4), len(words) - 1)
        start = rng.randint(0, len(words) - size)
        rest = words[:start] + words[start + size :]
        place = rng.randint(0, len(rest))
        moved = rest[:place] + words[start : start + size] + rest[place:]
        if moved != words:
            return " ".join(moved)
    return text


def misspelt(text: str, rng: Random) -> str:
    """One or two of the longer words with letters swapped, dropped, doubled or mistaken."""
    words = text.split()
    long = [i for i, word in enumerate(words) if sum(map(str.isalpha, word)) > 3] or [
        *range(len(words))
    ]
    for i in rng.sample(long, min(rng.randint(1, 2), len(long))):
        words[i] = _misspelt(words[i], rng)
    return " ".join(words)


def _misspelt(word: str, rng: Random) -> str:
    place = rng.randrange(max(1, len(word) - 1))
    here, after = word[place : place + 1], word[place + 1 : place + 2]
    ways = [here * 2 + after, after or here * 2, rng.choice("aeiouylnrst") + after]
    if here != after and after:
        ways.append(after + here)
    changed = [way for way in ways if way != here + after]
    return word[:place] + rng.choice(changed) + word[place + 2 :]


def vaguer(text: str, rng: Random) -> str:
    """The question without one or two of the phrases that make it precise."""
    found = list(_QUALIFYING.finditer(text))
    for match in sorted(rng.sample(found, min(2, len(found))), key=lambda m: -m.start()):
        text = text[: match.start()] + text[match.end() :]
    return text if found else re.sub(r"[?.]?$", " in this regard?", text, count=1)


def verbose(text: str, rng: Random) -> str:
    """The question behind a long-winded opening."""
    return rng.choice(_VERBOSE) + lowered(text)


def shortened(text: str, _: Random) -> str:
    """The words that carry the meaning, without function words and question marks."""
    kept = [word for word in text.rstrip("?.").split() if word.strip(",.;").lower() not in _FILLING]
    return " ".join(kept) if len(kept) >= _LEAST_KEPT else text.rstrip("?.").lower()


NOISES: dict[str, Callable[[str, Random], str]] = {
    "vague": vaguer,
    "words or punctuation": _words_or_marks,
    "words and punctuation": _words_and_marks,
    "reordered": reordered,
    "misspelt": misspelt,
    "verbose": verbose,
    "shortened": shortened,
}

MANNERS = {"vague": 1, "verbose": 2, "shortened": 3}
"""The kinds of noise that a model gives, and their numbers in the prompt."""


class Reworded(BaseModel):
    """A question in other words, as the model writes it."""

    question: str = Field(min_length=1)


class ModelNoise:
    """Applies noise by name; what takes understanding is asked of the model.

    Args:
        asker: Asks the model; None leaves everything to rules.

    ``failed`` counts the questions that rules reworded because the model did not.
    """

    def __init__(self, asker: Asker | None) -> None:
        self._asker = asker
        self.failed = 0

    def __call__(self, kind: str, text: str, rng: Random) -> str:
        """The question with that noise."""
        if self._asker is None or kind not in MANNERS:
            return NOISES[kind](text, rng)
        reply = self._asker.settle(_rewording(self._asker, text, MANNERS[kind]))
        if isinstance(reply, Unresolved):
            self.failed += 1
            return NOISES[kind](text, rng)
        return " ".join(reply.question.split())


async def _rewording(chat: Chat, text: str, manner: int) -> Reworded:
    prompt = load("augment_question", ("manner", "question"))
    system, user = prompt.render(manner=manner, question=text)
    reply = await chat.ask(ChatRequest("augment_question", system, user, schema=Reworded))
    return parsed(reply, Reworded)


Noise = Literal["paper", "independent"]
SHARES: dict[str, float] = {
    "vague": 0.10,
    "words or punctuation": 0.10,
    "words and punctuation": 0.10,
    "reordered": 0.05,
    "misspelt": 0.05,
}
"""Of all questions; besides, a quarter of label 0 is made verbose and one of label 2 shortened."""
TARGETED: dict[str, tuple[int, float]] = {"verbose": (0, 0.25), "shortened": (2, 0.25)}
NONE = "none"
_LABELS = (0, 1, 2)
_MOST_PIECES = 4
_POOL = 200_000
_FEW, _SPARE = 24, 2
_OPENINGS = ("Explain {}.", "Please describe {}.", "Tell me {}.", "I need to know {}.",
             "Can you clarify {}?", "Could you tell me {}?")  # fmt: skip
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
    """``n`` labelled questions, the labels as even as can be, in random order.

    Args:
        facts: What can be asked.
        n: How many; fewer come where the facts do not give as many.
        seed: Of every choice.
        noise: ``paper`` makes label 0 verbose and label 2 short, so that the noise gives the label
            away; ``independent`` spreads the same number of each over all labels alike.
        change: Applies a noise by name to a question.

    Raises:
        InputError: ``n`` is less than 1.
        CorpusError: The facts give no question of some label.
    """
    if n < 1:
        raise InputError(f"n is {n}.", "Ask for at least 1 question.")
    facts = [fact for fact in facts if fact.clause]
    rng = Random(f"{seed}:training")  # noqa: S311 - a choice, no secret
    rows: list[TrainingRow] = []
    for label in _LABELS:
        share = n // 3 + (label < n % 3)
        rows += [TrainingRow(text, label, text) for text in _questions(facts, label, share, rng)]
    missing = [label for label in _LABELS if n >= 3 and not any(r.label == label for r in rows)]
    if missing or not rows:
        raise CorpusError(
            f"The documents give no question of label {missing[0] if missing else 0}.",
            "They state too few facts; give more documents.",
        )
    kinds = _assigned([row.label for row in rows], noise, rng)
    noised = [
        row if kind == NONE else replace(row, question=change(kind, row.question, rng), noise=kind)
        for row, kind in zip(rows, kinds, strict=True)
    ]
    rng.shuffle(noised)
    return noised


def _questions(facts: Sequence[Fact], label: int, wanted: int, rng: Random) -> list[str]:
    """Different questions that need ``label + 1`` pieces, or three and four for label 2."""
    pool = sorted(set(_texts(facts, label, wanted, rng)))
    rng.shuffle(pool)
    return pool[:wanted]


def _texts(facts: Sequence[Fact], label: int, wanted: int, rng: Random) -> Iterator[str]:
    for fact in facts:
        if min(fact.pieces, _LABELS[-1] + 1) == label + 1:
            yield from _worded([fact])
    single = [fact for fact in facts if fact.pieces == 1]
    sizes = {0: (), 1: (2,), 2: (3, _MOST_PIECES)}[label]
    drawn = min(wanted * _SPARE + _FEW, _POOL)
    for size in sizes:
        if len(single) < _FEW:
            groups = list(combinations(single, size))
        else:
            groups = [tuple(rng.sample(single, size)) for _ in range(drawn)]
        for group in rng.sample(groups, min(drawn, len(groups))):
            yield rng.choice(list(_worded(group)))


def _worded(facts: Sequence[Fact]) -> Iterator[str]:
    asked = [lowered(fact.question[:-1]) for fact in facts]
    told = [fact.clause for fact in facts]
    joined = _listed(asked)
    yield f"{joined[0].upper()}{joined[1:]}?"
    for opening in _OPENINGS:
        yield opening.format(_listed(told))


def _listed(parts: Sequence[str]) -> str:
    if len(parts) < 3:
        return ", and ".join(parts)
    return f"{', '.join(parts[:-1])}, and {parts[-1]}"


def _assigned(labels: Sequence[int], noise: Noise, rng: Random) -> list[str]:
    """The noise of each row, every share exact up to rounding.

    The kinds of ``SHARES``, and in the independent variant all of them, are spread over the labels
    in proportion, so that they say nothing of the label.
    """
    kinds = [NONE] * len(labels)
    free = {label: [i for i, own in enumerate(labels) if own == label] for label in _LABELS}
    sizes = {label: len(rows) for label, rows in free.items()}
    for rows in free.values():
        rng.shuffle(rows)
    counts = {kind: round(share * len(labels)) for kind, share in SHARES.items()}
    targeted = {
        kind: (label, round(share * sizes[label])) for kind, (label, share) in TARGETED.items()
    }
    if noise == "independent":
        counts |= {kind: count for kind, (_, count) in targeted.items()}
    else:
        for kind, (label, count) in targeted.items():
            for row in [free[label].pop() for _ in range(count)]:
                kinds[row] = kind
    drawn: dict[int, float] = dict.fromkeys(_LABELS, 0.0)
    for kind, count in counts.items():
        for label, own in _proportional(count, sizes, drawn).items():
            for row in [free[label].pop() for _ in range(min(own, len(free[label])))]:
                kinds[row] = kind
    return kinds


def _proportional(count: int, sizes: Mapping[int, int], drawn: dict[int, float]) -> dict[int, int]:
    """``count`` over the labels by their sizes; ``drawn`` carries what rounding still owes each."""
    total = sum(sizes.values())
    for label, size in sizes.items():
        drawn[label] += count * size / total
    shares = dict.fromkeys(sizes, 0)
    for _ in range(count):
        label = max(sizes, key=lambda name: (drawn[name], -name))
        shares[label] += 1
        drawn[label] -= 1
    return shares
