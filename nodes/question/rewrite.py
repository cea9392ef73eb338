"""rewrite: a question that stands alone, up to Q sub-queries and up to K keywords."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from langgraph.runtime import Runtime
from pydantic import BaseModel

from lexloop import prompts
from lexloop.core.errors import tell_loss
from lexloop.core.folding import folded, narrowed
from lexloop.core.running import computed, computing
from lexloop.core.state import State, Update, advice_of
from lexloop.core.types import Advice, ParsedQuestion, Part, Plan, Turn
from lexloop.documents.structure.tree import Tree
from lexloop.documents.text.languages import mismatch
from lexloop.documents.text.tokens import STOP_WORDS, tokenize, words
from lexloop.models.embedding import Embed
from lexloop.models.request import Chat, ChatRequest, parsed
from lexloop.nodes.context import Context
from lexloop.nodes.markers import MARKER
from lexloop.nodes.question.contents import contents_near
from lexloop.nodes.question.describing import (
    before,
    documents_called,
    documents_described,
    documents_named,
    unnamed,
)
from lexloop.nodes.question.followups import TURNS, leans_on_history, resolved
from lexloop.nodes.question.naming import inside, told_apart
from lexloop.nodes.question.parts import (
    parse,
    part_of,
    what_asks,
    with_context_of,
)
from lexloop.nodes.question.pointing import read_pointing
from lexloop.nodes.question.same_question import changed
from lexloop.store.view import View

_ASKING = frozenset(
    """according explain describe tell provide know please define definition mean meaning document
    documents policy question context purpose following specific information law require required
    requirement requirements difference differences similarity similarities relationship
    compare regarding""".split()
)


class RuleRewriter:
    """A rewriter by rules, without a model.

    Args:
        embed: Tells which phrases are of one kind, for turns that name another thing.
    """

    translates = False

    def __init__(self, embed: Embed | None = None) -> None:
        self._embed = embed

    @computing
    def rewrite(
        self, question: str, history: list[Turn], plan: Plan, advice: Advice | None
    ) -> ParsedQuestion:
        """Resolve follow-ups; then the whole question, what it asks, and each part of it."""
        standalone = resolved(question, history, self._embed)
        parsed = parse(standalone)
        queries = [
            *(advice["queries"] if advice else []),
            *(with_context_of(standalone, part["text"]) for part in parsed["parts"]),
            what_asks(standalone),
            standalone,
        ]
        return {
            **parsed,
            "queries": distinct(queries)[: plan["Q"]],
            "keywords": keywords(standalone)[: plan["K"]],
        }


class NoRewriter:
    """A rewriter that changes nothing and adds no sub-queries, but finds the keywords."""

    translates = False

    async def rewrite(
        self, question: str, history: list[Turn], plan: Plan, advice: Advice | None
    ) -> ParsedQuestion:
        """Return the question itself, with the phrases to look up in the knowledge graph."""
        return {**parse(question), "keywords": keywords(question)[: plan["K"]]}


def distinct(queries: list[str]) -> list[str]:
    """Return the queries in order, without those that repeat an earlier one's words."""
    kept: dict[tuple[str, ...], str] = {}
    for query in queries:
        key = tuple(words(query))
        if key and key not in kept:
            kept[key] = " ".join(query.split())
    return list(kept.values())


def keywords(question: str) -> list[str]:
    """Return phrases to look up in the knowledge graph, the most telling first.

    They are runs of content words, the longest first.
    """
    runs: list[list[str]] = [[]]
    for token in re.findall(r"[\w\-]+|[^\w\s]", question):
        word = token.lower()
        if word in STOP_WORDS or word in _ASKING or not re.match(r"\w", token):
            runs.append([])
        else:
            runs[-1].append(token)
    phrases = sorted((" ".join(run) for run in runs if run), key=lambda p: -len(p.split()))
    return distinct([phrase for phrase in phrases if len(phrase) > 2])


_HISTORY_TURNS = 12
_TURN_CHARS = 4000


class RewriteReply(BaseModel):
    """The reply that the model is asked for."""

    standalone: str | None = None
    queries: list[str] = []
    keywords: list[str] = []


@cache
def _prompt(own: str = "") -> prompts.Prompt:
    return prompts.load("rewrite", prompts.STEPS["rewrite"], own)


def rewrite_prompt(
    question: str,
    history: Sequence[Turn],
    languages: Sequence[str] = (),
    Q: int = 0,
    K: int = 0,
    *,
    contents: Sequence[prompts.Data] = (),
    own: str = "",
) -> tuple[str, str]:
    """Return what a model is asked for a rewriting, as system and user, with the latest turns.

    ``contents`` tell of the documents, and ``own`` is a user's prompt, if not ours.
    """
    told = [prompts.Data(turn["role"], turn["content"]) for turn in history]
    return _prompt(own).render(
        history=told[-_HISTORY_TURNS:],
        question=question,
        languages=[prompts.Data("language", name) for name in languages],
        contents=contents,
        Q=Q,
        K=K,
    )


