"""Checking an answer by code: its citations exist and contain its facts."""

import re
from collections.abc import Callable, Collection, Set
from dataclasses import replace
from functools import lru_cache

from lexloop.core.folding import folded
from lexloop.core.running import heed_deadline
from lexloop.core.types import Citation
from lexloop.documents.chunks.statements import unnumbered
from lexloop.documents.text.languages import languages_of
from lexloop.documents.text.quantities import facts, states
from lexloop.documents.text.tokens import tokenize
from lexloop.nodes.evaluate.calculations import labelled, miscalculated
from lexloop.nodes.markers import (
    CitedSentence,
    cited_sentences,
    is_data,
    numbers_in,
    unmarked,
    without_markers,
)

TextOf = Callable[[str], str | None]
"""Returns the text of a document by its name, or None if the user may not see it."""

_CODE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_SCRIPTED = re.compile(r"\]\(\s*(?:javascript|vbscript|data):", re.IGNORECASE)
_ATTRIBUTE = r"<[a-z][\w:-]*\s[^<>]*=[^<>]*>"


def foreign_matter(answer: str) -> list[str]:
    """Return one sentence for each kind of data, code, images and markup in an answer.

    Angle brackets are markup if they have an HTML tag or attributes. Forms have places to fill in,
    such as <name of the owner>.
    """
    kinds = {
        "data instead of sentences": is_data(answer),
        "an image": "![" in answer,
        "a block of code": _CODE.search(answer) is not None,
        "HTML": _markup().search(answer) is not None,
        "a link that runs a script": _SCRIPTED.search(answer) is not None,
    }
    return [f"The answer holds {kind}." for kind, present in kinds.items() if present]


@lru_cache(maxsize=1)
def _markup() -> re.Pattern[str]:
    from lxml.html import defs

    names = "|".join(sorted(defs.tags))
    return re.compile(rf"</?(?:{names})(?=[\s/>])|<!--|{_ATTRIBUTE}", re.IGNORECASE)


# Every claim that people called supported shares two words with its evidence; of claims with the
# evidence of others, one in a hundred does (WiCE, development split).
_COMMON_WORDS = 2
_LEAST_QUOTED = 2
_OPENING = re.compile(r"^-?\s*(?:(?:yes|no)[.,:;]\s+)?[\"“„]?", re.IGNORECASE)
"""What may stand before a quote: the dash of a list, or a verdict."""
_SAID = re.compile(r"[\"“„»]([^\"“”„»«]+)[\"”“«]")
_PROPER = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+(?: (?:of |and )?[A-Z][a-z]+)+")
_PIECES = re.compile(r"[.;:…\[\]]\s")
_WORD, _LONGEST_TITLE = re.compile(r"\w+"), 150
_LEAST_SAID = 4
"""Words in quotation marks that are a quote, not a term."""
_OF_SILENCE = re.compile(
    r"^(?:(?!\b(?:if|unless|until|where|who|which)\b)[^,;])*\b(?:do|does) not"
    r" (?:say|state|mention|specify|tell)"
    r" (?:whether|how|who|what|when|where|which|that|if|any\w*)\b",
    re.IGNORECASE,
)
"""A sentence that the documents do not say something has no source, whatever it cites."""
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>()\[\]\"'“”]+", re.IGNORECASE)


def without_told(answer: str, told: Collection[str]) -> str:
    """Return an answer without the lines that code wrote from the documents' structure."""
    return "\n".join(line for line in answer.split("\n") if line not in told).strip()


