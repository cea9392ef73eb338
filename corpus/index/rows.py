"""The tables of a text store, and what its rows stand for."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import astuple
from typing import Any

from lexloop.core.metadata import Metadata
from lexloop.core.types import Chunk, Triplet
from lexloop.corpus.load.document import Document
from lexloop.corpus.structure.statements import Statement

SCHEMA = """
CREATE TABLE documents(ordinal INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, file TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    title TEXT NOT NULL, metadata TEXT NOT NULL, pages TEXT NOT NULL, headings TEXT NOT NULL,
    text TEXT NOT NULL, tree TEXT NOT NULL, boxes BLOB NOT NULL);
CREATE TABLE provisions(key TEXT NOT NULL, document INTEGER NOT NULL, place INTEGER NOT NULL);
CREATE INDEX provisions_by_key ON provisions(key);
CREATE INDEX provisions_of_document ON provisions(document);
CREATE TABLE chunks(position INTEGER PRIMARY KEY, document INTEGER NOT NULL, section TEXT NOT NULL,
    page INTEGER, start INTEGER NOT NULL, "end" INTEGER NOT NULL, text TEXT NOT NULL,
    context TEXT NOT NULL, supporting INTEGER NOT NULL, statements TEXT NOT NULL);
CREATE INDEX chunks_of_document ON chunks(document);
CREATE TABLE windows(chunk INTEGER PRIMARY KEY, marks BLOB NOT NULL);
CREATE TABLE triplets(number INTEGER PRIMARY KEY, chunk INTEGER NOT NULL, subject TEXT NOT NULL,
    predicate TEXT NOT NULL, object TEXT NOT NULL, section TEXT NOT NULL, page INTEGER,
    start INTEGER NOT NULL, "end" INTEGER NOT NULL, quote TEXT NOT NULL);
CREATE INDEX triplets_of_chunk ON triplets(chunk);
CREATE TABLE skipped(file TEXT NOT NULL, name TEXT NOT NULL, reason TEXT NOT NULL);
CREATE TABLE fingerprints(file TEXT PRIMARY KEY, sha256 TEXT NOT NULL);
"""
CHUNK = """SELECT c.position, d.name, d.title, d.pages, c.section, c.page, c.start, c."end", c.text,
    c.context, c.supporting
    FROM chunks c JOIN documents d ON d.ordinal = c.document"""
DOCUMENT = "SELECT name, title, metadata, pages, headings, text, boxes FROM documents"
TRIPLET = """SELECT t.number, t.subject, t.predicate, t.object, d.name, c.start, t.section, t.page,
    t.start, t."end", t.quote FROM triplets t JOIN chunks c ON c.position = t.chunk
    JOIN documents d ON d.ordinal = c.document"""


def document_of(row: Sequence[Any]) -> Document:
    """The document in a row that ``DOCUMENT`` selects."""
    name, title, metadata, pages, headings, text, boxes = row
    return Document(
        name,
        title,
        text,
        Metadata.from_record(json.loads(metadata)),
        tuple(json.loads(pages)),
        # up to format 3 the heading itself was kept in place of its level
        tuple((at, level if isinstance(level, int) else 1) for at, level in json.loads(headings)),
        boxes,
    )


def statements_text(found: Sequence[Statement]) -> str:
    """Statements as they are stored."""
    return json.dumps([astuple(s) for s in found], ensure_ascii=False, separators=(",", ":"))


def statements_of(stored: str) -> list[Statement]:
    """The statements that ``statements_text`` wrote."""
    return [
        Statement(start, end, tuple((a, b) for a, b in leads), *rest)
        for start, end, leads, *rest in json.loads(stored)
    ]


def document_mark(document: Document) -> str:
    """A hash that tells a document from every other, with all that was loaded of it."""
    return hashlib.sha256(repr(astuple(document)).encode()).hexdigest()


def chunk_of(row: Sequence[Any]) -> Chunk:
    """The chunk in a row that ``CHUNK`` selects."""
    _, name, title, pages, section, page, start, end, text, context, supporting = row
    chunk: Chunk = {
        "id": f"{name}#{start}",
        "document": name,
        "title": title,
        "section": section,
        "page": page,
        "start": start,
        "end": end,
        "text": text,
    }
    if context:
        chunk["context"] = context
    if supporting:
        chunk["supporting"] = True
    if page is not None and (inside := [at for at in json.loads(pages) if start < at < end]):
        chunk["page_breaks"] = inside
    return chunk


def triplet_of(row: Sequence[Any]) -> Triplet:
    """The triplet in a row that ``TRIPLET`` selects."""
    _, subject, predicate, object_, name, chunk_start, section, page, start, end, quote = row
    return {
        "subject": subject,
        "predicate": predicate,
        "object": object_,
        "chunk_id": f"{name}#{chunk_start}",
        "document": name,
        "section": section,
        "page": page,
        "start": start,
        "end": end,
        "quote": quote,
    }
