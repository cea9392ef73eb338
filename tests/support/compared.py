"""Two texts compared, and what is told of them in few words."""

from lexloop.documents.structure.parse import parse
from lexloop.store.provisions import Source
from lexloop_workbench.diff import Comparison, Version


def version(text: str, name: str = "rules.txt") -> Version:
    """A version of a document."""
    return Version(Source(name, "", parse(text), text, ()), name)


def comparison(old: str, new: str) -> Comparison:
    """Two texts compared."""
    return Comparison(version(old, "old/rules.txt"), version(new))


def told(old: str, new: str) -> list[tuple[str, str, str]]:
    """The kinds of each change, and its labels in both versions."""
    changes = comparison(old, new).record().changes
    return [
        (
            " ".join(one.kinds),
            one.old.section if one.old else "",
            one.new.section if one.new else "",
        )
        for one in changes
    ]
