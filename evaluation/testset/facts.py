"""Facts: what the sentences of a corpus state that a template fits, with their evidence."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from lexloop.documents.chunks.statements import Statement, statements, unnumbered
from lexloop.documents.structure.tree import Tree
from lexloop.documents.text.languages import languages_of
from lexloop.evaluation.case import Span
from lexloop.evaluation.testset.phrases import is_clear, uncapitalised
from lexloop.evaluation.testset.templates import Fact, Stated, of_list, of_sentence
from lexloop.store.view import View

_MEANS = re.compile(
    r"(?:The\sterm\s)?[“\"‘']?(?P<term>[A-Za-z][^“”\"‘’:;.,()]{1,70}?)[”\"’']?"
    r"(?:\s\([^()]{2,40}\))?,?\smeans?:?\s(?!for\b|of\b|by\b|that\b)(?P<meaning>.+)"
)
_IS = re.compile(
    r"An?\s(?P<term>[\w\-]+(?:\s[a-z][\w\-]*){0,3})\sis\s"
    r"(?P<meaning>(?:an?|any|the)\s(?:\S+\s){4,}\S+)"
)
_OF_TERM = (
    r"(?:An?\s|The\s|To\s|The\sterm\s)?\W?{}\W{{0,2}}(?:\s\([^()]*\))?,?\s"
    r"(?:means?|is|are|refers?\sto)\b:?\s*"
)
_QUOTED = ("“", '"', "‘", "'", "The term ")
_NO_TERM = re.compile(
    r"\b(?:an?|the|any|your|that|which|who|is|are|and|by)\b|^(?:This|That|It|Which)\b"
    r"|^(?:The\s)?(?:phrase|term|word|expression|definition)$"
)
_ELSEWHERE = re.compile(
    r"(?:(?:as|the|is|has|what|that)\s)+(?:\w+\s){0,4}(?:defined|meanings?)\b", re.IGNORECASE
)
_PERSON = re.compile(
    r"(?:an?|any|the)\s(?:[\w\-,]+\s){0,5}?"
    r"(?:persons?|individual|company|agency|authority|body|firm)\b"
)
_ASKS = re.compile(
    r"(?:What|When|Who|Where|How|Which|Why|May|Must|Can|Does|Do|Is|Are|Will|Should|Under|For)\s"
)
_POINTS = re.compile(
    r"\b(?:this|these|those|that|such|it|they|them|its|their|he|she|other|following|above|same)\b"
    r"|[()\[\]:;§]|\?.",
    re.IGNORECASE,
)
_ENDS = (".", ".”", '."', ";", ".)")
_NO_PROSE = re.compile(r"[|\[\]•_]|\.{3}|…|:\s\((?:[b-hj-uw-z]|[2-9])\)")
"""Tables, blanks to be filled in, and lists whose first item is gone."""
_VERBAL = re.compile(r"\b(?:is|are|was|were|has|have|must|shall|may|will|means?)\b")
_LABEL_WORDS = 10
_LONGEST, _FEWEST_WORDS = 1_400, 4
_MOST_PIECES = 3


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
    """The facts of one question as one; None where they are too many, or disagree on a case."""
    by_answer = {fact.answer: fact for fact in reversed(facts)}
    answers = [
        one
        for one in reversed(by_answer)
        if not any(one in two and one != two for two in by_answer)
    ]
    spans = tuple(dict.fromkeys(span for one in answers for span in by_answer[one].spans))
    answer = " ".join(answers)
    most = 1 if facts[0].kind == "case" else _MOST_PIECES
    fits = len(answers) <= most and len(answer) <= _LONGEST
    return replace(facts[0], answer=answer, spans=spans) if fits else None


def _of_document(document: str, tree: Tree, text: str) -> Iterator[Fact]:
    def placed(facts: Iterable[Fact], start: int, end: int) -> Iterator[Fact]:
        """The facts with their answer and its place; none where its words are cut or too many."""
        own = text[start:end]
        said = unnumbered(own)
        if len(said.split()) > _FEWEST_WORDS and len(said) <= _LONGEST and _is_whole(said):
            start += len(own) - len(own.lstrip())
            label = tree.units[tree.at(start)].label
            end = start + len(own.strip())
            span = Span(document=document, start=start, end=end, section=label)
            said = f"{said[0].upper()}{said[1:].rstrip(';.')}."
            for fact in facts:
                yield replace(fact, answer=f"{fact.answer} {said}".strip(), spans=(span,))

    for place, unit in enumerate(tree.units):
        if tree.operative(place):
            yield from placed(_of_heading(unit.heading), unit.body, unit.end)
            if unit.kind == "definition":
                said = unnumbered(text[unit.body : unit.end])
                yield from placed(_of_entry(unit.heading, said, text), unit.body, unit.end)
    found = [one for one in statements(tree, text) if tree.operative(tree.at(one.start))]
    meant = (_MEANS.fullmatch(one.own) for one in found)
    actors = {term["term"].lower() for term in meant if term and _PERSON.match(term["meaning"])}
    for one in found:
        said_here = _said(one, tree, text)
        if term := _MEANS.fullmatch(said_here.words) or _IS.fullmatch(said_here.words):
            made = _of_definition(term, said_here)
        else:
            made = (of_list if one.points else of_sentence)(said_here, actors)
        yield from placed(made, one.start, one.end)


def _is_whole(said: str) -> bool:
    """Return whether words end where they should and are no row of a table."""
    return said.endswith(_ENDS) and not _NO_PROSE.search(said)


def _said(one: Statement, tree: Tree, text: str) -> Stated:
    """A statement with what its provision says besides."""
    place = tree.around(one.start, one.end)
    unit = tree.units[tree.labels.get(one.label, place)]
    before, after = text[unit.body : one.start], text[one.end : unit.end]
    other = set(re.findall(r"\b(?:must|shall|may)\b", f"{before} {after}"))
    alone = {"may"} - other | ({"must"} if other <= {"may"} else set())
    return Stated(
        words=unnumbered(text[one.start : tree.own_end(place)]) if one.points else one.own,
        label=one.label,
        text=text,
        alone=alone,
        whole=not re.search(r"\w", f"{before}{after}"),
        opens=len(before.split()) <= _LABEL_WORDS and not _VERBAL.search(before),
        hangs=bool(one.lead),
    )


def _of_heading(heading: str) -> Iterator[Fact]:
    """A heading that is a question and can be asked where nothing stands around it."""
    asked = " ".join(heading.split())
    clear = _ASKS.match(asked) and asked.endswith("?") and not _POINTS.search(asked)
    if clear and len(asked.split()) >= _FEWEST_WORDS:
        yield Fact("heading", asked)


def _of_entry(term: str, said: str, text: str) -> Iterator[Fact]:
    """A term with a place of its own, whose words begin with it and explain no other."""
    bare = re.sub(r"\s*\([^()]*\)$", "", term)
    found = re.match(_OF_TERM.format(re.escape(bare)), said, re.IGNORECASE)
    alone = len(re.findall(r"\bmeans?\b", said)) < 2
    if found and alone and not _ELSEWHERE.match(said[found.end() :]):
        yield _definition(bare, text)


def _of_definition(found: re.Match[str], one: Stated) -> Iterator[Fact]:
    """The term of a sentence that says what it means, in quotation marks or plainly one."""
    term = found["term"]
    plain = not one.hangs and is_clear(term) and not _NO_TERM.search(term)
    quoted = found.group().startswith(_QUOTED)
    if (quoted or plain) and not _ELSEWHERE.match(found["meaning"]):
        yield _definition(term, one.text)


def _definition(term: str, text: str) -> Fact:
    named = f"“{uncapitalised(re.sub(r'^(?:An?|The|To) ', '', term), text)}”"
    clause = f"what is meant by {named}"
    return Fact("definition", f"W{clause[1:]}?", clause, about=named)
