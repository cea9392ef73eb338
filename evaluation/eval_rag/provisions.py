"""The provisions and cases of a corpus as authorities."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from lexloop.core.types import Chunk
from lexloop.corpus.index.view import View
from lexloop.evaluation.eval_rag.authority import MOST_CHARS, Authority, Kind


@dataclass(frozen=True)
class Provision:
    """A section of a document, or a part of a long one.

    Args:
        authority: What it says.
        section: Its label in the document.
        title: The document's title.
    """

    authority: Authority
    section: str
    title: str


def provisions_of(view: View) -> list[Provision]:
    """The sections of all documents, in their order; one longer than ``MOST_CHARS`` in parts.

    A document whose metadata says that it is a case gives cases.
    """
    known = view.metadata(view.documents)
    found: list[Provision] = []
    for name, own in groupby(view.every_chunk(), key=lambda chunk: chunk["document"]):
        text = view.text_of(name) or ""
        kind: Kind = "case" if known[name].kind == "case" else "provision"
        for _, section in groupby(own, key=lambda chunk: chunk["section"]):
            found += [_provision(text, part, kind) for part in _parts(list(section))]
    return [provision for provision in found if provision.authority.text]


def _parts(chunks: Sequence[Chunk]) -> Iterator[list[Chunk]]:
    part: list[Chunk] = []
    for chunk in chunks:
        if part and chunk["end"] - part[0]["start"] > MOST_CHARS:
            yield part
            part = []
        part.append(chunk)
    if part:
        yield part


def _provision(text: str, chunks: Sequence[Chunk], kind: Kind) -> Provision:
    first = chunks[0]
    start, end = first["start"], max(chunk["end"] for chunk in chunks)
    label = f"{first['document']} {first['section']}".strip()
    authority = Authority(
        kind, "corpus", label, text[start:end][:MOST_CHARS].strip(), (first["document"],)
    )
    return Provision(authority, first["section"], first["title"])
