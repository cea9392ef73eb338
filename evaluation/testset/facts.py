"""Facts: what the documents state, each with the question that asks for it and its evidence."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from lexloop.corpus.triplets.definitions import find_aliases
from lexloop.corpus.triplets.frames import Unit
from lexloop.evaluation.case import Span
from lexloop.evaluation.testset.ask import Ask
from lexloop.evaluation.testset.deeds import deeds
from lexloop.evaluation.testset.material import Line, Material
from lexloop.evaluation.testset.of_deeds import Asked, asked_of
from lexloop.evaluation.testset.of_statements import asked_of_statement
from lexloop.evaluation.testset.wording import as_statement, is_actor

_MOST_STATEMENTS = 4
_MOST_ANSWER_CHARS = 1200
_DEEPEST = 2
_FEW = 3
_SAYS = frozenset({"include", "contain", "give", "state", "show", "specify", "set out", "indicate"})
_Lists = dict[tuple[str, Unit], list[Line]]


@dataclass(frozen=True)
class Fact:
    """A question with its answer.

    Args:
        kind: What is asked for: definition, condition, time, content, list, ...
        ask: The question's parts.
        answer: The statements that answer it.
        spans: Where they stand.
        place: The section as a question names it; empty where it has no number.
    """

    kind: str
    ask: Ask
    answer: str
    spans: tuple[Span, ...]
    place: str = ""

    @property
    def pieces(self) -> int:
        """How many separate pieces of evidence hold the answer."""
        return len(self.spans)


def read_facts(material: Material) -> list[Fact]:
    """The facts of a corpus in reading order.

    Statements that answer one question are one fact, for an answer with only some of them would be
    wrong; a question that more than four statements answer is asked of one section at a time, or
    not at all.
    """
    found = [*_aliases(material), *_stated(material)]
    return [merged for group in _alike(found) for merged in _merged(group)]


def _stated(material: Material) -> Iterator[Fact]:
    lists: _Lists = defaultdict(list)
    for line in material.lines:
        if line.unit.lead is not None:
            lists[line.document, line.unit.lead].append(line)
    for line in material.lines:
        if not line.body.lstrip("\"“‘'")[:1].isupper() or len(line.body) < 16:
            continue
        for kind, ask in _asked(line.body):
            answer = as_statement(line.body)
            if line.unit.leads:
                answer = _list_text(line, lists, material.text_of(line.document))
            if (kind in ("list", "condition")) and line.unit.leads and ":" not in answer:
                continue
            if len(answer) <= _MOST_ANSWER_CHARS:
                asked = _placed(kind, ask, line.place)
                span = _span(line, lists, material.text_of(line.document))
                yield Fact(kind, asked, answer, (span,), line.place)


def _placed(kind: str, ask: Ask, place: str) -> Ask:
    """The question with its section, where "the notice" or a bare verb alone could be any."""
    bare = (
        kind in ("content", "duty", "list")
        and len(ask.rest.split()) < _FEW
        and is_actor(ask.subject)
    )
    the_one = ask.subject.startswith("the ") and len(ask.subject.split()) < _FEW
    settled = kind in ("definition", "alias", "agent") or ask.front or not place
    return ask if settled or not (bare or the_one) else replace(ask, front=within(ask, place))


def within(ask: Ask, place: str) -> str:
    """The section as the front of a question."""
    return f"{'According to' if ask.opening.startswith('Under') else 'Under'} {place}"


def _asked(body: str) -> Iterator[Asked]:
    seen: set[str] = set()
    of_deeds = [asked for deed in deeds(body) for asked in asked_of(deed)]
    for asked in (*asked_of_statement(body), *of_deeds):
        if asked.ask.direct() not in seen:
            seen.add(asked.ask.direct())
            yield asked


def _aliases(material: Material) -> Iterator[Fact]:
    for document in material.view.documents:
        text = material.text_of(document)
        for acronym, long_form in find_aliases(text).items():
            line = next(
                (
                    line
                    for line in material.lines
                    if line.document == document
                    and acronym in line.body
                    and long_form.lower() in line.body.lower()
                ),
                None,
            )
            if line and acronym.isupper():
                ask = Ask("What", "does", acronym, "stand for")
                span = Span(document=document, start=line.unit.start, end=line.unit.end,
                            section=line.section)  # fmt: skip
                yield Fact("alias", ask, f"{acronym} stands for {long_form}.", (span,))


def _list_text(line: Line, lists: _Lists, text: str, depth: int = 0) -> str:
    """A lead-in with its items, as one sentence; an item reaches to the end of its line."""
    items = lists.get((line.document, line.unit), [])
    body = line.body if items else line.body + text[line.unit.end : _line_end(line, text)]
    lead = " ".join(body.split()).rstrip(" :—–-")
    if not items or depth > _DEEPEST:
        return as_statement(lead)
    texts = [_list_text(item, lists, text, depth + 1).rstrip(".") for item in items]
    return as_statement(f"{lead}: {'; '.join(texts)}")


def _line_end(line: Line, text: str) -> int:
    end = text.find("\n", line.unit.end)
    return len(text) if end < 0 else end


def _span(line: Line, lists: _Lists, text: str) -> Span:
    end, last = line.unit.end, line
    while items := lists.get((line.document, last.unit)):
        last = items[-1]
        end = _line_end(last, text)
    end = line.unit.start + len(text[line.unit.start : end].rstrip())
    return Span(document=line.document, start=line.unit.start, end=end, section=line.section)


def _alike(facts: Iterable[Fact]) -> list[list[Fact]]:
    groups: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        groups[_asked_for(fact)].append(fact)
    return list(groups.values())


def _asked_for(fact: Fact) -> str:
    """The question as a key; what a thing must give, state or contain is what it must include."""
    said = fact.kind in ("content", "list") and fact.ask.rest in _SAYS
    same = (
        replace(fact.ask, rest="include") if said and not is_actor(fact.ask.subject) else fact.ask
    )
    return same.direct().lower()


def _merged(group: Sequence[Fact]) -> Iterator[Fact]:
    if group[0].kind == "alias":
        yield group[0]
        return
    distinct = {fact.answer.lower(): fact for fact in group}
    if len(distinct) <= _MOST_STATEMENTS:
        yield _joined(list(distinct.values()))
        return
    by_place: dict[str, list[Fact]] = defaultdict(list)
    for fact in distinct.values():
        by_place[fact.place].append(fact)
    for place, facts in by_place.items():
        if place and len(facts) <= _MOST_STATEMENTS:
            front = facts[0].ask.front or within(facts[0].ask, place)
            ask = replace(facts[0].ask, front=front)
            yield replace(_joined(facts), ask=ask)


def _joined(facts: Sequence[Fact]) -> Fact:
    spans = tuple(dict.fromkeys(span for fact in facts for span in fact.spans))
    plainest = min(facts, key=lambda fact: fact.ask.rest != "include")
    return replace(plainest, answer=" ".join(fact.answer for fact in facts), spans=spans)
