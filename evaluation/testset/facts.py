"""Facts: what the tree of a document's provisions lets ask of it, with the evidence."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from lexloop.core import types
from lexloop.documents.chunks.statements import Statement, statements, unnumbered
from lexloop.documents.structure.references import find_references
from lexloop.documents.structure.tree import Tree
from lexloop.documents.text.languages import languages_of
from lexloop.documents.text.quantities import dates, holds
from lexloop.evaluation.case import Span
from lexloop.store.view import View

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
            list, a number (a sum, a share, a time, a date), a reference; or none, where the
            documents hold no answer.
        question: As it stands alone.
        about: The term, or the provision that the question names, as it stands there; or nothing.
        answer: The provision's own words.
        spans: Where they stand.
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
        """The question within another sentence; empty where it cannot stand in one."""
        return "" if self.kind == "heading" else lowered(self.question.removesuffix("?"))


def lowered(text: str) -> str:
    """Return a text with a small first letter, unless its first word is written in capitals."""
    first = text.split(" ", 1)[0]
    return text if first == "I" or sum(map(str.isupper, first)) > 1 else text[:1].lower() + text[1:]


def read_facts(view: View) -> list[Fact]:
    """Return the facts of a corpus in reading order; of documents in another language, none.

    Statements that answer one question are one fact, for an answer with only some of them would be
    wrong; a question that more than three statements answer is too general to be asked.
    """
    same: dict[str, list[Fact]] = defaultdict(list)
    for document in view.documents:
        text, tree = view.text_of(document) or "", view.tree_of(document) or Tree()
        if languages_of([text])[:1] == ["English"]:
            for fact in _of_document(document, tree, text):
                same[fact.question].append(fact)
    return [joined for facts in same.values() if (joined := _joined(facts))]


def _joined(facts: list[Fact]) -> Fact | None:
    """The facts of one question as one; None where they are too many."""
    first = {fact.answer: fact for fact in reversed(facts)}
    answers = [one for one in reversed(first) if not any(one in two != one for two in first)]
    spans = tuple(dict.fromkeys(span for one in answers for span in first[one].spans))
    answer = " ".join(answers)
    fits = len(answers) <= _MOST_PIECES and len(answer) <= _LONGEST
    return replace(facts[0], answer=answer, spans=spans) if fits else None


def _of_document(document: str, tree: Tree, text: str) -> Iterator[Fact]:
    """Yield what units answer as wholes, then what their statements do."""

    def placed(fact: Fact, said: str, start: int, end: int) -> Iterator[Fact]:
        """The fact with its answer and the place of it; none where it has too few words or many."""
        if len(said.split()) > _FEWEST_WORDS and len(said) <= _LONGEST:
            own = text[start:end]
            start, end = start + len(own) - len(own.lstrip()), start + len(own.rstrip())
            label = tree.units[tree.at(start)].label
            span = Span(document=document, start=start, end=end, section=label)
            answer = f"{said[0].upper()}{said[1:].rstrip(';.,')}."
            yield replace(fact, answer=answer, spans=(span,))

    for place, unit in enumerate(tree.units):
        if tree.operative(place) and unit.heading and (fact := _of_unit(tree, place)):
            yield from placed(fact, unnumbered(text[unit.body : unit.end]), unit.body, unit.end)
    for one in statements(tree, text):
        if tree.operative(tree.at(one.start)) and not (one.lead or not one.label):
            said = unnumbered(text[one.start : one.end]) if one.points else one.own
            for fact in _of_statement(one, tree):
                yield from placed(fact, said, one.start, one.end)


def _of_unit(tree: Tree, place: int) -> Fact | None:
    """What a headed unit answers as a whole: its term, the question that heads it, its topic."""
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


def _of_statement(one: Statement, tree: Tree) -> Iterator[Fact]:
    """What a statement answers: the list that it leads into, its numbers, what it refers to."""
    inner, place = tree.units[tree.at(one.start)], tree.labels[one.label]
    if inner.kind == "row" and inner.number:
        table = tree.units[inner.parent].label
        yield Fact("row", f"What is said in {table} about “{inner.number}”?", table)
    if tree.units[place].kind in ("definition", "row"):
        return
    name = _name(tree, place)
    if one.points:
        yield Fact("list", f"What is listed in {name}?", name)
    # where others lie in a provision, some of what they say goes by another name
    elif all(tree.units[below].kind == "text" for below in tree.below(place)):
        named = [words for kind, words in _NUMBERS.items() if holds(kind, one.own)]
        for words in (*named, *(["date"] if dates(one.own) else [])):
            yield Fact("number", f"Which {words} is stated in {name}?", name)
        if any(reference.steps[0].key for reference in find_references(one.own)):
            yield Fact("reference", f"Which other provision is referred to in {name}?", name)


def _name(tree: Tree, place: int) -> str:
    """A provision's label with the nearest heading; this alone where it has no number."""
    units = (tree.units[p] for p in (place, *tree.above(place)))
    heading = next((unit.heading for unit in units if unit.heading and unit.kind != "part"), "")
    quoted, label = f"“{' '.join(heading.split())}”", tree.units[place].label
    if not tree.units[place].number:
        return quoted if heading else label
    return f"{label}, {quoted}" if heading and heading not in label else label
