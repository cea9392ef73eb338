"""Preparation of source files: cut into chunks, related, embedded.

The result for one file depends on that file alone. It can be made in any process, on any machine,
and repeated with the same bytes.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from lexloop.core.folding import folded
from lexloop.core.types import Chunk, Triplet
from lexloop.documents.chunks.chunkers import Chunker
from lexloop.documents.chunks.long_tables import LongTable, head_of, long_tables_of
from lexloop.documents.chunks.statements import Statement, statements_of_chunks
from lexloop.documents.document import Document
from lexloop.documents.reading.source import Loaded
from lexloop.documents.reading.workers import Progress, silent
from lexloop.documents.text.tokens import sentence_spans
from lexloop.models.embedding import CODED, Codes, Embedder, Halves, Spans, TokenEmbedder
from lexloop.store.folder.store import FolderStore
from lexloop.store.folder.tokens import TokenIndex
from lexloop.store.manifest import IndexSource, Recipe
from lexloop.store.protocol import MARK, Marks, PreparedChunk, PreparedDocument, PreparedFile
from lexloop.store.scan import Scan

_SPECIAL_TOKENS = 2
_SLAB, _WAITING = 20_000, 2_000
"""Texts embedded at once, enough to sort them by length, and files that wait for theirs."""
_NONE: Codes = np.zeros((0, CODED), dtype=np.int8)

Extractor = Callable[[Document, Sequence[Chunk]], list[Triplet]]
"""A function from a document and its chunks to the relations that it states."""


@dataclass(frozen=True)
class Tools:
    """The functions and models that turn documents into an index, and the recipe that names them.

    ``settings`` are those that chose the rest; a later update starts from them.
    """

    recipe: Recipe
    settings: Mapping[str, Any]
    embedder: Embedder
    chunk: Chunker
    extract: Extractor


class Preparer(Protocol):
    """A lister and preparer of source files on other machines."""

    def scan(self, sources: Sequence[IndexSource], excluded: Collection[str]) -> Scan:
        """List the files of the sources; see ``scan``."""
        ...

    def prepare(
        self, now: Scan, wanted: Collection[str], progress: Progress
    ) -> Generator[PreparedFile]:
        """Yield the wanted files in the order of the scan, fully prepared."""
        ...

    def survey(
        self, now: Scan, wanted: Collection[str], progress: Progress
    ) -> Generator[PreparedFile]:
        """Yield the wanted files in the same order, only cut into chunks."""
        ...


def cut(loaded: Loaded, fingerprint: str, tools: Tools) -> PreparedFile:
    """Return a file's documents with their chunks and statements only."""
    name = loaded.file.name
    made = (
        cut_document(name, fingerprint, document, tools.chunk(document), tools)
        for document in loaded.documents
    )
    return PreparedFile(name, tuple(made), loaded.skipped)


def cut_document(
    file: str, fingerprint: str, document: Document, chunks: Sequence[Chunk], tools: Tools
) -> PreparedDocument:
    """Return a document in its chunks, with their statements."""
    vectors = np.zeros((0, tools.embedder.dimension), dtype=np.float16)
    marks = np.zeros((0, 2), dtype=MARK)
    by_chunk = statements_of_chunks(document, chunks)
    prepared = [
        PreparedChunk(chunk, statements, [], vectors, marks, [])
        for chunk, statements in zip(chunks, by_chunk, strict=True)
    ]
    return PreparedDocument(file, fingerprint, document, prepared)


def related(made: PreparedFile, tools: Tools) -> PreparedFile:
    """Return a file that is cut with its triplets.

    Raises:
        LexloopError: The extractor failed.
    """
    documents = []
    for prepared in made.documents:
        stated = defaultdict[str, list[Triplet]](list)
        for triplet in tools.extract(prepared.document, [piece.chunk for piece in prepared.chunks]):
            stated[triplet["chunk_id"]].append(triplet)
        chunks = [piece._replace(triplets=stated[piece.chunk["id"]]) for piece in prepared.chunks]
        documents.append(replace(prepared, chunks=chunks))
    return replace(made, documents=tuple(documents))


