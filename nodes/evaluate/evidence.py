"""The evidence that claims are held against, and where a claim contradicts it."""

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property
from typing import Any

from lexloop.core.folding import folded
from lexloop.documents.chunks.statements import statements_in_text
from lexloop.documents.structure.references import COMPOUND
from lexloop.documents.text.exceptions import EXCEPTING
from lexloop.documents.text.quantities import dates, facts, number_of, states
from lexloop.documents.text.tokens import tokenize, words
from lexloop.models.embedding import Embed, Vectors
from lexloop.nodes.alignment import (
    CLAUSE,
    LIKE,
    NEGATORS,
    added_restrictions,
    alterations,
    exchanged_junctions,
    other_actors,
    parties_of,
    read_words,
    restriction_left_out,
)
from lexloop.nodes.markers import unmarked


@dataclass(frozen=True)
class Evidence:
    """The sentences that may support a claim, in the order of the text."""

    sentences: list[str]  # each as it can stand alone
    vectors: Vectors  # their unit vectors, shape (len(sentences), dimension)
    whole: str = ""  # the text they are from, with headings and whatever else is no sentence
    # the label of each, empty if it has none; none when none is known
    places: list[str] = field(default_factory=list)

    @cached_property
    def text(self) -> str:
        """All of the evidence, folded on one line."""
        return " ".join(folded(" ".join([self.whole, *self.sentences])).split())

    @cached_property
    def flat(self) -> str:
        """The text in lower case and as answers write it, to find quotes in."""
        return unmarked(self.text).lower()

    @cached_property
    def facts(self) -> frozenset[str]:
        """The facts that the evidence states."""
        return facts(self.text)

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Every number of the evidence, in digits or words."""
        return self.facts | {n for word in words(self.text) if (n := number_of(word)) is not None}

    @cached_property
    def ordered(self) -> list[list[str]]:
        """The search terms of each sentence in their order."""
        return [tokenize(sentence) for sentence in self.sentences]

    @cached_property
    def terms(self) -> list[frozenset[str]]:
        """The search terms of each sentence."""
        return [frozenset(terms) for terms in self.ordered]

    @cached_property
    def all_terms(self) -> frozenset[str]:
        """The search terms of all of the evidence."""
        return frozenset(tokenize(self.text))

    @cached_property
    def pairs(self) -> frozenset[tuple[str, str]]:
        """Every two search terms that follow each other in a sentence."""
        return frozenset(pair for terms in self.ordered for pair in itertools.pairwise(terms))


def evidence_of(texts: list[str], embed: Embed) -> Evidence:
    """Return the evidence that passages or single sentences hold, embedded in one batch."""
    sentences: list[str] = []
    places: list[str] = []
    for text in texts:
        found = statements_in_text(text)
        sentences += [statement.text for statement in found]
        places += [statement.label for statement in found]
    return Evidence(sentences, embed(sentences), "\n".join(texts), places)


def share(wanted: Set[Any], held: Set[Any]) -> float:
    """Return the share of ``wanted`` that ``held`` has, or 1 if nothing is wanted."""
    return len(wanted & held) / len(wanted) if wanted else 1.0


def clipped(value: float) -> float:
    """Return the value, or the nearer end of [0, 1] if it lies outside."""
    return min(1.0, max(0.0, value))


_CLOSE, _DENIED, _SAME, _NEARLY = 0.6, 0.75, 0.9, 0.8
"""A sentence that holds this share of a claim's terms is about the same thing, so much so that one
denies what the other says, or says the same in the same words; those that hold nearly as many as
the best one count as well."""
_LEAST_SHARED = 0.5
"""The share of what is said of a party that must be said of another for the two to be mixed up."""
_ROW = re.compile(r"[^:;]+: [^:;]+; [^:;]+: ")
_PIECES = re.compile(r";|\band\b")
_MODAL_TERMS = frozenset(tokenize("must shall may can should"))
_QUALIFIERS = frozenset(tokenize("business calendar working full consecutive percent"))


# carries, by benchmarks/rules.py, .64 to 1.00 of altered statements, .17 of WiCE's unsupported
def disagreements(claim: str, evidence: Evidence) -> list[str]:
    """Return the reasons why the evidence does not bear out a claim, or none if it may hold.

    The evidence has at least one sentence.
    """
    stated = facts(claim)
    missing = [fact for fact in sorted(stated - evidence.facts) if not states(evidence.text, fact)]
    found = [f"{fact} is not there" for fact in missing]
    if missing:
        return found
    found += [f"{date} is not there" for date in sorted(dates(claim) - dates(evidence.text))]
    wanted = frozenset(term for term in tokenize(claim) if not term[0].isdigit()) - _MODAL_TERMS
    about = _about(wanted, evidence, _CLOSE)
    near = [evidence.sentences[i] for i in about]
    found += _other_quantities(claim, near, evidence.numbers)
    found += _other_places(stated, evidence, about)
    found += _other_row(claim, near)
    same = _about(wanted, evidence, _SAME)
    if same:
        found += _other_facts(stated, evidence, same)
    alike = same or _about(wanted, evidence, _DENIED)
    turns = [flipped_term(claim, evidence.sentences[i], wanted) for i in alike]
    if denied := [turn for turn in turns if turn] if all(turns) else []:
        found.append(f"one denies “{min(denied)}”, the other does not")
    if _exempts(claim) and not any(map(_denies, near or evidence.sentences)):
        found.append("it exempts from what nothing there exempts from")
    found += alterations(claim, near, evidence.text)
    found += _other_subject(claim, near, evidence.text)
    found += added_restrictions(claim, evidence.terms)
    found += exchanged_junctions(claim, near)
    found += other_actors(claim, [evidence.sentences[i] for i in alike], parties_of(evidence.text))
    return list(dict.fromkeys(found))


def _exempts(claim: str) -> bool:
    return EXCEPTING.search(claim) is not None or "need not" in claim.lower()


def _denies(sentence: str) -> bool:
    return EXCEPTING.search(sentence) is not None or bool(negated_terms(sentence))


def _about(wanted: frozenset[str], evidence: Evidence, least: float) -> list[int]:
    """Return the sentences with at least this share of a claim's terms, and nearly the most."""
    shares = [len(wanted & terms) / max(1, len(wanted)) for terms in evidence.terms]
    bar = max(least, _NEARLY * max(shares))
    return [i for i, share in enumerate(shares) if share >= bar]


