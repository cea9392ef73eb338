"""The embedded rewriter: rules for follow-ups, decomposition and expansion."""

import re

from lexloop.core.types import Advice, Plan, Turn
from lexloop.corpus.text.tokens import STOP_WORDS, words
from lexloop.nodes.context import Rewriting
from lexloop.nodes.question import asking_sentences, question_parts, without_preamble
from lexloop.nodes.rewrite.followup import resolved

_QUOTED = re.compile(r"['\"‘“]([^'\"’”]{3,60})['\"’”](?!\w)")
_SECTION = re.compile(
    r"(?:(?<!§)§+\s*|\b(?:section|article|rule|part)\s+)[\dIVX][\w.\-()]*", re.IGNORECASE
)
_ASKING = frozenset(
    """according explain describe tell provide know please define definition mean meaning document
    documents policy question context purpose following specific information law require required
    requirement requirements difference differences similarity similarities relationship
    compare regarding""".split()
)


class RuleRewriter:
    """Rewrites without a model."""

    translates = False

    async def rewrite(
        self, question: str, history: list[Turn], plan: Plan, advice: Advice | None
    ) -> Rewriting:
        """Resolve follow-ups; then the whole question, what it asks, and each part of it."""
        standalone, topical = resolved(question, history)
        asked = asking_sentences(standalone)
        queries = [
            *(advice["queries"] if advice else []),
            *question_parts(standalone),
            " ".join(without_preamble(sentence) for sentence in asked),
            standalone,
            topical,
        ]
        return Rewriting(
            standalone=standalone,
            queries=distinct(queries)[: plan["Q"]],
            keywords=keywords(standalone)[: plan["K"]],
            topical=topical,
        )


class NoRewriter:
    """Passes the question on as it is, with neither sub-queries nor keywords."""

    translates = False

    async def rewrite(
        self, question: str, history: list[Turn], plan: Plan, advice: Advice | None
    ) -> Rewriting:
        """The question itself."""
        return Rewriting(standalone=question, queries=[], keywords=[])


def distinct(queries: list[str]) -> list[str]:
    """The queries in order, those left out that repeat an earlier one's words."""
    kept: dict[tuple[str, ...], str] = {}
    for query in queries:
        key = tuple(words(query))
        if key and key not in kept:
            kept[key] = " ".join(query.split())
    return list(kept.values())


def keywords(question: str) -> list[str]:
    """Phrases to look up in the knowledge graph, the most telling first.

    Quoted terms and section references come first, then runs of content words, longest first.
    """
    found = [*_QUOTED.findall(question), *_SECTION.findall(question)]
    runs: list[list[str]] = [[]]
    for token in re.findall(r"[\w\-]+|[^\w\s]", question):
        word = token.lower()
        if word in STOP_WORDS or word in _ASKING or not re.match(r"\w", token):
            runs.append([])
        else:
            runs[-1].append(token)
    phrases = sorted((" ".join(run) for run in runs if run), key=lambda p: -len(p.split()))
    return distinct([*found, *(p for p in phrases if len(p) > 2)])