class ModelRewriter:
    """A rewriter by a chat model; code keeps to the limits Q and K, and to what was asked.

    Args:
        chat: The model.
        documents: Know the language that a question is translated into.
        embed: Gives MiniLM's unit vectors, by which a rewriting is compared.
        own: A user's prompt, if not ours.
    """

    translates = True

    def __init__(self, chat: Chat, documents: View, embed: Embed, own: str = "") -> None:
        self._own = own
        self._chat = chat
        self._documents = documents
        self._embed = embed

    async def rewrite(
        self, question: str, history: list[Turn], plan: Plan, advice: Advice | None
    ) -> ParsedQuestion:
        """Ask for all three at once; what is asked anew was written by the engineer already.

        The latest turns of the history are shown. What the model leaves out stays out. The question
        is the one asked, unless it is a follow-up or of another language. If the model wrote
        another question, the rules' reading stands in its place, and its queries are kept.
        """
        if advice:  # in the documents' language, and to be searched by its own queries first
            return await RuleRewriter(self._embed).rewrite(question, history, plan, advice)
        foreign = await computed(self._documents.language.other, question)
        if not (history or plan["Q"] or plan["K"] or foreign):
            return parse(question)
        languages = await computed(lambda: self._documents.language.names)
        before = [turn["content"] for turn in history if turn["role"] == "user"][-1:]
        contents = await computed(contents_near, " ".join([*before, question]), self._documents)
        asked = (question, history, languages, plan["Q"], plan["K"])
        system, user = rewrite_prompt(*asked, contents=contents, own=self._own)
        request = ChatRequest("rewrite", system, user, RewriteReply)
        reply = parsed(await self._chat.ask(request), RewriteReply)
        written = question
        if history or foreign:
            written = " ".join((reply.standalone or "").split()) or question
        if history and not foreign:
            written = await computed(self._checked, written, question, history)
        return {
            **parse(written),
            "queries": distinct(reply.queries)[: plan["Q"]],
            "reworded": True,
            "keywords": distinct(reply.keywords)[: plan["K"]],
        }

    def _checked(self, written: str, question: str, history: list[Turn]) -> str:
        """Return what the model wrote, or the rules' reading if it asks another question."""
        if not (why := changed(written, question, history, self._embed)):
            return written
        told = f"The model wrote another question than the one asked: {why}."
        tell_loss("the question written out by the model", "the rules' reading", told)
        return resolved(question, history, self._embed)


async def rewrite(state: State, runtime: Runtime[Context]) -> Update:
    """Write out the question, with sub-queries and keywords.

    Slips are mended first, so that all that follows is made of words that the documents have; words
    of another language are no slips. On a retry the engineered question replaces the one asked, and
    its advice is followed.
    """
    rewriter, view = runtime.context.rewriter, runtime.context.view
    advice = advice_of(state)
    if advice:
        question, history = advice["question"], []
    else:
        question, history = state["asked"], state["history"][-TURNS:]
    update: Update = {"read_as": state.get("read_as", [])}
    if view is not None and not advice and runtime.context.settings.retrieval.rewriter != "none":
        question, history, told = await computed(
            _worded, question, history, view, rewriter.translates
        )
        update = {**update, **told}
    parsed = await rewriter.rewrite(question, history, state["plan"], advice)
    titles = view.titles if view is not None else {}
    parsed["pointing"] = await computed(read_pointing, parsed["text"], titles)
    if view is not None:
        parsed = await computed(_asked_inside, parsed, question, history, view)
    if advice:
        meant = state["meant"]
        parsed["documents"] = meant["documents"]
        if rewriter.translates:  # a model's queries reach what the words of the question do not
            parsed["queries"] = distinct([*parsed["queries"], *meant["queries"]])
            parsed["reworded"] = True
            parsed["keywords"] = distinct([*parsed["keywords"], *meant["keywords"]])
    elif chosen := (state["turn"].get("clarified") or {}).get("documents"):
        parsed["documents"] = [*chosen]
    if history or advice:
        parsed = _of_earlier(parsed, state["asked"] if advice else question)
    return {**update, "parsed": parsed, "meant": state["meant"] if advice else parsed}


def _of_earlier(parsed: ParsedQuestion, said: str) -> ParsedQuestion:
    """Return a question with the words of its parts that are not of what is asked now."""
    asked = frozenset(words(said))
    parts: list[Part] = [
        {**part, "earlier": [word for word in words(part["text"]) if word not in asked]}
        for part in parsed["parts"]
    ]
    return {**parsed, "parts": parts}


class _Meant(NamedTuple):
    """The documents that a question is asked in, whether it describes them, and see ``Apart``."""

    documents: list[str]
    described: bool
    outside: Mapping[str, str]
    absent: list[str]


