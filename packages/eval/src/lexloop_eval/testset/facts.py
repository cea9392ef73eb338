"""Facts: what a document's tree of provisions allows to ask, and the questions made of them.

Nine of the eleven types of questions are made this way, without a model.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, zip_longest
from random import Random
from typing import Literal

from lexloop.core import types
from lexloop.documents.chunks.statements import Statement, statements, unnumbered
from lexloop.documents.structure.references import find_references
from lexloop.documents.structure.tree import Tree
from lexloop.documents.text.languages import languages_of
from lexloop.documents.text.quantities import dates, holds
from lexloop.documents.text.tokens import tokenize
from lexloop.store.view import View
from lexloop_eval.case import OUT_OF_SCOPE, Case, Span
from lexloop_eval.testset.make import QUESTION_TYPES, made_case

Kind = Literal["definition", "heading", "topic", "row", "list", "number", "reference", "none"]
_LONGEST, _FEWEST_WORDS, _MOST_PIECES = 1_400, 4, 3
_DIVIDING = frozenset({"provision", "definition", "table"})
_NUMBERS: dict[types.Kind, str] = {
    "money": "sum of money",
    "percentage": "percentage",
    "duration": "time or period of time",
}


@dataclass(frozen=True)
class Fact:
    """A question with its answer.

    Args:
        kind: A term's definition, a heading that asks, the topic of a heading, a row of a table, a
            list, a number (a sum, a share, a time, a date), a reference; or none, if the documents
            have no answer.
        question: The question as it stands alone.
        about: The term, or the provision that the question names, in the same words; or empty.
        answer: The provision's own words.
        spans: The places of these words.
    """

    kind: Kind
    question: str
    about: str = ""
    answer: str = ""
    spans: tuple[Span, ...] = ()

    @property
    def pieces(self) -> int:
        """The count of the separate pieces of evidence that hold the answer."""
        return len(self.spans)

    @property
    def clause(self) -> str:
        """The question as part of another sentence, or empty if that is impossible."""
        return "" if self.kind == "heading" else lowered(self.question.removesuffix("?"))


def lowered(text: str) -> str:
    """Return a text with a small first letter, unless its first word is written in capitals."""
    first = text.split(" ", 1)[0]
    return text if first == "I" or sum(map(str.isupper, first)) > 1 else text[:1].lower() + text[1:]


def read_facts(view: View) -> list[Fact]:
    """Return the facts of a corpus in reading order, without documents in other languages.

    Statements that answer the same question are one fact, because an answer with only some of them
    would be wrong. A question that more than three statements answer is too general to ask.
    """
    same: dict[str, list[Fact]] = defaultdict(list)
    for document in view.documents:
        text, tree = view.text_of(document) or "", view.tree_of(document) or Tree()
        if languages_of([text])[:1] == ["English"]:
            for fact in _of_document(document, tree, text):
                same[fact.question].append(fact)
    return [joined for facts in same.values() if (joined := _joined(facts))]


def _joined(facts: list[Fact]) -> Fact | None:
    """Return the facts of one question as one, or None if they are too many."""
    first = {fact.answer: fact for fact in reversed(facts)}
    answers = [
        text for text in reversed(first) if not any(text in other != text for other in first)
    ]
    spans = tuple(dict.fromkeys(span for text in answers for span in first[text].spans))
    answer = " ".join(answers)
    fits = len(answers) <= _MOST_PIECES and len(answer) <= _LONGEST
    return replace(facts[0], answer=answer, spans=spans) if fits else None


def _of_document(document: str, tree: Tree, text: str) -> Iterator[Fact]:
    """Yield what units answer as wholes, then what their statements do."""

    def placed(fact: Fact, text_of_fact: str, start: int, end: int) -> Iterator[Fact]:
        """Yield the fact with its answer and its place, unless it has too few or too many words."""
        if len(text_of_fact.split()) > _FEWEST_WORDS and len(text_of_fact) <= _LONGEST:
            own = text[start:end]
            start, end = start + len(own) - len(own.lstrip()), start + len(own.rstrip())
            label = tree.units[tree.at(start)].label
            span = Span(document=document, start=start, end=end, section=label)
            answer = f"{text_of_fact[0].upper()}{text_of_fact[1:].rstrip(';.,')}."
            yield replace(fact, answer=answer, spans=(span,))

    for place, unit in enumerate(tree.units):
        if tree.operative(place) and unit.heading and (fact := _of_unit(tree, place)):
            yield from placed(fact, unnumbered(text[unit.body : unit.end]), unit.body, unit.end)
    for statement in statements(tree, text):
        if tree.operative(tree.at(statement.start)) and not (statement.lead or not statement.label):
            words_of = (
                unnumbered(text[statement.start : statement.end])
                if statement.points
                else statement.own
            )
            for fact in _of_statement(statement, tree):
                yield from placed(fact, words_of, statement.start, statement.end)


def _of_unit(tree: Tree, place: int) -> Fact | None:
    """Return what a headed unit answers as a whole: its term, its question, or its topic."""
    unit, heading = tree.units[place], " ".join(tree.units[place].heading.split())
    if unit.kind == "definition":
        return Fact("definition", f"What is meant by “{heading}”?", f"“{heading}”")
    divided = any(tree.units[below].kind in _DIVIDING for below in tree.below(place))
    if unit.kind not in ("provision", "paragraph") or divided:
        return None
    if heading.endswith("?"):
        return Fact("heading", heading)
    if unit.number:
        return Fact("topic", f"What is said in {unit.label} about “{heading}”?", unit.label)
    return Fact("topic", f"What is said about “{heading}”?")


def _of_statement(statement: Statement, tree: Tree) -> Iterator[Fact]:
    """Yield what a statement answers: the list that it introduces, its numbers, its references."""
    inner, place = tree.units[tree.at(statement.start)], tree.labels[statement.label]
    if inner.kind == "row" and inner.number:
        table = tree.units[inner.parent].label
        yield Fact("row", f"What is said in {table} about “{inner.number}”?", table)
    if tree.units[place].kind in ("definition", "row"):
        return
    name = _name(tree, place)
    if statement.points:
        yield Fact("list", f"What is listed in {name}?", name)
    # if a provision contains others, some of its statements have another name
    elif all(tree.units[below].kind == "text" for below in tree.below(place)):
        numbers = [words for kind, words in _NUMBERS.items() if holds(kind, statement.own)]
        for words in (*numbers, *(["date"] if dates(statement.own) else [])):
            yield Fact("number", f"Which {words} is stated in {name}?", name)
        if any(reference.steps[0].key for reference in find_references(statement.own)):
            yield Fact("reference", f"Which other provision is referred to in {name}?", name)


def _name(tree: Tree, place: int) -> str:
    """Return a provision's label with the nearest heading, or the heading if it has no number."""
    units = (tree.units[p] for p in (place, *tree.above(place)))
    heading = next((unit.heading for unit in units if unit.heading and unit.kind != "part"), "")
    quoted, label = f"“{' '.join(heading.split())}”", tree.units[place].label
    if not tree.units[place].number:
        return quoted if heading else label
    return f"{label}, {quoted}" if heading and heading not in label else label


