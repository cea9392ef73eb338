"""A question and a document match however their letters are coded: 50 questions, eight ways."""

import importlib.resources
import json
import re
import tempfile
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, cycle, islice, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from _promise import Line

import lexloop
from lexloop.store.opening import sample_folder

_QUESTIONS = 50
_WORD = re.compile(r"[^\W\d_]{4,}")
_NARROW = "".join(map(chr, range(0x21, 0x7F)))
_WIDE = str.maketrans(_NARROW, "".join(chr(ord(c) + 0xFEE0) for c in _NARROW))
_LIGATURES = {"ffi": "ﬃ", "ffl": "ﬄ", "ff": "ﬀ", "fi": "ﬁ", "fl": "ﬂ"}


_Written = Callable[[str], str]


def _same(text: str) -> str:
    return text


def _within(signs: str) -> _Written:
    """Put signs behind every second letter of each word, one after the other."""

    def written(text: str) -> str:
        each = cycle(signs)
        return _WORD.sub(lambda m: re.sub("..(?=.)", lambda two: two[0] + next(each), m[0]), text)

    return written


def _directed(text: str) -> str:
    pairs = cycle((("\u200e", "\u200f"), ("\u2068", "\u2069"), ("\u202a", "\u202c")))

    def marked(word: re.Match[str]) -> str:
        opening, closing = next(pairs)
        return f"{opening}{word[0]}{closing}"

    return re.sub(r"\w+", marked, text)


def _ligated(text: str) -> str:
    return re.sub("ffi|ffl|ff|fi|fl", lambda m: _LIGATURES[m[0]], text)


def _blanks(text: str) -> str:
    each = cycle("\xa0\u202f\u2007\u3000")
    return re.sub(" ", lambda _: next(each), text).replace("-", "\u2011")


def _accented(text: str) -> str:
    return text.replace("e", "é")


def _decomposed(text: str) -> str:
    return unicodedata.normalize("NFD", _accented(text))


class _Way(NamedTuple):
    """A way to code text, and what it should be read as."""

    written: _Written
    meant: _Written = _same


_WAYS = {
    "full width": _Way(lambda text: text.translate(_WIDE)),
    "soft hyphens": _Way(_within("\xad")),
    "signs of no width": _Way(_within("\u200b\u200c\u200d\u2060")),
    "byte order marks": _Way(lambda text: re.sub("^", "\ufeff", text, flags=re.MULTILINE)),
    "marks of direction": _Way(_directed),
    "ligatures": _Way(_ligated),
    "accents apart": _Way(_decomposed, _accented),
    "no-break blanks and hyphens": _Way(_blanks),
}


class _Outcome(NamedTuple):
    """What of an answer must be the same."""

    passages: tuple[str, ...]
    citations: tuple[tuple[str, str, int, int], ...]
    verdict: tuple[bool, str]


def held() -> Iterator[Line]:
    """Ask in each way, then ask documents that are coded in each way."""
    questions = _questions()
    codings: tuple[_Written, ...] = (_same, _accented)
    with tempfile.TemporaryDirectory() as place:
        plain = {meant: _index(Path(place), meant) for meant in codings}
        usual = {meant: _ask(index, questions, _same)[0] for meant, index in plain.items()}
        asked = {meant: _ask(plain[_same], questions, meant)[0] for meant in codings}
        for name, way in _WAYS.items():
            found, _ = _ask(plain[_same], questions, way.written)
            yield _line(f"questions with {name}", asked[way.meant], found)
        for name, way in _WAYS.items():
            index = _index(Path(place), way.written)
            found, misquoted = _ask(index, questions, _same)
            yield _line(f"documents with {name}", usual[way.meant], found, misquoted)


def _questions() -> list[str]:
    """Return 50 gold questions, of each type in turn."""
    by_type = defaultdict[str, list[str]](list)
    shipped = (importlib.resources.files("lexloop.data") / "gold.jsonl").read_text("utf-8")
    for gold in map(json.loads, shipped.splitlines()):
        by_type[gold["question_type"]].append(gold["question"])
    every = chain.from_iterable(zip_longest(*by_type.values()))
    return list(islice(filter(None, every), _QUESTIONS))


def _index(folder: Path, written: _Written) -> lexloop.Index:
    """Return the index of the sample, its texts written so."""
    documents = Path(tempfile.mkdtemp(dir=folder))
    for file in sample_folder().glob("*.txt"):
        (documents / file.name).write_text(written(file.read_text("utf-8")), "utf-8")
    return lexloop.Index.build(documents, documents.with_suffix(".index"))


def _ask(
    index: lexloop.Index, questions: Sequence[str], written: _Written
) -> tuple[list[_Outcome], int]:
    """Return what came of each question, and how many quotes are not in their document."""
    answers = [index.ask(written(question)) for question in questions]
    cited = [one for answer in answers for one in answer["citations"]]
    texts = {name: index.show(name) for name in {one["document"] for one in cited}}
    misquoted = sum(texts[c["document"]][c["start"] : c["end"]] != c["quote"] for c in cited)
    return [_outcome(answer) for answer in answers], misquoted


def _outcome(answer: Any) -> _Outcome:
    cited = ((c["document"], c["section"], c["start"], c["end"]) for c in answer["citations"])
    passages = tuple(passage["id"] for passage in answer["passages"])
    verdict = answer["evaluation"]["passed"], answer["finding"]
    return _Outcome(passages, tuple(cited), verdict)


def _line(
    what: str, usual: Sequence[_Outcome], found: Sequence[_Outcome], misquoted: int = 0
) -> Line:
    pairs = list(zip(usual, found, strict=True))
    same = [sum(a[place] == b[place] for a, b in pairs) for place in range(len(_Outcome._fields))]
    abstain = sum(a.verdict[1] != b.verdict[1] in ("near", "absent") for a, b in pairs)
    measured = (
        f"of {len(pairs)} the same: passages {same[0]}, citations {same[1]}, verdict {same[2]}; "
        f"{abstain} newly abstain, {misquoted} misquoted"
    )
    promise = f"{what} bring the same passages, citations and verdict"
    return Line(promise, measured, set(same) == {len(pairs)} and not misquoted)
