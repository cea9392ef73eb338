"""How the judge of groundedness takes statements that were altered, beside their own section.

    python benchmarks/altered.py [--docs DIR] [--gold GOLD.jsonl ...]

Every statement of 8 to 60 words is judged beside the section that it stands in: with a few words
put before it or said otherwise, which leaves it true, and with one number, section, unit, modal,
bound, party or "not" changed, which does not.
Where there are several numbers to change, or to change to, one is drawn. Of gold files it says how
many claims of the reference answers are taken to disagree with their own evidence.
"""

import argparse
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from lexloop.evaluation.case import read_cases
from lexloop.models.embedding import Embed
from lexloop.models.minilm import load_shipped
from lexloop.nodes.evaluate.evidence import evidence_of
from lexloop.nodes.evaluate.judges import ClaimSupport, claims_of

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
_SAMPLE = Path(__file__).parent.parent / "data" / "ll144"

Alteration = Callable[[str, list[str], random.Random], str | None]


def main() -> None:
    """Judge, and print how many of each kind fall below 0.5."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--docs", type=Path, default=_SAMPLE, help="a folder of .txt files")
    parser.add_argument("--gold", type=Path, nargs="*", default=[], help="with references")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    embed = load_shipped().embed
    support = ClaimSupport(embed)
    chance = random.Random(options.seed)
    judged: dict[str, list[float]] = {name: [] for name in (*ALTERATIONS, "party")}
    for text in sections(options.docs):
        evidence = evidence_of([text], embed)
        for name, altered in alterations(evidence.sentences, text, chance):
            judged[name].append(support.of([altered], evidence)[0].probability)
    figures: dict[str, float | int] = {}
    for name, found in judged.items():
        figures[name] = len(found)
        if found:
            below = sum(probability < _SUPPORTED for probability in found)
            figures[f"{name}_below"] = round(below / len(found), 4)
    for path in options.gold:
        figures |= _references(path, support, embed)
    for name, value in figures.items():
        print(f"{name:32} {value}")


def _references(path: Path, support: ClaimSupport, embed: Embed) -> dict[str, float | int]:
    """How many claims of the references there are, and the share that disagrees."""
    claims = disagree = 0
    for gold in read_cases(path):
        if gold.reference_context and gold.reference_answer:
            evidence = evidence_of(gold.reference_context.split("\n\n"), embed)
            found = support.of(claims_of(gold.reference_answer), evidence)
            claims += len(found)
            disagree += sum(bool(one.reasons) for one in found)
    share = round(disagree / claims, 4) if claims else 0.0
    return {f"{path.stem}_claims": claims, f"{path.stem}_disagree": share}


def sections(docs: Path) -> Iterator[str]:
    """The sections of every text of a folder."""
    for path in sorted(docs.glob("*.txt")):
        yield from _SECTION.split(path.read_text("utf-8"))


def alterations(
    sentences: list[str], text: str, chance: random.Random
) -> Iterator[tuple[str, str]]:
    """Each alteration by name, of each sentence that it can be made to."""
    numbers = sorted(set(_ANY_NUMBER.findall(text)))
    for sentence in sentences:
        if len(sentence.split()) in _WORDS:
            for name, alter in ALTERATIONS.items():
                if (altered := alter(sentence, numbers, chance)) is not None:
                    yield name, altered
            if (altered := party_swapped(sentence, text, chance)) is not None:
                yield "party", altered


def _introduced(sentence: str, _: list[str], __: random.Random) -> str:
    return f"It holds that {sentence}"


def _nowhere(sentence: str, _: list[str], chance: random.Random) -> str | None:
    found = list(_NUMBER.finditer(sentence))
    return _replaced(sentence, chance.choice(found), _NOWHERE) if found else None


def _elsewhere(sentence: str, numbers: list[str], chance: random.Random) -> str | None:
    found = list(_NUMBER.finditer(sentence))
    if not found:
        return None
    one = chance.choice(found)
    others = [number for number in numbers if number != one.group()]
    return _replaced(sentence, one, chance.choice(others)) if others else None


def _other_section(sentence: str, _: list[str], __: random.Random) -> str | None:
    altered = _REFERENCE.sub(lambda found: f"{found[1]}{int(found[2]) + 3}", sentence, count=1)
    return altered if altered != sentence else None


def _negated(sentence: str, _: list[str], __: random.Random) -> str | None:
    if _DENIED.search(sentence) or not _VERB.search(sentence):
        return None
    return _VERB.sub(r"\1 not", sentence, count=1)


def _affirmed(sentence: str, _: list[str], __: random.Random) -> str | None:
    altered = re.sub(r"\bnot (?=\w)", "", sentence, count=1)
    return altered if altered != sentence else None


def _unit(sentence: str, _: list[str], __: random.Random) -> str | None:
    altered = _UNIT.sub(lambda found: f"{_UNITS[found[1].lower()]}{found[2]}", sentence, count=1)
    return altered if altered != sentence else None


def _modal(sentence: str, _: list[str], __: random.Random) -> str | None:
    altered = _MODAL.sub(lambda found: _MODALS[found[1].lower()], sentence, count=1)
    return altered if altered != sentence else None


def _bound(sentence: str, _: list[str], __: random.Random) -> str | None:
    for pattern, by in _BOUNDS:
        altered = re.sub(rf"\b{pattern}\b", by, sentence, count=1, flags=re.IGNORECASE)
        if altered != sentence:
            return altered
    return None


def _reworded(sentence: str, _: list[str], __: random.Random) -> str | None:
    """What means the same, said otherwise."""
    altered = sentence
    for pattern, by in _SAME:
        altered = re.sub(rf"\b{pattern}\b", by, altered, flags=re.IGNORECASE)
    return altered if altered != sentence else None


def party_swapped(sentence: str, text: str, chance: random.Random) -> str | None:
    """The sentence with one of those who must or may do something in the place of another."""
    parties = sorted({found.lower() for found in _PARTY.findall(text)} - _NOBODY)
    named = [p for p in parties if re.search(rf"\b{p}\b", sentence, re.IGNORECASE)]
    if not named or len(parties) < 2:
        return None
    one = chance.choice(named)
    other = chance.choice([party for party in parties if party != one])
    return re.sub(rf"\b{one}\b", other, sentence, flags=re.IGNORECASE)


def _replaced(sentence: str, found: re.Match[str], by: str) -> str:
    return sentence[: found.start()] + by + sentence[found.end() :]


ALTERATIONS: dict[str, Alteration] = {
    "words_before": _introduced,
    "number_nowhere": _nowhere,
    "number_elsewhere": _elsewhere,
    "other_section": _other_section,
    "not_put_in": _negated,
    "not_left_out": _affirmed,
    "unit": _unit,
    "modal": _modal,
    "bound": _bound,
    "reworded": _reworded,
}

if __name__ == "__main__":
    main()