RULE_TYPES = tuple(name for name in QUESTION_TYPES if name not in ("vague", "rule_conclusion"))
"""Types that need a model: what to leave out of a question, and what rules imply for a case."""
_SIMPLE = ("definition", "row", "heading")
_ASKING = frozenset(tokenize("what which is meant said stated listed referred about other"))
_MOST_PAIRED, _MOST_PAIRS = 400, 240
_REMARKS = (
    "My neighbour has just bought a sailing boat.", "The cherry trees are in blossom again.",
    "I burnt my toast this morning.", "My cat has learnt to open doors.",
    "The lake was frozen all winter.", "My sister plays the cello beautifully.",
    "The football match ended in a draw.", "I am knitting a green scarf.",
)  # fmt: skip
_ROLES = ("a lawyer new to this field", "a compliance officer", "a paralegal", "a consultant",
          "an internal auditor", "a journalist")  # fmt: skip
_UNANSWERED = (
    ("How have the courts of Brazil interpreted the term {}?", "Brazil"),
    ("What does the civil code of Switzerland say about the term {}?", "Switzerland"),
    ("Who was the first writer in Iceland to use the term {}?", "Iceland"),
    ("How is the term {} translated into Finnish?", "Finnish"),
)
_BEYOND = (1, 4, 20)
"""Distance of made-up provisions from the last existing one."""
Candidate = tuple[str, Sequence[Fact], Sequence[str]]
"""A question, the facts that answer it, and what user and assistant said before in turn."""


