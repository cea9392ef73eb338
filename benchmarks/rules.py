"""What each rule for English carries: one is taken out at a time, and the development sets asked.

    python benchmarks/rules.py [--gdpr DIR] [--us-cfr DIR] [--ll144 DIR] [--conditionalqa DIR]
        [--policyqa DIR] [--wice DIR] [--sets a,b] [--groups "a;b"] [--list] [--json OUT]

A group of rules is what ``GROUPS`` names: attributes of modules, and what takes their place when
they are out: a pattern that never matches, a function that returns nothing. First every question is
asked with the rules in place, and it is noted which groups had any say in its answer; each group is
then taken out in a process of its own, in which those questions alone are asked again. A figure's
change is the mean over all questions of the set, with the paired bootstrap 95 % interval; one whose
interval holds 0 may be chance. Rules that read documents while they are indexed are not taken out
here. The sample ships; a set that is not given is left out.
"""

import argparse
import ast
import functools
import importlib
import json
import os
import random
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from _judged import AllGood, answers
from _law_scoring import Provision, gold_of, spans_of
from altered import alterations, sections
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from lexloop.evaluation.case import read_cases, read_negative
from lexloop.evaluation.correctness import GOOD, CorrectnessJudge
from lexloop.evaluation.statistics import Estimate, estimate
from lexloop.finetune.groundedness import read_wice
from lexloop.graph.app import graph
from lexloop.models.minilm import load_shipped
from lexloop.nodes.evaluate.evidence import Evidence, evidence_of
from lexloop.nodes.evaluate.judges import ClaimSupport

_ROOT = Path(__file__).resolve().parents[1]
_SEED = 7
_MOST = {"article": 20, "provision": 20, "definition": 30}
"""Of probes that one way of answering serves; of other kinds all are asked."""
_GUIDANCE, _PER_POLICY, _POLICIES, _CLAIMS, _ALTERED = 150, 40, 4, 200, 25
_NEVER = re.compile(r"(?!)")
_SUPPORTED = 0.5

Out = Callable[[Any], Any]
"""From a rule to what takes its place."""


def never(_: Any) -> Any:
    """A pattern that matches nothing."""
    return _NEVER


def giving(value: Any) -> Out:
    """A function that returns one value whatever it is given, or a constant."""
    return lambda old: (lambda *_, **__: value) if callable(old) else value


def unchanged(old: Any) -> Any:
    """A function that returns its first argument; of a method, the first after its object."""
    first = "." in getattr(old, "__qualname__", "")
    return lambda *given, **__: given[first]


def without(place: int | str) -> Out:
    """A list or a mapping without one entry, by its place or the name it begins with."""

    def shortened(old: Any) -> Any:
        if isinstance(old, Mapping):
            return {name: value for name, value in old.items() if name != place}
        names = (one[0] if isinstance(one, tuple) else n for n, one in enumerate(old))
        return [one for name, one in zip(names, old, strict=True) if name != place]

    return shortened


@dataclass(frozen=True)
class Group:
    """Rules that are taken out together.

    Args:
        out: What takes the place of each, by ``module:attribute`` below ``lexloop``.
        also: What serves these rules alone, and would go with them.
    """

    out: Mapping[str, Out]
    also: Sequence[str] = ()

    @property
    def lines(self) -> int:
        """How many lines the group takes."""
        return sum(map(_lines_of, {*self.out, *self.also}))


def _lines_of(path: str) -> int:
    module, _, attribute = path.partition(":")
    source = Path(str(importlib.import_module(f"lexloop.{module}").__file__))
    names = attribute.split(".")
    body: Sequence[ast.stmt] = ast.parse(source.read_text(encoding="utf-8")).body
    for name in names[:-1]:
        body = next(n.body for n in body if isinstance(n, ast.ClassDef) and n.name == name)
    for node in body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        named = {getattr(node, "name", "")} | {getattr(one, "id", "") for one in targets}
        if names[-1] in named:
            return int(node.end_lineno or 0) - node.lineno + 1
    return 0  # imported from elsewhere


