"""Tries the promises that cannot be shown by one test, at full size, and prints what held.

    python benchmarks/promises.py [--only telemetry,threads]

Each promise is a module ``_promise_NAME.py`` beside this file whose ``held()`` yields one line per
thing tried. The exit code is 1 where something did not hold.
"""

import argparse
import importlib
import sys
import time
from pathlib import Path

from _promise import Line

_PREFIX = "_promise_"


def main() -> None:
    """Try them one after the other."""
    names = sorted(
        file.stem.removeprefix(_PREFIX) for file in Path(__file__).parent.glob(f"{_PREFIX}*.py")
    )
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help=f"Some of {', '.join(names)}.")
    arguments = parser.parse_args()
    chosen = arguments.only.split(",") if arguments.only else names
    if unknown := set(chosen) - set(names):
        parser.error(f"no such promise: {', '.join(sorted(unknown))}. Known: {', '.join(names)}")

    all_held = True
    for name in chosen:
        begun = time.monotonic()
        for line in importlib.import_module(_PREFIX + name).held():
            all_held &= line.held
            print(_shown(name, line), flush=True)
        print(f"     {name}: {time.monotonic() - begun:.1f} s", flush=True)
    sys.exit(0 if all_held else 1)


def _shown(name: str, line: Line) -> str:
    return f"{'held' if line.held else 'NOT '} {name}: {line.promise}: {line.measured}"


if __name__ == "__main__":
    main()
