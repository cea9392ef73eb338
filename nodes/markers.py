"""The [n] markers of an answer, and its sentences with their markers."""

import itertools
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from lexloop.documents.text.tokens import LIST_ITEM, sentence_spans, words

# Three digits at most: [2021] is part of a law report's name.
MARKER = re.compile(r"\[\s*(\d{1,3}(?:\s*[-–,;]\s*\d{1,3})*)\s*\]")
_SPACED = re.compile(rf"(?P<before> ?){MARKER.pattern.replace('(', '(?P<numbers>', 1)}")
_WIDEST_RANGE = 50
_ORDINAL = re.compile(
    r"(?:^(?:[^\S\n]|[>#|*_-])*|[.:;,](?:\s+(?:and|or))?\s+)(\(?(\d{1,2})[.)])(?=\s)", re.MULTILINE
)
_LABEL = re.compile(r"\s*(?:#{1,6}\s[^\n]*[^\s.!?]|(\*\*|__)[^.!?\n]+\1)\s*")
_VERDICTS = (["yes"], ["no"])


@dataclass(frozen=True)
class CitedSentence:
    """A sentence of an answer and the passages that it rests on."""

    text: str  # without markers and emphasis; the number of a list item is a dash
    numbers: tuple[int, ...]  # the passages in its markers, in order
    # the number of list items or sentences that it introduces, as a line before a list, a heading,
    # or a bare yes or no; else 0
    led: int = 0
    # the passages that those cite; the sentence needs no markers for them
    support: tuple[int, ...] = ()

    @property
    def says_something(self) -> bool:
        """True if it has a word or a number."""
        return any(character.isalnum() for character in self.text)


def cited_sentences(answer: str) -> list[CitedSentence]:
    """Return the sentences of an answer, each with the passages that it cites.

    Markers after a full stop belong to the sentence before them. Markers that open a line belong to
    that line.
    """
    # blanks instead of markers keep the offsets, and show where sentences end
    shown = MARKER.sub(lambda marker: " " * len(marker.group()), answer)
    bare = _without_ordinals(shown.replace("**", "  ").replace("__", "  "))
    # the number of a provision belongs to its words
    spans = [span for span in sentence_spans(bare) if not _is_number(bare[slice(*span)])]
    edges = [0]
    for (_, end), (start, _) in itertools.pairwise(spans):
        line = answer.rfind("\n", end, start)
        edges.append(start if line < 0 else line)
    cuts = [*itertools.pairwise([*edges, len(answer)])]
    sentences = [
        CitedSentence(
            " ".join(bare[start:end].split()), tuple(dict.fromkeys(numbers_in(answer[start:end])))
        )
        for start, end in cuts
    ]
    labels = [_LABEL.fullmatch(answer[start:end]) is not None for start, end in cuts]
    return _with_support(sentences, labels)


def _with_support(sentences: list[CitedSentence], labels: list[bool]) -> list[CitedSentence]:
    """Give each sentence that introduces others the passages that these cite."""
    supported: list[CitedSentence] = []
    items, cited = 0, set[int]()  # of the list items after a sentence
    for bare, label in zip(reversed(sentences), reversed(labels), strict=True):
        sentence, following = bare, supported[-1] if supported else None
        opens = label or bare.text.endswith(":") or words(bare.text) in _VERDICTS
        if following is not None and (
            opens or (bare.text.startswith("|") and not following.says_something)  # a table's head
        ):
            support = cited if items else {*following.numbers, *following.support}
            sentence = replace(bare, led=items or 1, support=tuple(sorted(support)))
        supported.append(sentence)
        if sentence.text.startswith("|") or LIST_ITEM.match(sentence.text):
            items += sentence.says_something
            cited |= {*sentence.numbers, *sentence.support}
        else:
            items, cited = 0, set()
    return supported[::-1]


def _is_number(sentence: str) -> bool:
    """Return whether a sentence is only the number of a provision: "4.2."."""
    return sentence.endswith(".") and sentence.lstrip("§ ").replace(".", "").isdigit()


def _without_ordinals(text: str) -> str:
    """Return the text with a dash instead of the numbers of its lists.

    Only numbers that go up by one from 1, in one list or several, are replaced.
    """
    seen = {0}
    letters = list(text)
    for match in _ORDINAL.finditer(text):
        number = int(match[2])
        if number - 1 in seen:
            seen.add(number)
            start, end = match.span(1)
            letters[start:end] = "-".ljust(end - start)
    return "".join(letters)


def numbers_in(text: str) -> list[int]:
    """Return the passage numbers of every marker in a text, in order."""
    return [n for marker in MARKER.findall(text) for n in marker_numbers(marker)]


def marker_numbers(marker: str) -> list[int]:
    """Return the passage numbers in one marker: ``1``, ``1, 2`` or ``1-3``."""
    numbers: list[int] = []
    for item in re.split(r"[,;]", marker):
        ends = [int(end) for end in re.split(r"[-–]", item)]
        is_range = ends[0] <= ends[-1] <= ends[0] + _WIDEST_RANGE
        numbers += range(ends[0], ends[-1] + 1) if is_range else ends
    return numbers


def as_markers(numbers: Iterable[int]) -> str:
    """Return the markers of passages, each once."""
    return "".join(f"[{n}]" for n in dict.fromkeys(numbers))


def renumbered(answer: str, numbers: Mapping[int, int]) -> str:
    """Return an answer with other numbers in its markers; numbers without a new one are dropped."""
    return spread(answer, {old: [new] for old, new in numbers.items()})


def spread(answer: str, numbers: Mapping[int, Iterable[int]]) -> str:
    """Return an answer with the markers of several numbers, or none, in place of one."""

    def replacement(marker: re.Match[str]) -> str:
        old = marker_numbers(marker["numbers"])
        markers = as_markers(new for n in old for new in numbers.get(n, ()))
        return f"{marker['before']}{markers}" if markers else ""

    return _SPACED.sub(replacement, answer)


def unmarked(text: str) -> str:
    """Return a document's words with [2] as {2}, which does not read as a marker."""
    return MARKER.sub(lambda own: f"{{{own[1]}}}", text)


def is_data(answer: str) -> bool:
    """Return whether an answer begins with a JSON object, or an array of more than numbers."""
    text = answer.lstrip()
    if text.startswith(("```", "~~~")):
        text = text.partition("\n")[2].lstrip()
    if not text.startswith(("{", "[")):
        return False
    try:
        data, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(data, dict) or not all(type(item) is int for item in data)


def without_markers(answer: str) -> str:
    """Return the answer as plain prose."""
    return re.sub(r"\s+", " ", MARKER.sub("", answer)).strip()
