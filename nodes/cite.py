"""From a span of a passage to its citation."""

from lexloop.core.types import Citation, Passage


def cite(passage: Passage, start: int, end: int) -> Citation:
    """The citation of ``passage["text"][start:end]``, with offsets into the document."""
    begin = passage["start"] + start
    citation: Citation = {
        "n": passage["n"],
        "document": passage["document"],
        "section": passage["section"],
        "page": _page(passage, begin),
        "start": begin,
        "end": passage["start"] + end,
        "quote": passage["text"][start:end],
    }
    if "version" in passage:
        citation["version"] = passage["version"]
    return citation


def _page(passage: Passage, offset: int) -> int | None:
    """The page an offset lies on; a passage may run over several."""
    first = passage["page"]
    breaks = passage.get("page_breaks", [])
    return None if first is None else first + sum(at <= offset for at in breaks)
