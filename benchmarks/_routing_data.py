"""Collections that the router was not written for, and questions about them, of published data."""

import random
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from _pipeline import read_rows

Asked = tuple[str, list[Any]]
"""A question, and the turns before it."""
QUADRUPLES = (
    ("gdpr", "coppa", "policies", "ll144"),
    ("uk housing", "uk work", "uk immigration", "uk family"),
    ("adgm 1", "adgm 7", "adgm 19", "adgm 34"),
    ("ll144", "uk driving", "coppa", "adgm 10"),
    ("uk benefits", "ll144", "gdpr", "adgm 33"),
    ("ll144", "uk housing", "coppa", "uk work"),
)
_PAGES = {
    "uk housing": r"hous|rent|tenan|evict|landlord|home|mortgage|buy",
    "uk work": r"employ|work|job|pay|maternity|paternity|redund|dismiss|holiday",
    "uk immigration": r"visa|immig|citizen|settle|passport|asylum",
    "uk benefits": r"benefit|credit|pension|allowance|disab|carer",
    "uk family": r"marri|divorc|child|adopt|probate|inherit|death|will|power",
    "uk driving": r"driv|vehicle|licen|car-|parking",
}
_MOST_PAGES, _MOST_SITES = 12, 4
_NOT_ASKED = ("not_there", "article", "provision")


def write_collections(data: Path, folder: Path) -> dict[str, list[Asked]]:
    """Write the documents of each collection below a folder; return what is asked of it."""
    asked: dict[str, list[Asked]] = {}
    for name, (texts, questions) in {**_laws(data), **_rules(data), **_advice(data)}.items():
        (folder / name).mkdir(parents=True)
        for title, text in texts.items():
            (folder / name / f"{title}.txt").write_text(text, encoding="utf-8")
        asked[name] = questions
    return asked


def foreign_questions(data: Path) -> list[Asked]:
    """Return questions about anything but laws."""
    return [(row["question"], []) for row in read_rows(data / "squad2" / "dev.jsonl")]


Collections = dict[str, tuple[dict[str, str], list[Asked]]]


def _laws(data: Path) -> Collections:
    gdpr, coppa, local = data / "gdpr", data / "us_cfr", data / "ll144"
    gold = [r for r in read_rows(local / "gold_dev.jsonl") if r["question_type"] != "out of scope"]
    names = ("int_1894-A", "admin_code_20-870", "dcwp_final_rule")
    sites: dict[str, dict[str, None]] = defaultdict(dict)
    rows = read_rows(data / "policyqa" / "dev.jsonl")
    for row in rows:
        sites[row["policy"]][row["context"]] = None
    chosen = list(sites)[:_MOST_SITES]
    policies = {site: f"Privacy policy of {site}\n\n" + "\n\n".join(sites[site]) for site in chosen}
    return {
        "gdpr": ({"gdpr": _text(gdpr / "gdpr_en.txt")}, _probes(gdpr / "probes.jsonl")),
        "coppa": ({"coppa": _text(coppa / "coppa.txt")}, _probes(coppa / "probes.jsonl")),
        "ll144": (
            {name: _text(local / f"{name}.txt") for name in names},
            [(row["question"], row["conversation_history"]) for row in gold],
        ),
        "policies": (policies, [(r["question"], []) for r in rows if r["policy"] in chosen]),
    }


def _rules(data: Path) -> Collections:
    passages: dict[int, list[str]] = defaultdict(list)
    for row in read_rows(data / "obliqa" / "passages.jsonl"):
        if row["text"]:
            passages[row["document_id"]].append(f"{row['passage_id']} {row['text']}")
    asked: dict[int, list[Asked]] = defaultdict(list)
    for row in read_rows(data / "obliqa" / "dev.jsonl"):
        documents = {key[0] for key in row["relevant_keys"]}
        if len(documents) == 1:
            asked[documents.pop()].append((row["question"], []))
    wanted = {int(name.split()[1]) for four in QUADRUPLES for name in four if name[:4] == "adgm"}
    return {f"adgm {n}": ({f"rules {n}": "\n".join(passages[n])}, asked[n]) for n in sorted(wanted)}


def _advice(data: Path) -> Collections:
    pages: dict[str, list[str]] = defaultdict(list)
    for row in read_rows(data / "conditionalqa" / "train_passages.jsonl"):
        pages[row["document_id"]].append(row["text"])
    rows = read_rows(data / "conditionalqa" / "train.jsonl")
    found: Collections = {}
    taken: set[str] = set()
    for name, pattern in _PAGES.items():
        all_of_it = [page for page in pages if re.search(pattern, page) and page not in taken]
        taken.update(all_of_it)
        chosen = all_of_it[:_MOST_PAGES]
        texts = {p: f"{p.replace('-', ' ').capitalize()}\n\n" + "\n".join(pages[p]) for p in chosen}
        found[name] = (texts, [(r["question"], []) for r in rows if r["document_id"] in chosen])
    return found


def _probes(file: Path) -> list[Asked]:
    rows = [row for row in read_rows(file) if row["kind"] not in _NOT_ASKED]
    return [(row["question"], row.get("history", [])) for row in rows]


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def joined(draw: random.Random, first: Iterable[Asked], second: Iterable[Asked]) -> str:
    """Return a question of two parts, one of each."""
    one, other = (draw.choice(_short(questions)) for questions in (first, second))
    other = other if other[:2].isupper() else other[:1].lower() + other[1:]
    return f"{one.rstrip('?')}, and {other}"


def _short(asked: Iterable[Asked]) -> list[str]:
    return [q for q, before in asked if not before and q.endswith("?") and 4 < len(q.split()) < 30]
