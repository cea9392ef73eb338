"""What a short question leaves out: the document that it is asked of."""

from collections.abc import Set

from lexloop.documents.structure.own_name import own_name
from lexloop.documents.text.tokens import term_set, words
from lexloop.store.view import View

_SHORT = 2
"""Search terms of a question that leaves out what it is asked of, at most."""


def asked_of(question: str, documents: Set[str], sources: View) -> dict[str, str]:
    """Return a short question with each document's own name: "Which law governs of this lease?".

    Who asks of a document leaves out what it is, and a reader looks for it. "It" may mean something
    else, so such a question is read as it is, and so is any if a document has no name for itself:
    the others would seem to answer better.
    """
    terms = term_set(question)
    if len(terms) > _SHORT or "it" in words(question):
        return {}
    names = {
        name: own_name(sources.text_of(name) or "", sources.titles.get(name, ""))
        for name in documents
    }
    if not all(names.values()):
        return {}
    asked = question.rstrip(" ?")
    return {
        document: f"{asked} of this {name}?"
        for document, name in names.items()
        if not term_set(name) <= terms
    }
