"""Facts in a standard form in a file: a law's identifier and dates."""

import re
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from typing import Any

from lexloop.core.metadata import Metadata

_KNOWN = re.compile(
    r"(?:https?://(?=[!-~]+\Z)[!-~]*/eli/[!-~]+"
    r"|https?://(?:www\.)?legislation\.gov\.uk/[!-~]+"
    r"|(?:CELEX:)?[0-9CE]\d{4}[A-Z]{1,2}\d{4}(?:\(\d{2}\))?(?:R\(\d{2}\))?(?:-\d{8})?"
    r"|urn:(?:lex|nir|isbn|doi):[!-~]+|doi:[!-~]+"
    r"|(?:Public|Private) Law \d{1,4}[-–]\d{1,4}"
    r"|/(?:akn|us)/[!-~]+|/[a-z]{2}/(?:act|bill|doc|judgment)[!-~]*)",
    re.IGNORECASE,
)
"""ELI, the UK's, CELEX, URN:LEX, ISBN, and the forms of Akoma Ntoso and USLM."""
_LONGEST = 500


def identifier_of(values: Iterable[str | None]) -> str:
    """Return the first value that is an identifier of a known kind; "" if there is none."""
    stripped = ((value or "").strip() for value in values)
    return next((v for v in stripped if len(v) <= _LONGEST and _KNOWN.fullmatch(v)), "")


def facts_of(root: Any) -> Metadata:
    """Return the metadata in legal XML: the identifier and the dates of the law."""
    first, last = _days(root)
    identifier = identifier_of(_identifiers(root))
    return Metadata(identifier=identifier, in_force_from=first, in_force_to=last)


def _identifiers(root: Any) -> Iterator[str | None]:
    """Yield possible identifiers of the work, the most likely first."""
    yield from (alias.get("value") for alias in _of_work(root, "FRBRalias"))
    yield from (uri.get("value") for uri in _of_work(root, "FRBRuri"))
    yield from (uri.get("value") for uri in _of_work(root, "FRBRthis"))
    yield from (e.text for e in root.iter("NO.ELI", "NO.CELEX"))
    yield from (root.get("IdURI"), root.get("DocumentURI"))
    yield root.get("identifier")
    yield from (e.text for e in root.iter("{*}citableAs"))


def _of_work(root: Any, name: str) -> Iterator[Any]:
    work = next(root.iter("{*}FRBRWork"), None)
    if work is not None:
        yield from work.iterchildren(f"{{*}}{name}")


def _days(root: Any) -> tuple[date | None, date | None]:
    """Return the first and the last day of a version, if the XML states them plainly."""
    consolidated = next(root.iter("INFO.CONSLEG"), None)
    written = root.get("RestrictStartDate")
    first = _day(written if consolidated is None else consolidated.get("START.DATE"))
    following = _day(root.get("RestrictEndDate"))  # UK: the day on which the next version begins
    if first is None or following is None or following <= first:
        return first, None
    return first, following - timedelta(days=1)


def _day(written: str | None) -> date | None:
    try:
        return date.fromisoformat(written or "")
    except ValueError:
        return None
