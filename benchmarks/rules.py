"""What each rule for English carries: one is taken out at a time, and the development sets asked.

    python benchmarks/rules.py [--data DIR] [--sets a,b] [--groups "a;b"] [--cases FOLDER ...]

A group of rules is what ``GROUPS`` names: attributes of modules, and what takes their place when
they are out: a pattern that never matches, a function that returns nothing. First every question is
asked with the rules in place, and it is noted which groups had any say in its answer; each group is
then taken out in a process of its own, in which those questions alone are asked again. A figure's
change is the mean over all questions of the set, with the paired bootstrap 95 % interval; one whose
interval holds 0 may be chance. Without a group of ``READING`` the documents are indexed anew, and
every question is asked again. The sample ships; a set that is not in DIR, by default
``LEXLOOP_DATA``, is left out. The set ``cases`` is what ``cases.py`` asks, of each FOLDER.
"""

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
from statistics import fmean
from typing import Any

from _law import Provision, names_of, spans_of
from _shared import DATA, ROOT, options, read_rows, table
from altered import alterations, sections
from cases import CASES, outcome_of
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from lexloop.documents.reading.formats import read_bytes
from lexloop.documents.reading.source import PageRead, Part, read_file
from lexloop.graph.app import graph
from lexloop.models.minilm import load_shipped
from lexloop.nodes.evaluate.evidence import Evidence, evidence_of
from lexloop.nodes.evaluate.judges import ClaimSupport
from lexloop.nodes.question.naming import Apart
from lexloop_eval.case import read_cases, read_negative
from lexloop_eval.correctness import GOOD, CorrectnessJudge
from lexloop_eval.statistics import Estimate, estimate
from training.triad import read_wice

_SEED = 7
_MOST = {"article": 20, "provision": 20, "definition": 30}
"""Of probes that one way of answering serves; of other kinds all are asked."""
_GUIDANCE, _CLAIMS, _ALTERED = 150, 200, 25
_SUPPORTED = 0.5

Out = Callable[[Any], Any]
"""From a rule to what takes its place."""
Span = tuple[str, int, int]


def never(old: Any) -> Any:
    """A pattern that matches nothing and has as many groups."""
    return re.compile("(?!)" + "()" * old.groups)


def giving(value: Any) -> Out:
    """A function that returns one value whatever it is given, or a constant."""
    return lambda old: (lambda *_, **__: value) if callable(old) else value


def unchanged(old: Any) -> Any:
    """A function that returns its first argument; of a method, the first after its object."""
    first = "." in getattr(old, "__qualname__", "")
    return lambda *given, **__: given[first]


