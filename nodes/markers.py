"""The [n] markers of an answer, and the sentences that they are of."""

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

    text: str  # its words: markers and emphasis are out, and the number of a list item is a dash
    numbers: tuple[int, ...]  # the passages that its markers name, in order
    # how many list items or sentences it leads in, if it is a line before a list, a heading, or
    # a bare yes or no; 0 for any other
    led: int = 0
    # the passages that those cite, which it needs no markers of its own for
    support: tuple[int, ...] = ()

    @property
    def says_something(self) -> bool:
        """True if it holds a word or a number."""
        return any(character.isalnum() for character in self.text)


def cited_sentences(answer: str) -> list[CitedSentence]:
    """Return the sentences of an answer, each with the passages that it cites.

    Markers after a full stop belong to the sentence before it, markers that open a line to that
    line.
    """
    # Blanks in place of what is no text keep the offsets and show where sentences really end.
    shown = MARKER.sub(_blank, answer).replace("**", "  ").replace("__", "  ")
    bare = _without_ordinals(shown)
    # the number of a provision belongs to its words
    spans = [span for span in sentence_spans(bare) if not _is_number(bare[slice(*span)])]
    edges = [0, *(_edge(answer, end, start) for (_, end), (start, _) in itertools.pairwise(spans))]
    found: list[CitedSentence] = []
    labels: list[bool] = []
    for start, end in itertools.pairwise([*edges, len(answer)]):
        numbers = tuple(dict.fromkeys(numbers_in(answer[start:end])))
        found.append(CitedSentence(" ".join(bare[start:end].split()), numbers))
        labels.append(_LABEL.fullmatch(answer[start:end]) is not None)
    return _with_support(found, labels)


def _with_support(found: list[CitedSentence], labels: list[bool]) -> list[CitedSentence]:
    """Give each sentence that leads others in the passages that these cite."""
    known: list[CitedSentence] = []
    items, cited = 0, set[int]()  # of the run of list items that comes next
    for bare, label in zip(reversed(found), reversed(labels), strict=True):
        sentence, following = bare, known[-1] if known else None
        if following is not None and (label or _leads_in(bare.text, following)):
            support = cited if items else {*following.numbers, *following.support}
            sentence = replace(bare, led=items or 1, support=tuple(sorted(support)))
        known.append(sentence)
        if _is_item(sentence.text):
            items += sentence.says_something
            cited |= {*sentence.numbers, *sentence.support}
        else:
            items, cited = 0, set()
    return known[::-1]


def _is_number(sentence: str) -> bool:
    """Return whether a sentence is only the number of a provision: "4.2."."""
    return sentence.endswith(".") and sentence.lstrip("§ ").replace(".", "").isdigit()


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


def _without_ordinals(text: str) -> str:
    """Return the text with a dash in place of the numbers of its lists.

    They run up by one from 1, in a list or several, so that no other number is taken for one.
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


def _edge(answer: str, end: int, start: int) -> int:
    """Return the offset between two sentences at which the markers of the second begin."""
    line = answer.rfind("\n", end, start)
    return start if line < 0 else line


def _leads_in(text: str, following: CitedSentence) -> bool:
    table_head = text.startswith("|") and not following.says_something
    return table_head or text.endswith(":") or words(text) in _VERDICTS


def _is_item(text: str) -> bool:
    return text.startswith("|") or LIST_ITEM.match(text) is not None


def numbers_in(text: str) -> list[int]:
    """Return the passage numbers of every marker in a text, in order."""
    return [n for marker in MARKER.findall(text) for n in marker_numbers(marker)]


def marker_numbers(marker: str) -> list[int]:
    """Return the passage numbers inside one marker: ``1``, ``1, 2`` or ``1-3``."""
    numbers: list[int] = []
    for item in re.split(r"[,;]", marker):
        ends = [int(end) for end in re.split(r"[-–]", item)]
        first, last = ends[0], ends[-1]
        if first <= last <= first + _WIDEST_RANGE:
            numbers.extend(range(first, last + 1))
        else:
            numbers.extend(ends)
    return numbers


def as_markers(numbers: Iterable[int]) -> str:
    """Return the markers of passages, each once."""
    return "".join(f"[{n}]" for n in dict.fromkeys(numbers))


def renumbered(answer: str, numbers: Mapping[int, int]) -> str:
    """Return an answer with the numbers of its markers changed; those not named are dropped."""
    return spread(answer, {old: [new] for old, new in numbers.items()})


def spread(answer: str, numbers: Mapping[int, Iterable[int]]) -> str:
    """Return an answer with markers of several numbers in place of one each; or of none."""

    def anew(marker: re.Match[str]) -> str:
        said = marker_numbers(marker["numbers"])
        kept = as_markers(new for n in said for new in numbers.get(n, ()))
        return f"{marker['before']}{kept}" if kept else ""

    return _SPACED.sub(anew, answer)


def unmarked(text: str) -> str:
    """Return a document's words with its own [2] as {2}, so that none reads as a marker."""
    return MARKER.sub(lambda own: f"{{{own[1]}}}", text)


def is_data(answer: str) -> bool:
    """Return whether an answer begins with a JSON object, or an array of more than numbers."""
    text = answer.lstrip()
    if text.startswith(("```", "~~~")):
        text = text.partition("\n")[2].lstrip()
    if text[:1] not in ("{", "["):
        return False
    try:
        found, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) or not all(type(one) is int for one in found)


def without_markers(answer: str) -> str:
    """Return the answer as plain prose."""
    return re.sub(r"\s+", " ", MARKER.sub("", answer)).strip()
