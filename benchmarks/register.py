"""Print entries of the register of texts, drawn evenly, to be read by eye beside their sources.

    python benchmarks/register.py LAW.txt ANOTHER.txt --each 50
    python benchmarks/register.py LAW.txt ... --ablation

How many of them are right nobody but a reader can say: right is an entry of which who, what, by
when, unless and kind are as a careful lawyer would put them. What was read so is in README.md.
With --ablation each pattern that clauses, times and entries are read by is taken out in turn, and
how many entries are then others is printed: a pattern that changes none has nothing to do.
"""

import argparse
import re
from collections import Counter
from pathlib import Path
from unittest.mock import patch

from _shared import table

from lexloop.apps.shapes.text import shortened
from lexloop.documents.structure.parse import parse
from lexloop.store.provisions import Source
from lexloop_workbench import clauses, register, timing
from lexloop_workbench.register import Entry, entries_of

_MOST = 420
_NOTHING = re.compile(r"(?!)")


def main() -> None:
    """Read the texts that are named, and print entries of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("texts", nargs="+", type=Path)
    parser.add_argument("--each", type=int, default=50, help="entries of each text")
    parser.add_argument("--first", type=int, default=0, help="the place of the first")
    parser.add_argument("--ablation", action="store_true")
    given = parser.parse_args()
    sources = [_source(path) for path in given.texts]
    if given.ablation:
        _ablation(sources)
        return
    for source in sources:
        entries = [*entries_of(source, Path(source.name).stem)]
        kinds = Counter(kind for entry in entries for kind in entry.kinds)
        print(f"== {source.name}: {len(entries)} entries, {dict(kinds)}")
        step = max(1, len(entries) // given.each)
        for place in range(given.first, len(entries), step)[: given.each]:
            _show(place, entries[place])


def _source(path: Path) -> Source:
    text = path.read_text(encoding="utf-8")
    return Source(path.name, "", parse(text), text, ())


def _ablation(sources: list[Source]) -> None:
    """Print how many entries are lost, and how many are new, without each pattern."""
    whole = _counted(sources)
    rows = []
    for module in (clauses, timing, register):
        for name, pattern in vars(module).items():
            if isinstance(pattern, re.Pattern) and not name[0].isalpha():
                with patch.object(module, name, _NOTHING):
                    rows.append(
                        _row(f"{module.__name__.rpartition('.')[2]} {name}", whole, sources)
                    )
    for name in clauses._SIGNS:
        with patch.dict(clauses._SIGNS, {name: _NOTHING}):
            rows.append(_row(f"clauses _SIGNS {name}", whole, sources))
    rows.sort(key=lambda row: row[1] + row[2])
    print(f"{len(sources)} texts, {whole.total():,} entries\n")
    print(table(("without", "lost", "new"), rows))


def _row(name: str, whole: Counter[str], sources: list[Source]) -> tuple[str, int, int]:
    found = _counted(sources)
    lost, new = whole - found, found - whole
    return name, lost.total(), new.total()


def _counted(sources: list[Source]) -> Counter[str]:
    return Counter(
        f"{source.name} {entry.model_dump_json()}"
        for source in sources
        for entry in entries_of(source, Path(source.name).stem)
    )


def _show(place: int, entry: Entry) -> None:
    print(f"#{place} {entry.section}: {', '.join(entry.kinds)} {entry.sums or ''}")
    print(f"  who    {entry.who}\n  what   {shortened(entry.what, _MOST)}")
    when = f"{entry.when} [{entry.event}] {entry.day or ''}".strip(" []")
    print(f"  when   {when}\n  unless {shortened(' | '.join(entry.unless), _MOST)}")
    print(f"  quote  {shortened(entry.quote, _MOST)}")


if __name__ == "__main__":
    main()
