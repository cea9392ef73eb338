"""Who does, must, may or must not do what: one sentence as subject, verb and the rest."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from lexloop.corpus.triplets.clauses import Clause, clauses, plain_noun
from lexloop.corpus.triplets.exceptions import find_unlawful
from lexloop.evaluation.testset.ask import is_many
from lexloop.evaluation.testset.wording import from_reader, is_clear, settled, subject_of

_CONDITION = re.compile(
    r",?(?<!\s)\s+(?P<link>only\s+(?:if|when|where)|if|when|where|once(?!\s+(?:an?|every|per|each)\b)|unless|except\s+(?:where|when|if|in)"
    r"|provided,?(?:\s+however,?)?\s+that|as\s+long\s+as|so\s+long\s+as|to\s+the\s+extent\s+that)\s+"
)
_FRONT = re.compile(
    r"(?:if|where|when|once|after|before|during|in the event|upon|on)\s", re.IGNORECASE
)
_LIGHT = re.compile(
    r"(?:however|likewise|also|alternatively|in addition|in short|as an exception|notwithstanding"
    r"|subject to|and|or|but|for this purpose|accordingly|similarly|in particular"
    r"|under|for|in|by)\b",
    re.IGNORECASE,
)
_PRESENT = re.compile(
    r"^(?P<subject>(?:We|You|(?:The|An?|Each|Any|Every|All)\s++[^,.;:]{2,60}?))(?<!\s)\s+"
    r"(?:(?P<not>(?:do|does)\s+not)\s+|never\s+)?(?P<verb>collect|keep|share|use|store|retain|process"
    r"|sell|disclose|transfer|delete|charge|pay|cover|record|report|hold|receive|review|issue|set"
    r"|grant|deliver|refund|ship|protect|support|appoint|require|bear|own|supply)(?P<s>s|es)?\s+"
    r"(?P<rest>(?!of\b|out\s+(?:in|at|under)\b).+)$"
)
_QUALIFIER = re.compile(r"(?:that|who|which|under|of|for|in|from|on|with|to)\s[^,;:]+$")
_MOST_QUALIFYING = 12
_CONNECTIVE = re.compile(r"^(?:However|Likewise|Alternatively|In addition|In short|Also),?\s+")


@dataclass(frozen=True)
class Deed:
    """One clause about an act.

    Args:
        subject: Who or what, as a question names it.
        aux: The verb that a question begins with.
        act: The act up to its condition, beginning with a bare verb.
        relation: ``requires``, ``permits``, ``prohibits`` or ``states``.
        link: What joins the condition, "if"; empty where there is none.
        condition: The condition behind the act.
        front: The condition before the subject, "If a category is excluded".
        leads: Whether a list continues the act.
        partial: Whether the sentence says more of the subject than ``subject`` does.
    """

    subject: str
    aux: str
    act: str
    relation: str
    link: str = ""
    condition: str = ""
    front: str = ""
    leads: bool = False
    partial: bool = False


def deeds(body: str) -> Iterator[Deed]:
    """The deeds of a sentence whose subject and front can stand in a question."""
    body = _CONNECTIVE.sub("", body)
    if unlawful := find_unlawful(body):
        actor, action, end = unlawful
        if subject := subject_of(actor):
            yield _deed(subject, "may", action + body[end:], "prohibits", "")
        return
    found = list(clauses(body))
    for clause in found:
        if made := _modal(body, clause):
            yield made
    present = None if found else _PRESENT.match(body)
    if present and plain_noun(present["subject"]):
        subject = subject_of(present["subject"])
        aux = "does" if present["s"] else "do"
        agrees = (present["s"] is None) == (is_many(subject) or subject in ("I", "you"))
        relation = "prohibits" if present["not"] else "states"
        if subject and agrees and is_clear(subject):
            yield _deed(subject, aux, f"{present['verb']} {present['rest']}", relation, "")


def _modal(body: str, clause: Clause) -> Deed | None:
    begin = body.rfind(clause.subject, 0, clause.start)
    front = body[: max(begin, 0)].strip(" ,")
    if front.lower().endswith(" that"):  # "the rule clarifies that", and its like
        front = ""
    if not _FRONT.match(front):
        if front and not _LIGHT.match(front):
            return None
        front = ""
    said = body[max(begin, 0) + len(clause.subject) : clause.start].strip()
    subject = subject_of(clause.subject)
    if subject and _QUALIFIER.match(said) and len(said.split()) <= _MOST_QUALIFYING:
        subject, said = f"{subject} {from_reader(settled(said))}", ""
    if not subject or (front and not is_clear(settled(front))):
        return None
    spoken = re.match(r"(?:will|can)\b", body[clause.start :])
    aux = {"requires": "must", "permits": "may", "prohibits": "may"}[clause.predicate]
    if spoken and subject in ("you", "I"):
        aux = spoken.group()
    rest = body[clause.action_start :].lstrip()
    deed = _deed(subject, aux, rest, clause.predicate, from_reader(settled(front)))
    return replace(deed, partial=bool(said))


def _deed(subject: str, aux: str, rest: str, relation: str, front: str) -> Deed:
    if rest.startswith(","):  # "must, within 30 days, notify"
        rest = rest[1:].partition(", ")[2]
    if rest.startswith("no longer "):
        rest, relation = rest.removeprefix("no longer "), "prohibits"
    leads = rest.rstrip().endswith((":", "unless", "if", "where", "when"))
    rest = rest.rstrip(" .:;")
    link = condition = ""
    if found := _CONDITION.search(rest + " "):
        link = " ".join(found["link"].lower().replace(",", "").split())
        rest, condition = rest[: found.start()], rest[found.end() :]
    rest = re.sub(r"^(?:not|also|only|then)\s", "", rest.strip())
    act = from_reader(settled(rest))
    return Deed(subject, aux, act, relation, link, from_reader(settled(condition)), front, leads)
