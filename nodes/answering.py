"""The statements that may answer a question, each with the document's question that it answers."""

import re
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from lexloop.core.types import Chunk
from lexloop.documents.chunks.statements import Statement
from lexloop.documents.structure.tree import Tree
from lexloop.documents.text.tokens import STOP_WORDS, term_set, words
from lexloop.models.embedding import Vectors
from lexloop.nodes.question.parts import ASKING, AUXILIARY, opens_like_asking
from lexloop.nodes.relevance import Query, Sources, terms_of

_ASKING_TERMS = term_set("ask know Q question say tell wonder")
"""Terms by which a text reports a question."""
_NUMBERED = re.compile(r"^\W*(?:Q|question)\b[\W\d]*", re.IGNORECASE)
_CLAUSE = re.compile(rf"\b(?:{ASKING}|if)\b[^?]*\??", re.IGNORECASE)
_AUXILIARIES = frozenset(AUXILIARY.split("|"))
_FORMAL = _AUXILIARIES | frozenset(
    """a about an and as at be been being but by doing for from having here how if in into of on or
    so such than that the there these this those through to what when where which who whom why
    with""".split()
)
_CLOSING = "\"'”’»)]*_ \n"


class Answering(NamedTuple):
    """A statement that may answer.

    Args:
        statement: The statement.
        vector: Its unit vector; if it answers a question of the document, of both together.
        question: That question, or "".
        before: The statement with the question; None if the question is the heading.
    """

    statement: Statement
    vector: Vectors
    question: str = ""
    before: Statement | None = None

    @property
    def scored(self) -> Statement:
        """The statement with the question that it answers, as its relevance is measured."""
        lead = f"{self.question} {self.statement.lead}".strip()
        return replace(self.statement, lead=lead) if self.question else self.statement


def answering(query: Query, chunk: Chunk, sources: Sources) -> list[Answering]:
    """Return the statements of a chunk that may answer, with the questions that they answer.

    A question is not an answer, nor is a line to be filled in. A statement after a question, or
    under one, answers it if it begins with "A:" or if the document has several such questions:
    anything may follow a single question.
    """
    asked, before = _Question(query), None
    candidates: list[Answering] = []
    statements, vectors = sources.statements(chunk["id"])
    if len(statements) == 1 and statements[0].label.endswith("?"):
        vectors = sources.embed([statements[0].text])  # the stored vector includes the heading
    for statement, vector in zip(statements, vectors, strict=True):
        if asked.is_restated_by(statement):
            before = statement
            continue
        if not _is_blank(statement.own):
            heading = statement.label if statement.label.endswith("?") else ""
            question = before.text if before else heading
            candidates.append(Answering(statement, vector, question, before))
        before = None
    questions = {candidate.question for candidate in candidates if candidate.question}
    if not questions:
        return candidates
    tree = sources.tree_of(chunk["document"]) or Tree()
    headed = (unit.heading for unit in tree.units if unit.kind in ("part", "provision"))
    questions.update(heading for heading in headed if heading.endswith("?"))
    return [_led(candidate, len(questions) > 1, sources) for candidate in candidates]


def _is_blank(text: str) -> bool:
    """Return whether a text ends as a form's line that is to be filled in."""
    return text.rstrip(" .,;:)]").endswith("___")


def _led(candidate: Answering, several: bool, sources: Sources) -> Answering:
    """Return a statement with the question before it, or without if it may not answer that."""
    opening = candidate.statement.own.partition(":")[0].strip().lower()
    if not candidate.question or not (several or opening in ("a", "answer")):
        return candidate._replace(question="", before=None)
    both = candidate.vector + sources.embed([candidate.question])[0]
    return candidate._replace(vector=both / max(float(np.linalg.norm(both)), 1e-9))


def repeats(question: str, asked: str) -> bool:
    """Return whether a document's question is the user's in other forms of its words."""
    return _content(question) - _ASKING_TERMS == _content(asked) - _ASKING_TERMS


class _Question:
    """A question, to be compared with statements that may only restate it."""

    def __init__(self, query: Query) -> None:
        self._content = _content(query.text)
        # "is it allowed?" and "who pays, you or I?" are answered in their own words
        polar = any(not _AUXILIARIES.isdisjoint(words(part["text"])[:1]) for part in query.parts)
        self._open = opens_like_asking(query.text) and not polar and "or" not in words(query.text)

    def is_restated_by(self, statement: Statement) -> bool:
        """Return whether a statement is a question, or says no more than this one.

        A list is neither: its words leave out its points.
        """
        if statement.points:
            return False
        if statement.own.rstrip(_CLOSING).endswith("?"):
            return True
        added = terms_of(statement.lead, statement.own) - self._content
        if added and added.isdisjoint(_ASKING_TERMS):
            return False
        text = _NUMBERED.sub("", statement.text, count=1)
        if clause := _CLAUSE.search(text):
            around = term_set(f"{text[: clause.start()]} {text[clause.end() :]}")
            if around & _ASKING_TERMS and around.isdisjoint(self._content):
                text = clause.group()
        added = _content(text) - self._content
        if added & _ASKING_TERMS:
            added = added - _ASKING_TERMS - STOP_WORDS
        return not added and (self._open or opens_like_asking(text))


@lru_cache(maxsize=1 << 10)
def _content(text: str) -> frozenset[str]:
    """Return the terms of a text and its stop words with a meaning, such as "not" and "you"."""
    return term_set(text).union((STOP_WORDS - _FORMAL).intersection(words(text)))
