"""From statements of a passage to their citation."""

from collections.abc import Sequence

from lexloop.core.types import Citation, Passage
from lexloop.corpus.structure.statements import Statement


def cite(passage: Passage, said: Sequence[Statement], n: int) -> Citation:
    """The citation of statements that follow each other in a passage.

    Args:
        passage: Where they stand.
        said: At least one; where they are of several provisions, the label of the passage serves.
        n: The number of the source.
    """
    first, last = said[0], said[-1]
    labels = {statement.label for statement in said}
    citation: Citation = {
        "n": n,
        "document": passage["document"],
        "section": first.label if len(labels) == 1 else passage["section"],
        "page": _page(passage, first.start),
        "start": first.start,
        "end": last.end,
        "quote": passage["text"][first.start - passage["start"] : last.end - passage["start"]],
    }
    if outside := [span for span in first.leads if not first.start <= span[0] < last.end]:
        citation["lead"] = first.lead
        citation["lead_spans"] = [list(span) for span in outside]
    if "version" in passage:
        citation["version"] = passage["version"]
    return citation


def _page(passage: Passage, offset: int) -> int | None:
    """The page an offset lies on; a passage may run over several."""
    first = passage["page"]
    breaks = passage.get("page_breaks", [])
    return None if first is None else first + sum(at <= offset for at in breaks)
