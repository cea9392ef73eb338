"""Clauses that bind: who shall, may or must not do what, read by English function words.

Modals, conjunctions, prepositions and relative pronouns separate a main clause from its dependent
clauses. Actors are recognised by how a document speaks of them.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Literal, NamedTuple

from lexloop.documents.chunks.statements import unnumbered
from lexloop.documents.structure.references import KIND
from lexloop.nodes.alignment import AGENT
from lexloop_workbench.timing import timings

Force = Literal["duty", "right", "prohibition"]

_ADVERB = r"(?:\w+ly |also |then |at all times )?"
_BE = r"(?:is|are|be|(?:shall|will|must) be)(?: \w+ly)?"
_FORCES: dict[Force, str] = {
    "right": rf"(?:(?:shall|will|must) not be|{_BE} not) (?:required|obliged|obligated) to"
    r"|need not|do(?:es)? not (?:have|need) to"
    r"|(?:(?:shall|will) )?(?:(?:have|has) no|(?:be|is|are) under no) (?:obligation|duty) to"
    r"|(?:(?:shall|will) )?(?:have|has) (?:(?:all|the|a|an|its|their|sole|exclusive) ){0,3}"
    r"(?:right|discretion|option|power)(?: to|, [^,]{1,60}, to|(?= not to\b))"
    rf"|{_BE} (?:permitted|allowed|free|entitled|authori[sz]ed) to"
    r"|may, but (?:need|shall) not,"
    rf"|may(?! {_ADVERB}not\b| have to\b| be \w+ing\b)",
    "prohibition": rf"(?:shall|must|may|will|can) {_ADVERB}not\b|cannot"
    r"|(?:(?:shall|will) )?(?:have|has) no (?:authority|right|power) to"
    rf"|{_BE} not (?:permitted|allowed|authori[sz]ed) to|{_BE} prohibited from",
    "duty": rf"(?:(?:shall|will) )?(?:have|has) (?:the|an) (?:obligation|duty|responsibility) to"
    rf"|{_BE} (?:required|obliged|obligated) to"
    r"|shall|must|will|ha(?:s|ve) to|(?<!the )(?<!a )(?<!any )needs? to|agrees? to"
    r"|undertakes? to|covenants? to",
}
_MODAL = re.compile(
    "|".join(rf"\b(?P<{force}>{pattern})(?!\w)" for force, pattern in _FORCES.items()),
    re.IGNORECASE,
)
_FRONT = re.compile(
    r"(?:yes|no$|wherever|\w+ly$|that is|per|in|on|upon|for|after|before|at|by|to|with|without"
    r"|within|as|during|under|until|once|from"
    r"|subject to|notwithstanding|except|taking|having|following|prior to|pursuant to|not ?later"
    r"|no later|no more|provided|save|where|when|whenever|if|unless|while|because|since|although"
    r"|beginning|upon|regardless|irrespective|besides|only|however|therefore|thereafter|otherwise"
    r"|in addition|moreover|furthermore|further)\b",
    re.IGNORECASE,
)
_INNER = re.compile(
    r"\b(?:(?P<hard>where|when|whenever|if|unless|because|whether|until|how|what|so that|whose"
    r"|whom|than)|that|which|who)\b",
    re.IGNORECASE,
)
_DETERMINER = r"(?:the|a|an|any|each|every|no|all|both|either|such|this|these|its|his|their|your)"
_PRONOUN = r"(?:you|we|i|it|they|he|she)"
_NEW_SUBJECT = re.compile(rf"\b(?:{_DETERMINER}|{_PRONOUN})\b", re.IGNORECASE)
_JOINED = re.compile(
    r"^(?P<before>.*?),? ?\b(?:and|but|or|while|whereas)"
    rf"(?P<subject> (?:{_DETERMINER}\b|{_PRONOUN}\b|(?-i:[A-Z])).*)?$",
    re.IGNORECASE | re.DOTALL,
)
_CONJUNCTION = re.compile(r"^(?:and|or|but|nor)\b,?\s*", re.IGNORECASE)
_CONDITION = re.compile(
    r"\b(?:unless|except|provided,? (?:that|however)|(?:only |even )?(?:if|where|when)|whenever"
    r"|to the extent|in so far as|insofar as|so long as|(?<!only )(?<!for )as long as"
    r"|(?<!is )(?<!are )(?<!be )(?<!was )(?<!were )(?<!not )subject to|without prejudice to"
    r"|notwithstanding|save (?:that|where|as|for)|on (?:the )?condition that"
    r"|only (?:after|for|on|upon|with))\b",
    re.IGNORECASE,
)
_SET_IN = re.compile(
    rf"(?:^|, )(?P<condition>{_CONDITION.pattern}.*?)"
    r"(?=, (?:within|not? later|at least|prior to|before|by|as (?:an?|the)) |$)",
    re.IGNORECASE | re.DOTALL,
)
_SHORT = 3
"""Maximum words of a condition between commas, such as "where feasible"."""
_OPEN_ENDED = frozenset(("", "and", "or", "but", "that", "to"))
"""Words that a predicate does not end with."""
_NO_CONDITION = re.compile(
    r"(?:\b(?:that|which|who),|\bas|[^,] and"
    r"|\b(?:determin|decid|assess|verif|check|see|know|ask|evaluat|find)\w*)$"
    r"|\b(?:area|place|location|site|state|country|room|facility|page|jurisdiction)s?,?$",
    re.IGNORECASE,
)
_POST = re.compile(
    r"(?<![\s,])[\s,]+(?:of|who|that|which|in|to|for|under|with|whose|whom|from|on|at|by|as|is"
    r"|are|was|were|has|have|shall|must|may|will|other|acting|referred|not|without|having|within|pursuant"
    r"|if|where|when|unless|after|before|during|through|upon|involved|concerned|designated"
    r"|responsible|\(|~)(?!\w).*",
    re.IGNORECASE,
)
_BY = re.compile(
    r"\b(?P<by>by (?P<who>[^,;.()]+?))(?= (?:to|in|within|at|for|on|under|if|where|when|unless|and"
    r"|from|as|with|pursuant|through|before|after|of|that|who|upon|or by)\b|[,;.()]|$)"
)
_PARTICIPLE = (
    r"(?:\w+ed|\w+en|made|held|sent|kept|paid|done|shown|drawn|borne|put|set|brought|sought|sold"
    r"|told|laid|met|given|built|found|left|dealt|spent|lent|read|won)"
)
_PASSIVE = re.compile(rf"be {_ADVERB}(?:(?:{_PARTICIPLE}) (?:and|or) )?{_PARTICIPLE}\b", re.I)
_STATES = re.compile(
    r"(?:be (?:\w+ly )?(?:deemed|construed|interpreted|considered|governed|understood|regarded"
    r"|treated|cited|known|called|defined|limited|bound|binding|effective|amended|replaced|null|void)"
    r"|mean|apply|constitute|affect|prejudice|enter into force|take effect|terminate"
    r"|survive|remain|prevail|control|inure|continue|expire|commence|begin|end|become|cease"
    r"|consist|supersede|preclude|accrue|result|come|relate)\b",
    re.IGNORECASE,
)
_PARTS = re.compile(r";|\b(?:acknowledges?|agrees?|understands?) that\b,?", re.IGNORECASE)
_TRAILING = frozenset("also then only always that which who".split())
"""Words behind a subject that are none of it."""
_BESIDE = re.compile(  # "the actions a plan administrator may take"
    rf"^(?:{_DETERMINER} )?(?:(?!(?:of|in|to|for|under|with|from|on|at|by|and|or)\b)\w+ ){{1,2}}"
    r"(?:an?|the|you|we|they|it) "
)
_VERB_AND = re.compile(
    r"(?<!\s)\s+(?:is|are|has|have|does|was|were|hereby)\b"
    r"(?:(?! who | that | which ).){0,400}\b(?:and|or|,)$",
    re.IGNORECASE,
)
_NO = re.compile(r"(?:no|neither|none)\b(?: of (?:the )?)?", re.IGNORECASE)
_RELEASED = re.compile(r"(?:not )?be (?:\w+ly |held )*(?:liable|responsible|required|bound)\b")
_NOBODY = ("there", "this", "that")
_DOES = frozenset(("right", "acts"))
_AND_OR = re.compile(r"(?:,|(?<!\s))\s+(?:and|or)\s+|,\s+")
_PROPER = re.compile(r"(?<=\s)[A-Z][a-z]+$|^[A-Z]{2,}s?$")
_NO_RECIPIENT = frozenset("committee guarantee".split())
_PAPERS = frozenset("law agreement contract act policy document exhibit annex order".split())
_WORDS = r"(?<![\w'-])((?:[\w'-]{1,40} ){0,3}[\w-]{1,40})"
_SIGNS = {
    sign: re.compile(pattern)
    for sign, pattern in (
        ("owns", r"(?<![\w-])([A-Za-z-]{1,40})(?:'s|(?<=s)')(?!\w)"),
        ("who", r"(?<![\w-])([A-Za-z-]{1,40}),? (?:who|whom)\b"),
        ("by", rf"(?:ed|en|wn|de|ld|nt) by {_WORDS}"),
        (
            "right",
            r"(?<![\w-])([A-Za-z-]{1,40}) (?:agrees?|undertakes?|acknowledges?|represents|warrants"
            r"|(?:is|are|shall be) (?:required|entitled|obliged|obligated|authori[sz]ed) to"
            r"|(?:has|have) the right)\b",
        ),
        (
            "acts",
            rf"{_WORDS} (?:must|shall|may|will)(?: also| not)? "
            r"(?:notify|inform|tell|ask|pay|submit|publish|request|decide)\b",
        ),
    )
}
"""How a text speaks of those who act."""
_GRAMMAR = ("shall", "must", "may", "will", "can", "is", "are", "be", "need", "ha")
_LONGEST = 4_000
"""Characters of a sentence that are read."""
_SHORTEST = 5
_FAR = 12
"""The most words of a subject in the middle of a sentence."""
_QUIET = "~"


class Clause(NamedTuple):
    """What one clause says that somebody shall, may or must not do.

    Args:
        force: The modal's force, or None for a statement without a modal.
        who: The actor, as the clause names it, or empty if it names none.
        what: The action, in the clause's words.
        unless: The conditions and exceptions, each in the clause's words.
        fronted: The text before the subject.
        said: The whole clause on one line.
    """

    force: Force | None
    who: str
    what: str
    unless: tuple[str, ...]
    fronted: str
    said: str


class Actors:
    """The actors of a document, known by phrases such as "the operator's" and "persons who"."""

    def __init__(self, text: str) -> None:
        self._signs: dict[str, set[str]] = defaultdict(set)
        flat = " ".join(text.replace("’", "'").split())
        for sign, pattern in _SIGNS.items():
            for match in pattern.finditer(flat):
                for noun in _AND_OR.split(match[1]):
                    self._signs[_head(noun)].add(sign)

    def acts(self, subject: str) -> bool:
        """Return whether a subject is somebody who can have a duty or a right."""
        phrase = subject.strip()
        if re.fullmatch(_PRONOUN, phrase, re.IGNORECASE):
            return phrase.lower() in ("you", "we", "i")
        core = _POST.sub("", f"{phrase} ").strip()
        noun = re.match(rf"(?P<noun>.*?\S) (?:\w+ing|{_PARTICIPLE})\b", core)
        parts = [core, *([noun["noun"]] if noun else [])]
        return any(self._named(_head(noun), noun) for part in parts for noun in _AND_OR.split(part))

    def _named(self, head: str, noun: str) -> bool:
        if not head or head.endswith("ing") or KIND.fullmatch(head) or head in _PAPERS:
            return False
        signs = self._signs.get(head, set())
        surely = "who" in signs or {"right", "by"} <= signs or ("owns" in signs and signs & _DOES)
        maybe = AGENT.search(head) or _PROPER.search(noun) or (noun.isalpha() and noun.istitle())
        recipient = len(head) > _SHORTEST and head.endswith("ee") and head not in _NO_RECIPIENT
        return bool(surely or recipient or (signs and maybe))


def _head(phrase: str) -> str:
    """Return the head noun of a phrase in small letters and in the singular."""
    core = _POST.sub("", f"{' '.join(phrase.split())} ").strip()
    last = re.findall(r"\b(?!and\b|or\b)[A-Za-z][\w-]*", core)
    noun = last[-1].lower() if last and not re.fullmatch(_DETERMINER, last[-1], re.I) else ""
    if noun.endswith("ies"):
        return f"{noun[:-3]}y"
    return noun[:-1] if noun.endswith("s") and not noun.endswith("ss") else noun


def clauses(sentence: str, actors: Actors) -> Iterator[Clause]:
    """Yield the clauses of a sentence that bind, in order."""
    flat = unnumbered(sentence[:_LONGEST])
    first, _, rest = flat.partition(" ")
    if rest and first[:1].isalnum() and "." in first.rstrip(".") and any(map(str.isdigit, first)):
        flat = rest  # "APP3.A3.2.1 The insurer"
    text = _Text(flat, _hidden(flat))
    subject = ""
    for start, stop in _parts(text.hidden):
        mains = [*_mains(text, start, stop, subject)]
        for number, main in enumerate(mains):
            subject = main.subject.said
            end = mains[number + 1].subject.begin if number + 1 < len(mains) else stop
            clause = _clause(text, main, end, actors)
            if clause is not None:
                yield clause


class _Text(NamedTuple):
    """A sentence, and the same sentence with brackets and quotes masked."""

    flat: str
    hidden: str


class _Subject(NamedTuple):
    """A subject, the text before it, the text inserted after it, and the start of all three."""

    said: str
    fronted: str
    inserted: str
    begin: int


class _Main(NamedTuple):
    """A main clause up to its modal, and the end of the modal."""

    force: Force
    modal: str
    subject: _Subject
    after: int


def _hidden(text: str) -> str:
    return re.sub(r"\([^()]*\)|“[^“”]*”|\"[^\"]*\"", lambda m: _QUIET * len(m.group()), text)


def _parts(hidden: str) -> Iterator[tuple[int, int]]:
    """Yield the parts between semicolons, each with its own modal."""
    start = 0
    for match in _PARTS.finditer(hidden):
        ends = hidden.find(";", match.end())
        goes_on = _MODAL.search(hidden, match.end(), ends if ends >= 0 else len(hidden))
        agreed = match.group() != ";"
        if goes_on and (agreed or _MODAL.search(hidden, start, match.start())):
            yield start, match.start()
            start = match.end()
    yield start, len(hidden)


def _mains(text: _Text, start: int, end: int, before: str) -> Iterator[_Main]:
    """Yield the main clauses of a stretch; ``before`` is the subject of the clause before it."""
    last: _Main | None = None
    for match in _MODAL.finditer(text.hidden, start, end):
        modal = match.group().lower()
        if last is None:
            subject = _first_subject(text, start, match.start(), before)
        elif match.start() < last.after:
            continue
        else:
            subject = _next_subject(text, match.start(), modal, last)
        if subject is not None:
            force = next(force for force in _FORCES if match[force])
            last = _Main(force, modal, subject, match.end())
            yield last


def _first_subject(text: _Text, start: int, end: int, before: str) -> _Subject | None:
    """Return the subject that follows its modal, or None if it is not that of a main clause."""
    hidden = text.hidden[start:end]
    spans = [m.span() for m in re.finditer(r"[^,]*,|[^,]+$", hidden) if m.group().strip()]
    texts = [hidden[a:b].strip(" ,") for a, b in spans]
    at = len(texts) - 1
    while at > 0 and hidden.rstrip().endswith(",") and _FRONT.match(texts[at]):
        at -= 1
    bare = _CONJUNCTION.sub("", texts[at]) if texts else ""
    if not bare:
        return _Subject(before, "", "", start) if before and at <= 0 else None
    if _INNER.match(bare if at == 0 else texts[at]) or _within(bare):
        return None
    low = start + spans[_lowest(texts, at)][0]
    high = start + spans[at][1]
    if _within(text.hidden[low:high].strip(" ,")):
        return None
    subject = _CONJUNCTION.sub("", text.flat[low:high].strip(" ,"))
    subject = _VERB_AND.sub("", subject.rpartition(": ")[2])
    subject = unnumbered(f" {subject}".rpartition(" then ")[2].strip())
    rest, _, last = subject.rpartition(" ")
    if rest and (last in _TRAILING or last.endswith("ly")):
        subject = rest
    fronted, inserted = text.flat[start:low].strip(" ,"), text.flat[high:end].strip(" ,")
    return _without_front(subject, _CONJUNCTION.sub("", fronted), inserted, start)


def _lowest(texts: list[str], at: int) -> int:
    """Return which of the stretches between commas a subject begins with that ends with ``at``."""
    core = texts[at]
    if at and not _FRONT.match(texts[0]) and not _CONJUNCTION.match(texts[0]):
        return 0
    joined = _CONJUNCTION.match(core) or re.search(r"\b(?:and|or)$", texts[max(0, at - 1)])
    low = at
    if joined or (re.search(r" (?:and|or) ", core) and not _NEW_SUBJECT.match(core)):
        while low > 1 and not _FRONT.match(texts[low - 1]):
            low -= 1
            listed = joined and _NEW_SUBJECT.match(texts[low - 1])
            if _NEW_SUBJECT.match(texts[low]) and not listed:
                break
    return low


def _without_front(subject: str, fronted: str, inserted: str, begin: int) -> _Subject | None:
    """Return a subject without an adjunct that no comma separates, or None if it is not one."""
    if _FRONT.match(subject):
        starts = [match.start() for match in _NEW_SUBJECT.finditer(subject)]
        if not starts:
            return None
        fronted = f"{fronted}, {subject[: starts[-1]]}".strip(" ,")
        subject = subject[starts[-1] :]
    if _BESIDE.match(f"{subject} ") or _MODAL.search(subject):
        return None
    return _Subject(subject, fronted, inserted, begin)


def _next_subject(text: _Text, end: int, modal: str, last: _Main) -> _Subject | None:
    """Return the subject of a modal whose clause is joined to the one before it."""
    start, before = last.after, last.subject
    comma = text.hidden.rfind(",", start, end)
    core = text.hidden[max(start, comma + 1) : end]
    if comma >= 0 and not core.strip():  # "shall name it, shall keep it"; not "..., has to"
        return before._replace(begin=comma) if modal == last.modal else None
    joined = _JOINED.match(core.rstrip())
    if joined is None or _INNER.search(joined["before"]):
        return None
    begin = max(start, comma + 1) + len(joined["before"])
    if joined["subject"] is None:
        return before._replace(begin=begin, inserted="")
    subject = joined["subject"].strip()
    if _within(subject) or len(subject.split()) > _FAR:
        return None
    at = end - len(core) + core.rfind(subject)
    return _Subject(text.flat[at:end].strip(" ,"), "", "", begin)


def _within(core: str) -> bool:
    """Return whether a modal after these words belongs to a clause inside them."""
    for inner in _INNER.finditer(core):
        rest = core[inner.end() :].strip(" ,")
        if inner["hard"] or not rest or _NEW_SUBJECT.match(rest):
            return True
    return False


def _clause(text: _Text, main: _Main, end: int, actors: Actors) -> Clause | None:
    """Return the clause of a main verb, or None if it binds nobody."""
    predicate, inserted = _predicate(text, main.after, end)
    said = main.subject.said.lower()
    if not predicate or not said or said in _NOBODY or said.startswith("nothing"):
        return None
    subject, modal, predicate, force = _negated(main, predicate)
    acts = actors.acts(subject)
    passive = None if _RELEASED.match(predicate) else _PASSIVE.match(predicate)
    if _says_nothing(main, predicate, acts, passive is not None):
        return None
    who = _agent(predicate, passive.end(), actors) if passive else ""
    who = who or (subject if acts and not passive else "")
    denying = force == "right" and re.search(r"not\b|\bno\b", modal) is not None
    what, unless = _conditions(predicate)
    if inserted and not _SET_IN.search(inserted) and not timings(inserted):
        what = f"{inserted}, {what}"
    if not who or passive:
        what = f"{subject} {modal} {what.removeprefix('not ') if denying else what}"
    elif denying and not what.startswith("not "):
        what = f"{modal} {what}"  # an action that they need not take
    outer = (main.subject.fronted, main.subject.inserted, inserted)
    conditions = [*filter(None, map(_set_in, outer)), *unless]
    fronted = ", ".join(filter(None, outer))
    text_of_clause = text.flat[main.subject.begin : end].strip(" ,;")
    return Clause(force, who, what, tuple(conditions), fronted, text_of_clause)


def _negated(main: _Main, predicate: str) -> tuple[str, str, str, Force]:
    """Return subject, modal, predicate and force, once "no", "not" and "neither" are heeded."""
    subject, modal, force = main.subject.said, main.modal, main.force
    denied = _NO.match(subject)
    if force == "duty" and re.match(r"not\b", predicate, re.IGNORECASE):
        return subject, f"{modal} not", predicate[3:].strip(), "prohibition"
    if _RELEASED.match(predicate) and (denied or force == "prohibition"):
        subject = subject[denied.end() :].replace(" nor ", " or ") if denied else subject
        return subject.strip(), modal, f"not {predicate}", "right"
    if denied or (force == "right" and re.match(r"neither\b", predicate)):
        force = "prohibition"
    return subject, modal, predicate, force


def _set_in(text: str) -> str:
    """Return the condition in the text outside a predicate, or an empty text if there is none."""
    match = _SET_IN.search(text)
    if match is None:
        return ""
    first = match["condition"].partition(",")[0]
    return first if len(first.split()) <= _SHORT else match["condition"]


def _predicate(text: _Text, start: int, end: int) -> tuple[str, str]:
    """Return the predicate from a modal on, and what commas set in between the two."""
    inserted = ""
    after = re.match(r"\s*,([^,]+),", text.hidden[start:end])
    if after and not re.search(r"\b(?:and|or)$", after[1]):
        inserted = text.flat[start + after.start(1) : start + after.end(1)].strip()
        start += after.end()
    predicate = text.flat[start:end].strip(" ,;.:—–")
    return re.sub(r",? (?:and|or|but|and/or)$", "", predicate), inserted


def _agent(predicate: str, verb: int, actors: Actors) -> str:
    """Return the agent of a passive clause, or an empty text if it names none.

    ``verb`` is the end of its participle.
    """
    for match in _BY.finditer(predicate):
        before = predicate[: match.start()].rstrip()
        if re.search(r"[,;:]| (?:that|which|who)\b", before):
            return ""
        other = len(before) > verb and re.search(rf"\b{_PARTICIPLE}$", before)
        does = re.match(r"\w+ing\b", match["who"])
        noun = re.search(r"(?:tion|sion|ment|val|nce)$", before)
        if not (other or does or noun) and actors.acts(match["who"]):
            return match["who"]
    return ""


def _says_nothing(main: _Main, predicate: str, acts: bool, passive: bool) -> bool:
    """Return whether a clause binds nobody, because it only defines a word, paper or term."""
    head = _head(main.subject.said)
    own = head in _PAPERS and main.subject.said.lower().split()[:1] in (["this"], ["these"])
    if own or KIND.fullmatch(head) or head in ("paragraph", "term"):
        return True
    if passive:
        return _STATES.match(predicate) is not None
    if acts:
        return False
    if not main.modal.startswith(_GRAMMAR):
        return True
    return (
        main.modal in ("will", "may")
        or predicate.lower().startswith("be ")
        or _STATES.match(predicate) is not None
    )


def _conditions(predicate: str) -> tuple[str, list[str]]:
    """Return a predicate without its conditions, and these."""
    hidden = _hidden(predicate)
    conditions: list[str] = []
    rest, at = "", 0
    for match in _CONDITION.finditer(hidden):
        if match.start() < at or _NO_CONDITION.search(hidden[: match.start()].rstrip()):
            continue
        before = hidden[at : match.start()].rstrip()
        stop = len(predicate)
        comma = hidden.find(",", match.end())
        short = len(hidden[match.start() : comma].split()) <= _SHORT
        last = (rest + before).rstrip(" ,").rpartition(" ")[2].lower()
        if comma >= 0 and (short or last in _OPEN_ENDED):
            stop = comma
        if (semicolon := hidden.find(";", match.end(), stop)) >= 0:
            stop = semicolon
        rest += predicate[at : match.start()].rstrip(" ,") + " "
        conditions.append(predicate[match.start() : stop].strip(" ,"))
        at = min(stop + 1, len(predicate))
        if stop == len(predicate):
            break
    rest += predicate[at:]
    return " ".join(rest.split()).strip(" ,"), conditions


def is_bare(condition: str) -> bool:
    """Return whether a condition is only its opening word, with its content in a list below."""
    return _CONDITION.fullmatch(condition.strip(" ,:—–-")) is not None
