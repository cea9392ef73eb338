"""Four documents that share much and have tags at random, and all that a view tells of them."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import pytest
from hypothesis import strategies as st
from library import pointed_in

from lexloop.core.metadata import Filters, Metadata
from lexloop.documents.document import Document
from lexloop.documents.text.tokens import tokenize
from lexloop.store.view import View

TAGS = ("blue", "red")
NAMES = [f"{place}/act.txt" for place in "abcd"]
WORDS = ("falcon", "osprey", "heron", "kestrel")
QUESTIONS = ["Who must pay the mooring fee?", "HO", "harbour officer", *WORDS, "§ 1-1"]
POINTING = [
    *("What does § 1-2 say?", "§ 1-3", "How many sections are there?"),
    *(f"§ 1-2 of the Act of the {word}" for word in WORDS),
]


def document(number: int, metadata: Metadata) -> Document:
    """Shares sections, an acronym and much of its text with the others, and has its own word."""
    word, other = WORDS[number], WORDS[number - 1]
    text = (
        f"§ 1-1 Duties. The owner must pay the mooring fee within {number + 1} days under § 1-2. "
        f"The term “{word} officer” means the harbour officer ({word[0].upper()}O). "
        f"The {other[0].upper()}O must publish the fee.\n\n"
        f"§ 1-2 Fines. Whoever breaks § 1-1 is liable for a penalty of ${number + 1}00. "
        f"The {word} permit is void."
    )
    return Document(NAMES[number], f"Act of the {word}", text, metadata)


DAYS = st.sampled_from([None, date(2020, 1, 1), date(2024, 1, 1)])
KNOWN = st.builds(
    Metadata,
    tags=st.sets(st.sampled_from(TAGS)).map(lambda tags: tuple(sorted(tags))),
    kind=st.sampled_from(["statute", "rule", ""]),
    jurisdiction=st.sampled_from(["Port", ""]),
    in_force_from=DAYS,
    supersedes=st.sampled_from(["", *NAMES]),
)
ACCESS = st.builds(
    Filters,
    allowed_tags=st.frozensets(st.sampled_from(TAGS)),
    as_of=st.sampled_from([None, date(2022, 6, 1), date(2025, 1, 1)]),
    kinds=st.sampled_from([frozenset[str](), frozenset({"rule"})]),
    jurisdictions=st.sampled_from([frozenset[str](), frozenset({"Port"})]),
)


def told(view: View, chunk_ids: list[str]) -> dict[str, Any]:
    """What every way of reading gives, of chunks that are there and that are not."""
    graph, terms = view.graph, sorted({term for said in QUESTIONS for term in tokenize(said)})
    entities = graph.entities
    met = graph.match(QUESTIONS, 40)
    return {
        "documents": list(view.documents),
        "count": len(view),
        "chunks": list(view.every_chunk()),
        "asked for": [_or_error(view.chunks, [name]) for name in chunk_ids],
        "statements": [_texts(_or_error(view.statements, name)) for name in chunk_ids],
        "texts": [view.text_of(name) for name in NAMES],
        "metadata": view.metadata(NAMES),
        "skipped": view.access.skipped(),
        "titles": dict(view.titles),
        "trees": [view.tree_of(name) for name in NAMES],
        "pointed": [pointed_in(asked, view) for asked in POINTING],
        "slips": [view.language.read(f"the {w[:-2]}{w[-1]}{w[-2]} oficer") for w in WORDS],
        "knows": [view.knows(term) for term in terms],
        "idf": [view.idf(term) for term in terms],
        "entities": entities,
        "match": met,
        "spelled": [
            graph.find(said) for said in (*QUESTIONS, *(f"{w[0].upper()}O" for w in WORDS))
        ],
        "walk": graph.walk(met, 3, 60),
        "handed on": graph.look_up(chunk_ids, met, 2, 60),
        "around": [graph.neighbourhood(entity, 2, 50) for entity in entities],
        "degrees": [graph.degree(word) for word in (*entities, *WORDS)],
    }


def _or_error(read: Any, asked: Any) -> Any:
    try:
        return read(asked)
    except KeyError as error:
        return repr(error)


def _texts(found: Any) -> Any:
    return found if isinstance(found, str) else [statement.text for statement in found[0]]


def words_hidden(view: View) -> set[str]:
    """The own words of the documents that a view shows nothing of."""
    shown = {word for place, word in enumerate(WORDS) if NAMES[place] in view.documents}
    # a document names the officer of the one before it
    named = {WORDS[place - 1] for place in range(len(WORDS)) if WORDS[place] in shown}
    return {*WORDS} - shown - named


def alike(one: Any, other: Any, within: float = 0.0) -> bool:
    """Whether two values are the same but for numbers that differ by so much at most."""
    if isinstance(one, float) or isinstance(other, float):
        return bool(one == pytest.approx(other, abs=within))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(alike(one[k], other[k], within) for k in one)
    if isinstance(one, Sequence) and not isinstance(one, str):
        return len(one) == len(other) and all(
            alike(a, b, within) for a, b in zip(one, other, strict=True)
        )
    return bool(one == other)
