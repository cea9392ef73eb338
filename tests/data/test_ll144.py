import json
import os
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from lexloop.documents.document import Document

DATA = Path(__file__).parents[2] / "data"
DIGEST = {path.name: path.read_text(encoding="utf-8") for path in DATA.glob("ll144/*.txt")}
SECTIONS = [f"§ 20-{n}" for n in range(870, 875)] + [f"§ 5-{n}" for n in range(300, 305)]
TYPES = (
    *("simple", "complex", "distracting element", "situational", "double", "conversational"),
    *("complex_situational", "out of scope", "vague", "compare", "rule_conclusion"),
)
COPIED_WORDS = 12


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


GOLD = read_jsonl(DATA / "gold.jsonl")
NEGATIVE = read_jsonl(DATA / "negative.jsonl")


def word_runs(text: str, length: int) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[i : i + length]) for i in range(len(words) - length + 1)}


def test_section_signs_open_the_ten_official_sections_once_each() -> None:
    opened = [line for text in DIGEST.values() for line in text.splitlines() if line[:1] == "§"]
    numbers = [match.group() for line in opened if (match := re.match(r"§ \d+-\d+(?= \S)", line))]
    assert len(numbers) == len(opened)
    assert sorted(numbers) == sorted(SECTIONS)


def test_gold_holds_ten_questions_of_each_type() -> None:
    assert Counter(item["question_type"] for item in GOLD) == dict.fromkeys(TYPES, 10)


def test_ids_and_questions_are_unique() -> None:
    ids = [item["id"] for item in GOLD + NEGATIVE]
    assert len(set(ids)) == len(ids)
    asked = [(item["question"], str(item["conversation_history"])) for item in GOLD]
    assert len(set(asked)) == len(asked)
    assert len({item["query"] for item in NEGATIVE}) == len(NEGATIVE)


def test_evidence_spans_lie_in_their_section_and_make_up_the_context() -> None:
    for item in GOLD:
        quotes = []
        assert bool(item["evidence"]) == (item["question_type"] != "out of scope"), item["id"]
        assert bool(item["conversation_history"]) == (item["question_type"] == "conversational")
        for span in item["evidence"]:
            text, start, end = DIGEST[span["document"]], span["start"], span["end"]
            assert 0 <= start < end <= len(text), item["id"]
            units = Document(span["document"], "", text).tree.units
            assert any(
                unit.label == span["section"] and unit.start <= start and end <= unit.end
                for unit in units
            ), item["id"]
            quotes.append(text[start:end])
            assert quotes[-1] == quotes[-1].strip()
        assert item["reference_context"] == "\n\n".join(quotes), item["id"]
        spans = sorted((s["document"], s["start"], s["end"]) for s in item["evidence"])
        for one, other in pairwise(spans):
            assert one[0] != other[0] or one[2] <= other[1], item["id"]


@pytest.mark.parametrize("name", sorted(DIGEST))
def test_digest_copies_no_twelve_words_of_the_official_texts(name: str) -> None:
    root = os.environ.get("LEXLOOP_DATA")
    official = sorted(Path(root, "ll144").glob("*.txt")) if root else []
    if not official:
        pytest.skip("LEXLOOP_DATA names no folder that holds the official texts under ll144/")
    copied = set[tuple[str, ...]]()
    for path in official:
        runs = word_runs(path.read_text(encoding="utf-8"), COPIED_WORDS)
        copied |= runs & word_runs(DIGEST[name], COPIED_WORDS)
    assert not copied, sorted(" ".join(run) for run in copied)
