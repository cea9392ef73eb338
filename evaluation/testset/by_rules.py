"""Questions of ten of the eleven types made by rules, without a model."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, combinations, zip_longest
from random import Random

from lexloop.documents.text.tokens import tokenize
from lexloop.evaluation.case import OUT_OF_SCOPE, Case, Span
from lexloop.evaluation.testset.facts import read_facts
from lexloop.evaluation.testset.make import QUESTION_TYPES, made_case
from lexloop.evaluation.testset.phrases import lowered
from lexloop.evaluation.testset.templates import Fact
from lexloop.store.view import View

RULE_TYPES = tuple(name for name in QUESTION_TYPES if name != "vague")
"""What rules leave out of a vague question is left to a model."""
_SIMPLE = ("definition", "amount", "date", "who")
_DETAILED = ("duty", "exception", "condition", "time", "list", "provision")
_SHORT = 14
_TOLD = 0.5
_ASKING = frozenset(tokenize("what meant term must may who do under exception rule there"))
_MOST_PAIRED, _MOST_PAIRS = 400, 240
_REMARKS = (
    "My neighbour has just bought a sailing boat.", "The cherry trees are in blossom again.",
    "I burnt my toast this morning.", "My cat has learnt to open doors.",
    "The lake was frozen all winter.", "My sister plays the cello beautifully.",
    "We had pancakes for breakfast.", "The football match ended in a draw.",
    "I am knitting a green scarf.", "Our garden is full of tulips.",
    "My bicycle has a flat tyre.", "The orchestra played a waltz last night.",
)  # fmt: skip
_ROLES = ("a lawyer new to this field", "a compliance officer", "a paralegal", "a consultant",
          "an internal auditor", "a journalist")  # fmt: skip
_ABOUT_TERMS = (
    ("How have the courts of Brazil interpreted the term {}?", "Brazil"),
    ("What does the civil code of Switzerland say about the term {}?", "Switzerland"),
    ("Who was the first writer in Iceland to use the term {}?", "Iceland"),
    ("How is the term {} translated into Finnish?", "Finnish"),
    ("In which novels does the term {} occur?", "novels"),
)  # fmt: skip
_ABOUT_ACTORS = (
    ("Which software should {} use?", "software"),
    ("Which trade union can {} join?", "trade unions"),
    ("What salary can {} expect?", "salaries"),
    ("Which smartphone would suit {} best?", "smartphones"),
    ("Where can {} find a template?", "templates"),
    ("What has the mayor said in public about {}?", "mayors"),
)  # fmt: skip
Candidate = tuple[str, Sequence[Fact], Sequence[str]]
"""A question, the facts that answer it, and what user and assistant said before in turn."""


class RuleMaker:
    """Makes questions of what sentences of a strict form state.

    Args:
        view: The documents.
        seed: Of every choice; the same seed over the same documents gives the same questions.
    """

    def __init__(self, view: View, seed: int) -> None:
        self._view, self._seed = view, seed
        self.facts = read_facts(view)

    def __call__(self, question_type: str, _: int) -> list[Case]:
        """Return every question of a type that can be made, kinds of facts taking turns."""
        rng = Random(f"{self._seed}:{question_type}")  # noqa: S311 - a choice, no secret
        facts = _taking_turns(self.facts, rng)
        asked = [fact for fact in facts if fact.kind != "case"]
        view = self._view
        if question_type == OUT_OF_SCOPE:
            found = _out_of_scope(facts, rng, view)
        elif question_type == "distracting element":
            found = _distracted(asked, rng, view)
        elif question_type == "rule_conclusion":
            found = ((fact.question, [fact], ()) for fact in facts if fact.kind == "case")
        else:
            found = _MAKERS[question_type](asked, rng)
        return [
            made_case(
                self._view, question_type, question, _answer(facts), _spans(facts), turns=turns
            )
            for question, facts, turns in found
        ]


def _taking_turns(facts: Sequence[Fact], rng: Random) -> list[Fact]:
    """The facts in random order, one of each kind in turn; what only a label tells apart last."""
    kinds: dict[str, list[Fact]] = defaultdict(list)
    for fact in rng.sample(facts, len(facts)):
        kinds[fact.kind].append(fact)
    last = kinds.pop("provision", [])
    dealt = chain.from_iterable(zip_longest(*kinds.values()))
    return [*(fact for fact in dealt if fact), *last]


def _answer(facts: Sequence[Fact]) -> str:
    return " ".join(dict.fromkeys(fact.answer for fact in facts))


def _spans(facts: Sequence[Fact]) -> tuple[Span, ...]:
    return tuple(dict.fromkeys(span for fact in facts for span in fact.spans))


def _is_long(fact: Fact) -> bool:
    return len(fact.question.split()) > _SHORT


def _simple(facts: Sequence[Fact], _: Random) -> Iterator[Candidate]:
    """One fact in a few words."""
    for fact in facts:
        plain = fact.kind in _SIMPLE or (fact.kind == "heading" and not _is_long(fact))
        if plain and fact.pieces == 1:
            yield fact.question, [fact], ()


def _detailed(facts: Sequence[Fact], _: Random) -> Iterator[Candidate]:
    """One fact that takes a specific search: a condition, a time limit, a list."""
    for fact in facts:
        if fact.kind in _DETAILED or (fact.kind == "heading" and _is_long(fact)):
            yield fact.question, [fact], ()


def _distracted(facts: Sequence[Fact], rng: Random, view: View) -> Iterator[Candidate]:
    """The question behind a remark on something that the documents do not speak of."""
    foreign = [remark for remark in _REMARKS if not any(map(view.knows, tokenize(remark)))]
    for fact in facts:
        yield f"{rng.choice(foreign or _REMARKS)} {fact.question}", [fact], ()


def _situational(facts: Sequence[Fact], rng: Random) -> Iterator[Candidate]:
    """A sentence on who asks, then the question."""
    for fact in facts:
        role = rng.choice(_ROLES)
        if fact.clause and rng.random() < _TOLD:
            yield f"As {role}, I need to know {fact.clause}.", [fact], ()
        else:
            yield f"I am {role}. {fact.question}", [fact], ()


def _conversational(facts: Sequence[Fact], rng: Random) -> Iterator[Candidate]:
    """A question that needs the turn before: "And by “B”?", "Is there an exception?"."""
    terms = [fact for fact in facts if fact.kind == "definition"]
    after = dict(zip(terms[::2], terms[1::2], strict=False))
    for fact in facts:
        if fact.turns:
            *before, question = fact.turns
            yield question, [fact], before
        elif other := after.get(fact):
            yield f"And by {other.about}?", [other], (fact.question, fact.answer)


def _double(facts: Sequence[Fact], rng: Random) -> Iterator[Candidate]:
    """Two questions in one sentence."""
    for one, other in _pairs([fact for fact in facts if fact.clause and not _is_long(fact)], rng):
        yield f"{one.question[:-1]}, and {lowered(other.question)}", [one, other], ()


def _complex_situational(facts: Sequence[Fact], rng: Random) -> Iterator[Candidate]:
    """A sentence on who asks, a question, and a further one on a related matter."""
    for one, other in _pairs(facts, rng):
        question = f"I am {rng.choice(_ROLES)}. {one.question} Also, {lowered(other.question)}"
        yield question, [one, other], ()


def _compare(facts: Sequence[Fact], rng: Random) -> Iterator[Candidate]:
    """The difference of two terms whose names share a word, neither holding the other."""
    for one, other in _pairs([fact for fact in facts if fact.kind == "definition"], rng):
        a, b = set(tokenize(one.about)), set(tokenize(other.about))
        if a & b and not (a <= b or b <= a):
            yield f"What is the difference between {one.about} and {other.about}?", [one, other], ()


def _pairs(facts: Sequence[Fact], rng: Random) -> list[tuple[Fact, Fact]]:
    """Pairs of a document that have a word in common, those with more in common first."""
    facts = facts[:_MOST_PAIRED]
    stems = [frozenset(tokenize(f"{fact.question} {fact.about}")) - _ASKING for fact in facts]
    found: list[tuple[float, float, int, int]] = []
    for i, j in combinations(range(len(facts)), 2):
        one, other = facts[i].spans, facts[j].spans
        shared = len(stems[i] & stems[j]) / max(1, min(len(stems[i]), len(stems[j])))
        if shared and not set(one) & set(other) and one[0].document == other[0].document:
            found.append((-round(shared, 1), rng.random(), i, j))
    return [(facts[i], facts[j]) for _, _, i, j in sorted(found)[:_MOST_PAIRS]]


def _out_of_scope(facts: Sequence[Fact], rng: Random, view: View) -> Iterator[Candidate]:
    """Questions about what the documents speak of, for something of which they say no word."""
    terms = list(dict.fromkeys(fact.about for fact in facts if fact.kind == "definition"))
    actors = list(dict.fromkeys(fact.about for fact in facts if fact.kind != "definition"))
    made = [
        (frame.format(about), lacking)
        for frames, topics in ((_ABOUT_TERMS, terms), (_ABOUT_ACTORS, actors))
        for frame, lacking in frames
        if not any(map(view.knows, tokenize(lacking)))
        for about in filter(None, topics)
    ]
    for question, lacking in rng.sample(made, len(made)):
        answer = f"The documents do not answer this: they say nothing of {lacking}."
        yield question, [Fact("none", question, answer=answer)], ()


_MAKERS: dict[str, Callable[[Sequence[Fact], Random], Iterator[Candidate]]] = {
    "simple": _simple,
    "complex": _detailed,
    "situational": _situational,
    "double": _double,
    "conversational": _conversational,
    "complex_situational": _complex_situational,
    "compare": _compare,
}
