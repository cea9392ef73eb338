"""Tries the promises, at full size those that no test can try, and prints what held.

    python benchmarks/promises.py [--only quiet writes]

Each promise is a module ``_promise_NAME.py`` beside this file whose ``held()`` yields one line per
thing tried. The exit code is 1 where something did not hold.
"""

import importlib
import sys
from pathlib import Path

from _shared import options, timed

_PREFIX = "_promise_"


def main() -> None:
    """Try them one after the other."""
    files = sorted(Path(__file__).parent.glob(f"{_PREFIX}*.py"))
    names = [file.stem.removeprefix(_PREFIX) for file in files]
    parser = options(__doc__)
    parser.add_argument("--only", nargs="+", default=names, choices=names)
    chosen = parser.parse_args().only
    took = {name: timed(lambda n=name: _all_held(n)) for name in chosen}
    for name, (seconds, _) in took.items():
        print(f"     {name}: {seconds:.1f} s")
    sys.exit(0 if all(held for _, held in took.values()) else 1)


def _all_held(name: str) -> bool:
    """Print each line of a promise; whether all of it held."""
    every = True
    for promise, measured, held in importlib.import_module(_PREFIX + name).held():
        every &= held
        print(f"{'held' if held else 'NOT '} {name}: {promise}: {measured}", flush=True)
    return every


if __name__ == "__main__":
    main()
