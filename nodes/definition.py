"""Whether a question asks what a term means, and whether a text says so."""

import re
from functools import lru_cache

_ASKED = re.compile(
    r"(?:definitions? of|meanings? of|what (?:is|are)|what do(?:es)?|what constitutes"
    r"|how (?:is|are)|\bdefine)\s++"
    r"(?:(?:the )?(?:terms?|phrase|word|definition of|meaning of)\s++)?(?:an? |the )?"
    r"(?P<open>['\"‘“])?(?P<term>[\w\-,/ ]{3,60}?)['\"’”]?"
    r"(?=(?<!\s)\s+(?:mean|refer|is\b|in the|according|that\b|defined|under\b|for\b|signif|here\b"
    r"|and\s+(?:wh\w+|how|is|are|do|does|can|could|must|should|may|the|its|their|in)\b)"
    r"|[?,.;:]|$)",
    re.IGNORECASE,
)
_SURELY = re.compile(r"defin|meaning|\bmeans?\b|refers? to|constitutes|\bthe term", re.IGNORECASE)
_PLAIN = re.compile(
    r"what (?:is an? |are (?!the )|is (?=[\w\-]+ ))[\w\- ]{3,40}\??$", re.IGNORECASE
)
_ATTRIBUTE = re.compile(
    r"""\b(?:requirements?|purposes?|calculations?|difference\w*|relationship|deadlines?|penalt\w+
    |dates?|changes?|criteria|roles?|consequences?|conditions?|options?|steps?|rules?|exceptions?
    |exclusions?|obligations?|duties|duty|notices?|similarit\w+|information|process|procedures?
    |types?|examples?|factors?|limits?|fines?|fees?|amounts?|reasons?|objective|goal|points?|main
    |minimum|maximum|specific|impact|importance|benefits?|implications?|time\w*|responsibilit\w+
    |it|they|them|this|that|needed|required|included|published|used|process|alternatives?|ways?
    |methods?|name|address|number|cost|price|age|average|their|its|our|your|my|his|her|left|next
|happen\w*|wrong|new|additional|other|add)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_MAX_WORDS = 6


def asked_definition(part: str) -> str | None:
    """The term whose definition a question asks for, if it surely does.

    "What is a bias audit?" asks for one; "What are the requirements?" does not.
    """
    found = _ASKED.search(part)
    if found is None:
        return None
    term = found["term"].strip()
    if len(term.split()) > _MAX_WORDS or (_ATTRIBUTE.search(term) and not found["open"]):
        return None
    surely = found["open"] is not None or _SURELY.search(part) or _PLAIN.match(part.strip())
    return term if surely else None


def defines(term: str, text: str) -> bool:
    """Whether ``text`` says what ``term`` means, or what it includes."""
    return _definition_of(term.lower()).search(text) is not None


@lru_cache(maxsize=256)
def _definition_of(term: str) -> re.Pattern[str]:
    stem = re.escape(re.sub(r"(?:ing|ed|(?<!s)s)$", "", term) if len(term) > 5 else term)
    return re.compile(
        rf"(?:^|[\"“‘'.:;]|\bterm )\s*(?:an? |the )?[\"“‘']?{stem}\w{{0,3}}[\"”’']?,?"
        r"(?:\s+(?:or|\()[^.]{0,60}?)?\s+"
        r"(?:means?|refers? to|is|are|does not include|do not include|includes?|shall mean"
        r"|can be|may take|stands? for)\b",
        re.IGNORECASE,
    )
