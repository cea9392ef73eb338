"""Score profiles of contracts against what lawyers marked: title, parties, law, expiry.

    python benchmarks/profiles.py --data ../shared/data/contracts [--half development]

Title and parties are those of the set's questions, governing law and expiry its spans. Contracts
are sorted by name; every second one is of the half on which the rules were made.
"""

import argparse
import json
import re
from collections import Counter, defaultdict
from pathlib import Path

from lexloop.documents.reading.title import chosen_title, own_title
from lexloop.documents.structure.parse import parse
from lexloop.store.provisions import Source
from lexloop_workbench.profile import Item, Profile, profile

_ASKED = re.compile(r"Consider the (?P<title>.*?) between (?P<parties>.*); ?What|Consider the .*?;")
_NAME = re.compile(r"\s*\(.*?\)\s*")


def main() -> None:
    """Print the scores of one half."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--half", choices=("development", "reported"), default="reported")
    parser.add_argument("--most", type=int, default=1000, help="contracts at most")
    parser.add_argument("--misses", action="store_true", help="print what was not found")
    given = parser.parse_args()
    probes: dict[str, list[dict]] = defaultdict(list)
    for line in (given.data / "probes.jsonl").read_text(encoding="utf-8").splitlines():
        probe = json.loads(line)
        probes[probe["document"]].append(probe)
    names = sorted(probes)[0 if given.half == "development" else 1 :: 2][: given.most]
    counts: Counter[str] = Counter()
    for name in names:
        text = (given.data / "documents" / name).read_text(encoding="utf-8")
        source = Source(name, "", parse(text), text, ())
        made = profile(source, chosen_title("", own_title(text), text, Path(name).stem))
        for missed in _score(made, probes[name], counts):
            if given.misses:
                print(f"{name[:60]}: {missed}")
    print(f"| {len(names)} contracts, {given.half} half | right | of | share |\n|---|---|---|---|")
    for what in ("kind", "party", "party named", "law", "no law", "expiry", "no expiry"):
        total = counts[f"of {what}"]
        print(f"| {what} | {counts[what]} | {total} | {counts[what] / max(1, total):.3f} |")


def _score(made: Profile, probes: list[dict], counts: Counter[str]) -> list[str]:
    missed: list[str] = []

    def count(what: str, right: bool, said: object) -> None:
        counts[f"of {what}"] += 1
        counts[what] += right
        if not right:
            missed.append(f"{what}: {said}")

    asked = _ASKED.search(probes[0]["question"])
    if asked and asked["parties"]:
        title = asked["title"].lower()
        count("kind", bool(made.kind) and made.kind in title, (title, made.kind, made.title))
        gold = [_plain(_NAME.sub("", name)) for name in asked["parties"].split(";")]
        gold = [name for name in gold if name]
        roles = {
            _plain(part)
            for name in asked["parties"].split(";")
            for part in re.findall(r'"([^"]+)"', name)
        }
        own = {_plain(party.said) for party in made.parties}
        for name in gold:
            count("party", any(_same(name, one) for one in own), (name, own))
        for one in own:
            count("party named", any(_same(name, one) for name in [*gold, *roles]), (one, gold))
    for category, what, found in (
        ("Governing Law", "law", made.governing_law),
        ("Expiration Date", "expiry", made.term),
    ):
        for probe in probes:
            if probe["category"] == category and probe["answerable"]:
                hit = any(_overlaps(item, span) for item in found for span in probe["spans"])
                count(what, hit, [item.quote[:150] for item in found])
            elif probe["category"] == category:
                count(f"no {what}", not found, [item.quote[:150] for item in found])
    return missed


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _same(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return bool(short) and short in long


def _overlaps(item: Item, span: list[int]) -> bool:
    return item.start < span[1] and span[0] < item.end


if __name__ == "__main__":
    main()
