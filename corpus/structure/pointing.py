"""Which provisions a question points to, and whether it asks for nothing else."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from lexloop.corpus.structure.naming import act_after, act_before, fits, singled_out, words_of
from lexloop.corpus.structure.references import Reference, find_references, loose_numbers

_POINTING = frozenset(
    """a about all an and are by called can check cite cited contain contained contains
    content contents could cover covered covers deal deals dealt describe display do
    does down exact exactly explain first for fourth full give heading hello hi i in
    indent is it its know laid last lay lays learn like list look me mean meaning means
    name need of open or paragraph please print provide provided provides quote quoted
    read reads regulate regulated regulates require required requires said say saying
    says second see sentence set sets show state stated states subparagraph summarise
    summarised summarize summary tell text that the there third this title to under up
    us want we what what's whats which whole with word wording words would you""".split()
)
"""What a question may say that asks what a provision says, and for nothing else."""
_NUMERALS = {
    word: str(number)
    for number, word in enumerate(
        """one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
        sixteen seventeen eighteen nineteen twenty""".split(),
        1,
    )
}
_WORDED = re.compile(
    r"\b(?P<word>articles?|sections?|recitals?|chapters?|annex|schedule|clauses?|rules?)\s+"
    rf"(?P<number>{'|'.join(_NUMERALS)})\b",
    re.IGNORECASE,
)
_UNBRACKETED = re.compile(r"(?<=[0-9]\))(?P<number>[a-z]|[ivx]{2,4})(?=[\s?.,;:]|$)")
_LETTER = re.compile(r"\blit(?:era|\.)?\s*\(?(?P<number>[a-z])\b\)?", re.IGNORECASE)
_CODE = re.compile(r"\d{1,3}\s(?:C\.?F\.?R\.?|U\.?S\.?C\.?)")
_CALLED = re.compile(r"§|\b(?:art|sec|ss?\b|rule|clause|cl\b|reg)", re.IGNORECASE)
_CALLS = {
    "§": "section",
    "sec": "section",
    "s": "section",
    "ss": "section",
    "art": "article",
    "rul": "rule",
    "cla": "clause",
    "cl": "clause",
    "reg": "regulation",
}
_SUBPARAGRAPH = re.compile(r"sub-?paragraphs?\s+\d", re.IGNORECASE)
_UNDER = re.compile(r"\b(?:under|per|see)\s+$", re.IGNORECASE)
_MARK = "\N{OBJECT REPLACEMENT CHARACTER}"


@dataclass(frozen=True)
class Pointer:
    """A reference in a question.

    Args:
        reference: What it names.
        written: As the question has it.
        documents: Where it may lie by the act that the question names with it.
    """

    reference: Reference
    written: str
    documents: tuple[str, ...]

    @property
    def coded(self) -> bool:
        """Whether it names a code, as "15 U.S.C. 6501" does, which may be another."""
        return self.written[:1].isdigit() and _CODE.match(self.written) is not None

    @property
    def unnumbered(self) -> bool:
        """Whether it counts subparagraphs, which have no numbers of their own."""
        return _SUBPARAGRAPH.search(self.written) is not None

    @property
    def word(self) -> str:
        """What it calls the provision: ``section`` for "§ 5" and "sec. 5"; nothing for a number."""
        found = _CALLED.search(self.written)
        return _CALLS[found.group().lower()[:3].rstrip(". ")] if found else ""


@dataclass(frozen=True)
class Pointing:
    """How a question points.

    Args:
        pointers: The references in it that may lead into these documents.
        rest: The question without them, in small letters and words.
        named: The documents that the rest of the question singles out; none where it does not.
        foreign: Whether a reference leads into an act that is none of the documents.
        only: Whether the question asks what they say and nothing else.
    """

    pointers: tuple[Pointer, ...]
    rest: tuple[str, ...]
    named: tuple[str, ...]
    foreign: bool
    only: bool


def plain_form(question: str) -> str:
    """The question with the forms of numbers that people write made those of laws."""
    worded = _WORDED.sub(lambda m: f"{m['word']} {_NUMERALS[m['number'].lower()]}", question)
    lettered = _LETTER.sub(lambda m: f"point ({m['number']})", worded)
    return _UNBRACKETED.sub(lambda m: f"({m['number']})", lettered)


def may_refer(question: str) -> bool:
    """Whether a question holds a reference at all."""
    asked = plain_form(question)
    return bool(find_references(asked) or loose_numbers(asked))


def read_pointing(question: str, titles: Mapping[str, str]) -> Pointing:
    """Read off a question where it points.

    Args:
        question: What is asked, as ``plain_form`` gives it.
        titles: The titles of the documents by their names.
    """
    references = find_references(question)
    loose = not references
    if loose:
        references = loose_numbers(question)
    pointers: list[Pointer] = []
    foreign = False
    letters = list(question)
    for reference in references:
        end, act = act_after(question, reference.end)
        act = act or act_before(question, reference.start)
        fitting = fits(act, titles) if act else list(titles)
        begin = reference.start - (len(act) + 1 if end == reference.end and act else 0)
        letters[max(0, begin) : end] = _MARK * (end - max(0, begin))
        foreign |= fitting is None
        if fitting and reference.steps[0].key and not reference.here:
            written = question[reference.start : reference.end]
            pointers.append(Pointer(reference, written, tuple(fitting)))
    left = _CODE.sub(" ", "".join(letters)).replace(_MARK, " ")
    rest = re.findall(r"[^\W_]+(?:['’.\-][^\W_]+)*", left.lower())
    named = singled_out(left, titles)
    about = named or (titles if len(titles) == 1 else ())
    telling = {word for name in about for word in words_of(name, titles[name])}
    only = not foreign and all(word in _POINTING or word in telling for word in rest)
    if loose and not only:
        # "a fee of 3.5" names no clause
        pointers = [p for p in pointers if _UNDER.search(question[: p.reference.start])]
    return Pointing(tuple(pointers), tuple(rest), tuple(named), foreign, only and bool(pointers))


def only_points(question: str) -> bool:
    """Whether a question asks for provisions by their numbers and for nothing else."""
    return read_pointing(plain_form(question), {"": ""}).only


def provision_in(text: str) -> str:
    """The last provision that a text names by its number, as written; "" where it names none."""
    whole = [r for r in find_references(text) if r.steps[0].key and not r.last]
    return text[whole[-1].start : whole[-1].end] if whole else ""


def placed(question: str, provision: str) -> str:
    """The question, its "paragraph 2" made that of a provision.

    Args:
        question: What is asked.
        provision: As its number is written; "" leaves the question as it is.
    """
    references = find_references(question)
    if not provision or not references or any(r.steps[0].key or r.here for r in references):
        return question
    end = references[-1].end
    return f"{question[:end]} of {provision}{question[end:]}"
