"""Noise for the classifier's questions, so that it learns no surface (HyPA-RAG, section 7.1).

Where a model is there it makes them vaguer, more verbose or more concise (appendix A.9).
"""

import re
from collections.abc import Callable
from random import Random

from pydantic import BaseModel, Field

from lexloop.core.score import Unresolved
from lexloop.corpus.text.tokens import STOP_WORDS
from lexloop.evaluation.asking import Asker
from lexloop.evaluation.testset.phrases import lowered
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


def noisy_words(text: str, rng: Random) -> str:
    """One to three words put in anywhere that do not belong there."""
    words = text.split()
    for _ in range(rng.randint(1, 3)):
        words.insert(rng.randint(0, len(words)), rng.choice(_WORDS))
    return " ".join(words)


def noisy_marks(text: str, rng: Random) -> str:
    """One to four punctuation marks put in anywhere."""
    for _ in range(rng.randint(1, 4)):
        place = rng.randint(0, len(text))
        text = text[:place] + rng.choice(_MARKS) + text[place:]
    return text


def words_or_marks(text: str, rng: Random) -> str:
    """Either of the two."""
    return rng.choice((noisy_words, noisy_marks))(text, rng)


def words_and_marks(text: str, rng: Random) -> str:
    """Both of them."""
    return noisy_marks(noisy_words(text, rng), rng)


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
    "words or punctuation": words_or_marks,
    "words and punctuation": words_and_marks,
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
