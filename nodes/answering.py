"""The statements that may answer a question: none that only asks; with it what answers one."""

import re
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from lexloop.core.types import Chunk
from lexloop.documents.chunks.statements import Statement
from lexloop.documents.structure.tree import Tree
from lexloop.documents.text.tokens import STOP_WORDS, term_set, tokenize, words
from lexloop.models.embedding import Vectors
from lexloop.nodes.question.parts import ASKING, AUXILIARY, opens_like_asking
from lexloop.nodes.relevance import Query, Sources, terms_of

_TOLD = frozenset(tokenize("ask know Q question say tell wonder"))
"""Terms by which a text tells that something is asked."""
_NUMBERED = re.compile(r"\W*(?:Q|question)\b[\W\d]*", re.IGNORECASE)
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
        said: It.
        vector: Its unit vector; of one that answers a question of the document, that of both.
        question: That question, or "" if there is none.
        before: Where it stands, or None if it is the heading, which is the label.
    """

    said: Statement
    vector: Vectors
    question: str = ""
    before: Statement | None = None

    @property
    def scored(self) -> Statement:
        """The statement as its relevance is measured: with the question that it answers."""
        lead = f"{self.question} {self.said.lead}".strip()
        return replace(self.said, lead=lead) if self.question else self.said


def answering(asked: Query, chunk: Chunk, sources: Sources) -> list[Answering]:
    """Return the statements of a chunk that may answer, with the questions that they answer.

    One that only asks does not, nor does a line that is still to be filled in. What follows a
    question or stands under one answers it if the text says so, by "A:" or by more than one
    question with what follows it: behind a single one may come anything.
    """
    asking, before = _Asked(asked), None
    found: list[Answering] = []
    statements, vectors = sources.statements(chunk["id"])
    if len(statements) == 1 and statements[0].label.endswith("?"):
        vectors = sources.embed([statements[0].text])  # the one that is kept is of the heading too
    for said, vector in zip(statements, vectors, strict=True):
        if asking.is_all_of(said):
            before = said
            continue
        if not _is_blank(said.own):
            heading = said.label if said.label.endswith("?") else ""
            found.append(Answering(said, vector, before.text if before else heading, before))
        before = None
    if not any(one.question for one in found):
        return found
    questions = {one.question for one in found if one.question}
    tree = sources.tree_of(chunk["document"]) or Tree()
    headed = (unit.heading for unit in tree.units if unit.kind in ("part", "provision"))
    questions.update(heading for heading in headed if heading.endswith("?"))
    return [_led(one, len(questions) > 1, sources) for one in found]


def _is_blank(text: str) -> bool:
    """Return whether a text ends as a line of a form does that is still to be filled in."""
    return text.rstrip(" .,;:)]").endswith("___")


def _led(one: Answering, several: bool, sources: Sources) -> Answering:
    """Return a statement with the question before it, or alone if that is not sure to be its."""
    opening = one.said.own.partition(":")[0].strip().lower()
    if not one.question or not (several or opening in ("a", "answer")):
        return one._replace(question="", before=None)
    both = one.vector + sources.embed([one.question])[0]
    return one._replace(vector=both / max(float(np.linalg.norm(both)), 1e-9))


def repeats(question: str, asked: str) -> bool:
    """Return whether a question of a document is the one asked, in other forms of its words."""
    return _content(question) - _TOLD == _content(asked) - _TOLD


class _Asked:
    """A question as statements are held against it that may be no more than it."""

    def __init__(self, asked: Query) -> None:
        self._content = _content(asked.text)
        # "is it allowed?" and "who pays, you or I?" are answered in their own words
        polar = any(not _AUXILIARIES.isdisjoint(words(part["text"])[:1]) for part in asked.parts)
        self._open = opens_like_asking(asked.text) and not polar and "or" not in words(asked.text)

    def is_all_of(self, said: Statement) -> bool:
        """Return whether a statement is a question, or has no word that tells more than this one.

        A list is none: its points are not in its words.
        """
        if said.points:
            return False
        if said.own.rstrip(_CLOSING).endswith("?"):
            return True
        added = terms_of(said.lead, said.own) - self._content
        if added and added.isdisjoint(_TOLD):
            return False
        text = said.text[m.end() :] if (m := _NUMBERED.match(said.text)) else said.text
        if clause := _CLAUSE.search(text):
            around = term_set(f"{text[: clause.start()]} {text[clause.end() :]}")
            if around & _TOLD and around.isdisjoint(self._content):
                text = clause.group()
        added = _content(text) - self._content
        if added & _TOLD:
            added = added - _TOLD - STOP_WORDS
        return not added and (self._open or opens_like_asking(text))


@lru_cache(maxsize=1 << 10)
def _content(text: str) -> frozenset[str]:
    """Return the terms of a text, and its words that tell without being one: "not", "you"."""
    return frozenset(tokenize(text)).union((STOP_WORDS - _FORMAL).intersection(words(text)))