def citation_problems(
    answer: str,
    citations: list[Citation],
    text_of: TextOf,
    told: Collection[str] = (),
    question: str = "",
) -> list[str]:
    """Return the reasons why an answer's citations cannot be verified.

    Args:
        answer: The answer with its [n] markers.
        citations: The spans of the markers.
        text_of: The text of a document by name; None for an unknown document.
        told: Lines of the answer that code wrote from the documents' structure: only their
            citations are checked.
        question: Its figures may be repeated, and calculated with.

    Returns:
        One sentence per problem. Empty if the answer consists of sentences, each sentence cites or
        introduces some that do and shares content with every passage that it cites, each cited span
        and each quote is in its document, and every number, date, section reference and web address
        is in the cited text, its lead-in, the question or the name of a cited document.
    """
    misquoted = [problem for citation in citations if (problem := _misquoted(citation, text_of))]
    written = folded(without_told(answer, told))
    if told and not written:
        return misquoted
    problems = [*misquoted, *foreign_matter(written)]
    written, worked, silent = labelled(written)
    sentences = [s for s in cited_sentences(written) if s.says_something]
    if not (sentences or worked):
        problems.append("The answer says nothing.")
    by_number: dict[int, list[str]] = {}
    for citation in citations:
        by_number.setdefault(citation["n"], []).append(_read(citation, text_of))
    texts = {n: "\n".join(cited) for n, cited in by_number.items()}
    sources = {citation["document"]: text_of(citation["document"]) or "" for citation in citations}
    named = {name: f"{name} {_heading(text)}" for name, text in sources.items()}
    titles = {citation["n"]: named[citation["document"]] for citation in citations}
    words = {n: _words(f"{titles[n]}\n{text}") for n, text in texts.items()}
    around = facts("\n".join([question, *named.values()]))
    problems += _not_quoted(written, [question, *sources.values()])
    problems += _not_named(sentences, [question, *named.values(), *sources.values()])
    for sentence in _quoting(sentences, {c["n"]: sources[c["document"]] for c in citations}):
        heed_deadline("while citations were verified")
        if _OF_SILENCE.search(sentence.text):
            silent.append(sentence.text)
            problems += _unknown(sentence, texts)
            continue
        problems += _unsupported(sentence, texts, around)
        # with an altered quote, shared words prove nothing
        problems += [] if misquoted else _unrelated(sentence, texts, words)
    problems += [p for line in worked for p in _not_worked(line, texts, question)]
    known = around.union(*map(facts, texts.values()))
    # a gap needs no source, so it may state no figure of its own
    return [
        *problems,
        *(_not_cited(fact, line) for line in silent for fact in sorted(facts(line) - known)),
    ]


def _not_quoted(answer: str, sources: Collection[str]) -> list[str]:
    """Return a problem for each quote with words that follow each other in no source.

    Punctuation may be another, and what is left out may be marked.
    """
    said = [quote for quote in _SAID.findall(without_markers(answer)) if _is_quote(quote)]
    flat = [_run(source) for source in sources] if said else []
    return [
        f"The quote is not in the cited document: {_short(quote)}"
        for quote in said
        for piece in _PIECES.split(quote)
        if not any(_run(piece) in source for source in flat)
    ]


def _heading(text: str) -> str:
    """Return the first line of a document if it can be a title."""
    first = text.lstrip().partition("\n")[0].rstrip()
    return "" if len(first) > _LONGEST_TITLE or first.endswith((".", ":", ";", ",")) else first


def _not_named(sentences: list[CitedSentence], sources: Collection[str]) -> list[str]:
    """Return a problem for each proper name of several words that has one of no cited document."""
    named = [(s, name) for s in sentences for name in _PROPER.findall(s.text)]
    known = frozenset().union(*map(_words, sources)) if named else frozenset[str]()
    return [
        _not_cited(f"“{name}”", sentence.text)
        for sentence, name in named
        if not _words(name) <= known and languages_of([sentence.text])[:1] == ["English"]
    ]


def _is_quote(said: str) -> bool:
    return len(said.split()) >= _LEAST_SAID


def _run(text: str) -> str:
    """Return the words of a text, one blank before, between and after them."""
    return " ".join(["", *_WORD.findall(folded(text).casefold()), ""])


def _not_cited(fact: str, sentence: str) -> str:
    return f"{fact} is not in the cited text: {_short(sentence)}"


def _not_worked(line: str, texts: dict[int, str], question: str) -> list[str]:
    """Return the problems of a calculation that cites no rule, or does not come out."""
    plain, cited = without_markers(line), [texts[n] for n in numbers_in(line) if n in texts]
    if not cited:
        return [f"No citation: {_short(plain)}"]
    wrong = miscalculated(plain, "\n".join(cited), question)
    return [f"{figure} does not come out: {_short(plain)}" for figure in wrong]


