"""Whether a line defines a term, and which."""

import re

_SAYS = (
    r"(?:means?|includes?|refers?\s+to|has\s+the\s+(?:same\s+)?meanings?|have\s+the\s+(?:same\s+)?"
    r"meanings?|shall\s+(?:mean|include|have\s+the)|is\s+defined|are\s+defined|is\s+to\s+be\s+read"
    r"|is\s+to\s+be\s+construed|does\s+not\s+include|is\b|are\b)"
)
_QUOTED = re.compile(
    r"(?:(?:an?|the|to|any|each)\s+)?(?:(?:terms?|expressions?|words?)\s+)?"
    r"(?:“(?P<a>[^“”]{1,120})”|\"(?P<b>[^\"]{1,120})\"|[‘'](?P<c>[^‘]{1,120}?)[’'](?=[\s,(:]))",
    re.IGNORECASE,
)
_REACH = 160
_ALIKE = 12
_FOLLOWS = re.compile(
    rf"[^.;:]{{0,{_REACH}}}?\b{_SAYS}|\s*[:–—]|[^.;]{{0,60}}[:—]\s*$", re.IGNORECASE
)
_PLAIN = re.compile(
    r"(?:The\s+terms?\s+)?(?P<term>[A-Z0-9][\w’'\-/()]*(?:,?\s+[\w’'\-/()]+){0,12}?)\s*"
    r"(?:,[^.;:]{0,100},)?\s+(?:means?|includes?|refers?\s+to|has\s+the\s+(?:same\s+)?meaning"
    r"|is\s+defined\s+as|shall\s+(?:mean|have\s+the)|does\s+not\s+include)\b"
)
_LISTED = re.compile(r"(?P<term>[A-Z][\w’'\-/() ]{1,60}?)(?:\*\*)?\s*(?::|\s[–—-])\s+(?=\S)")
_RUN_IN = re.compile(r"(?P<term>[^.“”\"‘:]{2,120})[.:]\s+(?=[“\"‘]|The\s+(?:term|expression|word))")
_RESTATED = re.compile(
    r"(?P<term>[A-Z][^.:;]{2,80}?)(?:\s\([A-Z][\w-]{1,10}\))?\.\s+(?:(?:an?|the)\s+)?(?P=term)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"\b(?:is|are|shall|must|may|have|has|applies|apply)\b")
_SECTION = re.compile(r"\bdefin|\binterpretation\b|\bglossary\b|\bmeanings?\s+of\b", re.IGNORECASE)


def is_about_definitions(heading: str) -> bool:
    """Whether a heading announces definitions."""
    return _SECTION.search(heading) is not None


def defined_term(line: str, among_definitions: bool) -> str | None:
    """The term that a line defines; None where it defines none.

    Args:
        line: What stands behind the number, if there is one.
        among_definitions: Whether it stands where terms are defined: there a term needs no quotes.
    """
    head = line[: 2 * _REACH]
    if entry := _RUN_IN.match(head):  # Fee. "Fee" means ...
        term = defined_term(line[entry.end() :], among_definitions)
        said = entry["term"].strip().lower()
        return term if term is not None and term.lower().startswith(said[:_ALIKE]) else None
    if quoted := _QUOTED.match(head):
        if _FOLLOWS.match(head, quoted.end()):
            return next(group for group in quoted.groups() if group).strip(" ,")
        return None
    if not among_definitions:
        return None
    found = _PLAIN.match(head) or _RESTATED.match(head) or _LISTED.match(head)
    return found["term"].strip(" ,") if found and not _CLAUSE.search(found["term"]) else None
