"""What has no place among the sentences of an answer: data, code, images, markup."""

import json
import re
from functools import lru_cache

_IMAGE = re.compile(r"!\[")
_CODE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_SCRIPTED = re.compile(r"\]\(\s*(?:javascript|vbscript|data):", re.IGNORECASE)
_ATTRIBUTE = r"<[a-z][\w:-]*\s[^<>]*=[^<>]*>"
_MARKERS = re.compile(r"\[[\s\d,]*\]")


def foreign_matter(answer: str) -> list[str]:
    """One sentence for each kind of it that ``answer`` holds.

    A text in angle brackets is markup where HTML knows its name or it has attributes: forms have
    places like <name of the owner> to fill in.
    """
    found = {
        "data instead of sentences": _is_data(answer),
        "an image": _IMAGE.search(answer) is not None,
        "a block of code": _CODE.search(answer) is not None,
        "HTML": _markup().search(answer) is not None,
        "a link that runs a script": _SCRIPTED.search(answer) is not None,
    }
    return [f"The answer holds {kind}." for kind, held in found.items() if held]


def _is_data(answer: str) -> bool:
    """Whether it begins with a JSON object, or an array of more than numbers."""
    text = answer.lstrip()
    if text[:1] not in ("{", "["):
        return False
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return False
    return _MARKERS.fullmatch(text[:end]) is None


@lru_cache(maxsize=1)
def _markup() -> re.Pattern[str]:
    from lxml.html import defs

    names = "|".join(sorted(defs.tags))
    return re.compile(rf"</?(?:{names})(?=[\s/>])|<!--|{_ATTRIBUTE}", re.IGNORECASE)
