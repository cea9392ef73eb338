"""Which documents a question names: "the directive", "act.txt", "the Charter"."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from lexloop.corpus.text.tokens import STOP_WORDS

_WORD = re.compile(r"\w+(?:[.\-/]\w+)*")
_RUN = re.compile(r"[A-Z]\w*(?:\s+(?:(?:of|the|on|and|for|to|in)\s+){0,2}[A-Z]\w*)+")
_OTHERWISE_NAMED = frozenset(
    """charter treaty convention constitution directive protocol declaration covenant""".split()
)
"""These call for a document of that name; "the act" and "this law" may be any document."""
_KINDS = _OTHERWISE_NAMED | frozenset(
    """act acts law laws regulation regulations rule rules policy policies contract agreement
    standard code statute order guideline guidelines handbook manual terms legislation""".split()
)
_ANY = frozenset("document text file law legislation".split())
_STRUCTURAL = frozenset(
    """article articles section sections chapter chapters part parts annex schedule recital recitals
    clause clauses paragraph point table title""".split()
)
_CASED = re.compile(r"[A-Z]\w+|[\w\-/]+\.[a-z]{2,5}$")
_ACRONYM = re.compile(r"(?<![\w’'])[A-Z][A-Z]{2,9}(?=(?:['’]s)?\s+$)")
_LINK = re.compile(
    r",?\s+(?:(?P<link>of|in|to|under|from|within)\s+(?:(?:the|this|that|our|your)\s+)?)?",
    re.IGNORECASE,
)
_LINKING = frozenset(("of", "on", "the", "and", "for", "to", "in"))
_SPACED = re.compile(r"\S+")
_MOST_WORDS, _MOST_CHARS, _MOST_NAMED = 10, 200, 50


@lru_cache(maxsize=1 << 16)
def words_of(name: str, title: str) -> frozenset[str]:
    """The words that name a document: of its path and its title, and the title's acronyms."""
    plain = {word.lower() for word in re.findall(r"[^\W_]+", f"{name} {title}")}
    plain |= {bare for word in plain if len(bare := word.rstrip("0123456789")) > 1}
    runs = (re.findall(r"[A-Z]", run.group()) for run in _RUN.finditer(title))
    acronyms = {"".join(run[at:]).lower() for run in runs for at in range(max(1, len(run) - 2))}
    return frozenset(plain | {name.lower()} | acronyms)


def singled_out(question: str, titles: Mapping[str, str]) -> list[str]:
    """The documents that a question names and others do not share the words of.

    Args:
        question: What is asked, its references taken out.
        titles: The documents' titles by their names.

    Returns:
        The documents that most of the telling words fit; none where these fit very many.
    """
    if len(titles) < 2:
        return []
    asked = {word.lower() for word in _WORD.findall(question)} - STOP_WORDS - _STRUCTURAL
    asked |= {part for word in asked for part in re.split(r"[.\-/]", word) if len(part) > 2}
    known = {name: asked & words_of(name, title) for name, title in titles.items()}
    common = set.intersection(*known.values())
    best = max(len(words - common) for words in known.values())
    found = [name for name, words in known.items() if best and len(words - common) == best]
    return found if len(found) <= _MOST_NAMED else []


def act_after(text: str, end: int) -> tuple[int, str]:
    """The act that a reference is said to lie in: "of the Charter", "TFEU".

    Args:
        text: The question.
        end: Where the reference ends.

    Returns:
        Where the name ends and the name; the end given and nothing where none follows.
    """
    link = _LINK.match(text, end)
    if link is None or text.isupper():
        return end, ""
    begin = link.end()
    clause = re.split(r"[?!;:\n]|,\s|\.\s", text[begin : begin + _MOST_CHARS], maxsplit=1)[0]
    words = [(word.group().strip("\"'“”‘’(),."), word.end()) for word in _SPACED.finditer(clause)]
    count = _name_length([word for word, _ in words[:_MOST_WORDS]])
    linked = link["link"] is not None or (words and words[0][0].isupper())
    if not count or not linked:
        return end, ""
    stop = words[count - 1][1]
    return begin + stop, clause[:stop].strip(' .?"”’')


def _name_length(words: Sequence[str]) -> int:
    """How many of the words are the name of an act; 0 where they begin with none."""
    telling = [bool(_CASED.match(word) or word.lower() in _KINDS | _ANY) for word in words]
    if not any(telling):
        return 0
    first = telling.index(True)
    if first and (words[first].lower() not in _KINDS or _linking(words[:first])):
        return 0  # "of a person in Spain"; but "of the allotment gardens act"
    last = first
    for place in range(first + 1, len(words)):
        if telling[place] or words[place][:1].isdigit():
            last = place
        elif words[place].lower() not in _LINKING:
            break
    return last + 1


def _linking(words: Sequence[str]) -> bool:
    return any(word.lower() in STOP_WORDS for word in words)


def act_before(text: str, start: int) -> str:
    """The acronym right before a reference: "TFEU Article 101"; nothing where the text shouts."""
    if text.isupper():
        return ""
    found = _ACRONYM.search(text[max(0, start - 20) : start])
    return found.group() if found else ""


def fits(act: str, titles: Mapping[str, str]) -> list[str] | None:
    """The documents that an act's name may stand for; all for "the act", None for another act."""
    own = [word.lower() for word in re.findall(r"[^\W_]+", act)]
    own = [word for word in own if word not in STOP_WORDS and word not in _STRUCTURAL]
    telling = [word for word in own if word not in _ANY]
    known = {name: words_of(name, title) for name, title in titles.items()}
    fitting = [name for name, words in known.items() if words.issuperset(telling)]
    if fitting or act.lower() in titles:
        return fitting
    return list(titles) if set(own) <= (_KINDS | _ANY) - _OTHERWISE_NAMED else None