_Q, _R, _P = "nodes.question.parts", "nodes.question.rewrite", "nodes.question.pointing"
_G, _X = "nodes.generate", "nodes.generate.extractive"
_E, _J, _C = "nodes.evaluate.evidence", "nodes.evaluate.judges", "nodes.evaluate.checks"
_T, _V = "documents.text", "documents.text.quantities"
_A, _F, _B = "nodes.question.naming", "nodes.question.followups", "documents.text.abbreviations"
_O, _L = "documents.structure.outline", "documents.structure.lines"
GROUPS: dict[str, Mapping[str, Out]] = {
    "nothing": {},
    # what is asked
    "taking questions apart": {f"{_Q}:question_parts": lambda _: lambda question: (question,)},
    "conjoined questions apart": {f"{_Q}:_pieces": lambda _: lambda sentence: [sentence]},
    "sides of comparisons apart": {f"{_Q}:_sides": lambda _: lambda part: [part]},
    "sentences that ask": {f"{_Q}:asking_sentences": lambda _: lambda question: [question]},
    "a story left out": {
        f"{_Q}:parse": lambda old: lambda question: {**old(question), "bare": question}
    },
    "later parts written out": {f"{_Q}:standing_alone": unchanged},
    "preambles": {f"{_Q}:without_preamble": unchanged},
    "lists asked for": {f"{_Q}:asks_for_several": giving(False)},
    "all duties asked for": {f"{_Q}:asks_for_duties": giving(False)},
    "context behind a question": {f"{_Q}:without_context": unchanged},
    "follow-ups": {f"{_F}:resolved": unchanged},
    "keywords": {f"{_R}:keywords": giving([])},
    "kinds of facts": {f"{_Q}:expected_kind": giving(None)},
    "what is counted": {f"{_Q}:counted": giving(frozenset())},
    "definitions asked for": {f"{_Q}:asked_definition": giving(None)},
    "documents called by name": {"nodes.question.describing:documents_called": giving(frozenset())},
    "what recitals explain": {"nodes.rerank:EXPLAINED": giving(0.0)},
    "documents named before others": {"nodes.rerank:_CALLED": giving(0.0)},
    "names of documents left out": {"nodes.question.describing:unnamed": unchanged},
    "the knowledge graph": {"nodes.kg_retrieve:related": giving(([], []))},
    "what relations lead to": {"nodes.rerank:first_related": giving([])},
    "documents that each answer": {
        "nodes.rerank:of_each_document": giving([]),
        f"{_X}:ExtractiveGenerator._best_of_each": giving([]),
    },
    "the document's own name": {"nodes.question.naming_document:own_name": giving("")},
    "bands of tables": {"nodes.question.lookups:quantities": giving([])},
    "who does it": {f"{_G}.score:says_who": giving("said")},
    "lists read by their points": {
        f"{_G}.score:_read_by_points": lambda _: lambda _quotables, read: read
    },
    "definitions read": {f"{_G}.score:DEFINITIONS": giving(0)},
    "what excepts from an answer": {f"{_G}.write:limits_of": giving([])},
    "operative first": {"nodes.rerank:operative_first": lambda _: lambda ranked, k: ranked[:k]},
    # writing an answer
    "lists quoted whole": {f"{_G}.write:list_asked": giving([])},
    "parts left unanswered": {f"{_X}:ExtractiveGenerator._unanswered": giving([])},
    "short paragraphs and antecedents": {
        f"{_G}.write:paragraph_of": lambda _: lambda item, _sources: [item.statement]
    },
    "blanks of forms": {"nodes.answering:_is_blank": giving(False)},
    "lines of names": {f"{_G}.select:_is_line_of_names": giving(False)},
    "recitals behind provisions": {f"{_G}.score:_SUPPORTING": giving(1.0)},
    "nearly as good": {f"{_G}.select:NEARLY_BEST": giving(9.0)},
    "nearest statement of each passage": {f"{_G}.select:_nearest_by_passage": giving([])},
    "statements that repeat another": {f"{_G}.select:_repeats": giving(False)},
    # refusing
    "refusing": {f"{_G}.guard:QuestionGuard.refuses": giving(False)},
    "foreign names": {f"{_Q}:_NAMED": never},
    # pointing
    "provisions pointed to by number": {
        "nodes.question.provisions:point": giving(
            {"units": [], "chunks": [], "told": [], "only": False}
        )
    },
    "acts named": {
        f"{_P}:_act_after": lambda _: lambda _text, end: (end, ""),
        f"{_P}:_act_before": giving(""),
    },
    "documents singled out": {f"{_P}:_singled_out": giving([])},
    "telling the structure": {f"{_P}:_structural": giving(None)},
    "telling what is missing": {"nodes.question.provisions:_Question.missing": giving([])},
    # words
    "slips of the finger": {
        f"{_T}.slips:Slips.read": lambda _: lambda _self, text, _known: (text, [])
    },
    "other languages": {f"{_T}.languages:other_language": giving("")},
    # what is no answer
    "questions are no answers": {"nodes.answering:_Question.is_restated_by": giving(False)},
    "questions are answered by what follows": {
        "nodes.answering:_led": lambda _: lambda item, *_: item._replace(question="", before=None)
    },
    # judging
    "disagreements of a claim with its evidence": {f"{_E}:disagreements": giving([])},
    "one word altered in a copy": {"nodes.alignment:alterations": giving([])},
    "conditions left out": {f"{_E}:left_out": giving([])},
    "dates": {f"{_V}:dates": giving(set())},
    "claims quoted word for word": {f"{_J}:_quoted": giving(False)},
    "markup in an answer": {f"{_C}:foreign_matter": giving([])},
    "claims that share nothing": {f"{_C}:_unrelated": giving([])},
    "facts not cited": {f"{_C}:_unsupported": giving([])},
    "sentences quoted together": {f"{_C}:_quoting": unchanged},
    # which document is meant
    "documents told apart": {f"{_A}:told_apart": giving(Apart([], False, [], {}))},
    "files named": {f"{_A}:_files": giving([])},
    "numbers that name documents": {f"{_A}:_numbers": giving([])},
    "days that name documents": {f"{_A}:_days": giving([])},
    "words of titles": {f"{_A}:_names": giving([])},
    "words of parties' names": {f"{_A}:_parties": giving([])},
    "numbers named by their place": {
        f"{_A}:_DOES": giving(frozenset()),
        f"{_A}:_OF": giving(frozenset()),
    },
    "numbers named by their form": {f"{_A}:_LETTERED": never},
    "what is asked inside a document": {f"{_A}:_outside": giving(("", ""))},
    # turns that leave something out
    "turns that leave out": {f"{_F}:completed": giving(None)},
    "turns that correct": {f"{_F}:_CORRECTING": never, f"{_F}:_MEANT": never},
    "not this but that": {f"{_F}:_NOT_BUT": never},
    "once more": {f"{_F}:_AGAIN": never},
    "the other one": {f"{_F}:_OTHERS": giving(())},
    "question words alone": {f"{_Q}:LEFT_OUT": never},
    "what if not": {f"{_F}:_IF_NOT": never},
    "words before a question": {f"{_Q}:BEGINS": never},
    "who does": {f"{_F}:_DOES": never},
    "a number for a number": {f"{_F}:_number": giving(None)},
    # what documents make of each other
    "what other documents change": {f"{_G}.conflicts:with_changes": unchanged},
    "the text that a change brings": {f"{_G}.conflicts:_INSERTED": never},
    "words that a change exchanges": {f"{_G}.conflicts:_EXCHANGED": never},
    "premises": {f"{_G}.answerable:unmet": giving([])},
    "parties asked for": {"nodes.question.lookups:parties_asked": giving(None)},
    "limits by this or the foregoing": {
        "documents.chunks.carrying:_SPOKEN_OF": never,
    },
    "footnotes": {f"{_G}.write:notes_of": giving([])},
    "what a statement carries on from": {
        "nodes.reading:carried_from": giving([]),
        f"{_G}.write:carried_from": giving([]),
        f"{_X}:carried_from": giving([]),
    },
    "what limits only what it stands under": {"documents.chunks.limits:PROVISO": never},
    # reading documents
    "abbreviations": {f"{_B}:Abbreviations.ends_one": giving(False)},
    "words in brackets": {f"{_B}:_ASIDE": never, f"{_B}:_is_within_brackets": giving(False)},
    "listed abbreviations": {f"{_B}:LISTED": giving(frozenset())},
    "letters before stops": {f"{_B}:_is_mark": giving(False)},
    "ordinals": {f"{_B}:Abbreviations._is_ordinal": giving(False)},
    "abbreviations by their shape": {f"{_B}:Abbreviations._shortens": giving(False)},
    "unknown short words": {f"{_B}:Abbreviations._is_unknown": giving(False)},
    "parties": {f"{_T}.parties:parties_of": giving(())},
    "parties of labelled lines": {f"{_T}.parties:_labelled": giving([])},
    "parties without roles": {f"{_T}.parties:_without_roles": giving([])},
    "the last party without a role": {f"{_T}.parties:_FURTHER": never},
    "small words in parties' names": {f"{_T}.parties:_REST": never},
    "what is no party": {f"{_T}.parties:_NO_PARTY": never},
    "words that open recitals": {"documents.structure.recitals:opens_recitals": giving(False)},
    "runs of recitals": {"documents.structure.recitals:run_of_recitals": giving(-1)},
    "headings before a dash": {"documents.structure.markers:_DASHED": never},
    "headings in the margin": {f"{_L}:LogicalLine.beside": giving(False)},
    "headings in capitals": {f"{_O}:_capital_headings": giving({})},
    "underlined headings": {f"{_L}:_underlined": giving(0)},
    "sections of codes": {f"{_O}:_code_sections": giving({})},
    "lists of links": {"documents.structure.contents:_listed_again": giving(frozenset())},
    "names broken over lines": {f"{_L}:_breaks_off_in_a_name": giving(False)},
    "items inserted": {"documents.structure.markers:_inserted": giving(None)},
    "numbers of inner lists": {"documents.reading.markdown:_is_levelled": giving(False)},
    "hyphens at line ends": {"documents.reading.hyphens:breaks": giving([])},
}
READING = frozenset([*GROUPS][[*GROUPS].index("abbreviations") :])
"""The groups that read documents while they are indexed."""


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
        case: The line of the case, as ``cases.py`` reads it.
    """

    kind: str
    corpus: str
    asked: str
    history: tuple[Any, ...] = ()
    gold: tuple[Span, ...] = ()
    points: tuple[str, ...] = ()
    reference: str | None = None
    supported: bool | None = None
    case: str = ""


@dataclass(frozen=True)
class Answered:
    """What became of a question; of a claim, ``passed`` where it is judged to be supported.

    ``right`` and ``misleads`` are of a case, ``answers`` is the probability that it answers.
    """

    answer: str = ""
    abstained: bool = False
    passed: bool = False
    spans: tuple[Span, ...] = ()
    right: bool = False
    misleads: bool = False
    answers: float = 0.0


class Asking:
    """Asks the state machine; the same turns once."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], tuple[Answered, frozenset[str]]] = {}
        self._evidence: dict[tuple[str, ...], Evidence] = {}
        self._before: Callable[[], None] = lambda: None
        self._heard: set[str] = set()

    def listen(self, groups: Mapping[str, Mapping[str, Out]]) -> frozenset[str]:
        """Note from now on which of these groups have a say; of those returned it is unknown."""
        cached = [
            one.cache_clear
            for name, module in [*sys.modules.items()]
            if name.startswith(("lexloop.nodes", "lexloop.documents.structure"))
            for one in vars(module).values()
            if hasattr(one, "cache_clear")
        ]
        for name, group in groups.items():
            for path, out in group.items():
                if name in READING:
                    continue
                tell = functools.partial(self._heard.add, name)
                put(path, functools.partial(_listening, out=out, tell=tell))

        def anew() -> None:
            self._heard.clear()
            for clear in cached:
                clear()

        self._before = anew
        unheard = {name for name, one in groups.items() if not one or name in READING}
        return frozenset(self._heard | unheard)

    def __call__(self, question: Question) -> tuple[Answered, frozenset[str]]:
        """The answer, and the groups that had a say in it and in the turns before."""
        key = (question.corpus, question.asked, question.history)
        if key not in self._known:
            messages, earlier = self._turns_before(question)
            self._before()
            answered = (
                self._answer(question, messages) if question.corpus else self._judge(question)
            )
            self._known[key] = answered, earlier | self._heard
        return self._known[key]

    def _turns_before(self, question: Question) -> tuple[list[BaseMessage], frozenset[str]]:
        heard: frozenset[str] = frozenset()
        messages: list[BaseMessage] = []
        for place, turn in enumerate(question.history if question.corpus else ()):
            if isinstance(turn, str):
                before, also = self(Question("", question.corpus, turn, question.history[:place]))
                messages += [HumanMessage(turn), AIMessage(before.answer)]
                heard |= also
            else:
                messages.append((HumanMessage if turn[0] == "user" else AIMessage)(turn[1]))
        return messages, heard

    def _answer(self, question: Question, before: list[BaseMessage]) -> Answered:
        messages = [*before, HumanMessage(question.asked)]
        said = graph.invoke({"messages": messages}, context={"corpus": question.corpus})
        spans = tuple((c["document"], c["start"], c["end"]) for c in said["citations"])
        verdict = said.get("evaluation") or {}
        found = Answered(
            said["answer"],
            bool(said["abstained"]),
            bool(verdict.get("passed")),
            spans,
            answers=verdict.get("answers") or 0.0,
        )
        if not question.case:
            return found
        outcome = outcome_of(json.loads(question.case), said)
        return replace(found, right=outcome.right, misleads=outcome.misleads)

    def _judge(self, claim: Question) -> Answered:
        if claim.history not in self._evidence:
            self._evidence[claim.history] = evidence_of([*claim.history], load_shipped().embed)
        held = replace(self._evidence[claim.history])  # what is read of it is read anew
        [found] = self._support.of([claim.asked], held)
        return Answered(passed=found.probability >= _SUPPORTED)

    @functools.cached_property
    def _support(self) -> ClaimSupport:
        return ClaimSupport(load_shipped().embed)


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
    if not callable(old):
        tell()
        return old
    other = out(old)

    @functools.wraps(old)
    def called(*given: Any, **named: Any) -> Any:
        found, instead = old(*given, **named), other(*given, **named)
        if isinstance(found, Iterator):
            found, instead = [*found], [*instead]
        if found is not instead and (found == instead) is not True:
            tell()
        return found

    return called


