"""Statements: the sentences and list items of a chunk, each with the clause it hangs on."""

import re
from dataclasses import dataclass

from lexloop.corpus.text.sentences import sentence_spans

LIST_ITEM = re.compile(r"\s*(?:[-*•]\s|\(?(?:[ivx]{1,5}|[a-z]|\d{1,3})[.)]\s)", re.IGNORECASE)
_HEADING = re.compile(r"^(?:#|§+\s*\d[\w.\-]*\.?\s+[^.]{0,80}\.?$)")
_VERB = re.compile(
    r"\b(?:is|are|was|were|be|been|must|may|shall|should|can|could|will|would|cannot|has|have|had"
    r"|do|does|did|means?|include[sd]?|requires?|applies|apply|covers?|takes?|begins?|ends?|gives?"
    r"|counts?|refers?|provides?)\b",
    re.IGNORECASE,
)
_MIN_WORDS, _LABEL_WORDS = 4, 8


@dataclass(frozen=True)
class Statement:
    """A half-open span of a text, and the lead-in that makes a list item a whole sentence.

    Args:
        start: Where the statement begins.
        end: Where it ends.
        lead_start: Where its lead-in begins; ``start`` when it has none.
        lead: The lead-in, or nothing.
        own: The statement without its lead-in.
    """

    start: int
    end: int
    lead_start: int
    lead: str
    own: str

    @property
    def text(self) -> str:
        """The statement as it can stand alone."""
        return f"{self.lead} {self.own}" if self.lead else self.own


def statements(text: str) -> list[Statement]:
    """The statements of ``text`` in order; headings, labels and bare lead-ins are none."""
    found: list[Statement] = []
    leads: list[_Lead] = []
    label, style, reached = False, "", 0
    for start, end in sentence_spans(text):
        own = text[start:end]
        if "\n" in text[reached:start] or _marker_style(own):
            # a further sentence on an item's line belongs to the item
            style = _marker_style(own)
            leads = _open_leads(leads, style)
        reached = end
        lead = leads[-1] if leads and style else None
        if own.endswith(":"):
            leads = [*leads, _Lead(start, own, style)]
        if _is_label(own):
            label = True
        elif lead is not None or not own.endswith(":"):
            begin, clause = (lead.start, lead.text) if lead else (start, "")
            found.append(Statement(start, end, begin, clause, own))
    if not found and (leads or label):
        begin = len(text) - len(text.lstrip())
        found.append(Statement(begin, len(text.rstrip()), begin, "", text.strip()))
    return found


@dataclass
class _Lead:
    """A clause that introduces a list, how it is marked itself, and how its items are."""

    start: int
    text: str
    mark: str
    style: str = ""


def _open_leads(leads: list[_Lead], style: str) -> list[_Lead]:
    """The lead-ins still open at a sentence marked in this style; none at an unmarked one.

    An item marked like a lead-in stands beside it and closes its list; one marked like the items
    of an outer list closes the inner one.
    """
    if not style:
        return []
    marks, styles = [lead.mark for lead in leads], [lead.style for lead in leads]
    if style in marks:
        return leads[: marks.index(style)]
    if style in styles:
        return leads[: styles.index(style) + 1]
    if leads and not leads[-1].style:
        leads[-1].style = style
    return leads


def _marker_style(text: str) -> str:
    """How a list item is marked; empty for anything else."""
    marker = LIST_ITEM.match(text)
    if marker is None:
        return ""
    shown = marker.group().strip()
    kind = "number" if any(c.isdigit() for c in shown) else "letter"
    kind = "roman" if re.fullmatch(r"\(?[ivx]+[.)]", shown.lower()) else kind
    return kind + re.sub(r"\w", "", shown)


def _is_label(text: str) -> bool:
    """A heading or a bare label such as "Bias audit.": it names a topic and states nothing."""
    words = len(re.findall(r"\w+", text))
    return (
        bool(_HEADING.match(text))
        or words < _MIN_WORDS
        or (words <= _LABEL_WORDS and not _VERB.search(text) and not re.search(r"\d", text))
    )