def embedded(
    files: Iterable[PreparedFile],
    tools: Tools,
    known: "KnownVectors | None" = None,
    progress: Progress = silent,
) -> Iterator[PreparedFile]:
    """Yield files that are cut with the vectors of their windows, in order.

    Chunks that already have vectors keep them. Many files are embedded together.

    Args:
        files: Files in any state of preparation.
        tools: Make the vectors.
        known: Vectors that can be reused.
        progress: Called with "embedding", the texts done and the texts known of.

    Raises:
        LexloopError: The embedder failed.
    """
    slab = _Slab(tools, known, progress)
    waiting: list[PreparedFile] = []
    for made in files:
        waiting.append(replace(made, documents=tuple(map(slab.taken, made.documents))))
        if slab.full or len(waiting) >= _WAITING:
            slab.embed()
            yield from waiting
            waiting = []
    slab.embed()
    yield from waiting


class Window(NamedTuple):
    """An embedded part of a chunk: a text, or parts of a text that is embedded as a whole."""

    text: str
    parts: Spans = ()


class _Waiting(NamedTuple):
    """A text to embed, and where its vector, its parts' vectors and its tokens' codes go."""

    text: str
    vectors: Halves
    codes: list[Codes]
    place: int
    parts: dict[int, Spans]


class _Slab:
    """Texts that wait to be embedded together, since a few at a time take far longer."""

    def __init__(self, tools: Tools, known: "KnownVectors | None", progress: Progress) -> None:
        self._tools, self._known, self._progress = tools, known, progress
        self._sentence_pieces: list[_Waiting] = []
        self._rest: list[_Waiting] = []
        self._done = 0

    @property
    def full(self) -> bool:
        return len(self._sentence_pieces) + len(self._rest) >= _SLAB

    def taken(self, made: PreparedDocument) -> PreparedDocument:
        """Return a document with its vectors, which may be filled only by ``embed``."""
        if all(len(prepared.vectors) for prepared in made.chunks):
            return made
        tables = long_tables_of(made.document)
        chunks = [h if len(h.vectors) else self._with_space(h, tables) for h in made.chunks]
        return replace(made, chunks=chunks)

    def _with_space(self, piece: PreparedChunk, tables: Sequence[LongTable]) -> PreparedChunk:
        """Return a chunk with its known vectors; room for the others waits to be filled."""
        tools, known = self._tools, self._known
        windows, late = (
            windows_of(piece, tools, tables),
            isinstance(tools.embedder, TokenEmbedder),
        )
        marks = window_marks(windows)
        vectors = np.zeros((len(windows), tools.embedder.dimension), dtype=np.float16)
        codes = [_NONE] * len(windows) if tools.recipe.tokens else []
        rows = known.rows(marks).tolist() if known else [-1] * len(windows)
        wholes = wholes_of(windows, piece.statements, tools.recipe.windows) if late else 0
        parts = defaultdict[str, dict[int, Spans]](dict)
        for place, (window, row) in enumerate(zip(windows, rows, strict=True)):
            if known and row >= 0:
                vectors[place] = known.vectors[row]
                if place < wholes and codes:
                    codes[place] = known.tokens_of(row)
            elif window.parts:
                parts[window.text][place] = window.parts
        for place, (window, row) in enumerate(zip(windows, rows, strict=True)):
            if place < wholes:
                bare = bool(codes) and not len(codes[place])
                if row < 0 or bare or window.text in parts:
                    wanted = parts.pop(window.text, {})
                    self._sentence_pieces.append(
                        _Waiting(window.text, vectors, codes, place, wanted)
                    )
            elif row < 0 and not window.parts:
                self._rest.append(_Waiting(window.text, vectors, codes, place, {}))
        return piece._replace(vectors=vectors, marks=marks, codes=codes)

    def embed(self) -> None:
        """Embed the waiting texts."""
        total = self._done + len(self._sentence_pieces) + len(self._rest)

        def progress(now: int, _: int) -> None:
            self._progress("embedding", self._done + now, total)

        embedder = self._tools.embedder
        if self._sentence_pieces and isinstance(embedder, TokenEmbedder):
            each = _grouped(self._sentence_pieces)
            made = embedder.encode_tokens(
                [text for text, _ in each], [parts for _, parts in each], progress
            )
            for alike, vector, code, parts in zip(each.values(), *made, strict=True):
                for waiting in alike:
                    waiting.vectors[waiting.place] = vector
                    waiting.vectors[list(waiting.parts)] = parts
                    if waiting.codes:
                        waiting.codes[waiting.place] = code
            self._done += len(self._sentence_pieces)
        if self._rest:
            each = _grouped(self._rest)
            rows = embedder.encode([text for text, _ in each], progress)
            for alike, vector in zip(each.values(), rows, strict=True):
                for waiting in alike:
                    waiting.vectors[waiting.place] = vector
            self._done += len(self._rest)
        self._sentence_pieces, self._rest = [], []


