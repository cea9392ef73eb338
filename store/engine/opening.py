"""Opening of an index in an engine."""

from lexloop.core.errors import DataError, OutdatedIndexError
from lexloop.documents.text.tokens import stemmer_name
from lexloop.models.embedding import Embedder
from lexloop.store.engine.client import engine_at
from lexloop.store.engine.contents import EngineContents, read_about
from lexloop.store.engine.generation import Generation, check_mapping, published
from lexloop.store.manifest import FORMAT, Manifest


def open_engine(address: str, embedder: Embedder) -> EngineContents:
    """Open the generation that counts of an index in an engine.

    Args:
        address: Of the index.
        embedder: For the questions; it must have made the vectors.

    Raises:
        EngineError: The engine failed, refused, or is another than the address says.
        CorpusError: There is no such index.
        DataError: It is of another make: embedder, stemmer, mapping or format.
    """
    engine = engine_at(address)
    engine.check()
    contents = contents_of(Generation(engine, published(engine)), embedder)
    contents.listed  # noqa: B018 - read now, where no question waits for another's reading
    return contents


def contents_of(generation: Generation, embedder: Embedder) -> EngineContents:
    """Open a generation, of which little is read yet; the errors are those of ``open_engine``."""
    engine, address = generation.engine, str(generation.engine.address)
    check_mapping(engine, generation.name)
    about = read_about(engine, generation.name)
    try:
        check_make(Manifest.from_record(about["manifest"], address), address, embedder)
        return EngineContents(engine, generation.name, about, embedder)
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"What the index {address} holds of itself is damaged: {error}.", "Push it again."
        ) from error


def check_make(manifest: Manifest, address: str, embedder: Embedder) -> None:
    """Check that an index's terms and vectors are made as questions' are.

    Raises:
        DataError: They are not.
    """
    manifest.check_embedder(address, embedder.name, embedder.dimension)
    if not manifest.current:
        raise OutdatedIndexError(
            f"The index {address} is of format {manifest.format} with terms by {manifest.stemmer}, "
            f"this is format {FORMAT} by {stemmer_name()}.",
            "Update the index it was pushed from by `lexloop index update`, and push it again.",
        )


def manifest_of(address: str) -> Manifest:
    """Return the manifest of an index in an engine; the errors are those of ``open_engine``."""
    engine = engine_at(address)
    engine.check()
    return Manifest.from_record(read_about(engine, published(engine))["manifest"], address)


def stamp_of(address: str) -> str:
    """Return a mark that changes with what an index in an engine holds."""
    return f"{address}|{published(engine_at(address))}"
