"""What the reader makes of statements: each is read with its document's title and its headings."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexloop.core.folding import narrowed
from lexloop.documents.chunks.carrying import carried_from
from lexloop.documents.chunks.statements import Statement
from lexloop.documents.text.tokens import term_set
from lexloop.models.reader import Readings, load_reader
from lexloop.nodes.question.naming_document import asked_of
from lexloop.nodes.question.parts import without_context
from lexloop.store.view import View

SHORTLIST = 8
"""How many statements are read, the best by a quicker measure."""


class Stated(NamedTuple):
    """A statement of a document, and its text with the question of the document it answers."""

    document: str
    said: Statement
    text: str


def reads(
    question: str,
    stated: Sequence[Stated],
    scores: NDArray[np.float32],
    sources: View,
    definitions: int = 0,
) -> Readings:
    """Return how well statements answer a question.

    The best are read, and some definitions of what is asked about. The others are taken to answer
    no better than the worst of these. If all documents are in other languages than English all are
    0: the reader reads no other.

    Args:
        question: One question.
        stated: The statements.
        scores: What each is worth by a quicker measure, shape (len(stated),).
        sources: Has titles and headings.
        definitions: How many more statements are read if they define what is asked about.
    """
    languages = sources.language.names
    if not stated or (languages and "English" not in languages):
        return Readings(*np.zeros((2, len(stated)), dtype=np.float32))
    ranked = np.argsort(-scores, kind="stable").tolist()
    terms = term_set(question)
    left = ranked[SHORTLIST:] if definitions else []
    defining = [i for i in left if _is_definition(stated[i], terms, sources)]
    best = np.array([*ranked[:SHORTLIST], *defining[:definitions]])
    # what a question leans on is shared by all that stands around its answer
    alone = without_context(question)
    documents = [stated[i].document for i in best.tolist()]
    asked = {} if terms - term_set(alone) else asked_of(alone, {*documents}, sources)
    found = np.zeros((2, len(best)), dtype=np.float32)
    for document in dict.fromkeys(documents):
        rows = [n for n, name in enumerate(documents) if name == document]
        texts = [_in_place(stated[best[n]], sources) for n in rows]
        found[:, rows] = load_reader().read(asked.get(document, alone), texts)
    every = Readings(*(np.full(len(stated), one.min(), dtype=np.float32) for one in found))
    for whole, read in zip(every, found, strict=True):
        whole[best] = read
    return every


def _is_definition(stated: Stated, terms: frozenset[str], sources: View) -> bool:
    """Return whether a statement opens the definition of something that is asked about."""
    tree = sources.tree_of(stated.document)
    if tree is None or (place := tree.at(stated.said.start)) < 0:
        return False
    unit = tree.units[place]
    wanted = term_set(unit.heading)
    return unit.kind == "definition" and bool(wanted) and wanted <= terms


def _in_place(stated: Stated, sources: View) -> str:
    """Return a statement behind its document's title, its headings and what it carries on from."""
    headings, carried = [sources.titles.get(stated.document, "")], list[Statement]()
    tree, text = sources.tree_of(stated.document), sources.text_of(stated.document)
    if tree is not None and (place := tree.at(stated.said.start)) >= 0:
        above = [place, *tree.above(place)]
        headings += [tree.units[one].heading for one in reversed(above)]
        carried = carried_from(stated.said, tree, text) if text is not None else []
    told = dict.fromkeys(narrowed(heading).strip(" .:") for heading in headings)
    said = " ".join([*(before.own for before in carried), stated.text])
    return ". ".join([*filter(None, told), said])
