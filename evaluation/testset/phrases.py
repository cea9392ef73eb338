"""Sentences of a law read strictly: who must, may or must not do what, and when; or not at all."""

import re
from collections.abc import Collection
from dataclasses import dataclass

_ENDINGS = (("ies", "y"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x"))
_NOT_PLURAL = ("ss", "us", "is", "ous")
_IRREGULAR = {
    several: one
    for pair in """analyses/analysis appendices/appendix bonuses/bonus buses/bus children/child
        cookies/cookie criteria/criterion crises/crisis halves/half hypotheses/hypothesis
        indices/index knives/knife lives/life matrices/matrix men/man movies/movie people/person
        selves/self shelves/shelf statuses/status theses/thesis ties/tie viruses/virus wives/wife
        women/woman""".split()
    for several, _, one in [pair.partition("/")]
}
_SINGULAR = frozenset(
    """alias always atlas bias besides canvas diabetes economics electronics ethics forensics
    headquarters lens logistics mathematics means news overseas perhaps physics politics premises
    series species statistics towards whereas""".split()
)
_SENTENCE = re.compile(
    r"(?:(?P<link>If|Where|When|Once|After|Before|Upon)\s(?P<front>[^,:;]+),\s)?"
    r"(?P<subject>[^,:;]+?)\s(?P<modal>must|shall|may)(?P<not>\snot)?(?P<only>\sonly)?\s"
    r"(?:(?:also|then|therefore|at all times)\s)?(?P<act>[^:;]+?)\s?(?P<end>[.:]|—)"
)
_AS_MODAL = (
    (re.compile(r"\b(?:is|are)\s(?:required|obliged|obligated)\sto\b"), "must"),
    (re.compile(r"\b(?:is|are)\s(?:entitled|permitted|allowed|authori[sz]ed)\sto\b"), "may"),
    (re.compile(r"\b(?:has|have)\sthe\sright\sto\b"), "may"),
    (re.compile(r"\bcannot\b"), "may not"),
)
_PART = re.compile(
    r"(?:(?P<front>(?:If|Where|When|Once|After|Before|Upon|In|For|Subject|Notwithstanding|Unless"
    r"|Except|Without|To|By|On|At|Within|During|As|Under|Pursuant|Until|While|With)\b.*),\s)?(?P<subject>[^,:;]+?),?\s(?P<modal>must|shall|may)(?P<not>\snot)?,?\s(?P<act>.+)"
)
_POINTING = re.compile(
    r"\b(?:such(?!\sas\b)|these|those|either(?!.*\bor\b)|(?:do|does|doing|done)\sso|(?:all|any|both)\sother\s\w*(?:case|instance)s?"
    r"|(?:this|that)\s(?!(?:Act|Chapter|Part|Regulation|Directive|Rule|[Ss]ection|[Aa]rticle|[Pp]aragraph"
    r"|Rulebook|[Ss]ubpart|part|subsection|chapter|the|a|an|is|are)\b)\w+\s?[,.]?)"
)
_TO = re.compile(r"^(?:(?!\bto\b).)*\b(?:and|or)\sto\b")
_MODAL = re.compile(r"\b(?:must|shall|may)\b")
_LIMIT = re.compile(
    r",?\s(?P<link>unless|except(?:\s(?:where|when|if|that|as|in|for|to))?|only\s(?:if|when|where)"
    r"|provided,?\sthat|if|(?<=,\s)(?:where|when))\s"
)
_NO_LIMIT = re.compile(r"\b(?:as|even|and|or|determine|decide|ask|see|know|tell|check)$")
_OWN_NAME = re.compile(
    r"\b[Tt]his\s(Act|Agreement|Charter|Code|Contract|Directive|Law|Lease|Licen[cs]e|Ordinance|Policy"
    r"|Regulation|Rulebook|Statute|act|agreement|bylaw|code|contract|directive|law|lease"
    r"|licen[cs]e|ordinance|policy|regulation|rulebook|rule|statute)(?=[\s,.']|$)"
)
_ASIDE = re.compile(r"\s\([^()]{4,}\)")
_UNCLEAR = re.compile(
    r"\b(?:this|these|those|such(?!\sas\b)|it|itself|they|them|themselves|he|she|him|his|her|we|us|our"
    r"|one|ones|here\w*|there(?:of|in|to|by|for|from|under|after)|said|aforesaid|former|latter"
    r"|following|foregoing|above|below|same|so|likewise|otherwise|respective\w*|another|further"
    r"|(?:sub)?(?:paragraph|section|division|clause|part|point)s?|chapter|schedule|annex|appendix"
    r"|e\.g|i\.e|shall|must|et\sseq|in\squestion)\b"
    r"|[\[\]()|=•*<>\"“”_/…]|(?<!\band\s)(?<!\bor\s)\bother\b"
)
_OF_IT = re.compile(
    r"\b(?:its|their|you|your|I|my|me)\b|\b(?:by|of|to|for|in|with|on|from|under|at)\sthat\b"
)
_DANGLING = re.compile(
    r"\b(?:and|or|of|to|for|in|by|with|on|at|from|the|an?|that|which|who|whom|whose|as|any|each|not|be|is"
    r"|are|only|than|least|under|when|where|if|but|within|its|their|also|both|either|do|was|were|has"
    r"|have|been|will|following|including|such|no)$"
)
_SUBJECT = re.compile(
    r"(?i:an?|the|each|every|any|all|no)\s|(?:[A-Z][\w\-]*\s){0,2}[\w\-]*\w+s\b|[A-Z]{2,}\b"
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|does|do|did|be|been|will|would|can|could|should|cannot|not"
    r"|means?|if|when|where|whether|how|why|because|while|than|as|that|unless|until|what|so)\b|\d"
)
_WHO = re.compile(r"\s(?:who|which|that)\s(?=(?:is|are|was|were|has|have|does|do|\w+s|\w+ed)\b)")
_RELATIVE = re.compile(r"\b(?:who|which|that|whom|whose|what|whether)\b")
_SECOND_NOUN = re.compile(
    r"(?<!\b(?:of|or|in|by|to|on|at))(?<!\b(?:and|for))(?<!\b(?:with|from))(?<!\bunder)(?<!\bbetween)"
    r"\s(?:an?|the|any|each|every|all|no)\s"
)
_FINITE = re.compile(
    r"(?:(?:an?|the|any|each|every|no|all)\s|[\w\-]+s\s|[A-Z])"
    r"(?:.*\b(?:is|are|was|were|has|have|had|does|do|did|can|will|would|could)\b|[\w\s\-]+\s\w+(?:s|ed)\s)"
)
_NO_VERB = re.compile(
    r"(?:in|on|by|for|with|within|without|under|to|at|from|upon|after|before|during|the|an?|all|any"
    r"|each|no|and|or|have|as|if|either|both|neither|subject|pursuant|where|when|unless|except)\b"
    r"|\w+ing\b|[A-Z\d]"
)
_STATIVE = re.compile(
    r"(?:apply|mean|include|constitute|contain|consist|comprise|exist|differ|have|need|wish|want|be\s(?:construed|deemed"
    r"|read|considered|treated|interpreted|understood|without|regarded|taken\sas|an?|the|in|at|of"
    r"|responsible|liable|subject|entitled|able))\b"
)
_RELATING = re.compile(r"\s(?:of|for|in|to|with|that|who|which|under|from|by|on|at)\s")
_DETERMINER = re.compile(r"^(?:an?|the|each|every|any|all)\s")
_ACTORS = frozenset(
    """accountant administrator agency agent applicant association attorney auditor authority bank
    bidder board body borrower broker bureau buyer candidate captain carrier chairman child claimant
    client commission commissioner committee company consumer contractor controller corporation
    council counsel court creditor customer dealer debtor department director distributor doctor
    driver employee employer entity examiner exporter farmer firm governor grantee grantor guardian
    guest holder importer individual inspector institution insurer issuer judge landlord landowner
    lender lessee lessor licensee licensor manager manufacturer master member minister ministry
    mortgagee offeror officer official operator organisation organization owner parent participant
    partner party passenger patient person physician practitioner president processor producer
    provider publisher purchaser recipient registrar regulator representative reporter resident
    retailer school secretary seller shareholder state student supervisor supplier teacher tenant
    trader trainee traveller tribe tribunal trustee undertaking university user vendor visitor
    warden worker""".split()
)
_VOWEL = re.compile(
    r"[AEIO]|[aeio](?!ne\b)|[Uu](?!ni|se|su|ti|\b)|[FHLMNRSX](?=[A-Z])|hour|honest|heir"
)
_LINKS = ("if", "where", "when", "once", "after", "before", "upon")
MOST_WORDS = 30
"""Words of a clause that a question can take in and still be read."""
_MOST_NOUNS = 12


@dataclass(frozen=True)
class Rule:
    """A sentence about an act.

    Args:
        subject: A noun phrase with its determiner, as it stands within a sentence.
        modal: ``must``, ``may`` or ``must not``.
        act: A bare verb and what belongs to it, up to the condition.
        link: What joins the condition: ``if``, ``unless``, ``after``; empty where there is none.
        condition: The condition's own words.
        leads: Whether a list goes on with the act.
    """

    subject: str
    modal: str
    act: str
    link: str
    condition: str
    leads: bool

    @property
    def clause(self) -> str:
        """The rule without its condition: "an owner must report a collision"."""
        return f"{self.subject} {self.modal} {self.act}"

    @property
    def stative(self) -> bool:
        """The predicate says what something is rather than what is done."""
        return bool(_STATIVE.match(self.act))


def read_rule(sentence: str, text: str) -> Rule | None:
    """Return what a sentence rules, or nothing where a single word of it is unclear.

    Args:
        sentence: On one line, without its number.
        text: The document, by whose use of a word its first capital is judged.
    """
    found = _SENTENCE.fullmatch(settled(sentence))
    subject = noun_phrase(found["subject"], text) if found else ""
    if not found or not subject:
        return None
    link, condition, act = _limited(found)
    leads, only, nobody = found["end"] != ".", found["only"], subject.startswith("no ")
    clear = leads or (" " in act and is_clear(act))
    if not clear or _NO_VERB.match(act) or _TO.search(act) or not _is_condition(link, condition):
        return None
    if (only and (found["modal"] != "may" or not link)) or (nobody and found["not"]):
        return None
    modal = "may" if found["modal"] == "may" else "must"
    if nobody or found["not"]:
        modal = "must not"
    subject = with_article(subject[3:]) if nobody else subject
    return Rule(subject, modal, act, f"only {link}" if only else link, condition, leads)


def settled(sentence: str) -> str:
    """Return a sentence without asides, its modal one of three words, "this Act" the Act."""
    sentence = _ASIDE.sub("", _OWN_NAME.sub(_named, sentence))
    if not _MODAL.search(sentence):
        for pattern, modal in _AS_MODAL:
            sentence = pattern.sub(modal, sentence, count=1)
    return sentence


def _named(found: re.Match[str]) -> str:
    return f"{'The' if found.group()[0] == 'T' else 'the'} {found[1]}"


def _limited(found: re.Match[str]) -> tuple[str, str, str]:
    """Return the joining word, the condition and the act; no act where there are two of them."""
    link, condition = (found["link"] or "").lower(), found["front"] or ""
    act = found["act"].rstrip(",—– ")
    limits = (m for m in _LIMIT.finditer(f"{act} ") if not _NO_LIMIT.search(act[: m.start()]))
    limit = next(limits, None)
    if limit is None:
        return link, condition, act
    if link:
        return link, condition, ""
    joined = " ".join(limit["link"].split())
    return joined, act[limit.end() :], act[: limit.start()].rstrip(",")


def _is_condition(link: str, condition: str) -> bool:
    """Return whether a condition can stand in a question; what follows "unless" need not."""
    if not condition or link.startswith(("unless", "except")):
        return True
    finite = link in ("after", "before", "upon") or _FINITE.match(condition)
    return bool(finite) and is_clear(condition)


def who_acts(sentence: str, text: str) -> tuple[str, str, str, str]:
    """Return who must, may or must not act, the modal, the act, unclear or not, and the condition.

    All are empty where the subject is unclear, or may be more than what stands before the modal;
    the condition also where it is unclear: "if a boat is damaged".
    """
    first = _MODAL.search(sentence)
    found = _PART.fullmatch(sentence)
    if not first or not found or found.start("modal") != first.start():
        return "", "", "", ""
    subject, front = noun_phrase(found["subject"], text), found["front"] or ""
    unfit = _NO_VERB.match(found["act"]) or _POINTING.search(f"{front} | {found['act']}")
    if not subject or subject.startswith("no ") or unfit or found["act"].startswith("also "):
        return "", "", "", ""
    modal = "may" if found["modal"] == "may" else "must"
    link, _, condition = lowered(front).partition(" ")
    clear = link in _LINKS and "," not in condition and _is_condition(link, condition)
    given = f"{link} {condition}" if clear else ""
    return subject, "must not" if found["not"] else modal, found["act"], given


def is_clear(phrase: str) -> bool:
    """Return whether a phrase can be understood where nothing stands around it."""
    short = 0 < len(phrase.split()) <= MOST_WORDS
    return short and not _UNCLEAR.search(phrase) and not _DANGLING.search(phrase)


def is_active(act: str) -> bool:
    """Return whether an act is something that somebody does."""
    return not act.startswith(("be ", "only ")) and not _STATIVE.match(act)


def speaks_of_it(phrase: str) -> bool:
    """Return whether a phrase has a "their" or "your" that somebody must be named for."""
    return bool(_OF_IT.search(phrase))


def noun_phrase(subject: str, text: str) -> str:
    """Return a sentence's subject as it stands within one, or nothing where it may be none.

    "Any owner" is "an owner".
    """
    head, *relative = _WHO.split(subject, maxsplit=1)
    small = subject[:1].lower() + subject[1:]
    fits = _SUBJECT.match(subject) and is_clear(small) and len(subject.split()) <= _MOST_NOUNS
    odd = _VERB.search(head) or speaks_of_it(small) or _SECOND_NOUN.search(head)
    if not fits or odd or any(map(_RELATIVE.search, relative)) or re.match(r"no\s\S+s\b", small):
        return ""
    if found := re.match(r"(?:any|each|every)\s(?=\w)", small):
        noun = small[found.end() :]
        head = _RELATING.split(noun)[0]
        return small if _is_many(head) or " and " in head else with_article(noun)
    return uncapitalised(subject, text)


def uncapitalised(phrase: str, text: str) -> str:
    """Return a phrase with a small first letter where its first word is no name in the text."""
    first = phrase.split(" ", 1)[0]
    if first in ("A", "An", "The", "All", "No") or (
        first[1:].islower()
        and re.search(rf"(?<![.:;—]\s)(?<!\n)\b{re.escape(first.lower())}\b", text)
        and not re.match(r"[A-Z]\w+\s[A-Z]", phrase)
    ):
        return phrase[0].lower() + phrase[1:]
    return phrase


def _is_many(noun: str) -> bool:
    """Return whether a noun is in the plural, as far as its last word tells."""
    last = noun.rsplit(maxsplit=1)[-1].lower()
    return singular(last) != last


def is_actor(subject: str, defined: Collection[str]) -> bool:
    """Return whether a subject is somebody who can decide and do things.

    Args:
        subject: A noun phrase with its determiner.
        defined: Terms, in small letters, that a document defines as a person or the like.
    """
    head = _RELATING.split(subject)[0].lower()
    nouns = [_DETERMINER.sub("", noun) for noun in re.split(r",?\s(?:and|or)\s", head)]
    return all(
        singular(noun.rsplit(maxsplit=1)[-1]) in _ACTORS or {noun, singular(noun)} & {*defined}
        for noun in nouns
    ) and not re.search(r"['’]s\s", head)


def with_article(noun: str) -> str:
    """Return a noun in the singular behind "a" or "an"."""
    return f"an {noun}" if _VOWEL.match(noun) else f"a {noun}"


def lowered(text: str) -> str:
    """Return a text with a small first letter, unless its first word is written in capitals."""
    first = text.split(" ", 1)[0]
    return text if first == "I" or sum(map(str.isupper, first)) > 1 else text[:1].lower() + text[1:]


def singular(word: str) -> str:
    """Return the singular of an English word, by its ending; enough to join two mentions."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < 4 or not word.endswith("s") or word.endswith(_NOT_PLURAL) or word in _SINGULAR:
        return word
    for ending, replacement in _ENDINGS:
        if word.endswith(ending):
            return word[: -len(ending)] + replacement
    return word[:-1]
