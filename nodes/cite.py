"""From statements of a passage to their citation."""

from collections.abc import Sequence

from lexloop.core.types import Citation, Passage
from lexloop.corpus.structure.statements import Statement


def cite(passage: Passage, said: Sequence[Statement], n: int) -> Citation:
    """The citation of statements that follow each other in a passage, as far as it holds them.

    Args:
        passage: Where they stand.
        said: At least one; where they are of several provisions or of none, the label of the
            passage serves.
        n: The number of the source.
    """
    first, last = said[0], said[-1]
    # a list may begin before the passage and end after it
    start, end = max(first.start, passage["start"]), min(last.end, passage["end"])
    cut = passage["text"][start - passage["start"] : end - passage["start"]]
    start, quote = start + len(cut) - len(cut.lstrip()), cut.strip()
    labels = {statement.label for statement in said}
    citation: Citation = {
        "n": n,
        "document": passage["document"],
        "section": (first.label if len(labels) == 1 else "") or passage["section"],
        "page": _page(passage, start),
        "start": start,
        "end": start + len(quote),
        "quote": quote,
    }
    if first.lead:
        citation["lead"] = first.lead
    if first.leads:
        citation["lead_spans"] = [list(span) for span in first.leads]
    if "version" in passage:
        citation["version"] = passage["version"]
    return citation


def _page(passage: Passage, offset: int) -> int | None:
    """The page an offset lies on; a passage may run over several."""
    first = passage["page"]
    breaks = passage.get("page_breaks", [])
    return None if first is None else first + sum(at <= offset for at in breaks)