def _meant(parsed: ParsedQuestion, backend: View) -> _Meant:
    """Return the documents that a question means; numbers and files are surer than words."""
    apart = told_apart(parsed["text"], backend)
    if apart.sure:
        return _Meant(apart.documents, False, apart.outside, apart.absent)
    described = documents_described(parsed, backend)
    called = described or documents_called(parsed["text"], backend)
    documents = sorted({*apart.documents, *called})
    alone = documents == apart.documents and not described
    return _Meant(documents, bool(described), apart.outside if alone else {}, [])


def _asked_inside(
    parsed: ParsedQuestion, question: str, history: list[Turn], backend: View
) -> ParsedQuestion:
    """Return the question as it is asked inside the documents that it describes or calls by name.

    A follow-up is asked inside those of the question that it goes on from.
    """
    meant = _meant(parsed, backend)
    for said in reversed([turn["content"] for turn in history if turn["role"] == "user"]):
        if meant.documents or not leans_on_history(question):
            break
        question, absent = said, meant.absent
        meant = _meant(parse(said), backend)._replace(absent=absent, outside={})
    called, described, outside, absent = meant
    named = documents_named(parsed["text"], backend)
    parsed = {**parsed, "documents": called, "called": [*named], "absent": absent}
    parsed = _outside(parsed, outside)
    if described:
        return _without(before(parsed), parsed)
    return _unnamed(parsed, named, lambda name: all(map(backend.knows, tokenize(name))))


def _outside(parsed: ParsedQuestion, outside: Mapping[str, str]) -> ParsedQuestion:
    """Return what is asked and searched without the numbers and files that name its documents."""
    if not outside or not (bare := inside(parsed["inside"], outside)):
        return parsed
    return {
        **parsed,
        "parts": [part_of(inside(part["text"], outside) or bare) for part in parsed["parts"]],
        "inside": bare,
        "queries": distinct([inside(query, outside) for query in parsed["queries"]]),
    }


def _without(lead: str, parsed: ParsedQuestion) -> ParsedQuestion:
    """Return what is asked and searched without the description of the documents it is asked in."""
    told = " ".join(lead.split())
    parts = [part_of(part["text"].removeprefix(lead)) for part in parsed["parts"]]
    queries = distinct([query.replace(told, "") for query in parsed["queries"]])
    pointing = parsed["pointing"]
    if pointing is not None:
        pointing = {**pointing, "titled": pointing["titled"].removeprefix(lead)}
    inside = " ".join(part["text"] for part in parts)
    return {**parsed, "parts": parts, "inside": inside, "queries": queries, "pointing": pointing}


def _unnamed(
    parsed: ParsedQuestion, titles: Mapping[str, str], is_term: Callable[[str], bool]
) -> ParsedQuestion:
    """Return what is asked and searched without the name of the document that it is asked of.

    A text speaks of itself as "this licence": its name stands in its title and its preamble, which
    a search for the name would find.
    """
    bare = unnamed(parsed["inside"], titles, is_term)
    if bare == parsed["inside"]:
        return parsed
    texts = [part["text"] for part in parsed["parts"]]
    return {
        **parsed,
        "parts": [part_of(unnamed(text, titles, is_term)) for text in texts],
        "inside": bare,
        "queries": distinct([unnamed(one, titles, is_term) for one in parsed["queries"]]),
    }


def _worded(
    question: str, history: list[Turn], view: View, translates: bool
) -> tuple[str, list[Turn], Update]:
    """Return question and history in words that the documents have, and what is to be told."""
    told: Update = {}
    other = view.language.other(question)
    if not other:
        question, told["read_as"] = view.language.read(question)
    elif not translates:
        told["turn"] = {"untranslated": mismatch(other, view.language.names)}
    return question, _read(history, view), told


def _read(history: list[Turn], view: View) -> list[Turn]:
    """Read slips in the user's turns, and the place that the last quoting answer is from."""
    quoting = [t for t in history if t["role"] == "assistant" and MARKER.search(t["content"])]
    turns: list[Turn] = []
    for turn in history:
        said = turn["content"][:_TURN_CHARS]
        if turn["role"] == "user":
            read = said if view.language.other(said) else view.language.read(said)[0]
            turns.append({"role": "user", "content": read})
        elif quoting and turn is quoting[-1]:
            about, at = place_of(view, MARKER.split(said, maxsplit=1)[0].strip())
            turns.append({**turn, "about": about, "at": at})
        else:
            turns.append(turn)
    return turns


def place_of(view: View, quote: str) -> tuple[str, str]:
    """Return heading and label of the provision that a quote is from, or "" if it has none."""
    hits = view.search_lexical([quote], 1)[0]
    for chunk in view.chunks([hit.chunk_id for hit in hits]):
        tree = view.tree_of(chunk["document"]) or Tree()
        within = max(0, narrowed(chunk["text"]).find(folded(quote)))
        # a chunk may begin with a title that stands before its provision
        for place in map(tree.at, (chunk["start"] + within, chunk["end"] - 1)):
            above = (place, *tree.above(place)) if place >= 0 else ()
            for unit in (tree.units[p] for p in above):
                if unit.kind == "provision":
                    return unit.heading, unit.label
    return "", ""
