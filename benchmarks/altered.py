"""How the judge of groundedness takes statements that were altered, beside their own section.

    python benchmarks/altered.py [--docs DIR]

Every statement of 8 to 60 words is judged beside the section that it stands in: with a few words
put before it or said otherwise, which leaves it true, and with one number, section, unit, modal,
bound, party or "not" changed, which does not.
Where there are several numbers to change, or to change to, one is drawn.
"""

import random
import re
from collections.abc import Iterator
from pathlib import Path

from _shared import ROOT, options

from lexloop.models.minilm import load_shipped
from lexloop.nodes.evaluate.evidence import evidence_of
from lexloop.nodes.evaluate.judges import ClaimSupport

_SECTION = re.compile(r"\n(?=§|# )")
_ANY_NUMBER = re.compile(r"(?<![\w.-])\d{1,4}(?![\w.-])")
_NUMBER = re.compile(r"(?<![\w.$,-])\d{1,4}(?=\s+[a-z])")
_REFERENCE = re.compile(r"(§ \d+-\d)(\d+)")
_VERB = re.compile(r"\b(must|may|is|are)\b")
_DENIED = re.compile(r"\bnot\b|n't|\bno\b")
_NOWHERE = "77"
_UNITS = {"day": "month", "month": "year", "year": "day", "hour": "day", "week": "month"}
_UNIT = re.compile(r"\b(day|month|year|hour|week)(s?)\b", re.IGNORECASE)
_MODALS = {"must": "may", "shall": "may", "may": "must"}
_MODAL = re.compile(r"\b(must|shall|may)\b(?! not)", re.IGNORECASE)
_BOUNDS = (
    ("at least", "at most"),
    ("at most", "at least"),
    ("(?:no|not) (?:more|later) than", "at least"),
    ("more than", "less than"),
    ("less than", "more than"),
    ("within", "at least"),
    ("before", "after"),
    ("after", "before"),
)
_SAME = (
    ("shall", "must"),
    ("at least", "no fewer than"),
    ("within", "no later than"),
    ("may(?! not)", "is allowed to"),
    ("more than", "in excess of"),
    ("before", "prior to"),
    ("required", "obliged"),
    ("provide", "give"),
    ("in order to", "to"),
)
_PARTY = re.compile(r"\b([a-z]{4,}) (?:must|shall|may)\b", re.IGNORECASE)
_NOBODY = {"that", "this", "they", "which", "each", "these", "those", "also", "then", "only"}
_WORDS = range(8, 61)
_SUPPORTED = 0.5
_NAMES = (
    *("words_before", "number_nowhere", "number_elsewhere", "other_section", "not_put_in"),
    *("not_left_out", "unit", "modal", "bound", "reworded", "party"),
)


def main() -> None:
    """Judge, and print how many of each kind fall below 0.5."""
    parser = options(__doc__)
    own = ROOT / "data" / "ll144"
    parser.add_argument("--docs", type=Path, default=own, help="a folder of .txt files")
    given = parser.parse_args()
    embed, chance = load_shipped().embed, random.Random(1)
    support = ClaimSupport(embed)
    below: dict[str, list[bool]] = {name: [] for name in _NAMES}
    for text in sections(given.docs):
        evidence = evidence_of([text], embed)
        for name, altered in alterations(evidence.sentences, text, chance):
            below[name].append(support.of([altered], evidence)[0].probability < _SUPPORTED)
    for name, found in below.items():
        print(f"{name:32} {len(found)}")
        if found:
            print(f"{f'{name}_below':32} {round(sum(found) / len(found), 4)}")


def sections(docs: Path) -> Iterator[str]:
    """The sections of every text of a folder."""
    for path in sorted(docs.glob("*.txt")):
        yield from _SECTION.split(path.read_text("utf-8"))


def alterations(
    sentences: list[str], text: str, chance: random.Random
) -> Iterator[tuple[str, str]]:
    """Each alteration by name, of each sentence that it can be made to."""
    numbers = sorted(set(_ANY_NUMBER.findall(text)))
    parties = sorted({found.lower() for found in _PARTY.findall(text)} - _NOBODY)
    for sentence in sentences:
        if len(sentence.split()) in _WORDS:
            altered = [*_drawn(sentence, numbers, chance), *_changed(sentence)]
            altered += _swapped(sentence, parties, chance)
            yield from ((name, said) for name, said in altered if said != sentence)


def _drawn(sentence: str, numbers: list[str], chance: random.Random) -> Iterator[tuple[str, str]]:
    """One of its numbers changed, to one that stands nowhere and to one that does."""
    if found := list(_NUMBER.finditer(sentence)):
        yield "number_nowhere", _replaced(sentence, chance.choice(found), _NOWHERE)
        one = chance.choice(found)
        if others := [number for number in numbers if number != one.group()]:
            yield "number_elsewhere", _replaced(sentence, one, chance.choice(others))


def _changed(sentence: str) -> Iterator[tuple[str, str]]:
    """What the same words become, where there is anything to change."""
    yield "words_before", f"It holds that {sentence}"
    further = _REFERENCE.sub(lambda found: f"{found[1]}{int(found[2]) + 3}", sentence, count=1)
    yield "other_section", further
    if not _DENIED.search(sentence):
        yield "not_put_in", _VERB.sub(r"\1 not", sentence, count=1)
    yield "not_left_out", re.sub(r"\bnot (?=\w)", "", sentence, count=1)
    yield "unit", _UNIT.sub(lambda f: f"{_UNITS[f[1].lower()]}{f[2]}", sentence, count=1)
    yield "modal", _MODAL.sub(lambda f: _MODALS[f[1].lower()], sentence, count=1)
    for pattern, by in _BOUNDS:
        bound = re.sub(rf"\b{pattern}\b", by, sentence, count=1, flags=re.IGNORECASE)
        if bound != sentence:
            yield "bound", bound
            break
    same = sentence
    for pattern, by in _SAME:
        same = re.sub(rf"\b{pattern}\b", by, same, flags=re.IGNORECASE)
    yield "reworded", same


def _swapped(sentence: str, parties: list[str], chance: random.Random) -> Iterator[tuple[str, str]]:
    """One of those who must or may do something in the place of another."""
    named = [p for p in parties if re.search(rf"\b{p}\b", sentence, re.IGNORECASE)]
    if named and len(parties) > 1:
        one = chance.choice(named)
        other = chance.choice([party for party in parties if party != one])
        yield "party", re.sub(rf"\b{one}\b", other, sentence, flags=re.IGNORECASE)


def _replaced(sentence: str, found: re.Match[str], by: str) -> str:
    return sentence[: found.start()] + by + sentence[found.end() :]


if __name__ == "__main__":
    main()
