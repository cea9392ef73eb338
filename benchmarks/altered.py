"""How the judge of groundedness takes statements that were altered, beside their own passage.

    python benchmarks/altered.py [--docs DIR [DIR ...]] [--most N]

Statements of 8 to 60 words of every text are judged beside the passage that they stand in: as they
are, with a few words put before them or said otherwise, which leaves them true, and with one
number, section, unit, modal, bound, party, quantifier, ordinal, conjunction, condition or "not"
changed, or beside another passage, which does not. Where there are several things to change, or to
change to, one is drawn; of each kind and folder at most N, spread evenly. An altered statement is
named where the judge gives a reason or less than 0.5, or tells a condition that it leaves out.
"""

import random
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from _shared import ROOT, options, table

from lexloop.documents.chunks.chunkers import chunk_document
from lexloop.documents.chunks.statements import statements_in_text
from lexloop.documents.document import Document
from lexloop.documents.text.tokens import tokenize
from lexloop.models.minilm import load_shipped
from lexloop.nodes.evaluate.evidence import Evidence, evidence_of, left_out
from lexloop.nodes.evaluate.judges import SUPPORTED, ClaimSupport

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
_CONDITIONS = (
    "unless the {} decides otherwise",
    "provided that the {} agrees in writing",
    "where the {} considers it reasonable",
    "except in urgent cases",
    "if this is practicable",
)
_QUANTIFIER = re.compile(r"\b(?:all|every|each)\b(?! of)", re.IGNORECASE)
_EXCEPTION = re.compile(
    r",? (?:unless|except|other than|save|provided that|subject to)\b[^,;:.]*", re.IGNORECASE
)
_FORBIDDEN = (
    ("prohibited", "allowed"),
    ("forbidden", "permitted"),
    ("unlawful", "lawful"),
    ("(?:shall|must|may) not", "may"),
)
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
_ORDINAL = re.compile(rf"\b(?:{'|'.join(_ORDINALS)})\b", re.IGNORECASE)
_NO = re.compile(r"\bno (?=[a-z]+\b)(?!(?:more|later|less|longer|fewer|other)\b)", re.IGNORECASE)
_WORDS = range(8, 61)
TRUE = ("as it is", "words_before", "reworded")
NAMES = (
    *(*TRUE, "number_nowhere", "number_elsewhere", "other_section", "not_put_in"),
    *("not_left_out", "unit", "must_may", "may_must", "bound", "party", "parties_swapped"),
    *("condition_added", "and_or", "all_some", "exception_dropped", "allowed", "ordinal"),
    *("no_every", "other_passage"),
)


def main() -> None:
    """Judge, and print the share of each kind that is named."""
    parser = options(__doc__)
    own = ROOT / "data" / "ll144"
    parser.add_argument("--docs", type=Path, nargs="+", default=[own], help="folders of .txt files")
    parser.add_argument("--most", type=int, default=60)
    given = parser.parse_args()
    found = [named(docs, given.most) for docs in given.docs]
    rows = [
        [name, *(f"{hits} of {of}" if of else "–" for hits, of in (one[name] for one in found))]
        for name in NAMES
    ]
    print(table(["named", *(docs.name for docs in given.docs)], rows))