# carries, by benchmarks/rules.py, the verdict on .25 of the GDPR's and all of us_cfr's lists
def _quoting(sentences: list[CitedSentence], sources: dict[int, str]) -> list[CitedSentence]:
    """Let a sentence that is quoted word for word rest on the next marker.

    If several sentences of a source are quoted, its marker is after the last one.
    """
    if all(sentence.numbers or sentence.support for sentence in sentences):
        return sentences
    flat = {n: " ".join(unmarked(folded(t)).split()).casefold() for n, t in sources.items()}
    resting: list[CitedSentence] = []
    cited: tuple[int, ...] = ()
    for sentence in reversed(sentences):
        own = _OPENING.sub("", sentence.text).strip().casefold()
        if sentence.numbers or sentence.support or len(own.split()) < _LEAST_QUOTED:
            cited = sentence.numbers
            resting.append(sentence)
        else:
            support = tuple(n for n in cited if own in flat.get(n, ""))
            resting.append(replace(sentence, support=support))
    return resting[::-1]


def _unsupported(sentence: CitedSentence, texts: dict[int, str], around: Set[str]) -> list[str]:
    """Return the problems of a sentence without a citation, or with facts that the texts lack.

    ``around`` are the facts of the question and of the documents' names.
    """
    shown = _short(sentence.text)
    if not sentence.numbers and not sentence.support:
        return [f"No citation: {shown}"]
    problems = _unknown(sentence, texts)
    cited = "\n".join(texts[n] for n in {*sentence.numbers, *sentence.support} if n in texts)
    if not cited:
        return problems
    counted = {str(sentence.led)} if sentence.led else set()  # "3 duties:" before three of them
    claimed = facts(sentence.text) - counted - around
    missing = [fact for fact in sorted(claimed) if not states(cited, fact)]
    missing += [a for a in _addresses(sentence.text) if a not in _addresses(cited)]
    return [*problems, *(_not_cited(fact, sentence.text) for fact in missing)]


def _unknown(sentence: CitedSentence, texts: dict[int, str]) -> list[str]:
    return [f"[{n}] cites no passage." for n in sentence.numbers if n not in texts]


def _unrelated(
    sentence: CitedSentence, texts: dict[int, str], words: dict[int, set[str]]
) -> list[str]:
    """Return a problem for each cited passage that shares too little with the sentence.

    They must share two words that are not stop words, or half of a short sentence's words. Numbers
    and references count as words. A line that introduces a list need not share anything, nor does
    a sentence in a language that the passage is not in.
    """
    if sentence.led:
        return []
    plain = _ADDRESS.sub(" ", sentence.text)
    own, numbers = _words(plain), facts(plain)
    least = max(1, min(_COMMON_WORDS, (len(own) + len(numbers) + 1) // 2))
    return [
        f"[{n}] shares no content with its sentence: {_short(sentence.text)}"
        for n in sentence.numbers
        if n in texts
        and len(own & words[n]) + sum(states(texts[n], f) for f in numbers) < least
        and not _translated(plain, texts[n])
    ]


def _translated(sentence: str, text: str) -> bool:
    """Return whether a sentence is in a language, and its source in another."""
    ours, theirs = languages_of([sentence]), languages_of([text])
    return bool(ours and theirs) and ours[0] not in theirs


def _words(text: str) -> set[str]:
    """Return the stems of words, without stop words and numbers."""
    return {term for term in tokenize(text) if not term[0].isdigit()}


def _addresses(text: str) -> list[str]:
    addresses = (address.casefold() for address in _ADDRESS.findall(text))
    bare = (address.removeprefix("http://").removeprefix("https://") for address in addresses)
    return [address.removeprefix("www.").rstrip(".,;:!?/") for address in bare]


def _misquoted(citation: Citation, text_of: TextOf) -> str | None:
    text = text_of(citation["document"])
    if text is None:
        return f"[{citation['n']}] cites {citation['document']}, which is not in the corpus."
    start, end = citation["start"], citation["end"]
    if not 0 <= start < end <= len(text) or text[start:end] != citation["quote"]:
        return f"[{citation['n']}] quotes words that are not at {start}-{end} of its document."
    if (lead := citation.get("lead")) and _lead(citation, text) != lead:
        return f"[{citation['n']}] has a lead-in that is not where it says in its document."
    return None


def _lead(citation: Citation, text: str) -> str:
    """Return the words that lead into a citation, read from its lead spans."""
    spans = citation.get("lead_spans", [])
    inside = (text[start:end] for start, end in spans if 0 <= start < end <= len(text))
    return " ".join(map(unnumbered, inside))


def _read(citation: Citation, text_of: TextOf) -> str:
    """Return a citation's text folded: its label, the words that lead into it, and its quote."""
    lead = _lead(citation, text_of(citation["document"]) or "")
    return folded("\n".join([citation["section"], lead, citation["quote"]]))


def _short(text: str, limit: int = 80) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
