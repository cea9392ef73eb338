"""Questions that one fact answers: plain, in detail, distracted, situated, vague, in a dialogue."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

from lexloop.corpus.text.tokens import tokenize
from lexloop.evaluation.testset.ask import Ask, core, lowered, with_article
from lexloop.evaluation.testset.draft import Draft, asked_of, asked_of_all
from lexloop.evaluation.testset.facts import Fact
from lexloop.evaluation.testset.material import Material
from lexloop.evaluation.testset.wording import is_actor

_PLAIN = {"definition", "alias", "amount", "agent", "purpose", "time", "content"}
_DETAILED = {"condition", "time", "list", "content", "purpose", "penalty", "duty"}
_UNQUALIFIED = {"definition", "alias", "penalty"}
_MINE = re.compile(
    r"\smy\s(?P<noun>(?:[\w\-]+\s){0,3}?[\w\-]+)(?=$|\s(?:with|to|for|in|by|on|from)\s)"
)
_PLAIN_WORDS, _DETAILED_WORDS = 12, 9
_FEWEST_VAGUE, _MOST_MEANT = 3, 3
_REMARKS = (
    "My neighbour has just bought a sailing boat", "The cherry trees are in blossom again",
    "I burnt my toast this morning", "My cat has learnt to open doors",
    "The lake was frozen all winter", "My sister plays the cello beautifully",
    "We had pancakes for breakfast", "The football match ended in a draw",
    "I am knitting a green scarf", "Our garden is full of tulips",
    "The mountains looked splendid from the train", "My bicycle has a flat tyre",
    "The orchestra played a waltz last night", "It has been raining for days",
)  # fmt: skip
_ROLES = ("a lawyer new to this field", "a compliance officer", "a paralegal", "a consultant",
          "an internal auditor", "a journalist")  # fmt: skip
_USERS = ("I signed up last week.", "I am thinking about signing up.", "I am a new user.",
          "I have used the service for a year.")  # fmt: skip
_ANYBODY = frozenset({"person", "party", "individual", "body", "member", "recipient", "user"})
_TOLD = 0.5
_INVITATIONS = ("Of course. What would you like to know?", "Gladly. What is your question?",
                "Sure. What about it?")  # fmt: skip


def simple(facts: Sequence[Fact], _: Random) -> Iterator[Draft]:
    """One fact, in a few words."""
    for fact in facts:
        question = fact.ask.direct()
        if fact.kind in _PLAIN and fact.pieces == 1 and len(question.split()) <= _PLAIN_WORDS:
            yield asked_of(fact, "simple", question)


def detailed(facts: Sequence[Fact], rng: Random) -> Iterator[Draft]:
    """One fact that takes a specific search: a condition, a time limit, a list."""
    for fact in facts:
        long = len(fact.ask.direct().split()) >= _DETAILED_WORDS
        if fact.kind in _DETAILED and (long or fact.kind in ("list", "penalty")):
            yield asked_of(fact, "complex", fact.ask.direct())
        elif fact.kind == "definition" and fact.place and not fact.ask.front:
            front = replace(fact.ask, front=f"In the sense of {fact.place}")
            yield replace(asked_of(fact, "complex", front.direct()), spare=True)


def distracted(facts: Sequence[Fact], rng: Random, material: Material) -> Iterator[Draft]:
    """The question behind a remark on something that the documents do not speak of."""
    knows = material.view.knows
    foreign = [remark for remark in _REMARKS if not any(map(knows, tokenize(remark)))]
    for fact in facts:
        remark = rng.choice(foreign or _REMARKS)
        joint = rng.choice((", but ", "; anyway, ", ". By the way, "))
        yield asked_of(fact, "distracting element", f"{remark}{joint}{lowered(fact.ask.direct())}")


def roles(facts: Sequence[Fact]) -> list[str]:
    """Those who act in the documents, each with an article, the most frequent first."""
    counts: dict[str, int] = {}
    for fact in facts:
        short = core(fact.ask.subject, r"\s(?:of|for|in|to|and|or|with|that|who|which|from)\b")
        noun = short.split(" ", 1)[-1]
        plain = noun.islower() and not noun.endswith("s") and " " in short
        if plain and len(noun.split()) < 4 and is_actor(short) and noun not in _ANYBODY:
            counts[with_article(noun)] = counts.get(with_article(noun), 0) + 1
    return sorted(counts, key=lambda role: (-counts[role], role))


def situation(fact: Fact, acting: Sequence[str], rng: Random) -> str:
    """Who asks, in a sentence of its own."""
    if {fact.ask.subject} & {"I", "you"} or " my " in f" {fact.ask.direct()} ":
        return rng.choice(_USERS)
    role = rng.choice([*acting[:4], *_ROLES] if acting else _ROLES)
    if role in _ROLES:
        return f"I am {role}."
    return rng.choice((f"I work for {role}.", f"I advise {role}.", f"I represent {role}."))


def situational(facts: Sequence[Fact], rng: Random) -> Iterator[Draft]:
    """Who asks, then the question."""
    acting = roles(facts)
    for fact in facts:
        if fact.kind == "alias":
            continue
        who, told = situation(fact, acting, rng), fact.ask.indirect()
        role = who.removeprefix("I am ").rstrip(".")
        if rng.random() < _TOLD and role in _ROLES:
            question = f"As {role}, I need to know {told}."
        elif rng.random() < _TOLD and who not in _USERS and role not in _ROLES:
            question = f"{who.rstrip('.')} and would like to know {told}."
        else:
            question = f"{who} {fact.ask.direct()}"
        yield asked_of(fact, "situational", question)


def vague(facts: Sequence[Fact], _: Random) -> Iterator[Draft]:
    """The question without its section, its condition and its qualifiers.

    Where several facts come to the same short question, each of them belongs to its answer.
    """
    meant: dict[str, list[Fact]] = {}
    for fact in facts:
        meant.setdefault(fact.ask.vague(), []).append(fact)
    for short, own in meant.items():
        shorter = len(short.split()) < len(own[0].ask.direct().split())
        asks = len(short.split()) > _FEWEST_VAGUE and own[0].kind not in _UNQUALIFIED
        if shorter and asks and len(own) <= _MOST_MEANT:
            yield asked_of_all(own, "vague", short)


def conversational(facts: Sequence[Fact], rng: Random) -> Iterator[Draft]:
    """A topic first, then a question about "it"."""
    for fact in facts:
        about = fact.ask.subject
        if fact.pieces > 2:
            continue
        if about in ("I", "you"):
            yield from _of_mine(fact, rng)
            continue
        opening = rng.choice(("I have a question about", "I would like to know more about",
                              "I have been reading about"))  # fmt: skip
        question = replace(fact.ask, front="").of_it() if _by_place(fact.ask) else fact.ask.of_it()
        said = f"{opening} {about}{f' under {fact.place}' if _by_place(fact.ask) else ''}."
        yield asked_of(fact, "conversational", question, said, rng.choice(_INVITATIONS))


def _of_mine(fact: Fact, rng: Random) -> Iterator[Draft]:
    """My account data first, then a question about it."""
    if found := _MINE.search(fact.ask.rest):
        pronoun = "them" if found["noun"].endswith("s") else "it"
        rest = f"{fact.ask.rest[: found.start()]} {pronoun}{fact.ask.rest[found.end() :]}"
        said = f"I have a question about my {found['noun']}."
        question = replace(fact.ask, rest=rest).direct()
        yield asked_of(fact, "conversational", question, said, rng.choice(_INVITATIONS))


def _by_place(ask: Ask) -> bool:
    return ask.front.startswith(("Under ", "According to "))