def named(docs: Path, most: int) -> dict[str, tuple[int, int]]:
    """How many statements of each kind are named, and of how many."""
    embed = load_shipped().embed
    support = ClaimSupport(embed)
    made = defaultdict[str, list[tuple[str, str]]](list)
    for name, said, text in altered(docs):
        made[name].append((said, text))
    read = lru_cache(maxsize=None)(lambda text: evidence_of([text], embed))
    counts = dict.fromkeys(NAMES, (0, 0))
    for name, pairs in made.items():
        chosen = pairs[:: -(-len(pairs) // most)]
        hits = [is_named(support, said, read(text)) for said, text in chosen]
        counts[name] = sum(hits), len(hits)
    return counts


def is_named(support: ClaimSupport, said: str, evidence: Evidence) -> bool:
    """Return whether the judge says anything against a statement."""
    found = support.of([said], evidence)[0]
    told = left_out(said, frozenset(tokenize(said)), evidence)
    return bool(found.reasons or told) or found.probability < SUPPORTED


def altered(docs: Path) -> Iterator[tuple[str, str, str]]:
    """Each alteration of each statement of a folder: its name, the words, the passage beside it."""
    chance = random.Random(1)
    texts = [*sections(docs)]
    for place, text in enumerate(texts):
        sentences = [statement.text for statement in statements_in_text(text)]
        for name, said in alterations(sentences, text, chance):
            yield name, said, text
        beside = texts[(place + chance.randrange(1, len(texts))) % len(texts)] if texts[1:] else ""
        for said in sentences:
            if len(said.split()) in _WORDS and beside and said not in beside:
                yield "as it is", said, text
                yield "other_passage", said, beside


def sections(docs: Path) -> Iterator[str]:
    """The passages of every text of a folder."""
    for path in sorted(docs.glob("*.txt")):
        text = path.read_text("utf-8")
        yield from (chunk["text"] for chunk in chunk_document(Document(path.name, path.stem, text)))


def alterations(
    sentences: list[str], text: str, chance: random.Random
) -> Iterator[tuple[str, str]]:
    """Each alteration by name, of each sentence that it can be made to."""
    numbers = sorted(set(_ANY_NUMBER.findall(text)))
    parties = sorted({found.lower() for found in _PARTY.findall(text)} - _NOBODY)
    for sentence in sentences:
        if len(sentence.split()) in _WORDS:
            changed = [*_drawn(sentence, numbers, chance), *_changed(sentence)]
            changed += [*_swapped(sentence, parties, chance), *_limited(sentence, parties, chance)]
            first = sentence[0].isupper()
            for name, said in changed:
                if said != sentence:
                    yield name, said[:1].upper() + said[1:] if first else said


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
    if modal := _MODAL.search(sentence):
        name = "may_must" if modal[1].lower() == "may" else "must_may"
        yield name, _MODAL.sub(lambda f: _MODALS[f[1].lower()], sentence, count=1)
    yield (
        "and_or",
        re.sub(r" (and|or) ", lambda f: " or " if f[1] == "and" else " and ", sentence, count=1),
    )
    yield "all_some", _QUANTIFIER.sub("some", sentence, count=1)
    yield "exception_dropped", _EXCEPTION.sub("", sentence, count=1)
    yield "ordinal", _ORDINAL.sub(_next_ordinal, sentence, count=1)
    yield "no_every", _NO.sub("every ", sentence, count=1)
    for pattern, by in _FORBIDDEN:
        allowed = re.sub(rf"\b{pattern}\b", by, sentence, count=1, flags=re.IGNORECASE)
        if allowed != sentence:
            yield "allowed", allowed
            break
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
    if len(named) > 1:
        pair = chance.sample(named, 2)
        other_of = dict(zip(pair, pair[::-1], strict=True))
        either = re.compile(rf"\b(?:{'|'.join(pair)})\b", re.IGNORECASE)
        yield "parties_swapped", either.sub(lambda f: other_of[f[0].lower()], sentence)


def _limited(sentence: str, parties: list[str], chance: random.Random) -> Iterator[tuple[str, str]]:
    """The same under a condition that nothing in the text sets."""
    condition = chance.choice(_CONDITIONS).format(chance.choice(parties or ["regulator"]))
    body, end = (sentence[:-1], sentence[-1]) if sentence[-1] in ".;:," else (sentence, "")
    yield "condition_added", f"{body} {condition}{end}"


def _next_ordinal(found: re.Match[str]) -> str:
    return _ORDINALS[(_ORDINALS.index(found[0].lower()) + 1) % len(_ORDINALS)]


def _replaced(sentence: str, found: re.Match[str], by: str) -> str:
    return sentence[: found.start()] + by + sentence[found.end() :]


if __name__ == "__main__":
    main()
