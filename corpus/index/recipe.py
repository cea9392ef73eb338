"""What an index is made with; two indexes of one recipe and the same files are the same."""

import hashlib
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from lexloop.core.errors import DataError

_ROOMS = ("text", "chunk", "triplets", "knowledge", "index")


@dataclass(frozen=True)
class Recipe:
    """The choices that shape an index.

    Args:
        embedder: The embedding model's name, which identifies its weights.
        dimension: Of its vectors.
        chunker: The chunker's name with the parameters it reads.
        extractor: Who extracts triplets.
        windows: What of a chunk is embedded.
        dense_index: How vectors are searched.
    """

    embedder: str
    dimension: int
    chunker: str
    extractor: str
    windows: str
    dense_index: str

    def as_record(self) -> dict[str, Any]:
        """A flat JSON object."""
        return asdict(self)


@lru_cache(maxsize=1)
def tokenizer_name() -> str:
    """Names how texts become search terms: a hash of the code that does it."""
    return f"english-snowball@{_digest('text')}"


@lru_cache(maxsize=1)
def made_by() -> str:
    """The version of the indexing code: a hash of the rooms that cut, relate and index.

    Chunks, statements and vectors of an index belong together only as long as the code that cuts
    texts stays the same; a number raised by hand would one day be forgotten.
    """
    return _digest(*_ROOMS)


def _digest(*rooms: str) -> str:
    digest = hashlib.sha256()
    corpus = Path(__file__).parent.parent
    for path in sorted(path for room in rooms for path in (corpus / room).rglob("*.py")):
        digest.update(path.relative_to(corpus).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def check_embedder(folder: Path, recipe: Recipe, name: str, dimension: int) -> None:
    """Refuse to search vectors of one model with questions embedded by another.

    Raises:
        DataError: The index was built with another embedder or dimension.
    """
    if (recipe.embedder, recipe.dimension) != (name, dimension):
        raise DataError(
            f"The index {folder} was built with {recipe.embedder} ({recipe.dimension} dimensions); "
            f"the settings ask for {name} ({dimension} dimensions).",
            "Set the same embedder, or build the index again.",
        )
