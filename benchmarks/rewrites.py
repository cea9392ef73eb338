"""Which rewritings of a model are refused: those that ask the same, and those that were changed.

    python benchmarks/rewrites.py [--data FOLDER] [--most N]

FOLDER holds ``rewrites/gdpr.jsonl`` with ``gdpr/probes.jsonl``, and ``reader`` with follow-ups that
people wrote out (default: ``LEXLOOP_DATA``). Of each set N are drawn at random. Each follow-up is
changed in five ways: a number more, a negation less or more, another party in the place of one, and
what stands for another question of the set. A question that stands alone is never replaced, so
nothing of it can be refused.
"""

import random
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from _shared import DATA, Row, options, read_rows, table

from lexloop.core.types import Turn
from lexloop.documents.text.tokens import term_set, words
from lexloop.models.minilm import load_shipped
from lexloop.nodes.question.same_question import changed

_SEED = 1
_NEGATION = re.compile(r"\b(?:not|never|nothing|nobody|no|none|without)\s|n['’]t\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_PARTIES = (
    "controller processor recipient authority board officer employer employee tenant landlord "
    "buyer seller president minister actor author player director singer company"
).split()


class FollowUp(NamedTuple):
    """A question, the users' and assistants' turns before it, and what was written out of it."""

    question: str
    history: list[Turn]
    written: str


def main() -> None:
    """Compare, and print what was refused."""
    parser = options(__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--most", type=int, default=200)
    given = parser.parse_args()
    if given.data is None or not (given.data / "rewrites").is_dir():
        sys.exit("There are no recorded rewrites; give --data FOLDER or set LEXLOOP_DATA.")
    rows = []
    for name, every in _sets(given.data):
        rng = random.Random(_SEED)
        drawn = every if len(every) <= given.most else rng.sample(every, given.most)
        rows.append([name, "as written", len(drawn), _refused(drawn)])
        rows += [[name, kind, len(made), _refused(made)] for kind, made in _altered(drawn, rng)]
    print(table(["set", "rewriting", "number", "refused"], rows))


def _sets(data: Path) -> Iterator[tuple[str, list[FollowUp]]]:
    probes = {probe["id"]: probe for probe in read_rows(data / "gdpr" / "probes.jsonl")}
    recorded = read_rows(data / "rewrites" / "gdpr.jsonl")
    asked = ((row, probes[row["id"]]["history"]) for row in recorded)
    yield "gdpr", [_of(row["question"], past, row["standalone"]) for row, past in asked if past]
    for file in sorted((data / "reader").glob("*/rewrites.jsonl")):
        yield file.parent.name, [_of_row(row) for row in read_rows(file) if row["history"]]


def _of_row(row: Row) -> FollowUp:
    return _of(row["q"], row["history"], row["standalone"])


def _of(question: str, history: Iterable[str | Row], written: str) -> FollowUp:
    turns = [turn if isinstance(turn, str) else str(turn["content"]) for turn in history]
    return FollowUp(question, [{"role": "user", "content": turn} for turn in turns], written)


def _refused(asked: Iterable[FollowUp]) -> str:
    embed = load_shipped().embed
    found = [bool(changed(one.written, one.question, one.history, embed)) for one in asked]
    return f"{sum(found) / len(found):.3f}" if found else "-"


def _altered(asked: list[FollowUp], rng: random.Random) -> Iterator[tuple[str, list[FollowUp]]]:
    yield (
        "a number more",
        [one._replace(written=f"{one.written.rstrip('?. ')} within 45 days?") for one in asked],
    )
    denied = (one for one in asked if _NEGATION.search(one.question))
    fewer = (one._replace(written=_NEGATION.sub("", one.written)) for one in denied)
    yield "a negation less", [one for one in fewer if one.written]
    yield "a negation more", [*filter(None, map(_denied, asked))]
    yield "another party", [*_swapped(asked, rng)]
    shift = len(asked) // 2
    yield (
        "another question",
        [
            one._replace(written=asked[(place + shift) % len(asked)].written)
            for place, one in enumerate(asked)
        ],
    )


def _denied(one: FollowUp) -> FollowUp | None:
    """The same with "not" before its last word that the question has as well, if there is one."""
    held = term_set(one.question)
    places = [m.start() for m in _WORD.finditer(one.written) if term_set(m.group()) & held]
    if not places or _NEGATION.search(f"{one.question} "):
        return None
    return one._replace(written=f"{one.written[: places[-1]]}not {one.written[places[-1] :]}")


def _swapped(asked: Iterable[FollowUp], rng: random.Random) -> Iterator[FollowUp]:
    for one in asked:
        said = " ".join([one.question, *(turn["content"] for turn in one.history)]).lower()
        named = [party for party in _PARTIES if party in words(one.question)]
        others = [party for party in _PARTIES if party not in said]
        if named and named[0] in words(one.written):
            new = re.sub(rf"\b{named[0]}\b", rng.choice(others), one.written, flags=re.IGNORECASE)
            yield one._replace(written=new)


if __name__ == "__main__":
    main()
