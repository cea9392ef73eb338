"""The model's generators, from numbered passages or alone, and the citations of what they write.

Models cite as they were trained to: 【1】, [^1] with a footnote, [Passage 1], "According to passage
1", or with a list of sources at the end. They only say which passage they used. Which words of it
support a sentence is found here, by the words they share, so that a citation points at what a
reader should check.
"""

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from functools import cache

from lexloop import prompts
from lexloop.core.errors import ModelReplyError
from lexloop.core.running import computed, heed_deadline
from lexloop.core.types import (
    ABSTENTION,
    Advice,
    Citation,
    Draft,
    ParsedQuestion,
    Passage,
    Pointed,
    Triplet,
)
from lexloop.documents.chunks.statements import Statement
from lexloop.documents.text.quantities import facts
from lexloop.documents.text.tokens import tokenize
from lexloop.knowledge.relations import reading
from lexloop.models.request import Chat, ChatRequest
from lexloop.nodes.context import drafted
from lexloop.nodes.generate.guard import recites
from lexloop.nodes.generate.quoting import cite
from lexloop.nodes.markers import (
    MARKER,
    as_markers,
    cited_sentences,
    is_data,
    marker_numbers,
    numbers_in,
    unmarked,
)
from lexloop.nodes.relevance import Sources
from lexloop.nodes.shortening import shortened


@cache
def _prompt(own: str = "") -> prompts.Prompt:
    return prompts.load("generate", prompts.STEPS["generate"], own)


def answer_prompt(
    question: str,
    passages: Sequence[prompts.Data],
    triplets: Sequence[prompts.Data] = (),
    guidance: str = "",
    own: str = "",
) -> tuple[str, str]:
    """Return what a model is asked for an answer, as system and user; passages are numbered.

    ``own`` is a user's prompt, if not ours.
    """
    return _prompt(own).render(
        passages=[replace(one, text=unmarked(one.text)) for one in passages],
        triplets=triplets,
        guidance=guidance or [],
        question=question,
    )


class ModelGenerator:
    """A generator by a chat model from the passages; code makes the citations.

    Args:
        chat: The model.
        sources: The texts that are cited.
        own: A user's prompt, if not ours.
    """

    def __init__(self, chat: Chat, sources: Sources, own: str = "") -> None:
        self._chat, self._sources, self._own = chat, sources, own
        self.instructions = _prompt(own).instructions

    async def generate(
        self,
        question: ParsedQuestion,
        passages: list[Passage],
        triplets: list[Triplet],
        advice: Advice | None,
        pointed: Pointed | None = None,
    ) -> Draft:
        """Answer from the passages; without any there is nothing to ask the model."""
        if not passages:
            return drafted(ABSTENTION)

        def written(share: float) -> tuple[str, str]:
            numbered = prompts.numbered(shortened(passages, share))
            guidance = advice["guidance"] if advice else ""
            related = _related(triplets)
            return answer_prompt(question["text"], numbered, related, guidance, self._own)

        request = ChatRequest(
            "generate",
            *written(1.0),
            stream=True,
            instructions=self.instructions,
            shorter=written,
        )
        reply = await self._chat.ask(request)
        statements = self._sources.statements

        def cited() -> Draft:
            need_answer(reply.text, passages, self.instructions)
            return cited_answer(reply.text, passages, lambda name: statements(name)[0])

        return await computed(cited)