class RuleMaker:
    """Makes questions from the tree of provisions.

    Args:
        view: The documents.
        seed: The seed of all choices. The same seed and documents give the same questions.
    """

    def __init__(self, view: View, seed: int) -> None:
        self._view, self._seed = view, seed
        self.facts = read_facts(view)

    def __call__(self, question_type: str, _: int) -> list[Case]:
        """Return every question of a type that can be made, kinds of facts taking turns."""
        rng = Random(f"{self._seed}:{question_type}")  # noqa: S311 - a choice, no secret
        candidates = _MAKERS[question_type](_taking_turns(self.facts, rng), rng, self._view)
        return [_case(self._view, question_type, *candidate) for candidate in candidates]


def _case(
    view: View, question_type: str, question: str, facts: Sequence[Fact], turns: Sequence[str]
) -> Case:
    answer = " ".join(dict.fromkeys(fact.answer for fact in facts))
    spans = tuple(dict.fromkeys(span for fact in facts for span in fact.spans))
    return made_case(view, question_type, question, answer, spans, turns=turns)


def _taking_turns(facts: Sequence[Fact], rng: Random) -> list[Fact]:
    """The facts in random order, one of each kind in turn."""
    kinds: dict[str, list[Fact]] = defaultdict(list)
    for fact in rng.sample(facts, len(facts)):
        kinds[fact.kind].append(fact)
    return [fact for fact in chain.from_iterable(zip_longest(*kinds.values())) if fact]


def _simple(facts: Sequence[Fact], *_: object) -> Iterator[Candidate]:
    """Yield questions about one term, one row or one heading."""
    for fact in facts:
        if fact.kind in _SIMPLE and fact.pieces == 1:
            yield fact.question, [fact], ()


def _detailed(facts: Sequence[Fact], *_: object) -> Iterator[Candidate]:
    """One fact that takes a specific search: a list, a number, a reference."""
    for fact in facts:
        if fact.kind not in _SIMPLE:
            yield fact.question, [fact], ()


def _distracted(facts: Sequence[Fact], rng: Random, view: View) -> Iterator[Candidate]:
    """The question behind a remark on something that the documents do not speak of."""
    foreign = [remark for remark in _REMARKS if not any(map(view.knows, tokenize(remark)))]
    for fact in facts:
        yield f"{rng.choice(foreign or _REMARKS)} {fact.question}", [fact], ()


def _situational(facts: Sequence[Fact], rng: Random, _: View) -> Iterator[Candidate]:
    """Who asks, then the question."""
    for fact in facts:
        role = rng.choice(_ROLES)
        wordings = [f"I am {role}. {fact.question}"]
        if fact.clause:
            wordings.append(f"As {role}, I need to know {fact.clause}.")
        yield rng.choice(wordings), [fact], ()


def _conversational(facts: Sequence[Fact], *_: object) -> Iterator[Candidate]:
    """Yield questions that need the previous turn: "And by “B”?", "What is listed in it?"."""
    terms = [fact for fact in facts if fact.kind == "definition"]
    for first, second in zip(terms[::2], terms[1::2], strict=False):
        yield f"And by {second.about}?", [second], (first.question, first.answer)
    for fact in facts:
        if fact.about and fact.kind != "definition":
            turn = f"I am reading {fact.about}.", "What would you like to know about it?"
            yield fact.question.replace(fact.about, "it"), [fact], turn


