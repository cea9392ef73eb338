""".txt and .md: the text as it is, without its front matter."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from lexloop.core.errors import CorpusError
from lexloop.corpus.load.cleaning import whole_text
from lexloop.corpus.load.document import Document
from lexloop.corpus.load.encoding import decode
from lexloop.corpus.load.front_matter import split_front_matter
from lexloop.corpus.load.metadata import read_fields
from lexloop.corpus.load.titles import title_of


def read_plain(data: bytes, name: str) -> Iterator[Document]:
    """The one document of a text file.

    Raises:
        CorpusError: It is no text of one encoding, or empty, or its front matter cannot be read.
    """
    fields, text = split_front_matter(whole_text(decode(data)))
    try:
        metadata = read_fields(fields)
    except CorpusError as error:
        raise CorpusError(f"Its front matter: {error.what}", error.hint) from error
    if not text.strip():
        raise CorpusError("It holds front matter but no text.", "Remove it or fill it.")
    title = metadata.title or title_of(text, PurePosixPath(name).stem)
    yield Document(name, title, text, metadata)
