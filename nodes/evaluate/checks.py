"""What code verifies of an answer: its citations exist and its facts stand in what it cites."""

from collections.abc import Callable

from lexloop.core.deadline import heed_deadline
from lexloop.core.types import Citation
from lexloop.nodes.evaluate.facts import facts, states
from lexloop.nodes.markers import cited_sentences

TextOf = Callable[[str], str | None]


def citation_problems(answer: str, citations: list[Citation], text_of: TextOf) -> list[str]:
    """Everything that keeps an answer's citations from being verified.

    Args:
        answer: The answer with its [n] markers.
        citations: The spans behind the markers.
        text_of: The text of a document by name; None for an unknown document.

    Returns:
        One sentence per problem; none means that every sentence of the answer cites, every cited
        span is in its document, and every number, date and section reference is in the cited text.

    Raises:
        DeadlineExceeded: The question has run out of time.
    """
    problems = [problem for citation in citations if (problem := _misquoted(citation, text_of))]
    by_number: dict[int, list[Citation]] = {}
    for citation in citations:
        by_number.setdefault(citation["n"], []).append(citation)
    for sentence in cited_sentences(answer):
        heed_deadline("while citations were verified")
        if not any(character.isalnum() for character in sentence.text):
            continue
        if not sentence.numbers:
            problems.append(f"No citation: {_short(sentence.text)}")
            continue
        missing = [n for n in sentence.numbers if n not in by_number]
        problems += [f"[{n}] cites no passage." for n in missing]
        cited = [c for n in sentence.numbers for c in by_number.get(n, [])]
        text = "\n".join(f"{c['section']}\n{c['quote']}" for c in cited)
        problems += [
            f"{fact} is not in the cited text: {_short(sentence.text)}"
            for fact in sorted(facts(sentence.text))
            if cited and not states(text, fact)
        ]
    return problems


def _misquoted(citation: Citation, text_of: TextOf) -> str | None:
    text = text_of(citation["document"])
    if text is None:
        return f"[{citation['n']}] cites {citation['document']}, which is not in the corpus."
    start, end = citation["start"], citation["end"]
    if not 0 <= start < end <= len(text) or text[start:end] != citation["quote"]:
        return f"[{citation['n']}] quotes words that are not at {start}-{end} of its document."
    return None


def _short(text: str, limit: int = 80) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
