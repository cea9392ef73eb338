"""Policies asked by the name of their company or product: document, passage and quote.

    python benchmarks/policies.py [--data FOLDER] [--questions N] [--show]

FOLDER holds ``policyqa`` and ``policies`` (default: ``LEXLOOP_DATA``). Of PolicyQA, the segments of
each site's policy become one document, and so many questions are drawn and put in three ways, each
with the site's name: as the one who is asked about, in front, and as "according to". The name is
how the policy writes what its host spells in one word. The policies of one company are asked by
their titles what they say under one of their headings. A passage is right if it is of a segment
that annotators marked for the question, or of the heading's section; a quote likewise.
"""

import argparse
import json
import os
import random
import re
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from lexloop.graph.app import graph

_SEED, _LEAST_CHARS = 5, 200
_ASKED = re.compile(
    r"\b(?:you|(?:the|this|that|your|their)(?: own)? (?:web)?site|(?:the|this|your) company)\b"
    r"(?!['’])"
)
_MEMBER = re.compile(r"^\W*(?:\d+|[A-Z])?[\d.)]*\s*")


class Asked(NamedTuple):
    """A question, the document it is about, and the spans of what answers it."""

    way: str
    question: str
    document: str
    spans: list[tuple[int, int]]


def main() -> None:
    """Ask all, and print a row for each way of asking."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    data = os.environ.get("LEXLOOP_DATA")
    parser.add_argument("--data", type=Path, default=data and Path(data))
    parser.add_argument("--questions", type=int, default=60, help="of each set, in each way")
    parser.add_argument("--show", action="store_true", help="print what went wrong")
    given = parser.parse_args()
    if given.data is None or not (given.data / "policyqa").is_dir():
        sys.exit("There are no policies; give --data FOLDER or set LEXLOOP_DATA.")
    print("| asked | questions | wrong document first | right passage first | cited | passed |")
    print("|---|---|---|---|---|---|")
    for made in (_sites, _titled):
        with tempfile.TemporaryDirectory() as folder:
            asked = made(given.data, Path(folder), given.questions)
            _print(asked, folder, given.show)


def _sites(data: Path, folder: Path, count: int) -> list[Asked]:
    """Write the policies of sites; return what is asked of them."""
    lines = (data / "policyqa" / "dev.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    segments: dict[str, dict[str, None]] = {}
    answering: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        segments.setdefault(row["policy"], {})[row["context"]] = None
        answering.setdefault((row["policy"], row["question"]), set()).add(row["context"])
    places: dict[str, dict[str, tuple[int, int]]] = {}
    for site, own in segments.items():
        text, places[site] = "", {}
        for segment in own:
            places[site][segment] = (len(text), len(text) + len(segment))
            text += f"{segment}\n\n"
        (folder / f"{site}.txt").write_text(text, encoding="utf-8")
    names = {site: _name(site, "\n".join(own)) for site, own in segments.items()}
    asked: list[Asked] = []
    for site, question in random.Random(_SEED).sample(sorted(answering), count):
        spans = [places[site][segment] for segment in answering[site, question]]
        for way, put in _put(question, names[site]).items():
            asked.append(Asked(way, put, f"{site}.txt", spans))
    return asked


def _name(site: str, text: str) -> str:
    """Return how a policy writes what its host spells in one word."""
    stem = re.sub(r"\W", "", site.rsplit(".", 1)[0].rsplit(".", 1)[-1])
    for run in re.finditer(r"(?=\b((?:[A-Z][\w’'-]*[ -]?){1,4})\b)", text):
        words = run.group(1).strip().split(" ")
        for end in range(1, len(words) + 1):
            if re.sub(r"\W", "", "".join(words[:end])).lower() == stem:
                return " ".join(words[:end])
    return stem.capitalize()


def _put(question: str, name: str) -> dict[str, str]:
    """Return the three ways of asking a question with a name."""
    question = question.strip().rstrip("?").strip()
    small = question[0].lower() + question[1:]
    named = _ASKED.sub(name, question, count=1)
    named = named if named != question else f"{question} at {name}"
    return {
        "sites, named in it": f"{named}?",
        "sites, named in front": f"{name}: {small}?",
        "sites, according to": f"According to the privacy policy of {name}, {small}?",
    }


def _titled(data: Path, folder: Path, count: int) -> list[Asked]:
    """Write the policies of one company; return what is asked of their sections."""
    source = data / "policies"
    sections: list[tuple[str, str, str, tuple[int, int]]] = []
    for line in (source / "structure.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        text = (source / row["file"]).read_text(encoding="utf-8")
        (folder / row["file"]).write_text(text, encoding="utf-8")
        units: Iterable[Mapping[str, Any]] = row["units"]
        title = next((unit["heading"] for unit in units if unit["level"] == 1), "")
        sections += [
            (row["file"], title, _MEMBER.sub("", unit["heading"]), (unit["start"], unit["end"]))
            for unit in units
            if title and unit["level"] > 1 and unit["end"] - unit["start"] > _LEAST_CHARS
        ]
    asked: list[Asked] = []
    for file, title, topic, span in random.Random(_SEED).sample(sections, count):
        for way, put in {
            "titles, of it": f"What does the {title} say about {topic}?",
            "titles, in front": f"{title}: what is said about {topic}?",
            "titles, according to": f"According to the {title}, what about {topic}?",
        }.items():
            asked.append(Asked(way, put, file, [span]))
    return asked


def _print(asked: list[Asked], folder: str, show: bool) -> None:
    figures: dict[str, list[tuple[float, ...]]] = {}
    for one in asked:
        figures.setdefault(one.way, []).append(_figures(one, folder, show))
    for way, rows in figures.items():
        shares = [f"{fmean(column):.3f}" for column in zip(*rows, strict=True)]
        print(f"| {way} | {len(rows)} | {' | '.join(shares)} |", flush=True)


def _figures(one: Asked, folder: str, show: bool) -> tuple[float, ...]:
    """Return whether another document stood first, and whether passage and quote are right."""
    state = graph.invoke({"question": one.question}, context={"corpus": folder})
    first = state["passages"][:1]
    wrong = float(not first or first[0]["document"] != one.document)
    passage = float(any(_right(one, found) for found in first))
    cited = float(any(_right(one, found) for found in state["citations"]))
    passed = float(bool((state.get("evaluation") or {}).get("passed")))
    if show and wrong:
        print(f"{one.question} | {one.document} | {first[0]['document'] if first else ''}")
    return wrong, passage, cited, passed


def _right(one: Asked, found: Mapping[str, Any]) -> bool:
    own = found["document"] == one.document
    return own and any(found["start"] < end and start < found["end"] for start, end in one.spans)


if __name__ == "__main__":
    main()
