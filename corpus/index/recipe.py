"""What an index is made with; two indexes of one recipe and the same files are the same."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lexloop.core.errors import DataError


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
        tokens: Bytes of a token's vector; 0 where none are stored.
    """

    embedder: str
    dimension: int
    chunker: str
    extractor: str
    windows: str
    dense_index: str
    tokens: int = 0

    def as_record(self) -> dict[str, Any]:
        """A flat JSON object."""
        return asdict(self)


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
