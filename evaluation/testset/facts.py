"""Facts: what the documents state in sentences that one template fits, each as a question."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from lexloop.corpus.index.view import View
from lexloop.corpus.structure.statements import Statement, statements, unnumbered
from lexloop.corpus.structure.tree import Tree
from lexloop.corpus.text.languages import languages_of
from lexloop.corpus.triplets.measures import find_amounts, find_deadlines
from lexloop.evaluation.case import Span
from lexloop.evaluation.testset.phrases import (
    STATIVE,
    Rule,
    is_actor,
    is_clear,
    lowered,
    noun_phrase,
    read_rule,
    speaks_of_it,
    uncapitalised,
    who_acts,
)

_MEANS = re.compile(
    r"(?:The\sterm\s)?[“\"‘']?(?P<term>[A-Za-z][^“”\"‘’:;.,()]{1,70}?)[”\"’']?(?:\s\([^()]{2,40}\))?,?"
    r"\smeans?:?\s(?!for\b|of\b|by\b|that\b)(?P<meaning>.+)"
)
_NO_TERM = re.compile(
    r"\b(?:an?|the|any|your|that|which|who|is|are|and|by)\b|^(?:This|That|It|Which)\b"
    r"|^(?:phrase|term|word|expression|definition)$"
)
_QUOTED = ("“", '"', "‘", "'", "The term ")
_IS = re.compile(
    r"An?\s(?P<term>[\w\-]+(?:\s[a-z][\w\-]*){0,3})\sis\s(?P<meaning>(?:an?|any|the)\s(?:\S+\s){4,}\S+)"
)
_ELSEWHERE = re.compile(
    r"(?:(?:as|the|is|has|what|that)\s)+(?:\w+\s){0,4}(?:defined|meanings?)\b", re.I
)
_AMOUNT = re.compile(
    r"(?P<noun>(?:The|An?)\s[^,:;]+?)\s(?P<verb>is|(?:shall|must|will)\sbe"
    r"|(?:shall|must|may)\snot\sexceed)\s(?P<amount>.+)"
)
_MONEY = re.compile(r"[$€£]|\b(?:USD|EUR|GBP|AED|CHF|dollars|euros?|pounds|dirhams)\b")
_FORCE = re.compile(
    r"(?P<noun>The\s[\w\s\-]{2,60}?)\s(?P<verb>takes|took|enters|entered|comes|came)\s"
    r"(?P<what>effect|into\s(?:force|effect|operation))\s(?:on|from)\s.*\d.*"
)
_DONE = re.compile(
    r"(?P<noun>The\s[\w\s\-]{2,60}?)\s(?P<verb>was|were)\s(?P<what>[a-z]+ed|made|held|given)"
    r"(?:\sby\s[^,]+)?\son\s(?:\d{1,2}\s[A-Z][a-z]+|[A-Z][a-z]+\s\d{1,2},?)\s\d{4}\."
)
_PAST = {"took": "take", "entered": "enter", "came": "come"}
_SAYS = re.compile(
    r"(?:include|contain|state|specify|describe|identify|show|indicate|set out|explain|calculate|list)\b"
    r"(?!\s(?:in|on|to|for|with|by|at|from|whether|as|of|and|or|within|under)\b)"
)
_THE_LIST = re.compile(
    r"\s?\b(?:(?:all|any|each|both|at least|one or more|at least one)(?:\sof)?\s)?the\sfollowing"
    r"(?:\s(?:information|items|details|particulars|documents|matters|elements|things|records))?$"
)
_TAKES_OBJECT = re.compile(
    r"(?:include|contain|state|specify|set out|describe|provide|submit|disclose|identify|show|indicate"
    r"|give|address|cover|record|keep|maintain|consider|document|report|publish|take into account"
    r"|comprise|consist of|notify|obtain)(?:\sat least)?"
)
_OPENINGS = (
    (re.compile(r".* (?:before|prior to) (?P<event>\D.+)"), "How long before "),
    (re.compile(r"(?:not|no) later than .* (?:after|following) (?P<event>.+)"), "How soon after "),
    (re.compile(r"within "), "Within what time"),
    (re.compile(r"for "), "For how long"),
    (re.compile(r".*\b(?:once|annually|quarterly|every|each)\b"), "How often"),
    (re.compile(r"(?:(?:not|no) later than|by|on or before) .*\d{4}"), "By what date"),
)
_ASKS = re.compile(
    r"(?:What|When|Who|Where|How|Which|Why|May|Must|Can|Does|Do|Is|Are|Will|Should|Under|For)\s"
)
_POINTS = re.compile(
    r"\b(?:this|these|those|that|such|it|they|them|its|their|he|she|other|following|above|same)\b"
    r"|[()\[\]:;§]|\?.",
    re.IGNORECASE,
)
_NO_OBJECT = re.compile(
    r"\b(?:do|that|by|in|on|of|under|if|to|for)$|\b(?:which|who|that|whose|where)\b"
)
_ELSEWHERE_SAID = re.compile(
    r"\b(?:otherwise|as\s\w+ed\b)|\b(?:(?:sub)?(?:paragraph|section)|article|clause|rule|part)s?\b|§",
    re.I,
)
_PERSON = re.compile(
    r"(?:an?|any|the)\s(?:[\w\-,]+\s){0,5}?(?:persons?|individual|company|agency|authority|body|firm)\b"
)
_NO_PROSE = re.compile(r"[|\[\]•_]|\.{3}|…")
_VERBAL = re.compile(r"\b(?:is|are|was|were|has|have|must|shall|may|will|means?)\b")
_LABEL_WORDS = 10
_LONGEST, _FEWEST_WORDS = 1_400, 4
_FEW, _TELLING, _SHORT_ACT = 2, 5, 9
_MOST_PIECES = 3


@dataclass(frozen=True)
class Fact:
    """A question with its answer.

    Args:
        kind: ``definition``, ``amount``, ``date``, ``who``, ``heading``, ``duty``, ``exception``,
            ``condition``, ``time``, ``list``, ``provision`` or ``case``.
        question: As it stands alone.
        clause: The question within another sentence, "who must pay the fee"; empty where it cannot
            stand in one.
        answer: The provision's own words, a case's behind "Yes." or "No.".
        spans: Where they stand.
        turns: What a user says first, what is replied, and the question that needs both; or nothing.
        about: The term, or the one who acts; or nothing.
    """

    kind: str
    question: str
    clause: str = ""
    answer: str = ""
    spans: tuple[Span, ...] = ()
    turns: tuple[str, ...] = ()
    about: str = ""

    @property
    def pieces(self) -> int:
        """The count of the separate pieces of evidence that hold the answer."""
        return len(self.spans)


def read_facts(view: View) -> list[Fact]:
    """Return the facts of a corpus in reading order; of documents in another language, none.

    Statements that answer one question are one fact, for an answer with only some of them would be
    wrong; a question that more than three statements answer is too general to be asked.
    """
    same: dict[str, list[Fact]] = defaultdict(list)
    for document in view.documents:
        text, tree = view.text_of(document) or "", view.tree_of(document) or Tree()
        if languages_of([text])[:1] != ["English"]:
            continue
        for fact in _of_document(document, tree, text):
            same[fact.question].append(fact)
    return [joined for facts in same.values() if (joined := _joined(facts))]


def _joined(facts: list[Fact]) -> Fact | None:
    answers = list(dict.fromkeys(fact.answer for fact in facts))
    answers = [one for one in answers if not any(one in other for other in answers if one != other)]
    if len(answers) > (1 if facts[0].kind == "case" else _MOST_PIECES):
        return None
    distinct = {fact.answer: fact for fact in reversed(facts)}
    spans = tuple(dict.fromkeys(span for answer in answers for span in distinct[answer].spans))
    answer = " ".join(answers)
    return replace(facts[0], answer=answer, spans=spans) if len(answer) <= _LONGEST else None


def _of_document(document: str, tree: Tree, text: str) -> Iterator[Fact]:
    def placed(facts: Iterable[Fact], start: int, end: int) -> Iterator[Fact]:
        span = _span(document, tree, text, start, end)
        said = unnumbered(text[span.start : span.end])
        if len(said.split()) > _FEWEST_WORDS and len(said) <= _LONGEST and _is_whole(said):
            said = f"{said[0].upper()}{said[1:].rstrip(';.')}."
            for fact in facts:
                yield replace(fact, answer=f"{fact.answer} {said}".strip(), spans=(span,))

    for place, unit in enumerate(tree.units):
        if tree.operative(place):
            yield from placed(_of_heading(unit.heading), unit.body, unit.end)
            if unit.kind == "definition":
                opening = unnumbered(text[unit.body : unit.end])
                yield from placed(_of_definition(unit.heading, opening, text), unit.body, unit.end)
    found = [one for one in statements(tree, text) if tree.operative(tree.at(one.start))]
    persons = (_MEANS.fullmatch(one.own) for one in found)
    actors = {term["term"].lower() for term in persons if term and _PERSON.match(term["meaning"])}
    for one in found:
        made = _of_list if one.points else _of_sentence
        yield from placed(made(_Said.of(one, tree, text), actors), one.start, one.end)


def _span(document: str, tree: Tree, text: str, start: int, end: int) -> Span:
    """A span without the blanks around it."""
    start += len(text[start:end]) - len(text[start:end].lstrip())
    end = max(start + len(text[start:end].rstrip()), start + 1)
    return Span(document=document, start=start, end=end, section=tree.units[tree.at(start)].label)


def _is_whole(said: str) -> bool:
    """Whether words end where they should and are no row of a table."""
    return said.endswith((".", ".”", '."', ";", ".)")) and not _NO_PROSE.search(said)


@dataclass(frozen=True)
class _Said:
    """A statement: its words, those of them that lead into its list, and what stands around it.

    ``alone`` are the modals that its provision has nowhere else, ``whole`` is whether it has no other
    words at all, ``opens`` whether it is the first, so that nothing before explains
    it, ``hangs`` whether the statement is an item of a list.
    """

    own: str
    lead: str
    label: str
    text: str
    alone: frozenset[str]
    whole: bool
    opens: bool
    hangs: bool

    @classmethod
    def of(cls, one: Statement, tree: Tree, text: str) -> "_Said":
        place = tree.around(one.start, one.end)
        lead = unnumbered(text[one.start : tree.own_end(place)]) if one.points else ""
        unit = tree.units[tree.labels.get(one.label, place)]
        around = text[unit.start : one.start] + text[one.end : unit.end]
        other = set(re.findall(r"\b(?:must|shall|may)\b", around))
        alone = {"may"} - other | ({"must"} if not other & {"must", "shall"} else set())
        whole = not re.search(r"\w", text[unit.body : one.start] + text[one.end : unit.end])
        before = text[unit.body : one.start]
        opens = len(before.split()) <= _LABEL_WORDS and not _VERBAL.search(before)
        return cls(one.own, lead, one.label, text, frozenset(alone), whole, opens, bool(one.lead))


def _of_heading(heading: str) -> Iterator[Fact]:
    """A heading that is a question and can be asked where nothing stands around it."""
    asked = " ".join(heading.split())
    clear = _ASKS.match(asked) and asked.endswith("?") and not _POINTS.search(asked)
    if clear and len(asked.split()) >= _FEWEST_WORDS:
        yield Fact("heading", asked)


def _of_definition(term: str, said: str, text: str) -> Iterator[Fact]:
    """A term with a place of its own, whose words begin with it and explain no other."""
    bare = re.sub(r"\s*\([^()]*\)$", "", term)
    opening = (
        rf"(?:An?\s|The\s|To\s|The\sterm\s)?\W?{re.escape(bare)}\W{{0,2}}(?:\s\([^()]*\))?,?\s"
    )
    found = re.match(opening + r"(?:means?|is|are|refers?\sto)\b:?\s*", said, re.IGNORECASE)
    if (
        found
        and not _ELSEWHERE.match(said[found.end() :])
        and len(re.findall(r"\bmeans?\b", said)) < 2
    ):
        yield _definition(bare, text)


def _of_sentence(one: "_Said", actors: Collection[str]) -> Iterator[Fact]:
    if found := _MEANS.fullmatch(one.own) or _IS.fullmatch(one.own):
        yield from _explained(found, one)
        return
    if one.opens and not one.hangs:
        yield from _of_amount(one.own, one.text)
        yield from _of_date(one.own, one.text)
        rule = read_rule(one.own, one.text)
        if rule and not rule.leads:
            yield from _of_rule(rule, one.label, actors)
    yield from _of_label(one.own, one, actors)


def _explained(found: re.Match[str], one: "_Said") -> Iterator[Fact]:
    """The term of a sentence that says what it means."""
    quoted = found.group().startswith(_QUOTED)
    plain = not one.hangs and is_clear(found["term"]) and not _NO_TERM.search(found["term"])
    if (quoted or plain) and not _ELSEWHERE.match(found["meaning"]):
        yield _definition(found["term"], one.text)


def _of_label(sentence: str, one: "_Said", actors: Collection[str]) -> Iterator[Fact]:
    """What a provision has somebody do, where it says so in this one statement."""
    found = who_acts(sentence, one.text)
    if not found or not one.label or found[1].removesuffix(" not") not in one.alone:
        return
    subject, modal, act = found
    if act.startswith("only "):
        return
    if is_actor(subject, actors) and not STATIVE.match(act) and not act.startswith("be "):
        aux, negation = modal.split()[0], modal[5:]
        done = f"{negation} do".strip()
        fact = _inverted("provision", "What", aux, subject, f"{done} under {one.label}")
        turns = (f"I am reading {one.label}.", "What would you like to know about it?",
                 f"What {aux} {subject} {done} under it?")  # fmt: skip
        yield replace(fact, turns=turns, about=subject)
    elif (verb := _SAYS.match(act)) and modal == "must":
        fact = _inverted("list", "What", modal, subject, f"{verb.group()} under {one.label}")
        opened = f"Does {one.label} say what {subject} must {verb.group()}?"
        yield replace(fact, turns=(opened, "Yes, it does.", "And what is that?"))
    elif (
        act.startswith("be ")
        and subject.startswith("the ")
        and one.whole
        and len(subject.split()) > 1
    ):
        asked = f"What does {one.label} say about {subject}?"
        turns = (f"I am reading {one.label}.", "What would you like to know about it?",
                 f"What does it say about {subject}?")  # fmt: skip
        yield Fact("provision", asked, f"what {one.label} says about {subject}", turns=turns)


def _inverted(kind: str, opening: str, aux: str, subject: str, rest: str = "") -> Fact:
    """A question whose verb changes places with its subject within another sentence."""
    question = " ".join(f"{opening} {aux} {subject} {rest}".split())
    clause = " ".join(f"{lowered(opening)} {subject} {aux} {rest}".split())
    return Fact(kind, f"{question}?", clause)


def _definition(term: str, text: str) -> Fact:
    named = f"“{uncapitalised(re.sub(r'^(?:An?|The|To) ', '', term), text)}”"
    fact = Fact("definition", f"What is meant by {named}?", f"what is meant by {named}")
    return replace(fact, about=named)


def _of_amount(sentence: str, text: str) -> Iterator[Fact]:
    """How much something costs or may be, where the sentence ends with the sum or soon after."""
    found = _AMOUNT.fullmatch(sentence)
    noun = noun_phrase(found["noun"], text) if found else ""
    first = next(find_amounts(found["amount"]), None) if found else None
    if found and noun and first and first.start == 0 and _MONEY.search(first.text):
        if found["verb"].endswith("exceed"):
            yield _inverted("amount", "How much", "may", noun, "be at most")
        else:
            yield _inverted("amount", "How much", "is", noun)


def _of_date(sentence: str, text: str) -> Iterator[Fact]:
    """When something takes effect or was done."""
    found = _FORCE.match(sentence) or _DONE.fullmatch(sentence)
    noun = noun_phrase(found["noun"], text) if found else ""
    if not found or not noun:
        return
    verb = found["verb"]
    if verb in ("was", "were"):
        yield _inverted("date", "When", verb, noun, found["what"])
    else:
        aux, bare = ("did", _PAST[verb]) if verb in _PAST else ("does", verb.removesuffix("s"))
        clause = f"when {noun} {verb} {found['what']}"
        yield Fact("date", f"When {aux} {noun} {bare} {found['what']}?", clause)


def _of_rule(rule: Rule, label: str, actors: Collection[str]) -> Iterator[Fact]:
    """What one sentence about an act answers."""
    actor = is_actor(rule.subject, actors)
    about = rule.subject if actor else ""
    under = "" if actor or len(rule.subject.split()) > _FEW else label
    if rule.stative or (not actor and not rule.act.startswith("be ")) or (under and not label):
        return
    act = f"{rule.act} under {under}" if under else rule.act
    for fact in (*_limited(rule, act), *_timed(rule, under), *_plain(rule, act, actor)):
        yield replace(fact, about=about)
    if actor and not rule.act.startswith("be "):
        yield from _case(rule)


def _limited(rule: Rule, act: str) -> Iterator[Fact]:
    """Exceptions and conditions of a rule."""
    may = f"May {rule.subject} {act}?"
    if rule.link.startswith(("unless", "except")):
        if not _ELSEWHERE_SAID.search(rule.condition):
            rest = f"to the rule that {rule.subject} {rule.modal} {act}"
            fact = _inverted("exception", "What exception", "is", "there", rest)
            opened = may if rule.modal != "must" else f"Must {rule.subject} {act}?"
            reply = "As a rule, no." if rule.modal == "must not" else "As a rule, yes."
            yield replace(fact, turns=(opened, reply, "Is there an exception?"))
    elif rule.modal == "may" and (rule.link.startswith("only") or rule.link == "provided that"):
        fact = _inverted("condition", "On what condition", "may", rule.subject, act)
        yield replace(fact, turns=(may, "Only on a certain condition.", "On what condition?"))
    elif rule.link and rule.modal != "must not" and not rule.act.startswith("be "):
        given = f"{rule.link} {rule.condition}"
        yield _inverted("duty", "What", rule.modal, rule.subject, f"do {given}")


def _timed(rule: Rule, under: str) -> Iterator[Fact]:
    """By when, for how long or how often something must be done."""
    time = next(find_deadlines(rule.act), None)
    if rule.modal != "must" or rule.link or not time or time.end < len(rule.act):
        return
    act = rule.act[: time.start].rstrip(" ,")
    for pattern, opening in _OPENINGS:
        if found := pattern.fullmatch(time.text) or (
            pattern.match(time.text) if "event" not in pattern.groupindex else None
        ):
            event = found.groupdict().get("event") or ""
            if (event and not is_clear(event)) or not is_clear(act) or len(act.split()) < _FEW:
                return
            asked = f"{act} under {under}" if under else act
            fact = _inverted("time", f"{opening}{event}", "must", rule.subject, asked)
            turns = (
                f"Must {rule.subject} {asked}?",
                "Yes.",
                f"{opening.strip()}{' ' * bool(event)}{event}?",
            )
            yield replace(fact, turns=turns)
            return


def _plain(rule: Rule, act: str, actor: bool) -> Iterator[Fact]:
    """Who must or may do something that says enough by itself."""
    vague = speaks_of_it(act) or act.startswith("be ")
    if rule.link or rule.modal == "must not" or not actor or vague:
        return
    if len(act.split()) >= _TELLING:
        yield Fact("who", f"Who {rule.modal} {act}?", f"who {rule.modal} {act}")


def _case(rule: Rule) -> Iterator[Fact]:
    """Somebody does or wants to do what is ruled on: whether that is allowed."""
    unfit = len(rule.act.split()) < _FEWEST_WORDS or re.search(
        r"\b(?:not|no|nor|always|never)\b", rule.act
    )
    if unfit or rule.link not in ("", "if", "where", "when"):
        return
    if rule.modal == "must":
        told, answer = f"{rule.subject} decided not to {rule.act}", "No."
    else:
        told = f"{rule.subject} would like to {rule.act}"
        answer = "Yes." if rule.modal == "may" else "No."
    said = f"{told[0].upper()}{told[1:]}."
    if rule.link:
        said = f"Suppose that {rule.condition}, and that {told}."
    yield Fact("case", f"{said} Is that allowed?", "", answer, about=rule.subject)


def _of_list(one: "_Said", actors: Collection[str]) -> Iterator[Fact]:
    """What the items of a list are, where the words before them lack an object and no more."""
    if found := _MEANS.fullmatch(one.lead):
        yield from _explained(found, one)
        return
    rule = read_rule(one.lead, one.text)
    if one.hangs:
        return
    if rule is None or not rule.leads or rule.modal == "must not" or not one.label:
        yield from _of_label(one.lead, one, actors)
        return
    act, named = _THE_LIST.subn("", rule.act)
    act = act.removesuffix(" at least")
    unfit = not act or _NO_OBJECT.search(act) or len(act.split()) > _SHORT_ACT
    if unfit or not (named or _TAKES_OBJECT.fullmatch(act)):
        yield from _of_label(one.lead, one, actors)
        return
    given = f" {rule.link} {rule.condition}" if rule.link else ""
    actor = is_actor(rule.subject, actors)
    enough = given or (actor and len(act.split()) >= _FEWEST_WORDS)
    asked = f"{act}{given}" if enough else f"{act} under {one.label}"
    fact = _inverted("list", "What", rule.modal, rule.subject, asked)
    opened = f"Is there anything that {rule.subject} {rule.modal} {asked}?"
    turns = (opened, "Yes, there is.", "What exactly?")
    yield replace(fact, turns=turns, about=rule.subject if actor else "")