_Q, _R, _P, _N = "nodes.question", "nodes.rewrite", "nodes.pointing", "nodes.relevance"
_U, _G, _X = "nodes.pointing", "nodes.generate", "nodes.generate.extractive"
_E, _J, _C = "nodes.evaluate.evidence", "nodes.evaluate.judges", "nodes.evaluate.checks"
_T, _V = "documents.text", "documents.text.quantities"
GROUPS: dict[str, Group] = {
    "nothing": Group({}),
    # what is asked
    "splitting, all": Group(
        {f"{_Q}:question_parts": lambda _: lambda question: (question,)},
        [f"{_Q}:{name}" for name in ("_parts", "asking_sentences", "_REQUEST", "_ASKS")],
    ),
    "splitting, conjoined questions": Group(
        {f"{_Q}:_pieces": lambda _: lambda sentence: [sentence]},
        [f"{_Q}:{n}" for n in ("_NEW_PART", "_FILLER", "_INDIRECT", "_IS_INDIRECT", "_NEXT")],
    ),
    "splitting, sides of comparisons": Group(
        {f"{_Q}:_sides": lambda _: lambda part: [part]},
        [f"{_Q}:{n}" for n in ("_BETWEEN", "_DIFFER", "_NAMELESS", "_MANY", "_what")],
    ),
    **{f"sides, {n}": Group({f"{_Q}:{n}": never}) for n in ("_BETWEEN", "_DIFFER")},
    "sentences that ask": Group(
        {f"{_Q}:asking_sentences": lambda _: lambda question: [question]},
        [f"{_Q}:_REQUEST", f"{_Q}:_ASKS"],
    ),
    "later parts written out": Group(
        {f"{_Q}:standing_alone": unchanged},
        [f"{_Q}:{n}" for n in ("_joined", "_TOPIC_OF", "_THING", "_JOINT")],
    ),
    "preambles": Group({f"{_Q}:without_preamble": unchanged}, [f"{_Q}:_PREAMBLES"]),
    **{f"preamble {n}": Group({f"{_Q}:_PREAMBLES": without(n)}) for n in range(5)},
    "lists asked for": Group({f"{_Q}:asks_for_several": giving(False)}, [f"{_Q}:_SEVERAL"]),
    "all duties asked for": Group({f"{_Q}:asks_for_duties": giving(False)}, [f"{_Q}:_DUTIES"]),
    "context behind a question": Group({f"{_Q}:without_context": unchanged}),
    # follow-ups
    "follow-ups, all": Group(
        {f"{_R}:resolved": unchanged},
        [f"{_R}:{n}" for n in ("_followed", "_substituted", "_subject", "_ADDED")]
        + [f"{_R}:{n}" for n in ("_is_noun_phrase", "leans_on_history", "_named")]
        + [f"{_R}:{n}" for n in ("_EMPTY", "_POINTER", "_BARE", "_POSSESSIVE", "_PERSONAL", "_OWN")]
        + [f"{_R}:{n}" for n in ("_SUBJECTS", "_OPENING", "_topic", "_Thread")],
    ),
    "follow-ups, subject in place": Group(
        {f"{_R}:_substituted": unchanged, f"{_R}:_subject": giving(None)},
        [f"{_R}:{n}" for n in ("_SUBJECTS", "_POSSESSIVE", "_is_noun_phrase", "_ADDED")],
    ),
    "follow-ups, subjects of questions": Group({f"{_R}:_SUBJECTS": giving([])}),
    "follow-ups, openings": Group({f"{_R}:_OPENING": never}),
    "follow-ups, pointers": Group({f"{_R}:_POINTER": never}),
    "follow-ups, another subject": Group({f"{_R}:_ADDED": never}),
    "follow-ups, possessives": Group({f"{_R}:_POSSESSIVE": never}),
    "follow-ups, bare": Group({f"{_R}:_BARE": never}),
    "follow-ups, paragraph of a provision": Group({f"{_P}:placed": unchanged}),
    "keywords, all": Group({f"{_R}:keywords": giving([])}, [f"{_R}:_ASKING"]),
    # kinds of facts
    "kinds of facts, all": Group(
        {f"{_Q}:expected_kind": giving(None)},
        [f"{_Q}:_ASKED_KINDS", f"{_Q}:counted"]
        + [f"{_V}:{n}" for n in ("_HELD", "_DURATION", "holds")],
    ),
    **{
        f"kind of fact, {kind}": Group({f"{_Q}:_KINDS": without(kind)})
        for kind in ("duration", "money", "percentage", "measure", "number", "contact", "name")
    },
    "kinds of facts, what is counted": Group(
        {f"{_Q}:counted": giving(frozenset())},
        [f"{_Q}:_HOW_MANY", f"{_Q}:_ANYBODY"],
    ),
    # definitions
    "definitions, all": Group(
        {f"{_Q}:asked_definition": giving(None)},
        [f"{_Q}:{n}" for n in ("_ASKED_TERM", "_SURELY", "_PLAIN")]
        + [f"{_N}:defines", f"{_N}:_definition_of"],
    ),
    "definitions, surely": Group({f"{_Q}:_SURELY": never}),
    "definitions, plain": Group({f"{_Q}:_PLAIN": never}),
    "definitions, in the words": Group({f"{_N}:defines": giving(False)}, [f"{_N}:_definition_of"]),
    "definitions, in the tree": Group({f"{_X}:is_definition": giving(False)}),
    # relevance
    "exceptions": Group({f"{_Q}:_DENIES": never}, [f"{_N}:EXCEPTS"]),
    "news": Group({f"{_N}:NEWS": giving(0.0)}),
    "vague questions": Group({f"{_N}:CENTROID": giving(0.0)}),
    "documents called by name": Group(
        {f"{_P}:documents_called": giving(frozenset())},
        [f"{_P}:_is_titled", f"{_P}:proper_in", f"{_P}:runs_in"],
    ),
    "operative first": Group(
        {"nodes.rerank:operative_first": lambda _: lambda ranked, k: ranked[:k]}
    ),
    # writing an answer
    "whole lists": Group({f"{_X}:list_asked": giving([])}),
    "parts left unanswered": Group({f"{_X}:ExtractiveGenerator._unanswered": giving([])}),
    "antecedents": Group(
        {f"{_X}:with_antecedent": lambda _: lambda item, _sources: [item.said]},
        [f"{_X}:{n}" for n in ("_POINTS_BACK", "_ITSELF", "_before")],
    ),
    "blanks of forms": Group({"nodes.answering:_BLANK": never}),
    "lines of names": Group({f"{_X}:_is_line_of_names": giving(False)}, [f"{_X}:_LINK"]),
    "recitals weigh less": Group({f"{_X}:_SUPPORTING": giving(1.0)}),
    "nearly as good": Group({f"{_X}:NEARLY_BEST": giving(9.0)}),
    "nearest of each passage": Group({f"{_X}:_nearest_by_passage": giving([])}),
    "repeats": Group({f"{_X}:_repeats": giving(False)}),
    # refusing
    "refusing, all": Group(
        {f"{_G}.node:QuestionGuard.refuses": giving(False)},
        [f"{_G}.node:{n}" for n in ("RefusalClassifier", "order_features", "subject_features")]
        + [f"{_G}.node:{n}" for n in ("_MANNERS", "_LIGHT")],
    ),
    "refusing, manners": Group({f"{_G}.node:_MANNERS": lambda old: [_NEVER for _ in old]}),
    "refusing, telling words known": Group({f"{_G}.node:_LIGHT": giving(frozenset())}),
    "foreign names": Group(
        {f"{_Q}:_NAMED": never, f"{_Q}:_REFERENCE": never},
        [f"{_Q}:_GENERIC"],
    ),
    # pointing
    "pointing, all": Group(
        {f"{_U}:point": giving({"units": [], "chunks": [], "told": [], "only": False})},
        [f"{_U}:_Question", f"{_P}:read_pointing", f"{_P}:_POINTING"],
    ),
    "pointing, worded numbers": Group(
        {f"{_P}:_plain_form": unchanged},
        [f"{_P}:{n}" for n in ("_WORDED", "_NUMERALS", "_LETTER", "_UNBRACKETED")],
    ),
    **{
        f"pointing, {n}": Group({f"{_P}:{n}": never})
        for n in ("_WORDED", "_LETTER", "_UNBRACKETED", "_SUBPARAGRAPH", "_UNDER")
    },
    "pointing, loose numbers": Group({f"{_P}:loose_numbers": giving([])}),
    "pointing, acts named behind": Group(
        {f"{_P}:_act_after": lambda _: lambda _text, end: (end, "")},
        [f"{_P}:{n}" for n in ("_name_length", "_LINK", "_LINKING")],
    ),
    "pointing, acts named before": Group({f"{_P}:_act_before": giving("")}, [f"{_P}:_ACRONYM"]),
    "pointing, documents singled out": Group({f"{_P}:_singled_out": giving([])}),
    "pointing, called as the document does": Group({f"{_U}:_Question._is_called": giving(True)}),
    "telling the structure": Group(
        {f"{_P}:_structural": giving(None)},
        [f"documents.structure.telling:{n}" for n in ("told", "_built", "_instead", "members")]
        + [f"{_U}:_Question.of_structure", f"{_P}:_may_be_structural", f"{_P}:_FILLER"],
    ),
    "telling what is missing": Group(
        {f"{_U}:_Question.missing": giving([])},
        [
            f"documents.structure.telling:{n}"
            for n in ("missing_line", "_named_whole", "_step", "_outermost")
        ]
        + [f"{_U}:_Question._lacking", "documents.structure.telling:_below"],
    ),
    "telling, too many documents": Group(
        {f"{_U}:_Question._of_few": lambda _: lambda _self, _p, found: found}
    ),
    # words
    "slips, all": Group(
        {f"{_T}.slips:Slips.read": lambda _: lambda _self, text, _known: (text, [])},
        [f"{_T}.slips:Slips", f"{_T}.slips:_is_slip", f"{_T}.slips:_is_altered"],
    ),
    "slips, one letter wrong": Group({f"{_T}.slips:_is_altered": giving(False)}),
    "slips, derived words": Group({f"{_T}.slips:_ENDINGS": giving(())}),
    "other languages": Group(
        {f"{_T}.languages:other_language": giving("")},
        [f"{_T}.languages:_SMALL_WORDS", f"{_T}.languages:_evidence"],
    ),
    # what is no answer
    "questions are no answers": Group(
        {"nodes.answering:_Asked.is_all_of": giving(False)},
        [f"nodes.answering:{n}" for n in ("_CLAUSE", "_FORMAL", "_POLAR", "_OR", "_content")],
    ),
    "questions are answered by what follows": Group(
        {"nodes.answering:_led": lambda _: lambda one, *_: one._replace(question="", before=None)},
        ["nodes.answering:_ANSWER", "nodes.answering:repeats"],
    ),
    # judging
    "disagreements, rows of tables": Group({f"{_E}:_other_row": giving(())}, [f"{_E}:_ROW"]),
    "disagreements, exempted": Group({f"{_E}:_exempts": giving(False)}, [f"{_E}:_NEED_NOT"]),
    "disagreements, another subject": Group(
        {f"{_E}:_other_subject": giving(())},
        [f"{_E}:{n}" for n in ("_Divided", "_divided", "_comparable")],
    ),
    "conditions left out": Group({f"{_E}:left_out": giving([])}, [f"{_E}:_condition"]),
    "disagreements, all": Group(
        {f"{_E}:disagreements": giving([])},
        [f"{_E}:{n}" for n in ("disagreements", "_about", "quantities", "_counted")]
        + [f"{_E}:{n}" for n in ("_other_quantities", "_other_facts", "_placed")]
        + [f"{_E}:{n}" for n in ("negated_terms", "flipped_term")]
        + [f"{_E}:{n}" for n in ("alterations", "_otherwise")]
        + [f"{_E}:{n}" for n in ("_modal", "_bound", "_unit", "_party", "_parties")]
        + [f"{_E}:{n}" for n in ("_MODALS", "_BOUNDS", "_UNITS", "_PHRASES")],
    ),
    **{
        f"disagreements, {n}": Group({f"{_E}:{n}": giving(())})
        for n in ("_other_quantities", "_other_facts", "_other_places")
    },
    "disagreements, denied in one": Group({f"{_E}:flipped_term": giving(None)}, [f"{_E}:_bounds"]),
    "disagreements, dates": Group({f"{_V}:dates": giving(set())}, [f"{_V}:_DAY"]),
    "disagreements, idioms": Group({f"{_E}:_BOUNDS_AND_IDIOMS": never}),
    "alterations, all": Group(
        {f"{_E}:alterations": giving([])},
        [f"{_E}:{n}" for n in ("_otherwise", "_words", "_modal", "_bound", "_unit")]
        + [f"{_E}:{n}" for n in ("_party", "_parties", "_MODALS", "_BOUNDS")]
        + [f"{_E}:{n}" for n in ("_UNITS", "_PHRASES", "_SUBJECT", "_AGENT")],
    ),
    **{
        f"alterations, {n}": Group({f"{_E}:{n}": giving(())})
        for n in ("_modal", "_bound", "_unit", "_party")
    },
    "facts, counted in words": Group({f"{_V}:_COUNTED": never}),
    "facts, months": Group({f"{_V}:_MONTH": never}),
    "facts, ISO dates": Group({f"{_V}:_ISO": never}),
    "facts, amounts": Group({f"{_V}:_AMOUNT": never}),
    "claims, bullets": Group({f"{_J}:_BULLET": never}),
    "claims quoted word for word": Group({f"{_J}:_quoted": giving(False)}),
    "checks, foreign matter": Group(
        {f"{_C}:foreign_matter": giving([])},
        [f"{_C}:{n}" for n in ("_IMAGE", "_CODE", "_SCRIPTED", "_markup")],
    ),
    "checks, nothing shared": Group({f"{_C}:_unrelated": giving([])}),
    "checks, facts not cited": Group({f"{_C}:_unsupported": giving([])}),
    "checks, sentences quoted together": Group({f"{_C}:_quoting": unchanged}),
    "a story left out": Group(
        {f"{_Q}:parse": lambda old: lambda question: {**old(question), "bare": question}}
    ),
}


