"""rewrite: a question that stands alone, up to Q sub-queries and up to K keywords."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from langgraph.runtime import Runtime
from pydantic import BaseModel

from lexloop import prompts
from lexloop.core.errors import tell_loss
from lexloop.core.folding import folded, narrowed
from lexloop.core.running import computed, computing
from lexloop.core.state import State, Update
from lexloop.core.types import Advice, ParsedQuestion, Part, Plan, Turn
from lexloop.documents.structure.tree import Tree
from lexloop.documents.text.languages import mismatch
from lexloop.documents.text.quantities import facts
from lexloop.documents.text.tokens import STOP_WORDS, term_set, tokenize, words
from lexloop.models.embedding import Embed
from lexloop.models.request import Chat, ChatRequest, parsed
from lexloop.nodes.apart import inside, told_apart
from lexloop.nodes.context import Context
from lexloop.nodes.describing import (
    before,
    documents_called,
    documents_described,
    documents_named,
    unnamed,
)
from lexloop.nodes.elliptical import GOING_ON, completed, only_thing
from lexloop.nodes.markers import MARKER
from lexloop.nodes.pointing import only_points, placed, provision_in, read_pointing
from lexloop.nodes.question import (
    PERSONAL,
    asking_sentences,
    be_of,
    in_context,
    parse,
    part_of,
    what_asks,
    with_context_of,
    without_context,
    without_preamble,
)
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
    """A rewriter that changes nothing and adds neither sub-queries nor keywords."""

    translates = False

    async def rewrite(
        self, question: str, history: list[Turn], plan: Plan, advice: Advice | None
    ) -> ParsedQuestion:
        """Return the question itself."""
        return parse(question)


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


_EMPTY = STOP_WORDS | frozenset(
    """definition define defined meaning mean means purpose objective goal called name used apply
    applied included include includes included required requirement requirements rule rules thing
    one ones example examples happen happens say says does work works returned brought made done
    explain details detail information else example difference main important hello hi hey
    thanks thank please ok okay good morning afternoon evening must may might shall within much
    many long""".split()
)
_POINTER = re.compile(
    r"\b(?:this|that|these|those|such|there|then|the (?:former|latter)|another|others?|else|still"
    r"|afterwards?|instead|otherwise|again|as well|the same|either|both|ones?)\b",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"(?:what(?! (?:is|are) (?:an? )?(?!the\b|\w+ed\b)\w+\W*$)|which|why|the|\w+\W*$)",
    re.IGNORECASE,
)
"""With one word of its own, "Which courts?" leans; "Who can sue?", "What is rent?" do not."""
_POSSESSIVE = re.compile(r"\b(?:its|their|his|her)\s+(?!own\b)(\w+)", re.IGNORECASE)
_SUBJECTS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"what (?:is|are) (?P<subject>.+)$",
        r"what (?:do|does|did|can|may|must) (?P<subject>.+) do$",
        r"(?:(?:by )?(?:when|where|why|how) )?(?:can|may|must|shall|should|will) "
        r"(?P<subject>(?:an?|the|any) .{1,300}?) be .+$",
        r"who (?:(?:can|may|must|shall|should|will|has to|have to) )?\w+ (?P<subject>.+)$",
    )
]
_TOPIC_CHARS = 4000
"""Characters of a turn that are read for its topic; a history has no limit as questions have."""
_TURNS, _TURN_CHARS, _CONTEXT_CHARS = 24, 4000, 300
"""The last turns that are read, the first characters of each, and those of a topic."""
_SHORT, _LONG = 4, 8
"""The most words of its own of a question that leans by a word such as "that", and of one
that leans by a pronoun with nothing before it that it could stand for."""


def leans_on_history(question: str) -> bool:
    """Return whether a question points outside itself or names nothing of its own."""
    if only_points(question):
        return False
    content = _named(question)
    if not content or (len(content) == 1 and _BARE.match(question)):
        return True
    if GOING_ON.match(question):
        return len(content) <= _LONG
    if (pronoun := PERSONAL.search(question) or _POSSESSIVE.search(question)) is not None:
        before = _named(question[: pronoun.start()])
        return len(content) <= (_LONG if len(before) < 3 else _SHORT)
    return _POINTER.search(question) is not None and len(content) <= _SHORT


def _named(text: str) -> list[str]:
    """Return the words of a text that name something."""
    return [word for word in words(text) if word not in _EMPTY]


@dataclass
class _Thread:
    """The state of a conversation: its topic, and the provision it came to."""

    # what the user last spoke of on their own; None where they named nothing
    topic: str | None = None
    subject: str | None = None  # what a pronoun stands for; None where that is not sure
    about: str = ""  # the heading of the provision that the last answer on the topic comes from
    # the provision last named by its number, by the user or as the source of an answer
    at: str = ""
    asked: list[str] = field(default_factory=list)  # the user's turns as they stand alone


def _followed(history: list[Turn], embed: Embed | None) -> _Thread:
    """Go through the latest turns in their order, each once.

    The topic is the latest turn of the user that names something and does not lean on the turns
    before it, without preamble; where all lean, the first that names something. A turn that leaves
    out its question has it from the one before.
    """
    thread, named = _Thread(), ""
    for turn in history[-_TURNS:]:
        said = turn["content"][:_TOPIC_CHARS]
        if turn["role"] == "assistant":
            thread.about = turn.get("about") or thread.about
            thread.at = named or provision_in(turn.get("at", "")) or thread.at
            continue
        named = provision_in(said)
        thread.at = named or thread.at
        alone = _resolved(said, thread, embed)
        asked = [*thread.asked, alone]
        if (whole := _completed(said, thread, embed)) is not None:
            said = whole
        topic = _topic(said)
        if topic is not None and (thread.topic is None or not leans_on_history(said)):
            thread = _Thread(topic, _subject(topic), at=thread.at)
        thread.asked = asked
    return thread


def _topic(said: str) -> str | None:
    topic = without_preamble(said, least=1).strip(" .?!")
    return topic if _named(topic) else None


# carries, by benchmarks/rules.py, .27 of the GDPR's follow-ups found, .15 of LL144's correctness
def resolved(question: str, history: list[Turn], embed: Embed | None = None) -> str:
    """Return the question with what it leans on written out; unchanged where it stands alone.

    "What is it?" after "I would like to know about bias audits" becomes "What are bias audits?".
    What a turn leaves out of its question is taken from the one before; ``embed`` tells which
    phrase of that it replaces. Where nothing is sure to take a pronoun's place, the heading of the
    provision that the last answer comes from stands behind the question: the topic in the words of
    the documents.
    """
    return _resolved(question, _followed(history, embed), embed)


def _resolved(question: str, thread: _Thread, embed: Embed | None) -> str:
    question = placed(question, thread.at)
    if (whole := _completed(question, thread, embed)) is not None:
        return whole
    if thread.topic is None or not leans_on_history(question):
        return question
    named = _substituted(question, thread.subject) if thread.subject else question
    if named != question:
        return named
    about = thread.about or thread.subject or thread.topic
    return in_context(question, about[:_CONTEXT_CHARS])


def _completed(said: str, thread: _Thread, embed: Embed | None) -> str | None:
    """Return the whole question of a turn that says only a part of it; None for other turns."""
    asked = [said for said in thread.asked if _topic(said) is not None]
    if not asked or only_points(said):
        return None
    *before, last = asked
    sentence = without_preamble(asking_sentences(without_context(last))[-1], least=1)
    return completed(said, [*before, sentence[:_CONTEXT_CHARS]], embed)


def _substituted(question: str, subject: str) -> str:
    """Write out the first pronoun of a question; unchanged where it has none."""
    if plural := re.match(r"(?P<wh>what|who|where|how) is it\b", question, re.IGNORECASE):
        return f"{plural['wh']} {be_of(subject)} {subject}{question[plural.end() :]}"
    named = _POSSESSIVE.sub(lambda its: f"the {its[1]} of {subject}", question, count=1)
    return named if named != question else PERSONAL.sub(lambda _: subject, question, count=1)


def _subject(topic: str) -> str | None:
    """Return the words of a topic that can take a pronoun's place; None where none are sure to."""
    for pattern in _SUBJECTS:
        if (found := pattern.match(topic)) and _is_noun_phrase(found["subject"]):
            return found["subject"]
    return topic if _is_noun_phrase(topic) else only_thing(topic)