def _double(facts: Sequence[Fact], rng: Random, _: View) -> Iterator[Candidate]:
    """Two questions in one sentence."""
    for first, second in _pairs([fact for fact in facts if fact.clause], rng):
        yield f"{first.question[:-1]}, and {lowered(second.question)}", [first, second], ()


def _complex_situational(facts: Sequence[Fact], rng: Random, _: View) -> Iterator[Candidate]:
    """Who asks, a question, and a further one on a related matter."""
    for first, second in _pairs(facts, rng):
        question = f"I am {rng.choice(_ROLES)}. {first.question} Also, {lowered(second.question)}"
        yield question, [first, second], ()


def _compare(facts: Sequence[Fact], rng: Random, _: View) -> Iterator[Candidate]:
    """The difference of two terms whose names share a word, neither holding the other."""
    for first, second in _pairs([fact for fact in facts if fact.kind == "definition"], rng):
        a, b = set(tokenize(first.about)), set(tokenize(second.about))
        if a & b and not (a <= b or b <= a):
            yield (
                f"What is the difference between {first.about} and {second.about}?",
                [first, second],
                (),
            )


def _pairs(facts: Sequence[Fact], rng: Random) -> list[tuple[Fact, Fact]]:
    """Pairs of a document that have a word in common, those with more in common first."""
    facts = facts[:_MOST_PAIRED]
    stems = [frozenset(tokenize(fact.question)) - _ASKING for fact in facts]
    ranked: list[tuple[float, float, int, int]] = []
    for i, j in combinations(range(len(facts)), 2):
        shared = len(stems[i] & stems[j]) / max(1, min(len(stems[i]), len(stems[j])))
        if shared and _are_apart(facts[i].spans, facts[j].spans):
            ranked.append((-round(shared, 1), rng.random(), i, j))
    return [(facts[i], facts[j]) for _, _, i, j in sorted(ranked)[:_MOST_PAIRS]]


def _are_apart(some: Sequence[Span], others: Sequence[Span]) -> bool:
    """Return whether spans lie in one document without a word in common."""
    pairs = [(first, second) for first in some for second in others]
    lapping = (first.start < second.end and second.start < first.end for first, second in pairs)
    return some[0].document == others[0].document and not any(lapping)


def _out_of_scope(facts: Sequence[Fact], rng: Random, view: View) -> Iterator[Candidate]:
    """Yield questions without an answer: terms elsewhere, and provisions that do not exist."""
    terms = [fact.about for fact in facts if fact.kind == "definition"]
    questions = [
        (frame.format(term), f"they say nothing of {lacking}")
        for frame, lacking in _UNANSWERED
        if not any(map(view.knows, tokenize(lacking)))
        for term in terms
    ]
    questions += _not_there([view.tree_of(name) or Tree() for name in view.documents])
    for question, why in rng.sample(questions, len(questions)):
        answer = f"The documents do not answer this: {why}."
        yield question, [Fact("none", question, answer=answer)], ()


def _not_there(trees: Sequence[Tree]) -> Iterator[tuple[str, str]]:
    """Yield provisions that no document has, numbered like an existing one, and its last one."""
    for tree in trees:
        numbered = [u for u in tree.units if u.kind == "provision" and u.number.isdecimal()]
        last = max(numbered, key=lambda unit: int(unit.number), default=None)
        if last is None:
            continue
        for more in _BEYOND:
            made_up = f"{last.label.removesuffix(last.number)}{int(last.number) + more}"
            references = find_references(made_up)
            if references and not any(
                tree_.find(reference) for tree_ in trees for reference in references
            ):
                yield f"What is said in {made_up}?", f"the last of its kind is {last.label}"


_MAKERS: dict[str, Callable[[Sequence[Fact], Random, View], Iterator[Candidate]]] = {
    "simple": _simple,
    "complex": _detailed,
    "distracting element": _distracted,
    "situational": _situational,
    "double": _double,
    "conversational": _conversational,
    "complex_situational": _complex_situational,
    OUT_OF_SCOPE: _out_of_scope,
    "compare": _compare,
}
