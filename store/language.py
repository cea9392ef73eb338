"""Language: the languages of documents, and the words that a spelling slip may mean."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain, islice

from lexloop.core.running import heed_deadline
from lexloop.core.types import Chunk, Reading
from lexloop.documents.text.languages import languages_of, other_language, words_of
from lexloop.documents.text.slips import Slips, small_words
from lexloop.documents.text.tokens import tokenize
from lexloop.models.minilm import is_usual_word
from lexloop.store.protocol import Store, Within

_CHUNKS_READ, _TERMS_READ, _CHUNKS_OF_LANGUAGES = 20_000, 2_000, 200
"""The most chunks and definitions whose words correct slips, and chunks that show languages."""


class Language:
    """The words of documents.

    Args:
        store: The index.
        within: The documents.
    """

    def __init__(self, store: Store, within: Within) -> None:
        self._store, self._within = store, within

    def read(self, text: str) -> tuple[str, list[Reading]]:
        """Return the text with slips read as the documents' words, and the readings."""
        return self._slips.read(text, self._known_words(small_words(text)))

    @cached_property
    def names(self) -> list[str]:
        """The documents' languages, the most used first; empty if unknown."""
        return languages_of(chunk["text"] for chunk in self._some_chunks(_CHUNKS_OF_LANGUAGES))

    def other(self, question: str) -> str:
        """Return the language of a question if the documents are not in it; otherwise ""."""
        return other_language(question, self.names, self._known_words(words_of(question)))

    def _known_words(self, words: Iterable[str]) -> frozenset[str]:
        """Return the words that the documents contain, with one request for all."""
        stems = {word: tokenize(word) for word in dict.fromkeys(words)}
        terms = [*dict.fromkeys(chain.from_iterable(stems.values()))]
        frequencies = self._store.statistics(terms, self._within).frequencies
        known = {term for term, count in zip(terms, frequencies, strict=True) if count}
        return frozenset(word for word, parts in stems.items() if known.issuperset(parts))

    @cached_property
    def _slips(self) -> Slips:
        return Slips(is_usual=is_usual_word, words=self._words, terms=self._terms)

    def _words(self) -> Iterator[str]:
        """Yield the words of the chunks and their headings."""
        for chunk in self._some_chunks(_CHUNKS_READ):
            heed_deadline("while the documents' words were read")
            yield from small_words(f"{chunk.get('context', '')} {chunk['text']}")

    def _some_chunks(self, most: int) -> Iterator[Chunk]:
        """Return the chunks; if there are too many, some that are evenly spread."""
        size = self._store.statistics((), self._within).chunks
        return self._store.every_chunk(-(-size // most) or 1, self._within)

    def _terms(self) -> Iterator[str]:
        """Yield the defined terms; of very many the first."""
        for name, place in islice(self._store.defining(self._within), _TERMS_READ):
            yield self._store.document(name).tree.units[place].heading