def quantities(text: str) -> set[tuple[str, str]]:
    """Return every number, in digits or words, with the search term it counts."""
    return {pair for clause in CLAUSE.split(text) for pair in _counted(words(clause))}


def _counted(following: list[str]) -> Iterator[tuple[str, str]]:
    for place, word in enumerate(following):
        number = number_of(word)
        terms = (
            term
            for other in following[place + 1 : place + 4]
            for term in tokenize(other)
            if number_of(other) is None and term not in _QUALIFIERS
        )
        if number is not None and (unit := next(terms, "")):
            yield number, unit


def _other_quantities(claim: str, sentences: list[str], known: Set[str]) -> Iterable[str]:
    """Yield counts for which all sentences about the same thing have another number, none this.

    Counts that are not among the ``known`` numbers of all the evidence are yielded too.
    """
    ours = quantities(claim)
    theirs = set().union(*map(quantities, sentences))
    numbers = {number for number, _ in theirs}
    for number, unit in sorted(ours - theirs):
        others = {n for n, u in theirs if u == unit} - {n for n, u in ours if u == unit}
        if others and number not in numbers:
            yield f"{number} is {', '.join(sorted(others))} there"
        elif number not in known:
            yield f"{number} is not there"


def _other_facts(stated: Set[str], evidence: Evidence, same: list[int]) -> Iterable[str]:
    """Yield facts of a claim in place of which its own sentences in the evidence have others."""
    around = "\n".join(_placed(evidence, i) for i in same)
    if not facts("\n".join(evidence.sentences[i] for i in same)) - stated:
        return ()
    return (f"{fact} is not there" for fact in sorted(stated) if not states(around, fact))


def _other_row(claim: str, sentences: list[str]) -> Iterable[str]:
    """Yield a reason if all that a claim is about are rows of tables, and none has its facts."""
    if not sentences or not all(_ROW.match(sentence) for sentence in sentences):
        return
    for piece in _PIECES.split(claim):
        stated = facts(piece)
        if not any(stated <= facts(sentence) for sentence in sentences):
            yield f"{', '.join(sorted(stated))} are in no row together"


def _placed(evidence: Evidence, i: int) -> str:
    return f"{evidence.places[i] if evidence.places else ''}\n{evidence.sentences[i]}"


def _other_places(stated: Set[str], evidence: Evidence, about: list[int]) -> Iterable[str]:
    """Yield references to sections under which the evidence says nothing of the kind."""
    named = sorted(fact for fact in stated if COMPOUND.search(fact))
    if not (named and about and evidence.places and all(evidence.places[i] for i in about)):
        return
    around = "\n".join(_placed(evidence, i) for i in about)
    for reference in named:
        if not states(around, reference) and reference.split("(")[0] not in facts(around):
            yield f"it does not stand in {reference}"


_BOUNDS_AND_IDIOMS = re.compile(
    r"\b(?:no|not)\s+(?:\w+\s+)?(?:more|later|longer|greater|less|fewer|earlier|sooner|higher|lower)"
    r"\s+than\b|\b(?:no|not)\s+(?:longer|doubt|matter)\b|\bno\.\s*\d|\bnot\s+(?:to\s+exceed|exceed|in\s+excess)\w*"
    r"|\bnot\s+(?:only|just|merely|limited|necessarily)\b|\b(?:whether|or|if)\s+not\b",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"\b(?P<deny>(?:no|not)\s+)?(?P<than>more|later|longer|greater|less|fewer|earlier|sooner|higher"
    r"|lower)\s+than\b",
    re.IGNORECASE,
)
_VERDICT = re.compile(r"^\s*(?:no|yes)[.,]\s", re.IGNORECASE)
_REACH = 5


