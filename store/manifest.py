"""The manifest: how an index was made, of which sources, and the hash of every file."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Self

from lexloop.core.errors import DataError, OutdatedIndexError
from lexloop.core.files import MANIFEST, remedy, sha256_of, sync, write_text
from lexloop.documents.text.tokens import stemmer_name

FORMAT = 28
"""The version of all stored data: files, tables and arrays, and how texts become documents, chunks,
windows, triplets and terms. When one of these changes, raise it by one and run `python
tests/support/formats.py`.
"""
REBUILD = "Build the index again with `lexloop index DIR --out INDEX --force`."


@dataclass(frozen=True)
class Recipe:
    """The choices that shape an index; with the same files, one recipe makes the same index.

    Args:
        embedder: Name of the embedding model, which identifies its weights.
        dimension: Dimension of the vectors.
        chunker: The chunker's name with the parameters it reads.
        extractor: The name of the triplets' extractor.
        windows: The parts of a chunk that are embedded.
        dense_index: The kind of vector search.
        tokens: Bytes of a token's vector; 0 if none are stored.
    """

    embedder: str
    dimension: int
    chunker: str
    extractor: str
    windows: str
    dense_index: str
    tokens: int = 0


@dataclass(frozen=True)
class IndexSource:
    """A source of documents: a folder or one file, and the prefix of its documents' names.

    ``path`` is "" if the index was copied without its sources.
    """

    path: str
    prefix: str = ""


@dataclass(frozen=True)
class Manifest:
    """The contents of ``manifest.json``.

    Args:
        generation: Folder below ``generations`` that holds the files.
        recipe: The choices that shaped the index.
        settings: Settings that chose the recipe; an update starts from them.
        sources: The sources of its documents.
        excluded: Documents and source files that were removed and stay out.
        counts: Documents, chunks, windows and triplets.
        sha256: File name -> SHA-256 of its bytes.
        fingerprints: IndexSource file -> SHA-256 of the bytes and metadata it had.
        format: Version of the stored data.
        stemmer: The stemmer of the search terms, with its version.
    """

    generation: str
    recipe: Recipe
    settings: Mapping[str, Any]
    sources: tuple[IndexSource, ...]
    excluded: tuple[str, ...]
    counts: Mapping[str, int]
    sha256: Mapping[str, str]
    fingerprints: Mapping[str, str]
    format: int = FORMAT
    stemmer: str = field(default_factory=stemmer_name)

    def write(self, index: Path) -> None:
        """Publish the generation: from this rename on, readers see it.

        Raises:
            OSError: The manifest cannot be written; readers see the one before.
        """
        write_text(index / MANIFEST, json.dumps(self.as_record(), indent=1))
        sync(index)

    def as_record(self) -> dict[str, Any]:
        """Return a flat JSON object with a checksum."""
        made = asdict(self)
        record: dict[str, Any] = made.pop("recipe") | made | {"format": FORMAT}
        return record | {"checksum": _checksum(record)}

    @classmethod
    def read(cls, index: Path) -> Self:
        """Return the manifest of an index.

        Raises:
            DataError: The manifest is missing or damaged, or has another format.
        """
        path = index / MANIFEST
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise DataError(f"{path} cannot be read: {error}.", remedy(error, REBUILD)) from error
        return cls.from_record(record, path)

    @classmethod
    def from_record(cls, record: Any, where: Path | str) -> Self:
        """Return the manifest in a record made by ``as_record``.

        Raises:
            DataError: The record is damaged, or has another format.
        """
        try:
            record = dict(record)
            version, checksum = record["format"], record.pop("checksum", None)
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"{where} cannot be read: {error!r}.", REBUILD) from error
        if version != FORMAT:
            newer = isinstance(version, int) and version > FORMAT
            hint = "Upgrade lexloop: a newer version made it." if newer else REBUILD
            index = where.parent if isinstance(where, Path) else where
            raise DataError(f"The index {index} has format {version}, this is {FORMAT}.", hint)
        if checksum != _checksum(record):
            raise DataError(f"{where} is damaged: its checksum does not agree.", REBUILD)
        record["recipe"] = Recipe(**{spec.name: record[spec.name] for spec in fields(Recipe)})
        record["sources"] = tuple(IndexSource(**source) for source in record["sources"])
        record["excluded"] = tuple(record["excluded"])
        return cls(**{spec.name: record[spec.name] for spec in fields(cls)})

    @property
    def current(self) -> bool:
        """True if the search terms are made by the stemmer that is installed."""
        return self.stemmer == stemmer_name()

    def check_current(self, index: Path | str) -> None:
        """Check that the index can be searched without an update.

        Raises:
            OutdatedIndexError: Its search terms are by another stemmer.
        """
        if not self.current:
            raise OutdatedIndexError(
                f"The terms of the index {index} are by {self.stemmer}, this is {stemmer_name()}.",
                f"Run `lexloop index update {index}`; nothing is embedded again.",
            )

    def check_embedder(self, index: Path | str, name: str, dimension: int) -> None:
        """Check that the index's vectors are by the embedder of the questions.

        Raises:
            DataError: The index was built with another embedder or dimension.
        """
        made = self.recipe
        if (made.embedder, made.dimension) != (name, dimension):
            raise DataError(
                f"The index {index} was built with {made.embedder} ({made.dimension} dimensions); "
                f"the settings ask for {name} ({dimension} dimensions).",
                "Set the same embedder, or build the index again.",
            )

    def check_files(self, folder: Path) -> None:
        """Compare every file of the generation with its SHA-256.

        Raises:
            DataError: A file is missing or differs.
        """
        for name, expected in self.sha256.items():
            try:
                digest = sha256_of(folder / name)
            except OSError as error:
                message = f"The index lacks {folder / name}: {error}."
                raise DataError(message, remedy(error, REBUILD)) from error
            if digest != expected:
                raise DataError(
                    f"{folder / name} is damaged: its SHA-256 is {digest}, not {expected}.",
                    REBUILD,
                )


def sources_in(index: Path) -> list[IndexSource] | None:
    """Return the sources of an index of any format, or None if it does not name them."""
    try:
        records = json.loads((index / MANIFEST).read_text(encoding="utf-8"))["sources"]
        return [IndexSource(str(record["path"]), str(record["prefix"])) for record in records]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _checksum(record: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()
