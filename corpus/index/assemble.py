"""What was read and what is kept -> one index, in the order of the files' names."""

from collections.abc import Iterable
from contextlib import closing

from lexloop.core.errors import CorpusError
from lexloop.corpus.index.collection import Collection
from lexloop.corpus.index.draft import Draft, Progress, silent
from lexloop.corpus.index.everything import Everything
from lexloop.corpus.index.scan import Difference, Scan
from lexloop.corpus.index.tools import Tools
from lexloop.corpus.load.document import Document, Loaded


def assemble(
    draft: Draft,
    now: Scan,
    changes: Difference,
    *,
    excluded: frozenset[str] = frozenset(),
    progress: Progress = silent,
) -> Everything:
    """Read what is new and keep what is not, in the scan's order.

    Args:
        draft: Where the documents go; an old index in it gives those that are kept.
        now: What lies in the sources.
        changes: How that differs from the old index.
        excluded: Names of documents that stay out.
        progress: Called with a stage's name, what is done and how much there is.

    Raises:
        CorpusError: No document is left.
    """
    fresh = {*changes.added, *changes.changed}
    documents = 0
    with closing(now.read(fresh, progress)) as loaded:
        for name, fingerprint in now.fingerprints.items():
            if name in fresh:
                documents += _add(draft, next(loaded), fingerprint, excluded)
            else:
                documents += draft.keep_file(name, excluded)
    draft.skipped("", now.skipped)
    if not documents:
        reasons = "; ".join(f"{item.name}: {item.reason}" for item in draft.all_skipped())
        raise CorpusError(
            f"No document could be read ({reasons or 'there is none'}).",
            "Check the files' kinds, their permissions and their encoding.",
        )
    return draft.finish()


def _add(draft: Draft, loaded: Loaded, fingerprint: str, excluded: frozenset[str]) -> int:
    """Index the documents of one file; how many there are."""
    draft.file(loaded.file.name, fingerprint, loaded.skipped)
    wanted = [document for document in loaded.documents if document.name not in excluded]
    for document in wanted:
        draft.add(loaded.file.name, document)
    return len(wanted)


def build_everything(
    documents: Iterable[Document], tools: Tools, progress: Progress = silent
) -> Everything:
    """Index documents in memory.

    Args:
        documents: With distinct names.
        tools: Make what the index holds.
        progress: Called with a stage's name, what is done and how much there is.
    """
    draft = Draft(tools, progress=progress)
    for document in documents:
        draft.add(document.name, document)
    return draft.finish()


def build_collection(
    documents: Iterable[Document], tools: Tools, progress: Progress = silent
) -> Collection:
    """The same, for whoever reads them."""
    return Collection(build_everything(documents, tools, progress))