class ModelAlone:
    """A generator by a chat model from its own knowledge: the ablation without retrieval."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._prompt = prompts.load("answer_alone", {"question"})
        self.instructions = self._prompt.instructions

    async def generate(
        self,
        question: ParsedQuestion,
        passages: list[Passage],
        triplets: list[Triplet],
        advice: Advice | None,
        pointed: Pointed | None = None,
    ) -> Draft:
        """Answer without passages and so without citations."""
        system, user = self._prompt.render(question=question["text"])
        reply = await self._chat.ask(ChatRequest("generate", system, user, stream=True))
        need_answer(reply.text, instructions=self.instructions)
        return drafted(ABSTENTION if abstains(reply.text) else reply.text.strip())


def need_answer(reply: str, passages: Sequence[Passage] = (), instructions: str = "") -> None:
    """Refuse what a gateway says in a model's place: data, a page, or a message of its own.

    Args:
        reply: What came as the answer.
        passages: What it was to be written from; without any only data and pages are told.
        instructions: What the error does not show, should the reply recite them.

    Raises:
        ModelReplyError: It is no answer. One cites a passage, or abstains, or has at least half of
            its words from the passages.
    """
    if is_data(reply) or _PAGE.match(reply):
        raise _no_answer(reply, "is data or a page, not sentences", instructions)
    numbers = {passage["n"] for passage in passages}
    if not passages or abstains(reply) or numbers & {*numbers_in(with_markers(reply, numbers))}:
        return
    said = frozenset(tokenize(reply))
    held = frozenset(term for passage in passages for term in tokenize(passage["text"]))
    if len(said & held) < _FROM_PASSAGES * max(1, len(said)):
        raise _no_answer(reply, "neither cites a passage nor is in the words of one", instructions)


def _no_answer(reply: str, why: str, instructions: str) -> ModelReplyError:
    began = " ".join(reply.split())[:_SHOWN_CHARS]
    shown = "" if recites(began, instructions) else f": {began!r}"
    return ModelReplyError(
        f"What came in place of an answer {why}{shown}.",
        "Check that LEXLOOP_BASE_URL leads to the model itself, or use another model.",
    )


def _related(triplets: Sequence[Triplet]) -> list[prompts.Data]:
    """Return the first relations as one piece of data, a line each."""
    lines = "\n".join(map(_stated, triplets[:_RELATIONS]))
    return [prompts.Data("relations", lines)] if lines else []


def _stated(triplet: Triplet) -> str:
    said = f"{triplet['subject']} | {reading(triplet['predicate'])} | {triplet['object']}"
    return " ".join(unmarked(said).split())


_PAGE = re.compile(r"\s*<(?:!doctype|\?xml|html|head|body|center|h1|title)\b", re.IGNORECASE)
_FROM_PASSAGES = 0.5
_RELATIONS = 6
"""Relations that a model is shown, the best first: they help to find a passage."""
_SHOWN_CHARS = 80
_NUMBER = r"\d{1,3}(?!\d)"
_NAME = (
    r"(?:passages?|sources?|documents?|docs?\.?|references?|refs?\.?|citations?|excerpts?|n\s*="
    r"|[#^])[\s:]*"
)
_JOIN = r"(?:\s*[,;&–—-]\s*(?:and\s+)?|\s+(?:and|to)\s+)"
_NUMBERS = rf"{_NUMBER}(?:{_JOIN}(?:{_NAME})?{_NUMBER})*"
_TAIL = r"(?:\s*[,:;†](?:[^\[\]【】［］()\n]{0,79}[^\[\]【】［］()\s])?)?"
_NAMED = rf'{_NAME}(?:{_NAME})?"?({_NUMBERS})"?{_TAIL}'
_FORMS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"<sup>\s*\[?({_NUMBERS})\]?\s*</sup>",
        rf"\\?[\[【［]{{1,2}}\s*{_NAMED}\s*\\?[\]】］]{{1,2}}",
        rf"\\?[\[【［]{{1,2}}\s*({_NUMBERS})(?:†(?:[^\]】\n]{{0,79}}[^\]】\s])?)?"
        r"\s*\\?[\]】］]{1,2}",
        rf"(\[\s*{_NUMBERS}\s*\])\((?:https?:|#)[^\s()]*\)",
    )
]
_ROUND = re.compile(rf"\(\s*(?=passages?\b|sources?\b){_NAMED}\s*\)", re.IGNORECASE)
_SPOKEN = re.compile(
    rf"\b(?P<article>the\s+)?(?P<word>passages?)\s+({_NUMBERS})(?![\w(]|[.-]\d)", re.IGNORECASE
)
_DEFINITION = re.compile(r"^[ \t]*\[(\^?)(\d{1,3})\]:(.*)$", re.MULTILINE)
_SOURCES = re.compile(
    r"[\s#*_]*(?:sources?|references?|citations?|footnotes?)[*_]*(?::[*_]*)?\s*(?:\[\d.*)?",
    re.IGNORECASE,
)
_SOURCE = re.compile(r"\s*(?:[-*•]\s+|\d{1,3}[.)]\s+)?\[\d")


def with_markers(answer: str, shown: Set[int]) -> str:
    """Return the answer with each citation as [n] and without a list of its sources.

    ``shown`` are the numbers of the passages that the model was shown: words in running text or in
    round brackets are taken for a citation if they name these alone.
    """
    answer, footnotes = _without_footnotes(answer)
    answer = _without_sources(_marked(answer, shown))
    if not footnotes:
        return answer
    named = {label: numbers_in(_marked(note, shown)) for label, note in footnotes.items()}

    def resolved(marker: re.Match[str]) -> str:
        numbers = marker_numbers(marker[1])
        return as_markers([n for number in numbers for n in named.get(number) or [number]])

    return MARKER.sub(resolved, answer)


def _marked(text: str, shown: Set[int]) -> str:
    """Return the text with every form of citation as [n]."""
    for form in _FORMS:
        text = form.sub(
            lambda m: m[0] if MARKER.fullmatch(m[0]) else as_markers(_listed(m[1])), text
        )
    text = _ROUND.sub(lambda m: as_markers(ns) if shown >= {*(ns := _listed(m[1]))} else m[0], text)
    return _SPOKEN.sub(lambda m: _spoken(m, shown), text)


def _spoken(match: re.Match[str], shown: Set[int]) -> str:
    numbers = _listed(match[3])
    if not shown >= {*numbers}:
        return match[0]
    before = match.string[max(0, match.start() - 3) : match.start()].rstrip()
    opens = match["word"][0].isupper() and before[-1:] in ("", *".!?:-*•")
    article = match["article"] or ("The " if opens else "the ")
    return f"{article}{match['word'].lower()} {as_markers(numbers)}"


def _listed(numbers: str) -> list[int]:
    """Return the numbers of a list, whether signs or words stand between them."""
    dashed = re.sub(r"\bto\b|[–—]", "-", numbers.lower())
    bare = re.sub(r"[^\d,-]", "", re.sub(r"\band\b|[&;]", ",", dashed))
    return marker_numbers(re.sub(r",+", ",", bare))


def _without_footnotes(answer: str) -> tuple[str, dict[int, str]]:
    """Return the answer without its footnotes, and the footnotes by their numbers.

    A line [1]: ... is one if the rest of the answer refers to it.
    """
    rest = _DEFINITION.sub("", answer)
    used = {*numbers_in(rest)}
    notes = {
        int(note[2]): note[3]
        for note in _DEFINITION.finditer(answer)
        if note[1] or int(note[2]) in used
    }
    rest = _DEFINITION.sub(lambda note: "" if int(note[2]) in notes else note[0], answer)
    return rest.strip(), notes


def _without_sources(answer: str) -> str:
    """Return the answer without the list of sources that it ends with."""
    lines = answer.rstrip().split("\n")
    for last in range(len(lines) - 1, 0, -1):
        if _SOURCES.fullmatch(lines[last]):
            return "\n".join(lines[:last]).rstrip()
        if lines[last].strip() and not _SOURCE.match(lines[last]):
            break
    return answer


_WIDEST_WINDOW = 3
_NUMBER_WEIGHT = 3.0
_EXTRA_SENTENCE_COST = 0.05
_NEARLY_EQUAL = 0.7  # shared words over all words


StatementsOf = Callable[[str], Sequence[Statement]]


def cited_answer(answer: str, passages: list[Passage], statements_of: StatementsOf) -> Draft:
    """Return the draft of a model's answer; ``statements_of`` takes the id of a passage.

    The passages are numbered anew in the order in which the answer uses them. Each marker of each
    sentence becomes one citation of the statements that support the sentence best. A marker that
    names no passage stays in the answer and gets no citation.
    """
    by_number = {passage["n"]: passage for passage in passages}
    answer = with_markers(answer.strip(), by_number.keys())
    if abstains(answer):
        return drafted(ABSTENTION)
    answer, order = _in_order_of_use(answer, by_number)
    citations: list[Citation] = []
    for sentence in cited_sentences(answer):
        heed_deadline("while citations were sought")
        for number in sentence.numbers:
            if number not in order:
                continue
            passage = order[number]
            found = citation_for(sentence.text, passage, statements_of(passage["id"]), number)
            if found not in citations:
                citations.append(found)
    return drafted(answer, citations)


def _in_order_of_use(
    answer: str, by_number: Mapping[int, Passage]
) -> tuple[str, dict[int, Passage]]:
    """Number the passages from 1 in the order of use; return the answer, and these by number.

    What a marker names beyond the passages is numbered after them all.
    """
    used = numbers_in(answer)
    known = dict.fromkeys(n for n in used if n in by_number)
    unknown = dict.fromkeys(n for n in used if n not in by_number)
    new = {old: place for place, old in enumerate([*known, *unknown], 1)}

    answer = MARKER.sub(lambda m: as_markers([new[n] for n in marker_numbers(m[1])]), answer)
    return answer, {new[old]: by_number[old] for old in known}


def abstains(answer: str) -> bool:
    """Return whether an answer contains the abstention, or nearly its words."""
    said, abstention = _plain(answer), _plain(ABSTENTION)
    words, wanted = set(said.split()), set(abstention.split())
    denies = not words.isdisjoint(("not", "no", "nothing"))
    alike = len(words & wanted) / len(words | wanted)
    return abstention in said or (denies and alike >= _NEARLY_EQUAL)


def citation_for(sentence: str, passage: Passage, found: Sequence[Statement], n: int) -> Citation:
    """Return the citation of a passage's statements that share most with a sentence of an answer.

    Numbers, in digits or words, and section references weigh more than words. A second or third
    statement is taken in if it brings more than it costs; a passage that shares nothing is cited
    as a whole.
    """
    best = _best_run([*tokenize(sentence), *facts(sentence)], found)
    if not best:
        end = passage["start"] + len(passage["text"].rstrip())
        best = [Statement(passage["start"], end, (), passage["section"], "", passage["text"])]
    return cite(passage, best, n)


def _best_run(sought: list[str], found: Sequence[Statement]) -> Sequence[Statement]:
    weights = {term: _NUMBER_WEIGHT if term[0].isdigit() else 1.0 for term in sought}
    total = sum(weights.values())
    terms = [{*tokenize(one.label), *tokenize(one.text), *facts(one.text)} for one in found]
    best, best_score = found[:0], 0.0
    for first in range(len(found)):
        covered: set[str] = set()
        for last in range(first, min(first + _WIDEST_WINDOW, len(found))):
            covered |= terms[last] & weights.keys()
            share = sum(weights[term] for term in covered) / total if total else 0.0
            score = share - _EXTRA_SENTENCE_COST * (last - first)
            if score > best_score:
                best, best_score = found[first : last + 1], score
    return best


def _plain(text: str) -> str:
    without_markers = MARKER.sub(" ", text.casefold())
    return " ".join(re.findall(r"\w+", re.sub(r"n['’]t\b", " not", without_markers)))
