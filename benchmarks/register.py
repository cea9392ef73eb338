"""Print entries of the register of texts, drawn evenly, to be read by eye beside their sources.

    python benchmarks/register.py LAW.txt ANOTHER.txt --each 50

How many of them are right nobody but a reader can say: right is an entry of which who, what, by
when, unless and kind are as a careful lawyer would put them. What was read so is in README.md.
"""

import argparse
from collections import Counter
from pathlib import Path

from lexloop.apps.shapes.text import shortened
from lexloop.documents.structure.parse import parse
from lexloop.workbench.provisions import Source
from lexloop.workbench.register import Entry, entries_of

_MOST = 420


def main() -> None:
    """Read the texts that are named, and print entries of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("texts", nargs="+", type=Path)
    parser.add_argument("--each", type=int, default=50, help="entries of each text")
    parser.add_argument("--first", type=int, default=0, help="the place of the first")
    given = parser.parse_args()
    for path in given.texts:
        text = path.read_text(encoding="utf-8")
        entries = [*entries_of(Source(path.name, "", parse(text), text, ()), path.stem)]
        kinds = Counter(kind for entry in entries for kind in entry.kinds)
        print(f"== {path.name}: {len(entries)} entries, {dict(kinds)}")
        step = max(1, len(entries) // given.each)
        for place in range(given.first, len(entries), step)[: given.each]:
            _show(place, entries[place])


def _show(place: int, entry: Entry) -> None:
    print(f"#{place} {entry.section}: {', '.join(entry.kinds)} {entry.sums or ''}")
    print(f"  who    {entry.who}\n  what   {shortened(entry.what, _MOST)}")
    when = f"{entry.when} [{entry.event}] {entry.day or ''}".strip(" []")
    print(f"  when   {when}\n  unless {shortened(' | '.join(entry.unless), _MOST)}")
    print(f"  quote  {shortened(entry.quote, _MOST)}")


if __name__ == "__main__":
    main()