@dataclass(frozen=True)
class Question:
    """A question, or a claim to be judged, and what is right.

    Args:
        kind: The set, and the kind of question in it.
        corpus: What it is asked of; "" for a claim.
        asked: Its words.
        history: The questions before it, answered by the system itself, or whole turns as pairs of
            a role and its words. Of a claim its evidence.
        gold: The spans that answer it, by document; none where there is no answer.
        points: The words of each point of the list that answers.
        reference: A right answer.
        supported: Whether people, or what was done to it, say that a claim is.
    """

    kind: str
    corpus: str
    asked: str
    history: tuple[Any, ...] = ()
    gold: tuple[tuple[str, int, int], ...] = ()
    points: tuple[str, ...] = ()
    reference: str | None = None
    supported: bool | None = None


@dataclass(frozen=True)
class Answered:
    """What became of a question; of a claim, ``passed`` where it is judged to be supported."""

    answer: str = ""
    abstained: bool = False
    passed: bool = False
    spans: tuple[tuple[str, int, int], ...] = ()


class Asking:
    """Asks the state machine; the same turns once."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], tuple[Answered, frozenset[str]]] = {}
        self._support: ClaimSupport | None = None
        self._evidence: dict[tuple[str, ...], Evidence] = {}
        self._all_good: AllGood | None = None
        self._before: Callable[[], None] = lambda: None
        self._heard: set[str] = set()

    def listen(self, groups: Mapping[str, Group]) -> frozenset[str]:
        """Note from now on which of these groups have a say; of those returned it is unknown."""
        cached = [
            one.cache_clear
            for name, module in [*sys.modules.items()]
            if name.startswith(("lexloop.nodes", "lexloop.documents.structure"))
            for one in vars(module).values()
            if hasattr(one, "cache_clear")
        ]
        for name, group in groups.items():
            for path, out in group.out.items():
                tell = functools.partial(self._heard.add, name)
                _put(path, functools.partial(_listening, out=out, tell=tell))

        def anew() -> None:
            self._heard.clear()
            for clear in cached:
                clear()

        self._before = anew
        return frozenset(self._heard | {name for name, one in groups.items() if not one.out})

    def __call__(self, question: Question) -> tuple[Answered, frozenset[str]]:
        """The answer, and the groups that had a say in it and in the turns before."""
        key = (question.corpus, question.asked, question.history)
        if key not in self._known:
            heard: frozenset[str] = frozenset()
            messages: list[BaseMessage] = []
            for place, turn in enumerate(question.history if question.corpus else ()):
                if isinstance(turn, str):
                    earlier = Question("", question.corpus, turn, question.history[:place])
                    before, also = self(earlier)
                    messages += [HumanMessage(turn), AIMessage(before.answer)]
                    heard |= also
                else:
                    messages.append((HumanMessage if turn[0] == "user" else AIMessage)(turn[1]))
            self._before()
            answered = (
                self._answer(question.corpus, [*messages, HumanMessage(question.asked)])
                if question.corpus
                else self._judged(question)
            )
            self._known[key] = answered, heard | self._heard
        return self._known[key]

    def _answer(self, corpus: str, messages: list[BaseMessage]) -> Answered:
        said = graph.invoke({"messages": messages}, context={"corpus": corpus})
        spans = tuple((c["document"], c["start"], c["end"]) for c in said["citations"])
        passed = bool(said["evaluation"]["passed"])
        return Answered(said["answer"], bool(said["abstained"]), passed, spans)

    def _judged(self, claim: Question) -> Answered:
        if claim.kind.startswith("judged"):
            self._all_good = self._all_good or AllGood()
            made = self._all_good(json.loads(claim.asked))
            return Answered(passed=bool(made["evaluation"]["passed"]))
        embed = load_shipped().embed
        self._support = self._support or ClaimSupport(embed)
        if claim.history not in self._evidence:
            self._evidence[claim.history] = evidence_of([*claim.history], embed)
        held = replace(self._evidence[claim.history])  # what is read of it is read anew
        [found] = self._support.of([claim.asked], held)
        return Answered(passed=found.probability >= _SUPPORTED)


class _Listening:
    """A pattern that tells when it matches."""

    def __init__(self, pattern: Any, tell: Callable[[], None]) -> None:
        self._pattern, self._tell = pattern, tell

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._pattern, name)
        if not callable(method):
            return method

        def called(*given: Any, **named: Any) -> Any:
            found = method(*given, **named)
            found = [*found] if name == "finditer" else found
            idle = {"sub": lambda: found == given[1], "split": lambda: len(found) < 2}
            if not (idle[name]() if name in idle else not found):
                self._tell()
            return found

        return called


def _listening(old: Any, out: Out, tell: Callable[[], None]) -> Any:
    """A rule that tells when it says anything else than what would take its place."""
    if isinstance(old, (re.Pattern, _Listening)):
        return _Listening(old, tell)
    if callable(old):
        other = out(old)

        @functools.wraps(old)
        def called(*given: Any, **named: Any) -> Any:
            found, instead = old(*given, **named), other(*given, **named)
            if isinstance(found, Iterator):
                found, instead = [*found], [*instead]
            same = found is instead or bool((found == instead) is True)
            if not same:
                tell()
            return found

        return called
    if isinstance(old, (list, tuple)) and old:
        kept = out(old)
        told = [one if one in kept else _entry(one, tell) for one in old]
        if any(one is not other for one, other in zip(old, told, strict=True)):
            return told
    tell()
    return old


def _entry(one: Any, tell: Callable[[], None]) -> Any:
    """A pattern of a list, or one with its name; of anything else it cannot be told."""
    named = one if isinstance(one, tuple) else (one,)
    if not isinstance(named[-1], (re.Pattern, _Listening)):
        tell()
        return one
    heard = _Listening(named[-1], tell)
    return (*named[:-1], heard) if isinstance(one, tuple) else heard


def _put(path: str, make: Callable[[Any], Any]) -> None:
    """Put something else in the place of an attribute, in every module that has it by name.

    Raises:
        SystemExit: It is gone.
    """
    module, _, attribute = path.partition(":")
    *outer, name = attribute.split(".")
    home = importlib.import_module(f"lexloop.{module}")
    try:
        owner = functools.reduce(getattr, outer, home)
        old = getattr(owner, name)
    except AttributeError:
        raise SystemExit(f"{path} is gone: change GROUPS in {Path(__file__).name}.") from None
    new = make(old)
    others = [m for n, m in [*sys.modules.items()] if n.startswith("lexloop.")] if not outer else []
    for holder in [owner, *others]:
        if vars(holder).get(name) is old:
            setattr(holder, name, new)


def main() -> None:
    """Ask every set with the rules, then without each group, and print what changed."""
    options = _options()
    groups = {name: GROUPS[name] for name in options.groups.split(";") if name in GROUPS}
    groups = groups or dict(GROUPS)
    if options.list:
        for name, group in groups.items():
            print(f"{group.lines:4} {name}: {', '.join(group.out)}")
        return
    with tempfile.TemporaryDirectory() as made:
        questions = [*_questions(options, options.corpora or Path(made))]
        asking = Asking()
        always = asking.listen(groups)
        before: list[Answered] = []
        heard: dict[str, list[int]] = defaultdict(list)
        for number, question in enumerate(questions):
            answered, said = asking(question)
            before.append(answered)
            for name in said | always:
                heard[name].append(number)
        judge = CorrectnessJudge(load_shipped().embed)
        score = functools.lru_cache(maxsize=None)(functools.partial(figures_of, judge))
        first = [score(*pair) for pair in zip(questions, before, strict=True)]
        report: dict[str, Any] = {"with all rules": _means(questions, first)}
        print("| with all rules | |\n|---|---|")
        for name, value in report["with all rules"].items():
            print(f"| {name} | {value:.3f} |")
        print("\n| without | lines | had a say | answers changed | figures changed |")
        print("|---|---|---|---|---|", flush=True)
        for name, group in groups.items():
            places = heard[name]
            after = [*before]
            if places:
                asked = [questions[n] for n in places]
                with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as child:
                    found = child.submit(_without, name, asked).result()
                for n, answered in zip(places, found, strict=True):
                    after[n] = answered
            changed = [n for n in places if after[n] != before[n]]
            second = [
                score(questions[n], after[n]) if n in {*changed} else first[n]
                for n in range(len(questions))
            ]
            moved = _moved(questions, first, second)
            report[name] = {"lines": group.lines, "heard": len(places), "changed": len(changed)}
            report[name] |= {figure: vars(found) for figure, found in moved.items()}
            print(_row(name, report[name], moved), flush=True)
            if options.json:
                options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


def _without(name: str, questions: Sequence[Question]) -> list[Answered]:
    """Answers with a group of rules out; called in a process of its own."""
    for path, out in GROUPS[name].out.items():
        _put(path, out)
    asking = Asking()
    return [asking(question)[0] for question in questions]


def _options() -> argparse.Namespace:
    data = os.environ.get("LEXLOOP_DATA")
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    for given in ("--gdpr", "--us-cfr", "--ll144", "--conditionalqa", "--policyqa", "--wice"):
        name = given[2:].replace("-", "_")
        parser.add_argument(given, type=Path, default=Path(data) / name if data else None)
    parser.add_argument("--sets", default=",".join(_SETS))
    parser.add_argument("--groups", default="", help="names of groups, with semicolons")
    parser.add_argument("--list", action="store_true", help="only list the groups")
    parser.add_argument("--limit", type=int, default=1_000_000, help="questions of each kind")
    parser.add_argument("--corpora", type=Path, help="keep the corpora here for another run")
    parser.add_argument("--json", type=Path, metavar="OUT", help="also write the figures here")
    return parser.parse_args()


def _questions(options: argparse.Namespace, made: Path) -> Iterator[Question]:
    for name in options.sets.split(","):
        folder = _ROOT / "data" if name == "sample" else getattr(options, name, None)
        if name in ("altered", "judged"):
            folder = _ROOT / "data" / "ll144"
        if folder is None or not folder.is_dir():
            print(f"{name} left out: give --{name.replace('_', '-')} DIR or set LEXLOOP_DATA.")
            continue
        corpus = made / name
        corpus.mkdir(parents=True, exist_ok=True)
        by_kind: dict[str, list[Question]] = defaultdict(list)
        for question in _SETS[name](folder, corpus):
            by_kind[question.kind].append(question)
        for kind, found in by_kind.items():
            most = _MOST.get(kind.partition(" ")[2], _ALTERED if name == "altered" else len(found))
            most = min(options.limit, most)
            yield from _drawn(found, most)


def _drawn(found: Sequence[Any], most: int) -> list[Any]:
    """At most so many, in their order."""
    kept = {*random.Random(_SEED).sample(range(len(found)), min(most, len(found)))}
    return [one for n, one in enumerate(found) if n in kept]


def _probes(folder: Path, corpus: Path) -> Iterator[Question]:
    """Probes of a law, with the spans of the provisions that answer."""
    [path] = folder.glob("*.txt")
    text = path.read_text(encoding="utf-8")
    (corpus / path.name).write_text(text, encoding="utf-8")
    spans = spans_of(json.loads((folder / "structure.json").read_text(encoding="utf-8")))
    for line in (folder / "probes.jsonl").read_text(encoding="utf-8").splitlines():
        probe = json.loads(line)
        gold = gold_of(probe, spans)
        if not gold and probe["kind"] != "not_there":
            continue  # of a number that there is not
        points: list[str] = []
        if probe["kind"] == "list":
            (start, end), *_ = gold
            inside = (s for name, s in spans.items() if len(name) == 3 and start <= s[0] < end)
            points = probe.get("points") or [text[slice(*span)] for span in inside]
        yield Question(
            f"{corpus.name} {probe['kind']}",
            str(corpus),
            probe["question"],
            (*probe["history"],),
            tuple((path.name, *span) for span in gold),
            (*points,),
        )


def _gold(folder: Path, corpus: Path) -> Iterator[Question]:
    """Gold questions with reference answers, and queries that are to be refused."""
    for path in (folder / "ll144" if folder.name == "data" else folder).glob("*.txt"):
        (corpus / path.name).write_bytes(path.read_bytes())
    name = corpus.name
    for case in read_cases(next(iter(sorted(folder.glob("gold*.jsonl"))))):
        history = tuple((turn.role, turn.content) for turn in case.conversation_history)
        reference = None if case.out_of_scope else case.reference_answer
        kind = f"{name} {'out of scope' if case.out_of_scope else 'answerable'}"
        yield Question(kind, str(corpus), case.question, history, reference=reference)
    if (negative := folder / "negative.jsonl").is_file():
        for case in read_negative(negative):
            yield Question(f"{name} negative", str(corpus), case.question)


def _guidance(folder: Path, corpus: Path) -> Iterator[Question]:
    """Situations and what they ask of guidance, with the passages that answer (ConditionalQA)."""
    rows = [json.loads(line) for line in (folder / "train.jsonl").open(encoding="utf-8")]
    rows = _drawn(rows, _GUIDANCE)
    texts: dict[str, str] = defaultdict(str)
    spans: dict[str, tuple[str, int, int]] = {}
    wanted = {row["document_id"] for row in rows}
    for line in (folder / "train_passages.jsonl").open(encoding="utf-8"):
        passage = json.loads(line)
        if (document := passage["document_id"]) in wanted:
            start = len(texts[document])
            texts[document] += f"{passage['text']}\n\n"
            spans[passage["id"]] = f"{document}.txt", start, start + len(passage["text"])
    for document, text in texts.items():
        (corpus / f"{document}.txt").write_text(text, encoding="utf-8")
    for row in rows:
        gold = tuple(spans[name] for name in row["relevant_ids"])
        kind = "answerable" if gold else "not there"
        asked = f"{row['scenario']} {row['question']}"
        yield Question(f"{corpus.name} {kind}", str(corpus), asked, gold=gold)


def _policies(folder: Path, corpus: Path) -> Iterator[Question]:
    """Questions on privacy policies, each asked of its own, with what answers (PolicyQA)."""
    by_policy: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in (folder / "dev.jsonl").open(encoding="utf-8"):
        row = json.loads(line)
        by_policy[row["policy"]].append(row)
    most = sorted(by_policy, key=lambda name: -len(by_policy[name]))[:_POLICIES]
    for policy in most:
        contexts = list(dict.fromkeys(row["context"] for row in by_policy[policy]))
        text = "\n\n".join(contexts)
        (corpus / policy).mkdir(exist_ok=True)
        (corpus / policy / f"{policy}.txt").write_text(text, encoding="utf-8")
        for row in _drawn(by_policy[policy], _PER_POLICY):
            at = text.index(row["context"])
            gold = tuple(
                (f"{policy}.txt", at + a["answer_start"], at + a["answer_start"] + len(a["text"]))
                for a in row["answers"]
            )
            yield Question(f"{corpus.name}", str(corpus / policy), row["question"], gold=gold)


def _wice(folder: Path, corpus: Path) -> Iterator[Question]:
    """Claims with their evidence, which people found to support them or not (WiCE)."""
    for row in _drawn(read_wice(folder / "dev.jsonl"), _CLAIMS):
        supported = row.label == "supported"
        kind = f"{corpus.name} {'supported' if supported else 'unsupported'}"
        evidence = (*row.evidence_sentences,)
        yield Question(kind, "", row.claim, evidence, supported=supported)


def _altered(folder: Path, corpus: Path) -> Iterator[Question]:
    """Statements of the sample, altered, beside their own section (``altered.py``)."""
    chance, embed = random.Random(_SEED), load_shipped().embed
    for text in sections(folder):
        for name, said in alterations(evidence_of([text], embed).sentences, text, chance):
            supported = name in ("words_before", "reworded")
            yield Question(f"{corpus.name} {name}", "", said, (text,), supported=supported)


def _answers(folder: Path, corpus: Path) -> Iterator[Question]:
    """Answers that a model calls good in every way, though some are not (``_judged.py``)."""
    for row in answers():
        beside = " beside" if row.get("beside") else ""  # no rule was made on these
        kind = f"{corpus.name}{beside} {'good' if row['passes'] else 'bad'}"
        yield Question(kind, "", json.dumps(row), supported=row["passes"])


_SETS: dict[str, Callable[[Path, Path], Iterator[Question]]] = {
    "gdpr": _probes,
    "us_cfr": _probes,
    "ll144": _gold,
    "sample": _gold,
    "conditionalqa": _guidance,
    "policyqa": _policies,
    "wice": _wice,
    "altered": _altered,
    "judged": _answers,
}


def figures_of(judge: CorrectnessJudge, asked: Question, said: Answered) -> dict[str, float]:
    """What an answer is worth, by the name of the figure.

    ``silent`` is whether it abstains, ``first`` whether its first citation lies in what answers,
    ``found`` whether any does, ``only`` whether all do, ``points`` the share of a list's points
    and ``verdict`` whether it is passed where, and only where, it is right.
    """
    if asked.supported is not None:
        return {"right": float(said.passed == asked.supported)}
    found = {"silent": float(said.abstained)}
    if asked.reference is None and not asked.gold:
        return found
    hits = [_within(span, asked.gold) for span in said.spans] if not said.abstained else []
    good = any(hits)
    if asked.reference is not None:
        score = judge.score(asked.asked, said.answer, asked.reference)
        good = not said.abstained and isinstance(score, float) and score >= GOOD
        found |= {"correctness": score if isinstance(score, float) else 1.0, "correct": float(good)}
    elif asked.points:
        spoken = [] if said.abstained else Provision("", "", asked.points).points_said(said.answer)
        share = sum(spoken) / max(1, len(asked.points))
        found |= {"points": share, "whole": float(share == 1.0), "found": float(good)}
        good = share == 1.0
    else:
        found |= {"first": float(hits[:1] == [True]), "found": float(good)}
        found["only"] = float(good and all(hits))
    return {**found, "verdict": float(said.passed == good)}


def _within(span: tuple[str, int, int], gold: Iterable[tuple[str, int, int]]) -> bool:
    """Whether half of a citation lies in what answers, or half of that in it."""
    document, start, end = span
    return any(
        document == other
        and 2 * (min(end, stop) - max(start, begin)) >= min(end - start, stop - begin)
        for other, begin, stop in gold
    )


def _by_figure(
    questions: Sequence[Question], figures: Sequence[Mapping[str, float]]
) -> dict[str, list[float]]:
    found: dict[str, list[float]] = defaultdict(list)
    for question, values in zip(questions, figures, strict=True):
        for name, value in values.items():
            found[f"{question.kind} {name}"].append(value)
    return found


def _means(
    questions: Sequence[Question], figures: Sequence[Mapping[str, float]]
) -> dict[str, float]:
    found = _by_figure(questions, figures)
    return {name: sum(values) / len(values) for name, values in found.items()}


def _moved(
    questions: Sequence[Question],
    first: Sequence[Mapping[str, float]],
    second: Sequence[Mapping[str, float]],
) -> dict[str, Estimate]:
    """By figure what it changes by; those that do not change are left out."""
    before, after = _by_figure(questions, first), _by_figure(questions, second)
    moved: dict[str, Estimate] = {}
    for name, values in before.items():
        changes = [b - a for a, b in zip(values, after[name], strict=True)]
        found = estimate(changes)
        if any(changes) and isinstance(found, Estimate):
            moved[name] = found
    return moved


def _row(name: str, counts: Mapping[str, Any], moved: Mapping[str, Estimate]) -> str:
    """A row of the table; a star marks an interval that excludes 0."""
    shown = [
        f"{figure} {found.mean:+.3f} [{found.low:+.3f}, {found.high:+.3f}]"
        f"{'*' if found.low > 0 or found.high < 0 else ''}"
        for figure, found in moved.items()
    ]
    cells = [name, *(str(counts[one]) for one in ("lines", "heard", "changed"))]
    return f"| {' | '.join([*cells, '; '.join(shown) or 'none'])} |"


if __name__ == "__main__":
    main()
