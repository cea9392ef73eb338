"""The claims of an answer: what is checked against the passages one by one."""

import re

from lexloop.corpus.text.tokens import tokenize
from lexloop.nodes.markers import cited_sentences

_BULLET = re.compile(r"^(?:[-*•]|\(?(?:[ivx]{1,5}|[a-z]|\d{1,3})[.)])\s+", re.IGNORECASE)
_CLAUSE = re.compile(r";\s+(?:and\s+|or\s+|but\s+)?(?=\w)")
_LEAST_TERMS = 3


def claims_of(text: str) -> list[str]:
    """Each claim of ``text`` in order, without [n] markers and list marks.

    A sentence is one claim; its clauses between semicolons are claims of their own where each has
    at least three search terms. What holds no search term claims nothing.
    """
    found: list[str] = []
    for sentence in cited_sentences(text):
        plain = _BULLET.sub("", sentence.text.strip())
        clauses = _CLAUSE.split(plain)
        whole = any(len(set(tokenize(clause))) < _LEAST_TERMS for clause in clauses)
        found += [plain] if whole else clauses
    return [claim for claim in found if tokenize(claim)]
