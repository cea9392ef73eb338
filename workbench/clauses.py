"""Clauses that bind: who shall, may or must not do what, read by the closed words of English.

Modals, conjunctions, prepositions and relative pronouns tell a main clause from what depends on
it; who acts is told by how a document speaks of them.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from lexloop.documents.structure.references import KIND
from lexloop.nodes.alignment import AGENT

Force = Literal["duty", "right", "prohibition"]

_ADVERB = r"(?:\w+ly |also |then |at all times )?"
_BE = r"(?:is|are|be|(?:shall|will|must) be)(?: \w+ly)?"
_FORCES: dict[Force, str] = {
    "right": rf"(?:(?:shall|will|must) not be|{_BE} not) (?:required|obliged|obligated) to"
    r"|need not|do(?:es)? not (?:have|need) to"
    r"|(?:(?:shall|will) )?(?:(?:have|has) no|(?:be|is|are) under no) (?:obligation|duty) to"
    r"|(?:(?:shall|will) )?(?:have|has) (?:(?:the|a|an|its|their|sole|exclusive) ){0,3}"
    r"(?:right|discretion|option)(?: to|, [^,]{1,60}, to|(?= not to\b))"
    rf"|{_BE} (?:permitted|allowed|free|entitled|authori[sz]ed) to|may(?! {_ADVERB}not\b)",
    "prohibition": rf"(?:shall|must|may|will|can) {_ADVERB}not\b|cannot"
    r"|(?:(?:shall|will) )?(?:have|has) no (?:authority|right|power) to"
    rf"|{_BE} not (?:permitted|allowed|authori[sz]ed|entitled) to|{_BE} prohibited from",
    "duty": rf"(?:(?:shall|will) )?(?:have|has) (?:the|an) (?:obligation|duty|responsibility) to"
    rf"|{_BE} (?:required|obliged|obligated) to"
    r"|shall|must|will|ha(?:s|ve) to|needs? to|agrees? to|undertakes? to|covenants? to",
}
_MODAL = re.compile(
    "|".join(rf"\b(?P<{force}>{pattern})(?!\w)" for force, pattern in _FORCES.items()),
    re.IGNORECASE,
)
_FRONT = re.compile(
    r"(?:yes|no$|\w+ly$|that is|per|in|on|upon|for|after|before|at|by|to|with|without|within|as|during|under|until|once|from"
    r"|subject to|notwithstanding|except|taking|having|following|prior to|pursuant to|not ?later"
    r"|no later|no more|provided|save|where|when|whenever|if|unless|while|because|since|although"
    r"|beginning|upon|regardless|irrespective|besides|only|however|therefore|thereafter|otherwise"
    r"|in addition|moreover|furthermore|further)\b",
    re.IGNORECASE,
)
_SUBORDINATE = re.compile(
    r"(?:where|when|whenever|if|unless|that|which|who|whose|whom|while|because|since|although"
    r"|whether|until|as|provided|so that|how|what)\b",
    re.IGNORECASE,
)
_INNER = re.compile(
    r"\b(?:(?P<hard>where|when|whenever|if|unless|because|whether|until|how|what|so that|whose"
    r"|whom|than)|that|which|who)\b(?P<rest>.*)$",
    re.IGNORECASE,
)
_DETERMINER = r"(?:the|a|an|any|each|every|no|all|both|either|such|this|these|its|his|their|your)"
_PRONOUN = r"(?:you|we|i|it|they|he|she)"
_NEW_SUBJECT = re.compile(rf"(?:{_DETERMINER}|{_PRONOUN})\b", re.IGNORECASE)
_LAST_SUBJECT = re.compile(rf".*\b(?P<last>(?:{_DETERMINER}|{_PRONOUN})\b.*)$", re.IGNORECASE)
_JOINED = re.compile(
    rf"^(?P<before>.*?),? ?\b(?:and|but|or|while|whereas)(?P<subject> (?:{_DETERMINER}\b|{_PRONOUN}\b|(?-i:[A-Z])).*)?$",
    re.I,
)
_CONJUNCTION = re.compile(r"^(?:and|or|but|nor)\b,?\s*", re.IGNORECASE)
_CONDITION = re.compile(
    r"\b(?:unless|except|provided,? (?:that|however)|(?:only |even )?(?:if|where|when)|whenever"
    r"|to the extent|in so far as|insofar as|so long as|(?<!only )(?<!for )as long as|(?<!is )(?<!are )(?<!be )(?<!was )(?<!were )(?<!not )subject to"
    r"|without prejudice to"
    r"|notwithstanding|save (?:that|where|as|for)|on (?:the )?condition that|only (?:after|for|on|upon|with))\b",
    re.IGNORECASE,
)
_SET_IN = re.compile(rf"(?:^|, )(?P<condition>{_CONDITION.pattern}.*)$", re.IGNORECASE)
_ROLE = re.compile(r"\bas (?P<role>(?:an?|the) [^,]+)", re.IGNORECASE)
_NO_CONDITION = re.compile(
    r"(?:\b(?:that|which|who),|\b(?:determin|decid|assess|verif|check|see|know|ask|evaluat|find)\w*)$"
    r"|\b(?:area|place|location|site|state|country|room|facility|page|jurisdiction)s?,?$",
    re.IGNORECASE,
)
_POST = re.compile(
    r"[\s,]+(?:of|who|that|which|in|to|for|under|with|whose|whom|from|on|at|by|as|is|are|was|were"
    r"|has|have|shall|must|may|will|other|acting|referred|not|without|having|within|pursuant"
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
    r"|told|laid|met|built|found|left|dealt|spent|lent|read|won)"
)
_PASSIVE = re.compile(rf"be {_ADVERB}(?:(?:{_PARTICIPLE}) (?:and|or) )?{_PARTICIPLE}\b", re.I)
_STATES = re.compile(
    r"(?:be (?:\w+ly )?(?:deemed|construed|interpreted|considered|governed|understood|regarded"
    r"|treated|cited|known|called|defined|limited|bound|binding|effective|amended|replaced|null|void)"
    r"|mean|include|apply|constitute|affect|prejudice|enter into force|take effect|terminate"
    r"|survive|remain|prevail|control|inure|continue|expire|commence|begin|end|have|become|cease"
    r"|consist|supersede|exceed|extend|preclude|accrue|result|come|relate|not)\b",
    re.IGNORECASE,
)
_DEPENDS = re.compile(r"\b(?:where|when|whenever|if|unless|because|whether|until|that)\b", re.I)
_AGREED = re.compile(r"\b(?:acknowledges?|agrees?|understands?) that\b,?", re.IGNORECASE)
_PARTS = re.compile(rf";|{_AGREED.pattern}", re.IGNORECASE)
_NEVER = re.compile(r"\b(?:no (?:event|case|circumstances|time)|nor)$", re.IGNORECASE)
_NUMBER = re.compile(r"^\(\w{1,4}\)\s*")
_VERB_AND = re.compile(
    r"\s+(?:is|are|has|have|does|was|were|hereby)\b(?:(?! who | that | which ).)*\b(?:and|or|,)$",
    re.IGNORECASE,
)
_RELEASES = re.compile(r"be (?:\w+ly |held )*(?:liable|responsible|required|bound)\b")
_IT = re.compile(r"(?:it|they|he|she|he or she)", re.IGNORECASE)
_ITS_NOUN = re.compile(
    r"(?:if|when|where|unless|before|after|once)\s+(?P<who>(?:[\w'’-]+ ){0,4}?[\w'’-]+)\s+"
    r"(?:is|are|was|were|has|have|had|does|do|did|intends?|\w+[^s\W]s|wish|fails?)\b",
    re.IGNORECASE,
)
_NOBODY = re.compile(r"(?:there|this|that|nothing\b.*)$", re.IGNORECASE)
_QUIET = "~"


class Clause(NamedTuple):
    """What one clause says that somebody shall, may or must not do.

    Args:
        who: Who acts, as the clause names them; empty where it does not.
        what: What of it, in its own words.
        unless: The conditions and exceptions, each in its own words.
        fronted: What stands before the subject.
        said: The whole clause on one line.
    """

    force: Force
    who: str
    what: str
    unless: tuple[str, ...]
    fronted: str
    said: str


class Actors:
    """Who acts in a document, told by how it speaks of them: "the operator's", "persons who"."""

    def __init__(self, text: str) -> None:
        self._signs: dict[str, set[str]] = defaultdict(set)
        flat = " ".join(text.replace("’", "'").split())
        for sign, pattern in _SIGNS.items():
            for match in pattern.finditer(flat):
                self._signs[_head(match[1])].add(sign)

    def acts(self, subject: str) -> bool:
        """Return whether a subject is somebody who can have a duty or a right."""
        said = subject.strip()
        if re.fullmatch(_PRONOUN, said, re.IGNORECASE):
            return said.lower() in ("you", "we", "i")
        core = _POST.sub("", f"{said} ").strip()
        whole = [said] if core == said else [said, core]
        parts = re.split(r",?\s+(?:and|or)\s+|,\s+", core)
        return any(map(self._acts, [*parts, *whole]))

    def _acts(self, said: str) -> bool:
        head = _head(said)
        if participle := re.match(r"(?:\S+ ){0,4}?(\S+) (?:\w+ing|\w+ed|who)\b", said):
            before = _head(participle[1])
            head = before if before and self._named(before, said) else head
        return self._named(head, said)

    def _named(self, head: str, said: str) -> bool:
        if not head or head.endswith("ing") or KIND.fullmatch(head) or head in _PAPERS:
            return False
        signs = self._signs.get(head, set())
        named = AGENT.search(head) is not None
        return bool(
            signs & {"owns", "who"}
            or {"right", "by"} <= signs
            or _RECIPIENT.fullmatch(head)
            or (signs and (named or _PROPER.search(said)))
        )


_PROPER = re.compile(r"(?<=\s)[A-Z][a-z]+$|^[A-Z]{2,}s?$|^[A-Z][a-z]+$(?<!^The)")
_RECIPIENT = re.compile(r"\w{3,}[^f]ee(?<!committee)(?<!guarantee)")
_PAPERS = frozenset("law agreement contract act policy document exhibit annex order".split())
_WORDS = r"((?:[\w'-]+ ){0,3}[\w-]+)"
_SIGNS = {
    "owns": re.compile(r"\b([A-Za-z-]+)(?:'s|(?<=s)')(?!\w)"),
    "who": re.compile(r"\b([A-Za-z-]+),? (?:who|whom)\b"),
    "by": re.compile(rf"\b\w+(?:ed|en|wn|de|ld|nt) by {_WORDS}"),
    "right": re.compile(
        r"\b([A-Za-z-]+) (?:agrees?|undertakes?|acknowledges?|represents|warrants"
        r"|(?:is|are|shall be) (?:required|entitled|obliged|obligated|authori[sz]ed) to"
        r"|(?:has|have) the right)\b"
    ),
    "behalf": re.compile(rf"\bon behalf of {_WORDS}"),
}
_LEADING = re.compile(
    rf"^(?:(?:each of|any of|all of|one of|either of|the following|{_DETERMINER}|another|one|that|other|certain|some)\s+)+",
    re.I,
)


def _head(phrase: str) -> str:
    """Return the head noun of a phrase in small letters and in the singular."""
    words = _LEADING.sub("", " ".join(phrase.split()))
    core = _POST.sub("", f"{words} ").strip()
    last = re.findall(r"\b(?!and\b|or\b)[A-Za-z][\w-]*", core)
    noun = last[-1].lower() if last and not re.fullmatch(_DETERMINER, last[-1], re.I) else ""
    if noun.endswith("ies"):
        return f"{noun[:-3]}y"
    return noun[:-1] if noun.endswith("s") and not noun.endswith("ss") else noun


def clauses(sentence: str, actors: Actors) -> Iterator[Clause]:
    """Yield the clauses of a sentence that bind, in order."""
    flat = " ".join(sentence.split())
    hidden = _hidden(flat)
    subject = ""
    for start, stop in _parts(hidden):
        found = list(_mains(hidden, start, stop, subject, flat))
        for number, main in enumerate(found):
            end = found[number + 1].begin if number + 1 < len(found) else stop
            subject = main.subject
            made = _clause(flat, hidden, main, end, actors)
            if made is not None:
                yield made


def _parts(hidden: str) -> Iterator[tuple[int, int]]:
    """Yield the stretches that semicolons part, each with a modal of its own."""
    start = 0
    for match in _PARTS.finditer(hidden):
        if _MODAL.search(hidden, match.end()) and (
            _AGREED.fullmatch(match.group()) or _MODAL.search(hidden, start, match.start())
        ):
            ends = hidden.find(";", match.end())
            if _MODAL.search(hidden, match.end(), ends if ends >= 0 else len(hidden)):
                yield start, match.start()
                start = match.end()
    yield start, len(hidden)


class _Main(NamedTuple):
    force: Force
    subject: str
    fronted: str
    begin: int
    after: int
    inserted: str
    modal: str


def _hidden(text: str) -> str:
    """Return the text with what stands in brackets or quotes masked, of the same length."""
    return re.sub(r"\([^()]*\)|“[^”]*”|\"[^\"]*\"", lambda m: _QUIET * len(m.group()), text)


def _mains(hidden: str, start: int, end: int, before: str, flat: str) -> Iterator[_Main]:
    """Yield the main clauses of a stretch; ``before`` is the subject of the clause before it."""
    begin, first = start, True
    last = before
    carried, modal, reach = "", "", start
    for match in _MODAL.finditer(hidden, start, end):
        if match.start() < reach:
            continue
        force: Force = match.lastgroup  # type: ignore[assignment]
        if first:
            found = _first_subject(hidden, begin, match.start(), flat, last)
        else:
            found = _next_subject(hidden, reach, match.start(), flat, last)
            if found and found[3] == match.start() - 2 and match.group() != modal:
                found = None  # ", has the right to" is of what comes before it
        if found is None:
            continue
        subject, fronted, inserted, begin = found
        modal = match.group()
        if subject == last and not fronted:
            fronted = carried
        carried = fronted
        yield _Main(force, subject, fronted, begin, match.end(), inserted, match.group().lower())
        first, last, reach = False, subject, match.end()


def _first_subject(
    hidden: str, start: int, end: int, flat: str, before: str
) -> tuple[str, str, str, int] | None:
    """Return subject, what is in front of it, what is inserted behind it, and its begin."""
    spans = [m.span() for m in re.finditer(r"[^,]*(?:,|$)", hidden[start:end]) if m.group()]
    segments = [(start + a, start + b) for a, b in spans]
    if not segments:
        return (before, "", "", start) if before else None
    texts = [hidden[a:b].strip(" ,") for a, b in segments]
    at, inserted = len(texts) - 1, ""
    if hidden[start:end].rstrip().endswith(","):
        at -= 1
        if at < 0:
            return None
        inserted = flat[segments[at + 1][0] : segments[at + 1][1]].strip(" ,")
        while at > 0 and _FRONT.match(texts[at]):
            at -= 1
    core = texts[at]
    bare = _CONJUNCTION.sub("", core)
    if not bare:
        return (before, "", inserted, start) if before and at == 0 else None
    if core != bare and at == 0:  # "; and the operator must"
        core = bare
    if _SUBORDINATE.match(core) or _within(core):
        return None
    low = at
    fronted = at > 0 and _FRONT.match(texts[0]) is not None
    if at and not fronted and not _CONJUNCTION.match(texts[0]):
        low = 0
    elif (
        core != bare
        or re.search(r" (?:and|or) ", core)
        and not _NEW_SUBJECT.match(core)
        or (at and re.search(r"\b(?:and|or)$", texts[at - 1]))
    ):
        while low > 1 and not _FRONT.match(texts[low - 1]):
            low -= 1
            if _NEW_SUBJECT.match(texts[low]):
                break
    a, b = segments[low][0], segments[at][1]
    subject = _CONJUNCTION.sub("", flat[a:b].strip(" ,"))
    if _within(hidden[a:b].strip(" ,")):
        return None
    subject = _VERB_AND.sub("", subject.rpartition(": ")[2])
    subject = _NUMBER.sub("", subject.rpartition(" then ")[2])
    front = flat[start : segments[low][0]].strip(" ,")
    if _FRONT.match(subject):
        tail = _LAST_SUBJECT.match(subject)
        if tail is None:
            return None
        front = f"{front}, {subject[: tail.start('last')]}".strip(" ,")
        subject = tail["last"]
    if _NEVER.search(subject) or _MODAL.search(subject):
        return None
    return subject, _CONJUNCTION.sub("", front), inserted, start


def _next_subject(
    hidden: str, start: int, end: int, flat: str, before: str
) -> tuple[str, str, str, int] | None:
    """Return the same of a clause that "and", "or" or "but" joins to the one before it."""
    comma = hidden.rfind(",", start, end)
    core = hidden[max(start, comma + 1) : end]
    joined = _JOINED.match(core.rstrip())
    if not core.strip() and comma >= start and before:
        return before, "", "", comma
    if joined is None:
        return None
    begin = max(start, comma + 1) + len(joined["before"])
    if joined["subject"] is None:
        inner = _INNER.search(hidden[start:end])
        return None if inner and not before else (before, "", "", begin)
    said = joined["subject"].strip()
    if _DEPENDS.search(joined["before"]) or _within(said) or len(said.split()) > 12:
        return None
    at = end - len(core) + core.rfind(said)
    return flat[at:end].strip(" ,"), "", "", begin


def _within(core: str) -> bool:
    """Return whether a modal behind these words is that of a clause within them."""
    inner = _INNER.search(core)
    if inner is None:
        return False
    rest = inner["rest"].strip(" ,")
    return bool(inner["hard"]) or not rest or _NEW_SUBJECT.match(rest) is not None


def _clause(flat: str, hidden: str, main: _Main, end: int, actors: Actors) -> Clause | None:
    predicate, inserted = _predicate(flat, hidden, main.after, end)
    subject = main.subject.strip()
    if not predicate or not subject or _NOBODY.match(subject):
        return None
    force, modal = main.force, main.modal
    denied = re.match(r"(?:no|neither|none)\b(?: of (?:the )?)?", subject, re.IGNORECASE)
    acts = actors.acts(subject)
    passive = None if _RELEASES.match(predicate) else _PASSIVE.match(predicate)
    if force == "duty" and re.match(r"not\b", predicate, re.IGNORECASE):
        force, predicate = "prohibition", predicate[3:].strip()
        modal = f"{modal} not"
    elif denied and _RELEASES.match(predicate):
        subject = subject[denied.end() :].strip().replace(" nor ", " or ")
        force, predicate = "right", f"not {predicate}"
    elif denied and force != "prohibition":
        force = "prohibition"
    elif force == "prohibition" and _RELEASES.match(predicate):
        force, predicate = "right", f"not {predicate}"
    if _says_nothing(main, predicate, acts, passive is not None):
        return None
    who = _agent(predicate, passive.end(), actors) if passive else subject if acts else ""
    if who and (role := _ROLE.search(main.fronted)) and re.fullmatch("you|we", who, re.I):
        who = f"{who}, as {role['role']}"
    if _IT.fullmatch(subject) and not passive:
        named = _ITS_NOUN.match(main.fronted)
        if named and actors.acts(named["who"]):
            who = named["who"]
    rest, unless = _conditions(predicate)
    conditions = [*unless]
    for said in (inserted, main.inserted, main.fronted):
        if set_in := _SET_IN.search(said):
            conditions.insert(0, set_in["condition"])
    conditions = [said for said in conditions if not _CONDITION.fullmatch(said)]
    whole = f"{subject} {modal} {rest}" if not who or passive else rest
    return Clause(
        force,
        who,
        whole,
        tuple(conditions),
        ", ".join(filter(None, (main.fronted, inserted))),
        flat[main.begin : end].strip(" ,;"),
    )


def _predicate(flat: str, hidden: str, start: int, end: int) -> tuple[str, str]:
    """Return the predicate from a modal on, and what commas set in between the two."""
    inserted = ""
    after = re.match(r"\s*,([^,]+),", hidden[start:end])
    if after and not re.search(r"\b(?:and|or)$", after[1]):
        inserted = flat[start + after.start(1) : start + after.end(1)].strip()
        start += after.end()
    predicate = flat[start:end].strip(" ,;.:—–")
    return re.sub(r",? (?:and|or|but|and/or)$", "", predicate), inserted


def _agent(predicate: str, verb: int, actors: Actors) -> str:
    """Return by whom something is done; empty where a passive clause does not say so.

    ``verb`` is where its participle ends.
    """
    for match in _BY.finditer(predicate):
        before = predicate[: match.start()].rstrip()
        if re.search(r"[,;:]| (?:that|which|who)\b", before):
            return ""
        other = len(before) > verb and re.search(rf"\b{_PARTICIPLE}$", before)
        does = re.match(r"\w+ing\b", match["who"])
        if not (other or does) and actors.acts(match["who"]):
            return match["who"]
    return ""


_GRAMMAR = ("shall", "must", "may", "will", "can", "is", "are", "be", "need", "ha")


def _says_nothing(main: _Main, predicate: str, acts: bool, passive: bool) -> bool:
    """Return whether a clause binds nobody: it says what a word, a paper or a term is."""
    head = _head(main.subject)
    if KIND.fullmatch(head) or head in _PAPERS or head in ("section", "paragraph", "term"):
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
    found: list[str] = []
    kept, at = "", 0
    for match in _CONDITION.finditer(hidden):
        if match.start() < at or _NO_CONDITION.search(hidden[: match.start()].rstrip()):
            continue
        before = hidden[at : match.start()].rstrip()
        stop = len(predicate)
        if before.endswith(",") or not (kept + before).strip():
            comma = hidden.find(",", match.end())
            stop = comma if comma >= 0 else stop
        if (semicolon := hidden.find(";", match.end(), stop)) >= 0:
            stop = semicolon
        kept += predicate[at : match.start()].rstrip(" ,") + " "
        found.append(predicate[match.start() : stop].strip(" ,"))
        at = min(stop + 1, len(predicate))
        if stop == len(predicate):
            break
    kept += predicate[at:]
    return " ".join(kept.split()).strip(" ,"), found