def _grouped(waiting: Iterable[_Waiting]) -> dict[tuple[str, tuple[Spans, ...]], list[_Waiting]]:
    """Group waiting texts by text and parts, so that equal ones are embedded once."""
    alike = defaultdict[tuple[str, tuple[Spans, ...]], list[_Waiting]](list)
    for window in waiting:
        alike[window.text, tuple(window.parts.values())].append(window)
    return alike


def windows_of(
    prepared: PreparedChunk, tools: Tools, tables: Sequence[LongTable] = ()
) -> list[Window]:
    """Return the windows of a chunk: the whole, then each of its statements if there are several.

    All texts are folded. The whole has the context and a statement the point; scoring a chunk by
    its better window finds more than either alone. The chunk's headings come before the whole. A
    whole longer than the embedder's window is cut into several, so that every word is embedded. If
    the embedder gives tokens, a statement within one of these pieces gets its vector from the
    piece, so each word is embedded once. Other statements are embedded separately, by their
    beginning. For rows of the document's long tables only the table's head is embedded.
    """
    chunk, embedder = prepared.chunk, tools.embedder
    if head := head_of(prepared.statements, tables):
        return [Window(_fitting(folded(head), embedder)[0])]
    text = folded(chunk["text"])
    front, pieces = _placed(text.strip(), folded(chunk.get("context", "")), embedder)
    windows = [Window(f"{front}\n{piece}" if front else piece) for piece in pieces]
    if tools.recipe.windows != "statements" or len(prepared.statements) <= 1:
        return windows
    begins: list[tuple[int, int]] = []  # of each piece in the text, and its shift in the window
    end = 0
    for piece in pieces if len(text) == len(chunk["text"]) else ():
        end = text.index(piece, end) + len(piece)
        begins.append((end - len(piece), len(front) + bool(front)))
    late = isinstance(embedder, TokenEmbedder)
    for statement in prepared.statements:
        within = _within(statement, chunk["start"], begins, windows) if late else None
        windows.append(within or Window(_fitting(folded(statement.text), embedder)[0]))
    return windows


def _within(
    statement: Statement, start: int, begins: Sequence[tuple[int, int]], windows: Sequence[Window]
) -> Window | None:
    """Return a statement as parts of the piece that contains all its words, or None.

    Args:
        statement: The statement. The points of a list are not its words, so no piece contains a
            list.
        start: Start of the chunk.
        begins: Start of each piece, in the chunk and in its window.
        windows: Windows of the pieces.
    """
    spans = [
        (a - start, b - start) for a, b in (*statement.leads, (statement.start, statement.end))
    ]
    for (begin, shift), window in zip(begins, windows, strict=False):
        end = begin + len(window.text) - shift
        if not statement.points and all(begin <= a < b <= end for a, b in spans):
            return Window(
                window.text, tuple((a - begin + shift, b - begin + shift) for a, b in spans)
            )
    return None


def wholes_of(windows: Sequence[Window], statements: Sequence[Statement], kind: str) -> int:
    """Return how many windows of ``windows_of`` are pieces of the whole chunk."""
    stated = len(statements) if kind == "statements" and len(statements) > 1 else 0
    return len(windows) - stated if len(windows) > stated else len(windows)


def window_marks(windows: Sequence[Window]) -> Marks:
    """Return hashes that identify embedded texts, shape (windows, 2).

    An index stores them instead of the texts. If chunking changes, texts that are already embedded
    keep their vectors.
    """
    keys = (f"{parts}\0{text}" if parts else text for text, parts in windows)
    digests = (hashlib.blake2b(text.encode(), digest_size=16).digest() for text in keys)
    return np.frombuffer(b"".join(digests), dtype=MARK).reshape(-1, 2)