def negated_terms(text: str) -> frozenset[str]:
    """Return the search terms that a negation in ``text`` stands before.

    Bounds ("not more than"), idioms ("not only") and a "No." before the rest deny nothing.
    """
    found: set[str] = set()
    following = words(_BOUNDS_AND_IDIOMS.sub(" ", _VERDICT.sub("", text)))
    for place, word in enumerate(following):
        if word in NEGATORS or re.search(r"n['’]t$", word):
            reached = following[place + 1 : place + 1 + _REACH]
            near = (tokenize(other) for other in reached if not other[0].isdigit())
            found |= set(next(filter(None, near), ()))
    return frozenset(found)


def flipped_term(claim: str, sentence: str, wanted: Set[str]) -> str | None:
    """Return the term that only one of a claim and a sentence about the same thing denies.

    ``wanted`` are the claim's search terms.
    """
    ours, theirs = _bounds(claim), _bounds(sentence)
    for deny, than in sorted(ours - theirs):
        if (not deny, than) in theirs:
            return f"{than} than"
    mine = negated_terms(claim) & frozenset(tokenize(sentence))
    others = negated_terms(sentence) & wanted
    # what one denies to be done is not allowed in the other
    if (others and not mine and _forbids(claim)) or (mine and not others and _forbids(sentence)):
        return None
    # "nothing in the law limits" denies the law what "the law does not limit" denies limiting
    if mine and others and not mine & others:
        return None
    return min(mine ^ others, default=None)


def _forbids(text: str) -> bool:
    """Return whether a text says that something is forbidden, or is not allowed."""
    permissions = {word.means: word.said for word in read_words(text) if word.kind == "permission"}
    denied = negated_terms(text)
    forbidden, allowed = (set(tokenize(permissions.get(n, ""))) for n in ("forbidden", "allowed"))
    return bool(forbidden - denied or allowed & denied)


def _bounds(text: str) -> set[tuple[bool, str]]:
    return {(bool(bound["deny"]), bound["than"].lower()) for bound in _BOUND.finditer(text)}


_TOLD = 0.5
"""The share of a condition's terms that tells that an answer or its question states it."""


def _other_subject(claim: str, sentences: Sequence[str], evidence: str) -> Iterable[str]:
    """Yield a reason if what a claim says of one is said of another in all of the sentences.

    These say the same behind their first modal verb, and before it nothing that the claim has
    there; or both have parties there, none of them the same.
    """
    ours, parties = _divided(claim), parties_of(evidence)
    found = [_divided(sentence) for sentence in sentences]
    theirs = [one for one in found if ours and one and _comparable(ours, one, parties)]
    if ours and theirs and all(one.subject.isdisjoint(ours.subject) for one in theirs):
        yield f"it says of “{ours.said}” what is said of “{theirs[0].said}”"


@dataclass(frozen=True)
class _Divided:
    """A sentence at its first modal verb: the words before it, their terms, the words after."""

    said: str
    subject: frozenset[str]
    predicate: list[str]

    @property
    def passive(self) -> bool:
        return self.predicate[:1] == ["be"]

    @property
    def verb(self) -> list[str]:
        return self.predicate[: 1 + self.passive]


def _divided(text: str) -> _Divided | None:
    following = read_words(text)
    place = next((i for i, word in enumerate(following) if word.kind == "modal"), 0)
    said = " ".join(word.said for word in following[:place])
    subject = frozenset(tokenize(said))
    behind = [word.means for word in following[place + 1 :]]
    return _Divided(said, subject, behind) if subject else None


def _comparable(ours: _Divided, theirs: _Divided, parties: Set[str]) -> bool:
    if ours.passive != theirs.passive:
        return False
    laid = SequenceMatcher(None, theirs.predicate, ours.predicate, autojunk=False)
    shared = sum(block.size for block in laid.get_matching_blocks())
    least = min(len(ours.predicate), len(theirs.predicate))
    if ours.verb == theirs.verb and shared >= LIKE * max(1, least):
        return True
    of_parties = bool(ours.subject & parties and theirs.subject & parties) and not ours.passive
    return of_parties and shared >= _LEAST_SHARED * max(1, least)


def left_out(claim: str, said: Set[str], evidence: Evidence) -> list[str]:
    """Return the conditions that the evidence sets and a claim that is a copy of it does without.

    Args:
        claim: A sentence of an answer.
        said: The search terms of the whole answer and its question: what either has of a condition
            was not left out.
        evidence: What the claim is to be held against.

    Returns:
        The words of a condition if every sentence that holds the claim has one; else nothing.
    """
    wanted = frozenset(tokenize(claim)) - _MODAL_TERMS
    tails = [
        restriction_left_out(claim, evidence.sentences[i]) for i in _about(wanted, evidence, _SAME)
    ]
    own = frozenset(tokenize(claim))
    terms = [(tokenize(tail), frozenset(tokenize(tail)) - own) for tail in tails]
    told = any(whole and share(its, said) >= _TOLD for whole, its in terms)
    return [max(tails, key=len)] if tails and all(tails) and not told else []
