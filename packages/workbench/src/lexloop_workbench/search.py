"""Search for exact words, phrases and provisions in whole documents, with each place in context.

Unlike the retrieval of passages for an answer, it guesses nothing: a document is found if it has
everything that is sought, and counts are exact.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import merge
from typing import TYPE_CHECKING, NamedTuple

from pydantic import BaseModel, Field

from lexloop.core.errors import InputError
from lexloop.core.folding import folded, plain
from lexloop.core.running import give_way, heed_deadline
from lexloop.core.types import At
from lexloop.documents.structure.lookup import named_places, owns_label
from lexloop.documents.structure.references import Reference, find_references
from lexloop.documents.structure.tree import Tree
from lexloop.documents.text.tokens import IS_UNSPACED, STOP_WORDS, UNSPACED, tokenize
from lexloop.store.naming import documents_named
from lexloop.store.provisions import Source

if TYPE_CHECKING:
    from lexloop.store.view import View

LONGEST, _MOST = 1000, 40
"""Characters of a query, and words and phrases in it."""
_TOGETHER = 400
"""Maximum characters between matches that stand together."""
_GAP, _BEFORE, _BEHIND, _WIDEST = 160, 90, 130, 700
"""Maximum characters between two places of a passage, beside them, and of the passage."""
_BETWEEN = r"[\W_]{1,8}"
_QUOTES = str.maketrans(dict.fromkeys("“”„‟«»", '"'))
_QUOTED = re.compile(r'(?<!\S)(-?)"([^"]*)"')
_WORD = re.compile(
    rf"\d+(?:[.,\-–]\d+)+[a-z]?|[{UNSPACED}]+|(?:(?![{UNSPACED}])[^\W_])+(?:['’][^\W_]+)?",
    re.IGNORECASE,
)
_SEE = 'Write words, a "phrase in quotes", a provision, or -word for what must not be there.'
Span = tuple[int, int]
_Place = tuple[int, int, int]
"""The index of a sought item, and its start and end."""


class Excerpt(BaseModel):
    """Some places of a text that lie close together; offsets are code points, half-open."""

    start: int = Field(description="Where the quote begins in the text.")
    end: int
    quote: str
    marks: list[Span] = Field(description="Matches, as spans of the quote.")


class Passage(Excerpt):
    """An excerpt of a provision."""

    section: str = Field(description="The provision's label; empty outside of all.")
    page: int | None
    at: At = At()


class FoundDocument(BaseModel):
    """A document that matches. Passages with the most different matches come first."""

    collection: str = ""
    document: str
    title: str
    version: str
    identifier: str
    places: int = Field(description="Number of matches in the document.")
    passages: list[Passage]
    more: bool = Field(description="Whether it has further passages.")


class Sought(BaseModel):
    """How a query was read."""

    words: list[str]
    phrases: list[str]
    without: list[str]
    provision: str = Field(description="The provision to find, or empty.")
    left_out: list[str] = Field(description="Words that nearly every text has.")
    any_form: bool


class Found(BaseModel):
    """The documents found, from ``first`` on. Those with everything in one place come first."""

    query: str
    sought: Sought
    documents: list[FoundDocument]
    total: int = Field(description="How many documents are found.")
    places: int = Field(description="How many places there are in all of them.")
    first: int


@dataclass(frozen=True)
class Asked:
    """A parsed query.

    Args:
        words: The words to find, in lower case and without accents.
        phrases: Sequences of words to find.
        without: Words and phrases that a document must not contain.
        provision: The text that names a provision. ``references`` are its parsed references.
        left_out: Words that are too common to search for.
        any_form: Whether to find other forms of a word as well.
    """

    query: str
    words: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    provision: str = ""
    references: tuple[Reference, ...] = ()
    left_out: tuple[str, ...] = ()
    any_form: bool = False

    @classmethod
    def of(cls, query: str, any_form: bool = False, provisions: bool = True) -> "Asked":
        """Parse a query.

        Args:
            query: Words, phrases in quotes, provisions, and "-" before what must not occur.
            any_form: Whether to find other forms of a word as well.
            provisions: Whether to look up provisions instead of searching for their words.

        Raises:
            InputError: It contains nothing to search for, or is too long.
        """
        if len(query) > LONGEST:
            raise InputError(f"The query has {len(query)} characters.", f"Write up to {LONGEST}.")
        query = query.encode("utf-8", "replace").decode()
        text = folded(query).translate(_QUOTES)
        quoted = _QUOTED.findall(text)
        rest = _QUOTED.sub(" ", text).replace('"', " ")
        excluded = [word for word in rest.split() if word[0] == "-" and word[1:2].isalnum()]
        rest = " ".join(word for word in rest.split() if word not in excluded)
        references = tuple(find_references(rest)) if provisions else ()
        named = dict.fromkeys((reference.start, reference.end) for reference in references)
        provision = " ".join(" ".join(rest[start:end].split()) for start, end in named)
        for start, end in reversed(named):
            rest = f"{rest[:start]} {rest[end:]}"
        terms = [*map(words_in, rest.split())]
        phrases = [*(words_in(quote) for minus, quote in quoted if not minus)]
        long_terms = [" ".join(term) for term in (*terms, *phrases) if len(term) > 1]
        words = [word for term in (*terms, *phrases) if len(term) == 1 for word in term]
        idle = [term[0] for term in terms if len(term) == 1 and term[0] in STOP_WORDS]
        without = [*(quote for minus, quote in quoted if minus), *(word[1:] for word in excluded)]
        parsed = cls(
            query,
            tuple(dict.fromkeys(word for word in words if word not in idle)),
            tuple(dict.fromkeys(long_terms)),
            tuple(dict.fromkeys(filter(None, map(" ".join, map(words_in, without))))),
            provision,
            references,
            tuple(dict.fromkeys(idle)),
            any_form,
        )
        parsed._check()
        return parsed

    def _check(self) -> None:
        if self.words or self.phrases or self.provision:
            count = len(self.words) + len(self.phrases) + len(self.without)
            if count > _MOST:
                raise InputError(f"The query has {count} words.", f"Seek up to {_MOST} at once.")
        elif self.left_out:
            problem = f"Nearly every text has {', '.join(self.left_out)}."
            raise InputError(problem, 'Add another word, or write a "phrase in quotes".')
        elif self.without:
            raise InputError("The query says only what must not be there.", _SEE)
        else:
            raise InputError("The query holds no word.", _SEE)

    def as_text(self) -> "Asked":
        """Return the same with what names a provision sought as a phrase."""
        words = " ".join(words_in(self.provision))
        return replace(self, phrases=(*self.phrases, words), provision="", references=())

    def record(self) -> Sought:
        """Return how the query was read."""
        return Sought(
            words=[*self.words],
            phrases=[*self.phrases],
            without=[*self.without],
            provision=self.provision,
            left_out=[*self.left_out],
            any_form=self.any_form,
        )

    @cached_property
    def _finders(self) -> "list[Callable[[str], Iterator[Span]]]":
        return [finder(text, self.any_form) for text in (*self.words, *self.phrases)]

    @cached_property
    def _refusing(self) -> "list[Callable[[str], Iterator[Span]]]":
        return [finder(text, self.any_form) for text in self.without]

    @cached_property
    def rare(self) -> list[str]:
        """The words of the query that an index can look up."""
        # after a number, an index may take a letter for a part of it: "4.2(b)"
        phrases = (phrase for phrase in self.phrases if not any(map(str.isdigit, phrase)))
        words = " ".join((*self.words, *phrases)).split()
        return [word for word in dict.fromkeys(words) if word.isalpha() and word not in STOP_WORDS]

    def places(self, text: str, inside: Sequence[Span] | None = None) -> list[_Place]:
        """Return the places of all matches in order, or none if a part of the query is missing.

        Args:
            text: A document's text, as ``plain`` returns it.
            inside: The spans of the provisions to search, or None for everywhere. If the query has
                nothing else, these spans are the places, with no length.
        """
        if any(next(find(text), None) for find in self._refusing):
            return []
        if not self._finders:
            return [(number, start, start) for number, (start, _) in enumerate(inside or ())]
        lists: list[list[_Place]] = []
        for number, find in enumerate(self._finders):
            spans = find(text)
            own = [(number, *span) for span in spans if inside is None or _lies_in(span, inside)]
            if not own:
                return []
            lists.append(own)
        return sorted(
            {place[1:]: place for place in merge(*lists)}.values(), key=lambda place: place[1:]
        )


def words_in(said: str) -> list[str]:
    """Return the words of a text in the form in which they are compared."""
    return _WORD.findall(plain(said))


def finder(said: str, any_form: bool = False) -> Callable[[str], Iterator[Span]]:
    """Return what finds a word or a phrase in a text that is ``plain``, as whole words."""
    unspaced = [IS_UNSPACED.match(letter) is not None for letter in (said[0], said[-1])]
    stem = tokenize(said) if any_form and said.isalpha() and not any(unspaced) else []
    if stem:
        begins = re.escape(plain(stem[0])[: max(1, len(stem[0]) - 1)])
        form = re.compile(rf"{begins}(?<![^\W_]{begins})[^\W_]*")
        return lambda text: (m.span() for m in form.finditer(text) if tokenize(m[0]) == stem)
    first, *rest = map(_written, said.split(" "))
    number = rf"(?<!\d[.,\-–]{first})" if said[0].isdigit() else ""
    tail = r"(?![.,\-–]\d)" if said[-1].isdigit() else ""
    own = r"(?!['’](?!s(?![^\W_]))[^\W_])"
    alone = rf"{first}(?<![^\W_]{first})(?<![^\W_]['’]{first}){number}"
    # in scripts without spaces, a word may begin and end anywhere
    begins = first if unspaced[0] else alone
    ends = "" if unspaced[1] else rf"(?![^\W_]){own}{tail}"
    pattern = re.compile(rf"{_BETWEEN.join([begins, *rest])}{ends}")
    return lambda text: (m.span() for m in pattern.finditer(text))


def _written(word: str) -> str:
    return re.sub("['’]", "['’]", re.escape(word))


def _lies_in(span: Span, inside: Sequence[Span]) -> bool:
    return any(start <= span[0] and span[1] <= end for start, end in inside)


class _Match(NamedTuple):
    """A document that is found, and the provisions that are sought in it; in order as shown."""

    apart: bool
    fewer: int
    collection: str
    document: str
    provisions: tuple[int, ...] | None


def search(
    views: "Mapping[str, View]",
    asked: Asked,
    *,
    documents: Sequence[str] = (),
    first: int = 0,
    limit: int = 20,
    passages: int = 3,
) -> Found:
    """Return the documents that match everything in a query.

    A provision that no document has is searched for as a phrase.

    Args:
        views: The views to search, by collection. A name may be "".
        asked: The query.
        documents: Search only these, by name or the end of it. Empty for all.
        first: The number of documents to skip.
        limit: The maximum number of documents.
        passages: The maximum number of passages of each.

    Raises:
        InputError: There is no such document in any collection.
    """
    chosen: Mapping[str, Sequence[str]] = {name: view.documents for name, view in views.items()}
    if documents:
        chosen = documents_named(chosen, documents)
    matches = [*_matches(views, asked, chosen)]
    if asked.references and not matches:
        asked = asked.as_text()
        matches = [*_matches(views, asked, chosen)]
    matches.sort()
    return Found(
        query=asked.query,
        sought=asked.record(),
        documents=[
            _document(match, views[match.collection], asked, passages)
            for match in matches[first : first + limit]
        ],
        total=len(matches),
        places=-sum(match.fewer for match in matches),
        first=first,
    )


def _matches(
    views: "Mapping[str, View]", query: Asked, chosen: Mapping[str, Sequence[str]]
) -> Iterator[_Match]:
    """Yield the documents that are found."""
    for name, documents in chosen.items():
        yield from _matches_of(name, views[name], query, {*documents})


def _matches_of(collection: str, view: "View", query: Asked, allowed: Set[str]) -> Iterator[_Match]:
    names = [name for name in view.having(query.rare) if name in allowed]
    provisions = _provisions(view, query) if query.references else None
    if provisions is not None:
        names = [name for name in names if name in provisions]
        if not (query.words or query.phrases or query.without):
            for name in names:  # an index knows their places, so texts are not read
                yield _Match(False, -len(provisions[name]), collection, name, provisions[name])
            return
    for name, text in zip(names, view.texts_of(names), strict=True):
        give_way()
        heed_deadline("while documents were searched")
        at = None if provisions is None else provisions[name]
        tree = None if at is None else view.tree_of(name)
        if places := query.places(plain(text), _spans(tree, at)):
            apart = _least(places, len({place[0] for place in places})) > _TOGETHER
            yield _Match(apart, -len(places), collection, name, at)


def _provisions(view: "View", query: Asked) -> dict[str, tuple[int, ...]]:
    """Return the indices of the provisions to find, by document.

    An index finds most of them by number. Others are looked for in the trees of a few documents,
    which read numbers in more ways.
    """
    ranges = any(reference.last or reference.here for reference in query.references)
    placed = {} if ranges else view.placed(query.references)
    wanted = len({reference.steps for reference in query.references})
    indices = {name: tuple(at) for name, at in placed.items() if len(at) >= wanted}
    if not indices:
        for name in view.holding(query.references, []):
            tree = view.tree_of(name)
            if tree is not None and (at := named_places(tree, query.provision)):
                indices[name] = tuple(at)
    return indices


def _spans(tree: Tree | None, at: Sequence[int] | None) -> list[Span] | None:
    """Return the spans of units, or None for everywhere."""
    if tree is None or at is None:
        return None
    return [(tree.units[place].start, tree.units[place].end) for place in at]


def _least(places: Sequence[_Place], kinds: int) -> int:
    """Return the characters of the shortest stretch that holds a place of each kind."""
    best, first = places[-1][2] - places[0][1], 0
    counts: dict[int, int] = {}
    for number, _, end in places:
        counts[number] = counts.get(number, 0) + 1
        while len(counts) == kinds:
            best = min(best, end - places[first][1])
            gone = places[first][0]
            counts[gone] -= 1
            if not counts[gone]:
                del counts[gone]
            first += 1
    return best


def _document(match: _Match, view: "View", query: Asked, most: int) -> FoundDocument:
    source = Source.of(view, match.document)
    text = plain(source.text)
    places = query.places(text, _spans(source.tree, match.provisions))
    groups = together(places, lambda at: _unit(source, at))
    metadata = view.metadata([match.document])[match.document]
    return FoundDocument(
        collection=match.collection,
        document=match.document,
        title=view.titles[match.document],
        version=metadata.version,
        identifier=metadata.identifier,
        places=-match.fewer,
        passages=[_passage(source, group) for group in groups[:most]],
        more=len(groups) > most,
    )


def excerpts(text: str, asked: Asked, most: int = 3) -> list[Excerpt]:
    """Return the first excerpts of a text, or none if it lacks anything that is sought."""
    groups = together(asked.places(plain(text)), lambda _: 0)
    return [excerpt(text, group, (0, len(text))) for group in groups[:most]]


def together(places: Sequence[_Place], unit: Callable[[int], int]) -> list[list[_Place]]:
    """Return places in groups that lie close together in one unit, those with most kinds first."""
    groups: list[list[_Place]] = []
    for place in places:
        group = groups[-1] if groups else []
        near = group and place[1] - group[-1][2] <= _GAP and place[2] - group[0][1] <= _WIDEST
        if near and unit(place[1]) == unit(group[0][1]):
            group.append(place)
        else:
            groups.append([place])
    return sorted(groups, key=lambda group: -len({number for number, *_ in group}))


def _unit(source: Source, offset: int) -> int:
    """Return the index of the nearest labelled unit around an offset, or -1."""
    place = source.tree.at(offset)
    while place >= 0 and not owns_label(source.tree, place):
        place = source.tree.units[place].parent
    return place


def _passage(source: Source, group: Sequence[_Place]) -> Passage:
    first = group[0][1]
    place = _unit(source, first)
    unit = source.tree.units[place] if place >= 0 else None
    within = (unit.start, unit.end) if unit else (0, len(source.text))
    return Passage(
        **excerpt(source.text, group, within).model_dump(),
        section=unit.label if unit else "",
        **source.where(first, group[0][2]),
    )


def excerpt(text: str, held: Sequence[_Place], within: Span) -> Excerpt:
    """Return the text around places, cut between words and at the ends of a span."""
    first, last = held[0][1], max(end for _, _, end in held)
    behind = _BEHIND if first < last else _BEFORE + 2 * _BEHIND
    start, end = max(within[0], first - _BEFORE), min(max(within[1], last), last + behind)
    if within[0] < start:
        start = next((at for at in range(start, first) if text[at - 1].isspace()), first)
    if end < len(text):
        end = next((at for at in range(end, last, -1) if text[at].isspace()), end)
    quote = text[start:end].rstrip()
    start += len(quote) - len(quote.lstrip())
    marks = [(one - start, other - start) for _, one, other in held if one < other]
    return Excerpt(start=start, end=start + len(quote.lstrip()), quote=quote.lstrip(), marks=marks)