def _placed(text: str, context: str, embedder: Embedder) -> tuple[str, list[str]]:
    """Return the beginning of the text's context, and the text in pieces that fit after it."""
    limit = _limit(embedder)
    front = _fitting(context, embedder, limit // 2)[0]
    room = limit - embedder.count_tokens(front) if front else limit
    return front, _sentence_pieces(text, embedder, room)


def _sentence_pieces(text: str, embedder: Embedder, limit: int) -> list[str]:
    """Return the text in pieces of whole sentences, each of at most ``limit`` tokens."""
    if _fits(text, embedder, limit):
        return [text]
    windows: list[str] = []
    begin, used = 0, 0
    for start, end in sentence_spans(text):
        tokens = embedder.count_tokens(text[start:end])
        if used and used + tokens > limit:
            windows += _fitting(text[begin:start].strip(), embedder, limit)
            begin, used = start, 0
        used += tokens
    return windows + _fitting(text[begin:].strip(), embedder, limit)


def _fitting(text: str, embedder: Embedder, limit: int = 0) -> list[str]:
    """Return the text in pieces of whole words that fill a window each.

    A single word that is too long is cut between its characters. ``limit`` is the most tokens of a
    piece; 0 for a full window.
    """
    limit, pieces = limit or _limit(embedder), list[str]()
    while (end := _longest(text, embedder, limit)) < len(text):
        gap = text.rfind(" ", 1, end + 1)
        cut = gap if gap > 0 else end
        pieces.append(text[:cut].rstrip())
        text = text[cut:].lstrip()
    return [*pieces, text]


def _longest(text: str, embedder: Embedder, limit: int) -> int:
    """Return how many characters of ``text`` fit, by doubling and then halving the step.

    Only a short text is counted as a whole, since counting it for every piece is slow.
    """
    low, high = 1, min(limit, len(text))
    while _fits(text[:high], embedder, limit):
        if high == len(text):
            return high
        low, high = high, min(2 * high, len(text))
    high -= 1
    while low < high:
        middle = (low + high + 1) // 2
        if _fits(text[:middle], embedder, limit):
            low = middle
        else:
            high = middle - 1
    return low


def _fits(text: str, embedder: Embedder, limit: int) -> bool:
    # a token has at least one byte, and most texts are short
    return len(text.encode(errors="replace")) < limit or embedder.count_tokens(text) <= limit


def _limit(embedder: Embedder) -> int:
    return max(embedder.window - _SPECIAL_TOKENS, 1)


@dataclass(frozen=True, eq=False)
class KnownVectors:
    """The vectors that an index has for texts, independent of its chunks.

    Args:
        marks: Hashes of the windows, shape (windows, 2), sorted by the first half.
        places: The row of each of ``marks``.
        vectors: Vectors by row, shape (windows, dimension).
        tokens: Token vectors, if the index has them.
    """

    marks: Marks
    places: NDArray[np.int64]
    vectors: Halves
    tokens: TokenIndex | None = None

    @classmethod
    def of(cls, store: FolderStore) -> Self:
        """Return the vectors of an open index."""
        order = np.argsort(store.marks[:, 0], kind="stable")
        return cls(store.marks[order], order, store.dense.vectors, store.tokens)

    def rows(self, marks: Marks) -> NDArray[np.int64]:
        """Return the row of each mark's vector; -1 if there is none."""
        if not len(self.marks):
            return np.full(len(marks), -1, dtype=np.int64)
        near = np.searchsorted(self._halves, marks[:, 0]).clip(max=len(self.marks) - 1)
        return np.where((self.marks[near] == marks).all(axis=1), self.places[near], -1)

    @cached_property
    def _halves(self) -> NDArray[np.uint64]:
        return np.ascontiguousarray(self.marks[:, 0])

    def tokens_of(self, row: int) -> Codes:
        """Return the token vectors of a row's text; empty if there are none."""
        return self.tokens.windows(row, row + 1)[0] if self.tokens else _NONE