def put(path: str, make: Callable[[Any], Any]) -> None:
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
    parser = options(__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the published sets")
    parser.add_argument("--sets", default=",".join(_SETS))
    parser.add_argument("--groups", default=";".join(GROUPS), help="names, with semicolons")
    parser.add_argument("--cases", type=Path, nargs="+", default=[CASES], metavar="FOLDER")
    given = parser.parse_args()
    groups = {name: GROUPS[name] for name in given.groups.split(";")}
    with tempfile.TemporaryDirectory() as made:
        folders = _folders(given.sets.split(","), given.data, given.cases)
        questions = [*_questions(folders, Path(made))]
        asking, heard = Asking(), defaultdict[str, list[int]](list)
        always = asking.listen(groups)
        before = []
        for number, question in enumerate(questions):
            answered, said = asking(question)
            before.append(answered)
            for name in said | always:
                heard[name].append(number)
        judge = CorrectnessJudge(load_shipped().embed)
        score = functools.lru_cache(maxsize=None)(functools.partial(figures_of, judge))
        first = [*map(score, questions, before)]
        means = ([name, f"{fmean(values):.3f}"] for name, values in _named(questions, first))
        print(table(["with all rules", ""], means) + "\n")
        rows = []
        for name in groups:
            after = _without(name, questions, before, heard[name])
            changed = sum(one != other for one, other in zip(before, after, strict=True))
            moved = _moved(questions, first, [*map(score, questions, after)])
            rows.append([name, len(heard[name]), changed, "; ".join(moved) or "none"])
            print(*rows[-1], sep=", ", file=sys.stderr, flush=True)
        print(table(["without", "asked", "changed", "figures changed"], rows))


def _without(
    name: str, questions: Sequence[Question], before: Sequence[Answered], heard: Sequence[int]
) -> list[Answered]:
    """The answers with a group of rules out, which has a say in some of them."""
    after = [*before]
    if heard:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as child:
            found = child.submit(_asked_without, name, [questions[n] for n in heard]).result()
        for n, answered in zip(heard, found, strict=True):
            after[n] = answered
    return after


def _asked_without(name: str, questions: Sequence[Question]) -> list[Answered]:
    with tempfile.TemporaryDirectory() as cache:
        if name in READING:
            os.environ["LEXLOOP_CACHE"] = cache
            put("documents.reading.workers:_read_from", lambda _: _read_here)
        for path, out in GROUPS[name].items():
            put(path, out)
        asking = Asking()
        return [asking(question)[0] for question in questions]


def _read_here(
    first: tuple[int, ...], file: Any, _pool: Any, limits: Any, found: list[Any], **_: Any
) -> None:
    """Read a file in this process, which is the one that a group was taken out of."""
    data = read_file(file.path, file.sha256, limits)
    read = read_bytes(data, file.name, limits, first)
    found += [one for one in read if not isinstance(one, (Part, PageRead))]


def _folders(sets: Sequence[str], data: Path | None, cases: Sequence[Path]) -> dict[str, Path]:
    """Where each set lies; those that are not there are told."""
    ours = {"sample": ROOT / "data", "altered": ROOT / "data" / "ll144"}
    named = [name for name in sets if name != "cases"]
    found = {name: ours.get(name) or (data or Path("data")) / name for name in named}
    if "cases" in sets:
        found |= {f"cases of {'/'.join(path.resolve().parts[-2:])}": path for path in cases}
    for name in [name for name, folder in found.items() if not folder.is_dir()]:
        print(f"{name} left out: there is no {found.pop(name)}; give --data or set LEXLOOP_DATA.")
    return found


def _questions(folders: Mapping[str, Path], made: Path) -> Iterator[Question]:
    for name, folder in folders.items():
        corpus = made / name.replace("/", " ")
        corpus.mkdir()
        by_kind: dict[str, list[Question]] = defaultdict(list)
        for question in _SETS[name.partition(" ")[0]](folder, corpus):
            by_kind[question.kind].append(question)
        for kind, found in by_kind.items():
            most = _MOST.get(kind.partition(" ")[2], _ALTERED if name == "altered" else len(found))
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
    for probe in read_rows(folder / "probes.jsonl"):
        kind, gold = probe["kind"], [spans[name] for name in names_of(probe)]
        points: list[str] = []
        if gold and kind == "list":
            start, end = gold[0]
            inside = (s for name, s in spans.items() if len(name) == 3 and start <= s[0] < end)
            points = probe.get("points") or [text[slice(*span)] for span in inside]
        if gold or kind == "not_there":  # of a number that there is not there is nothing to score
            where = tuple((path.name, *span) for span in gold)
            history = (*probe["history"],)
            named = f"{corpus.name} {kind}"
            yield Question(named, str(corpus), probe["question"], history, where, (*points,))


def _gold(folder: Path, corpus: Path) -> Iterator[Question]:
    """Gold questions with reference answers, and queries that are to be refused."""
    for path in (folder / "ll144" if folder.name == "data" else folder).glob("*.txt"):
        (corpus / path.name).write_bytes(path.read_bytes())
    name = corpus.name
    for case in read_cases(sorted(folder.glob("gold*.jsonl"))[0]):
        history = tuple((turn.role, turn.content) for turn in case.conversation_history)
        reference = None if case.out_of_scope else case.reference_answer
        kind = f"{name} {'out of scope' if case.out_of_scope else 'answerable'}"
        yield Question(kind, str(corpus), case.question, history, reference=reference)
    if (negative := folder / "negative.jsonl").is_file():
        for query in read_negative(negative):
            yield Question(f"{name} negative", str(corpus), query.question)


def _guidance(folder: Path, corpus: Path) -> Iterator[Question]:
    """Situations and what they ask of guidance, with the passages that answer (ConditionalQA)."""
    rows = _drawn(read_rows(folder / "train.jsonl"), _GUIDANCE)
    texts: dict[str, str] = defaultdict(str)
    spans: dict[str, Span] = {}
    wanted = {row["document_id"] for row in rows}
    for passage in read_rows(folder / "train_passages.jsonl"):
        if (document := passage["document_id"]) in wanted:
            start = len(texts[document])
            texts[document] += f"{passage['text']}\n\n"
            spans[passage["id"]] = f"{document}.txt", start, start + len(passage["text"])
    for document, text in texts.items():
        (corpus / f"{document}.txt").write_text(text, encoding="utf-8")
    for row in rows:
        gold = tuple(spans[name] for name in row["relevant_ids"])
        kind = f"{corpus.name} {'answerable' if gold else 'not there'}"
        yield Question(kind, str(corpus), f"{row['scenario']} {row['question']}", gold=gold)


def _wice(folder: Path, corpus: Path) -> Iterator[Question]:
    """Claims with their evidence, which people found to support them or not (WiCE)."""
    for row in _drawn(read_wice(folder / "dev.jsonl"), _CLAIMS):
        supported = row.label == "supported"
        kind = f"{corpus.name} {'supported' if supported else 'unsupported'}"
        yield Question(kind, "", row.claim, (*row.evidence_sentences,), supported=supported)


def _altered(folder: Path, corpus: Path) -> Iterator[Question]:
    """Statements of the sample, altered, beside their own section (``altered.py``)."""
    chance, embed = random.Random(_SEED), load_shipped().embed
    for text in sections(folder):
        for name, said in alterations(evidence_of([text], embed).sentences, text, chance):
            supported = name in ("words_before", "reworded")
            yield Question(f"{corpus.name} {name}", "", said, (text,), supported=supported)


def _cases(folder: Path, corpus: Path) -> Iterator[Question]:
    """Everyday questions on small documents, each with what its answer must say (``cases.py``)."""
    for row in read_rows(folder / "cases.jsonl"):
        *before, asked = row["turns"]
        home = str(folder / row["folder"])
        yield Question(corpus.name, home, asked, tuple(before), case=json.dumps(row))


_SETS: dict[str, Callable[[Path, Path], Iterator[Question]]] = {
    "gdpr": _probes,
    "us_cfr": _probes,
    "ll144": _gold,
    "sample": _gold,
    "conditionalqa": _guidance,
    "wice": _wice,
    "altered": _altered,
    "cases": _cases,
}


def figures_of(judge: CorrectnessJudge, asked: Question, said: Answered) -> dict[str, float]:
    """What an answer is worth, by the name of the figure.

    ``silent`` is whether it abstains, ``first`` whether its first citation lies in what answers,
    ``found`` whether any does, ``only`` whether all do, ``points`` the share of a list's points,
    ``verdict`` whether it is passed where, and only where, it is right, and ``brier`` the squared
    distance of the probability that it answers from that: 0 is best.
    """
    if asked.supported is not None:
        return {"right": float(said.passed == asked.supported)}
    if asked.case:
        return {"right": float(said.right), "wrong and passed": float(said.misleads)}
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
    brier = (said.answers - good) ** 2
    return {**found, "verdict": float(said.passed == good), "brier": brier}


def _within(span: Span, gold: Iterable[Span]) -> bool:
    """Whether half of a citation lies in what answers, or half of that in it."""
    document, start, end = span
    return any(
        document == other
        and 2 * (min(end, stop) - max(start, begin)) >= min(end - start, stop - begin)
        for other, begin, stop in gold
    )


def _named(
    questions: Sequence[Question], figures: Sequence[Mapping[str, float]]
) -> Iterable[tuple[str, list[float]]]:
    """Each figure of each kind of question, with its value for every one."""
    found: dict[str, list[float]] = defaultdict(list)
    for question, values in zip(questions, figures, strict=True):
        for name, value in values.items():
            found[f"{question.kind} {name}"].append(value)
    return found.items()


def _moved(
    questions: Sequence[Question],
    first: Sequence[Mapping[str, float]],
    second: Sequence[Mapping[str, float]],
) -> Iterator[str]:
    """What figures change by, those that do; a star marks an interval that excludes 0."""
    after = dict(_named(questions, second))
    for name, values in _named(questions, first):
        changes = [b - a for a, b in zip(values, after[name], strict=True)]
        found = estimate(changes)
        if any(changes) and isinstance(found, Estimate):
            star = "*" if found.low > 0 or found.high < 0 else ""
            yield f"{name} {found.mean:+.3f} [{found.low:+.3f}, {found.high:+.3f}]{star}"


if __name__ == "__main__":
    main()
