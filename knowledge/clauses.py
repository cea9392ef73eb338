"""Modal clauses and their subjects: who must, may or must not do what."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lexloop.knowledge.phrases import readable
from lexloop.knowledge.predicates import Predicate

_MODAL = re.compile(
    r"""(?<=[\w,"”’)]\s)(?:
    (?P<prohibits>(?:shall|must|may)\s+not|(?P<unable>cannot)
      |(?:is|are)\s+(?:prohibited|forbidden)\s+from
      |(?:is|are)\s+not\s+(?:permitted|allowed|entitled)\s+to
      |(?<=[Ww]e\s)(?:will|do)\s+(?:not|never))
  | (?P<permits>may|(?:is|are)\s+(?:entitled|permitted|allowed|authori[sz]ed)\s+to
      |(?:has|have)\s+the\s+right\s+to|(?<=[Yy]ou\s)can)
  | (?P<requires>shall|must|(?:is|are)\s+(?:required|obliged|obligated)\s+to|(?<=[Ww]e\s)will)
    )(?=[\s,:]|$)
    (?:\s+(?:also|always|generally|normally|automatically|never|at\s+all\s+times|then|therefore
      |accordingly|only)\b)?""",
    re.VERBOSE,
)
_END = re.compile(
    r"[;\n]|,?(?<!\s)\s+(?:unless|except|provided,? that)\b"
    r"|,\s+but\b(?!\s+not\s+(?:be\s+)?limited)"
)
_RELATIVE = re.compile(
    r",?(?<!\s)\s+(?:that|who|whom|which|whose|where|when|if|unless|as)\b|(?<!\s)\s+\("
)
_REPORTED = re.compile(
    r"\b(?:acknowledg|agree|clarif|confirm|determin|ensur|establish|indicat|likely|mean|note|provid"
    r"|remind|requir|satisf|specif|stat)\w*\s+that\s+",
    re.IGNORECASE,
)
_OPENERS = re.compile(
    r"(?:according|after|although|as|at|because|before|between|by|during|even|except|for|from|how"
    r"|however|if|in|including|not|notwithstanding|on|once|other|otherwise|pursuant|rather|since"
    r"|so|subject|such as|than|then|therefore|there|to|under|unless|until|upon|what|when|where"
    r"|whether|which|while|who|whose|why|with|within|without|whichever|whatever|whenever|being"
    r"|having|having\s+regard|acting|together|provided|save|also|only|namely"
    r"|(?:this|these|those|that)$|here|nothing|neither|nor|one|others|please|do|is|are|does|can"
    r"|could|should|would)\b",
    re.IGNORECASE,
)
_MODIFIER = re.compile(
    r"(?<!\s)\s+(?:pursuant\s+to|in\s+accordance\s+with|in\s+relation\s+to|in\s+respect\s+of|with\s+respect"
    r"\s+to|under|(?:referred|mentioned|described|specified|set\s+out|prescribed|contained|listed"
    r"|required|provided|made|given|issued|submitted|imposed|granted|seeking|using|wishing|applying"
    r"|carrying|carried|conducted|performed|conducting|operating|acting|authori[sz]ed|established"
    r"|designated|subject\s+to)\b)"
)
_PREPOSITION = re.compile(
    r"(?<!\s)\s+(?:for|with|in|on|by|from|to|at|within|during|into|through)\s"
)
_DETERMINER = re.compile(
    r"(?:a|an|the|any|each|every|no|such|all|both|this|these|those|your|our|their|its|his|we|you)\b",
    re.IGNORECASE,
)
_SUBORDINATE = re.compile(r",?\s+(?:where|when|if|unless|as)")
_INNER_DETERMINER = re.compile(
    r"(?<!\bof)(?<!\band)(?<!\bor)(?<!\bfor)(?<!\bin)(?<!\bby)(?<!\bwith)(?<!\bto)(?<!\bon)"
    r"(?<!\bfrom)(?<!\bat)(?<!\bbetween)(?<!\bboth),?\s(?:an?|the|any)\s"
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|does|do|did|be|been|being|will|would|shall|must|may|might"
    r"|can|cannot|could|should|not|it|they|he|she|there|then|because|if)\b"
)
_SPEAKER = re.compile(r"\b[Ww]e$|\b[Yy]ou$")
_SAME_SUBJECT = re.compile(r",?\s(?:and|or|but)\s+$")
_ANTECEDENT = re.compile(
    r"(?:If|Where|When|Once|Before|After)\s+(?P<noun>(?:an?|the|any|each)\s+"
    r"(?:[A-Z][\w'’-]*(?:\s+(?=[A-Z]))?){1,6})"
)
_REACH = 400
_PREDICATES: tuple[Predicate, ...] = ("prohibits", "permits", "requires")


@dataclass(frozen=True)
class Clause:
    """A modal clause of a sentence: ``body[start:]`` opens with its subject's verb.

    ``action`` is what is required, forbidden or allowed; ``subject`` is empty where none was found.
    """

    predicate: Predicate
    subject: str
    action: str
    start: int
    action_start: int


def clauses(body: str) -> Iterator[Clause]:
    """Yield up to three modal clauses of a sentence whose subjects are plain noun phrases."""
    found = 0
    subject, negated = "", False
    for modal in _MODAL.finditer(body):
        if not (subject and _SAME_SUBJECT.search(body, modal.start() - 12, modal.start())):
            subject, negated = _subject(body, modal.start())
        if not subject:
            continue
        kind: Predicate = next(name for name in _PREDICATES if modal[name])
        if (negated and kind == "prohibits") or (modal["unable"] and _SPEAKER.match(subject)):
            continue
        predicate: Predicate = "prohibits" if negated else kind
        yield Clause(predicate, subject, _action(body, modal.end()), modal.start(), modal.end())
        found += 1
        if found == 3:
            return


def _action(body: str, start: int) -> str:
    rest = body[start:].lstrip()
    if rest.startswith(","):  # "must, within 30 days, notify"
        rest = rest[1:].partition(",")[2].lstrip()
    end = _END.search(rest)
    return rest[: end.start()] if end else rest


def _subject(body: str, stop: int) -> tuple[str, bool]:
    """Return the noun phrase before a modal, and whether it opens with "no"."""
    begin = max(0, stop - _REACH)
    segments = [part.strip() for part in re.split(r"[,;:—]\s+", body[begin:stop].rstrip() + " ")]
    cut_off = begin > 0
    phrase = segments.pop()
    if not phrase and segments:  # "A Person, other than a Bank, must"
        segments.pop()
        while segments and _OPENERS.match(segments[-1]):
            segments.pop()
        phrase = segments.pop() if segments else ""
    phrase = _coordinated(phrase, segments)
    if cut_off and not segments:
        return "", False
    phrase = _resolved(body, phrase)
    negated = bool(re.match(r"no\s", phrase, re.IGNORECASE))
    head = phrase[3:] if negated else phrase
    return plain_noun(head), negated


def _coordinated(phrase: str, segments: list[str]) -> str:
    """Join the members of "an employer, employment agency, or vendor"."""
    joined = re.match(r"(?:and|or)\s+", phrase)
    if not joined:
        return phrase
    member = phrase[joined.end() :]
    before = segments[-1] if segments else ""
    if _DETERMINER.match(member) and not (_DETERMINER.match(before) and len(before.split()) <= 6):
        return member
    members = [phrase]
    while segments and len(segments[-1].split()) <= 6 and not _OPENERS.match(segments[-1]):
        members.insert(0, segments.pop())
        if _DETERMINER.match(members[0]):
            return ", ".join(members)
    return ""


def _resolved(body: str, phrase: str) -> str:
    """Return the noun of a pronoun: of "it" in "If a Fund Manager fails to do so, it must"."""
    spoken = _SPEAKER.search(phrase)
    if spoken:
        return spoken.group()
    if phrase.lower() in {"it", "he", "she", "they", "he or she"}:
        antecedent = _ANTECEDENT.match(body)
        return antecedent["noun"] if antecedent else ""
    return phrase


def plain_noun(phrase: str) -> str:
    """Return a subject without relative clause and modifier; "" where it is no noun."""
    parts = _REPORTED.split(phrase)
    phrase = parts[-1]
    relative = _RELATIVE.search(phrase)
    if relative:
        if re.fullmatch(r"\w+", relative.group().strip(" ,(")) and not phrase[relative.end() :]:
            return ""
        phrase = phrase[: relative.start()]
        if _SUBORDINATE.match(relative.group()) and not _DETERMINER.match(phrase):
            return ""
    modifier = _MODIFIER.search(phrase)
    if modifier and not _DETERMINER.fullmatch(phrase[: modifier.start()]):
        phrase = phrase[: modifier.start()]
    phrase = readable(phrase)
    if not _DETERMINER.match(phrase) and _INNER_DETERMINER.search(phrase):
        return ""  # "clarify the rule" is a verb with its object
    if _OPENERS.match(phrase) or _VERB.search(phrase) or not re.search(r"[A-Za-z]{2}", phrase):
        return ""
    if len(phrase.split()) > 8:
        preposition = _PREPOSITION.search(phrase)
        phrase = phrase[: preposition.start()] if preposition else ""
    return phrase if len(phrase.split()) <= 10 else ""
