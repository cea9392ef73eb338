"""Makes the index of the sample corpus that is shipped, so that the first question need not wait.

    python -m lexloop.corpus.sample

Run it in an editable install whenever the sample or this room changes; a test says when it is due.
"""

import shutil
from pathlib import Path

from lexloop.corpus.index.store import is_index, write_index
from lexloop.corpus.load.folder import load_documents
from lexloop.corpus.opening import (
    RULES,
    build_collection,
    index_key,
    sample_folder,
    shipped_indexes,
)
from lexloop.corpus.triplets.rules import extract_document
from lexloop.models.minilm import load_minilm


def sample_index() -> Path:
    """Where the shipped index of today's sample and code belongs."""
    documents, _ = load_documents(sample_folder())
    return shipped_indexes() / index_key(documents, load_minilm(), RULES)


def main() -> None:
    """Write the index if it is due, and remove those of earlier samples."""
    out = sample_index()
    if not is_index(out):
        documents, _ = load_documents(sample_folder())
        write_index(build_collection(documents, load_minilm(), extract_document), out)
    for other in shipped_indexes().iterdir():
        if other != out and is_index(other):
            shutil.rmtree(other)
    print(out.name)


if __name__ == "__main__":
    main()