def _is_noun_phrase(topic: str) -> bool:
    """Return whether a topic can replace a pronoun: short, neither a clause nor a question."""
    clause = re.search(
        r"\b(?:is|are|was|were|can|could|may|must|should|will|has|have|does|do|^to|what|where|when"
        r"|how|who|which|whether|if)\b",
        topic,
        re.IGNORECASE,
    )
    return not clause and len(topic.split()) <= 8 and len(topic) <= _CONTEXT_CHARS


_HISTORY_TURNS = 12


class RewriteReply(BaseModel):
    """The reply that the model is asked for."""

    standalone: str
    queries: list[str] = []
    keywords: list[str] = []


_LEAST_LIKE = 0.5
"""What a person wrote out of a follow-up is so much like it in 95 (TREC CAsT) and 99 (CANARD) of
a hundred, what belongs to another question in less than one: ``promises.py --only models``."""


def drift(written: str, question: str, history: list[Turn], embed: Embed) -> str:
    """Return why what was written is another question than the one asked; empty where it is not.

    Three shares are taken together: the terms of what was written that the question or the
    conversation has, the question's terms that it kept, and its cosine with the question as asked
    or as the rules write it out. Numbers and references may neither come nor go.
    """
    asked, made = facts(question), facts(written)
    told = " ".join(turn["content"] for turn in history)
    if changed := sorted((made - asked - facts(told)) | (asked - made)):
        return f"{', '.join(changed)} came or went"
    mine, terms = term_set(written), term_set(question)
    known = len(mine & (terms | term_set(told))) / max(1, len(mine))
    kept = len(mine & terms) / len(terms) if terms else 1.0
    vector, *others = embed([written, question, resolved(question, history, embed)])
    cosine = max(float(vector @ other) for other in others)
    like = (known + kept + cosine) / 3
    return "" if like >= _LEAST_LIKE else f"it is {like:.2f} like it, and {_LEAST_LIKE} is needed"


