"""A title for a document that names none."""

import re


def title_of(text: str, stem: str) -> str:
    """The first heading or short first line; else the file's name in words."""
    for line in text[:10_000].splitlines()[:10]:
        heading = re.sub(r"^#+\s*", "", line).strip()
        if heading and len(heading) <= 120 and (line.startswith("#") or heading[-1] not in ".;,"):
            return heading
    return re.sub(r"[_\-]+", " ", stem).strip()
