"""The evidence for claims, and the ways in which a claim disagrees with it."""

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
from lexloop.documents.text.tokens import term_set, tokenize, words
from lexloop.models.embedding import Embed, Vectors
from lexloop.nodes.alignment import (
    CLAUSE,
    LIKE,
    added_restrictions,
    alterations,
    exchanged_junctions,
    negated_terms,
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
    whole: str = ""  # the text that they come from, with headings and other text
    # the label of each, "" if it has none; empty if none is known
    places: list[str] = field(default_factory=list)

    @cached_property
    def text(self) -> str:
        """The whole evidence, folded on one line."""
        return " ".join(folded(" ".join([self.whole, *self.sentences])).split())

    @cached_property
    def flat(self) -> str:
        """The text in lower case and without markers, to find quotes in."""
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
        """The search terms of the whole evidence."""
        return frozenset(tokenize(self.text))

    @cached_property
    def pairs(self) -> frozenset[tuple[str, str]]:
        """Every two successive search terms of a sentence."""
        return frozenset(pair for terms in self.ordered for pair in itertools.pairwise(terms))

    def about(self, wanted: frozenset[str], least: float) -> list[int]:
        """Return the sentences with at least a share of a claim's terms and nearly the most."""
        shares = [len(wanted & terms) / max(1, len(wanted)) for terms in self.terms]
        bar = max(least, _NEARLY * max(shares))
        return [i for i, share in enumerate(shares) if share >= bar]

    def labelled(self, chosen: list[int]) -> str:
        """Return some of the sentences, each after its label."""
        labels = self.places or [""] * len(self.sentences)
        return "\n".join(f"{labels[i]}\n{self.sentences[i]}" for i in chosen)


def evidence_of(texts: list[str], embed: Embed) -> Evidence:
    """Return passages or sentences as evidence, embedded in one batch."""
    statements = [statement for text in texts for statement in statements_in_text(text)]
    sentences = [statement.text for statement in statements]
    labels = [statement.label for statement in statements]
    return Evidence(sentences, embed(sentences), "\n".join(texts), labels)


def share(wanted: Set[Any], held: Set[Any]) -> float:
    """Return the share of ``wanted`` that is in ``held``, or 1 if nothing is wanted."""
    return len(wanted & held) / len(wanted) if wanted else 1.0


def clipped(value: float) -> float:
    """Return the value, or the nearer end of [0, 1] if it is outside."""
    return min(1.0, max(0.0, value))


_CLOSE, _DENIED, _SAME, _NEARLY = 0.6, 0.75, 0.9, 0.8
"""The least share of a claim's terms in a sentence about the same thing; in one that may deny the
claim; in one that says the same. Sentences with nearly as many terms as the best count as well."""
_LEAST_SHARED = 0.5
"""The least common share of two predicates for their subjects, two parties, to be confused."""
_ROW = re.compile(r"[^:;]+: [^:;]+; [^:;]+: ")
_PIECES = re.compile(r";|\band\b")
_MODAL_TERMS = term_set("must shall may can should")
_QUALIFIERS = term_set("business calendar working full consecutive percent")


# carries, by benchmarks/rules.py, .64 to 1.00 of altered statements, .17 of WiCE's unsupported
def disagreements(claim: str, evidence: Evidence) -> list[str]:
    """Return the reasons why the evidence does not support a claim, empty if it may.

    The evidence has at least one sentence.
    """
    stated = facts(claim)
    missing = [fact for fact in sorted(stated - evidence.facts) if not states(evidence.text, fact)]
    if missing:
        return [f"{fact} is not there" for fact in missing]
    wanted = frozenset(term for term in tokenize(claim) if not term[0].isdigit()) - _MODAL_TERMS
    about, same = evidence.about(wanted, _CLOSE), evidence.about(wanted, _SAME)
    near = [evidence.sentences[i] for i in about]
    alike = [evidence.sentences[i] for i in same or evidence.about(wanted, _DENIED)]
    flipped = [flipped_term(claim, sentence, wanted) for sentence in alike]
    denied = [term for term in flipped if term] if all(flipped) else []
    exempts = EXCEPTING.search(claim) is not None or "need not" in claim.lower()
    exempting = (EXCEPTING.search(s) or negated_terms(s) for s in near or evidence.sentences)
    parties = parties_of(evidence.text)
    reasons = [
        *(f"{date} is not there" for date in sorted(dates(claim) - dates(evidence.text))),
        *_other_quantities(claim, near, evidence.numbers),
        *_other_places(stated, evidence, about),
        *_other_row(claim, near),
        *_other_facts(stated, evidence, same),
        *([f"one denies “{min(denied)}”, the other does not"] if denied else []),
        *(
            ["it exempts from what nothing there exempts from"]
            if exempts and not any(exempting)
            else []
        ),
        *alterations(claim, near, evidence.text),
        *_other_subject(claim, near, parties),
        *added_restrictions(claim, evidence.terms),
        *exchanged_junctions(claim, near),
        *other_actors(claim, alike, parties),
    ]
    return list(dict.fromkeys(reasons))


def quantities(text: str) -> set[tuple[str, str]]:
    """Return every number, in digits or words, with the search term that it counts."""
    return {pair for clause in CLAUSE.split(text) for pair in _counted(words(clause))}


def _counted(clause: list[str]) -> Iterator[tuple[str, str]]:
    for place, word in enumerate(clause):
        number = number_of(word)
        terms = (
            term
            for other in clause[place + 1 : place + 4]
            for term in tokenize(other)
            if number_of(other) is None and term not in _QUALIFIERS
        )
        if number is not None and (unit := next(terms, "")):
            yield number, unit


def _other_quantities(claim: str, sentences: list[str], known: Set[str]) -> Iterable[str]:
    """Yield the counts that all sentences about the same thing give as another number.

    Counts whose number is not ``known``, that is nowhere in the evidence, are yielded too.
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
    """Yield the claim's facts that its own sentences in the evidence replace with others."""
    around = evidence.labelled(same)
    if facts("\n".join(evidence.sentences[i] for i in same)) - stated:
        yield from (f"{fact} is not there" for fact in sorted(stated) if not states(around, fact))


def _other_row(claim: str, sentences: list[str]) -> Iterable[str]:
    """Yield a reason if all sentences about a claim are table rows, and none has its facts."""
    if sentences and all(_ROW.match(sentence) for sentence in sentences):
        for stated in map(facts, _PIECES.split(claim)):
            if not any(stated <= facts(sentence) for sentence in sentences):
                yield f"{', '.join(sorted(stated))} are in no row together"


def _other_places(stated: Set[str], evidence: Evidence, about: list[int]) -> Iterable[str]:
    """Yield the sections named in a claim in which the evidence has nothing about it."""
    named = sorted(fact for fact in stated if COMPOUND.search(fact))
    if named and about and evidence.places and all(evidence.places[i] for i in about):
        around = evidence.labelled(about)
        for reference in named:
            if not states(around, reference) and reference.split("(")[0] not in facts(around):
                yield f"it does not stand in {reference}"


_BOUND = re.compile(
    r"\b(?P<deny>(?:no|not)\s+)?(?P<than>more|later|longer|greater|less|fewer|earlier|sooner|higher"
    r"|lower)\s+than\b",
    re.IGNORECASE,
)


def flipped_term(claim: str, sentence: str, wanted: Set[str]) -> str | None:
    """Return the term that only one of a claim and a sentence about the same thing denies.

    ``wanted`` are the claim's search terms.
    """
    ours, theirs = _bounds(claim), _bounds(sentence)
    for deny, than in sorted(ours - theirs):
        if (not deny, than) in theirs:
            return f"{than} than"
    mine = negated_terms(claim) & term_set(sentence)
    others = negated_terms(sentence) & wanted
    # "may not be done" and "is forbidden to do" agree
    if (others and not mine and _forbids(claim)) or (mine and not others and _forbids(sentence)):
        return None
    # "nothing in the law limits" and "the law does not limit" negate different words
    if mine and others and not mine & others:
        return None
    return min(mine ^ others, default=None)


def _forbids(text: str) -> bool:
    """Return whether a text says that something is forbidden, or is not allowed."""
    permissions = {word.means: word.text for word in read_words(text) if word.kind == "permission"}
    denied = negated_terms(text)
    forbidden, allowed = (set(tokenize(permissions.get(n, ""))) for n in ("forbidden", "allowed"))
    return bool(forbidden - denied or allowed & denied)


def _bounds(text: str) -> set[tuple[bool, str]]:
    return {(bool(bound["deny"]), bound["than"].lower()) for bound in _BOUND.finditer(text)}


_TOLD = 0.5
"""The least share of a condition's terms in an answer or its question that states it."""


def _other_subject(claim: str, sentences: Sequence[str], parties: Set[str]) -> Iterable[str]:
    """Yield a reason if all sentences ascribe to others what a claim ascribes to one.

    These sentences say the same after their first modal verb, and their subjects have no word in
    common with the claim's; or both subjects are parties.
    """
    ours = _divided(claim)
    divided = map(_divided, sentences if ours else ())
    theirs = [other for other in divided if ours and other and _comparable(ours, other, parties)]
    if ours and theirs and all(other.terms.isdisjoint(ours.terms) for other in theirs):
        yield f"it says of “{ours.subject}” what is said of “{theirs[0].subject}”"


@dataclass(frozen=True)
class _Divided:
    """A sentence at its first modal verb: the words before it, their terms, the words after."""

    subject: str
    terms: frozenset[str]
    predicate: list[str]


def _divided(text: str) -> _Divided | None:
    parsed = read_words(text)
    place = next((i for i, word in enumerate(parsed) if word.kind == "modal"), 0)
    subject = " ".join(word.text for word in parsed[:place])
    terms = term_set(subject)
    return _Divided(subject, terms, [word.means for word in parsed[place + 1 :]]) if terms else None


def _comparable(ours: _Divided, theirs: _Divided, parties: Set[str]) -> bool:
    passive = ours.predicate[:1] == ["be"]
    if passive != (theirs.predicate[:1] == ["be"]):
        return False
    matcher = SequenceMatcher(None, theirs.predicate, ours.predicate, autojunk=False)
    shared = sum(block.size for block in matcher.get_matching_blocks())
    least = max(1, min(len(ours.predicate), len(theirs.predicate)))
    verbs = [side.predicate[: 1 + passive] for side in (ours, theirs)]
    if verbs[0] == verbs[1] and shared >= LIKE * least:
        return True
    of_parties = bool(ours.terms & parties and theirs.terms & parties) and not passive
    return of_parties and shared >= _LEAST_SHARED * least


def left_out(claim: str, said: Set[str], evidence: Evidence) -> list[str]:
    """Return the conditions in the evidence that a claim copying it leaves out.

    Args:
        claim: A sentence of an answer.
        said: The search terms of the whole answer and its question; a condition in either is not
            left out.
        evidence: The evidence for the claim.

    Returns:
        The words of a condition if every sentence that has the claim has one; else nothing.
    """
    own = term_set(claim)
    tails = [
        restriction_left_out(claim, evidence.sentences[i])
        for i in evidence.about(own - _MODAL_TERMS, _SAME)
    ]
    terms = [*map(term_set, tails)]
    stated = any(whole and share(whole - own, said) >= _TOLD for whole in terms)
    return [max(tails, key=len)] if tails and all(tails) and not stated else []