@cache
def _prompt(own: str = "") -> prompts.Prompt:
    return prompts.load("rewrite", {"history", "question", "languages", "Q", "K"}, own)


def rewrite_prompt(
    question: str,
    history: Sequence[Turn],
    languages: Sequence[str] = (),
    Q: int = 0,
    K: int = 0,
    *,
    own: str = "",
) -> tuple[str, str]:
    """Return what a model is asked for a rewriting, as system and user, with the latest turns.

    ``own`` is a user's prompt, if not ours.
    """
    told = [prompts.Data(turn["role"], turn["content"]) for turn in history]
    return _prompt(own).render(
        history=told[-_HISTORY_TURNS:],
        question=question,
        languages=[prompts.Data("language", name) for name in languages],
        Q=Q,
        K=K,
    )


class ModelRewriter:
    """A rewriter by a chat model; code keeps to the limits Q and K, and to what was asked.

    Args:
        chat: The model.
        documents: Know the language that a question is translated into.
        embed: MiniLM's unit vectors, by which drift is measured.
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
        is the one asked, unless it is a follow-up or of another language. Where what the model
        wrote is another question, the rules' reading stands in its place.
        """
        if advice:  # in the documents' language, and to be searched by its own queries first
            return await RuleRewriter(self._embed).rewrite(question, history, plan, advice)
        foreign = await computed(self._documents.language.other, question)
        if not (history or plan["Q"] or plan["K"] or foreign):
            return parse(question)
        languages = await computed(lambda: self._documents.language.names)
        asked = (question, history, languages, plan["Q"], plan["K"])
        system, user = rewrite_prompt(*asked, own=self._own)
        request = ChatRequest("rewrite", system, user, RewriteReply)
        reply = parsed(await self._chat.ask(request), RewriteReply)
        written = " ".join(reply.standalone.split()) or question
        if not foreign:
            if why := await computed(drift, written, question, history, self._embed):
                told = f"The model wrote another question than the one asked: {why}."
                tell_loss("the question written out by the model", "the rules' reading", told)
                return await RuleRewriter(self._embed).rewrite(question, history, plan, advice)
            written = written if history else question
        return {
            **parse(written),
            "queries": distinct(reply.queries)[: plan["Q"]],
            "keywords": distinct(reply.keywords)[: plan["K"]],
        }


async def rewrite(state: State, runtime: Runtime[Context]) -> Update:
    """Write out the question, with sub-queries and keywords.

    Slips are mended first, so that all that follows is made of words that the documents have; words
    of another language are no slips. On a retry the engineered question replaces the one asked, and
    its advice is followed.
    """
    rewriter, view = runtime.context.rewriter, runtime.context.view
    advice = state.get("advice")
    if advice:
        question, history = advice["question"], []
    else:
        question, history = state["asked"], state["history"][-_TURNS:]
    update: Update = {
        "read_as": state.get("read_as", []),
        "untranslated": state.get("untranslated", ""),
    }
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
        parsed["documents"] = state["meant"]["documents"]
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
        told["untranslated"] = mismatch(other, view.language.names)
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
    """Return heading and label of the provision that a quote is from; "" where it has none."""
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
