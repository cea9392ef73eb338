"""Which entities each triplet joins: subject, object, entities they mention, and the section."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from lexloop.core.types import Triplet
from lexloop.corpus.triplets.phrases import alternatives, entity_key, key_words
from lexloop.corpus.triplets.references import section_key

_NOT_NAMING = frozenset(
    {"amount", "applies_to", "deadline", "exception_to", "penalises", "refers_to"}
)
"""Predicates whose subjects may be whole clauses."""
_UNSPECIFIC = frozenset({"we", "you", "person", "information", "provision", "it", "one", "other"})
_NAME_WORDS = 5
_SHARED_SECTIONS = 3
"""A reference that names a section of more documents than these is left unresolved."""


class EntityNames:
    """The entities of a set of triplets, under one name each.

    Acronyms that ``alias_of`` triplets introduce are merged with what they stand for, and
    references to a provision with the section that holds it, of the same document first.
    """

    def __init__(self, triplets: Sequence[Triplet]) -> None:
        self.aliases = _aliases(triplets)
        self._sections: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        labels: dict[str, set[str]] = defaultdict(set)
        for triplet in triplets:
            if triplet["section"]:
                labels[triplet["section"]].add(triplet["document"])
        self._shared = {label for label, documents in labels.items() if len(documents) > 1}
        for label, documents in labels.items():
            for document in documents:
                self._sections[_number(label)][document].add(label)
        self._mentionable: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
        for triplet in triplets:
            if triplet["predicate"] not in _NOT_NAMING:
                for part in alternatives(triplet["subject"]):
                    self._add_mentionable(self.name_of(part))

    def name_of(self, phrase: str) -> str:
        """The name of the entity that a phrase names."""
        key = entity_key(phrase)
        return self.aliases.get(key, key)

    def joined_by(self, triplet: Triplet) -> list[str]:
        """The entities of one triplet without repetitions, object and subject first."""
        document = triplet["document"]
        names = [
            *self._named(triplet["object"], document),
            *self._named(triplet["subject"], document),
            *self._mentions(triplet["object"]),
            *self._mentions(triplet["subject"]),
        ]
        if triplet["section"]:
            names.append(self._section_node(triplet["section"], document))
        return list(dict.fromkeys(name for name in names if name))

    def _named(self, phrase: str, document: str) -> Iterator[str]:
        if phrase.startswith("§") or section_key(phrase[:40]):
            yield from self._sections_of(phrase, document)
        else:
            for part in alternatives(phrase):
                yield self.name_of(part)

    def _sections_of(self, reference: str, document: str) -> Iterator[str]:
        """The section nodes a reference resolves to, or the reference itself."""
        key = section_key(reference)
        number = key[1] if key else ""
        while number:
            held = self._sections.get(number)
            if held:
                where = [document] if document in held else sorted(held)
                kinds = [
                    (place, label)
                    for place in where
                    for label in sorted(held[place])
                    if _same_kind(key, section_key(label))
                ]
                if 0 < len(kinds) <= _SHARED_SECTIONS:
                    yield from (self._section_node(label, place) for place, label in kinds)
                    return
            number = number.rpartition(".")[0]
        yield entity_key(reference)

    def _section_node(self, label: str, document: str) -> str:
        name = entity_key(label)
        return f"{name} of {document}" if label in self._shared else name

    def _add_mentionable(self, name: str) -> None:
        words = name.split(" ")
        if len(words) <= _NAME_WORDS and name not in _UNSPECIFIC and len(name) > 2:
            self._mentionable[words[0]][len(words)].add(name)

    def _mentions(self, phrase: str) -> Iterator[str]:
        words = key_words(phrase)
        for i, word in enumerate(words):
            if word in self.aliases:
                yield self.aliases[word]
            for length, names in self._mentionable.get(word, {}).items():
                name = " ".join(words[i : i + length])
                if name in names:
                    yield name


def _aliases(triplets: Iterable[Triplet]) -> dict[str, str]:
    """Acronym -> long form, as entity keys; an acronym with two long forms stands for neither."""
    found: dict[str, set[str]] = defaultdict(set)
    for triplet in triplets:
        if triplet["predicate"] == "alias_of":
            found[entity_key(triplet["subject"])].add(entity_key(triplet["object"]))
    return {
        short: min(long_forms)
        for short, long_forms in found.items()
        if len(long_forms) == 1 and not long_forms & found.keys()
    }


def _number(label: str) -> str:
    key = section_key(label)
    if key:
        return key[1]
    bare = re.match(r"\d+(?:[.\-–]\w+)*", label)
    return bare.group().lower() if bare else label.lower()


def _same_kind(reference: tuple[str, str] | None, label: tuple[str, str] | None) -> bool:
    """Whether "Rule 3" may mean the section labelled so; a bare "3" may be anything."""
    return reference is None or label is None or reference[0] == label[0]
