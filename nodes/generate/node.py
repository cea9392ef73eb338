"""generate: draft an answer whose statements carry [n] markers, or abstain."""

from itertools import count

from langgraph.runtime import Runtime

from lexloop.core.running import computed
from lexloop.core.state import State, Update, advice_of
from lexloop.core.types import (
    ABSTENTION,
    QUOTED,
    Citation,
    Draft,
    ParsedQuestion,
    Passage,
    Scored,
    StructureLine,
)
from lexloop.nodes.context import Context, drafted
from lexloop.nodes.generate.answerable import unmet
from lexloop.nodes.generate.conflicts import with_changes, with_conflicts
from lexloop.nodes.generate.main_document import with_main
from lexloop.nodes.markers import numbers_in, unmarked
from lexloop.nodes.user import with_user
from lexloop.store.view import View


async def generate(state: State, runtime: Runtime[Context]) -> Update:
    """Write the draft of this attempt. One that recites its instructions becomes an abstention."""
    context, parsed, passages = runtime.context, state["parsed"], state["passages"]
    generator, guard, view = context.generator, context.guard, context.view
    pointed = parsed.get("pointed")
    told = pointed["told"] if pointed else []
    units = pointed["units"] if pointed else []
    lacks = lacking_names(parsed)
    if lacks and not parsed["documents"]:
        closed, told = True, []
    elif pointed and pointed["only"]:
        closed = bool(told) and not units
    else:
        unreadable = bool(state["turn"].get("untranslated")) and not units
        closed = unreadable or await computed(
            guard.refuses, state["asked"], parsed["text"], passages
        )
    if closed:
        draft = drafted(ABSTENTION, lacks=lacks)
    else:
        # a model answers the question that was meant, whatever an attempt searched for
        question = state["meant"] if generator.instructions else parsed
        draft = await generator.generate(
            question, passages, state["triplets"], advice_of(state), pointed
        )
    if await computed(guard.withholds, draft["answer"], generator.instructions, state["asked"]):
        draft = drafted(ABSTENTION)
    draft = with_told(draft, told)
    if view is not None:
        named = parsed["documents"] or parsed["called"]
        authority = context.settings.retrieval.host_scores
        draft = await computed(with_conflicts, draft, passages, view, named, authority)
        draft = await computed(with_changes, draft, view)
        if not generator.instructions:  # a model says itself what the passages lack
            lacks += await computed(unmet, parsed, draft, view)
            draft = await computed(with_main, draft, parsed, passages, view)
        documents = {passage["document"] for passage in passages}
        draft = await computed(with_user, draft, documents, view, context.settings.user)
        draft = await computed(_located, draft, view)
        passages = await computed(_with_quoted, passages, draft, view)
    if lacks and not draft["abstained"]:  # the answer is about something else
        draft = {**draft, "conflicts": [*lacks, *draft.get("conflicts", [])]}
    if passages is state["passages"]:
        return {"draft": draft}
    return {"passages": passages, "draft": draft}


def lacking_names(question: ParsedQuestion) -> list[str]:
    """Return a sentence on the names in a question that no document has, if any."""
    absent = question.get("absent", [])
    return [f"No document names {', '.join(absent)}."] if absent else []


def _located(draft: Draft, view: View) -> Draft:
    """Return the draft with each source's place in its file and the confidence of its reading."""
    citations, near = ([*map(view.located, draft[key])] for key in ("citations", "near"))
    return {**draft, "citations": citations, "near": near}


def _with_quoted(passages: list[Passage], draft: Draft, view: View) -> list[Passage]:
    """Return the passages and the other quoted chunks, each with its place in its file."""
    known = {passage["id"] for passage in passages}
    lacking: list[Scored] = [
        {"id": name, "score": 0.0, "signals": {QUOTED: 1.0}}
        for name in draft["quoted"]
        if name not in known
    ]
    if not lacking:
        return passages
    quoted = enumerate(view.candidates(lacking), len(passages) + 1)
    return [*passages, *(view.as_passage(chunk, n) for n, chunk in quoted)]


def with_told(draft: Draft, told: list[StructureLine]) -> Draft:
    """Return the draft with the lines that code wrote; they replace an abstention.

    Their sources are numbered after all markers of the draft.
    """
    if not told:
        return draft
    citations = [] if draft["abstained"] else [*draft["citations"]]
    answer = [] if draft["abstained"] or not draft["answer"] else [draft["answer"]]
    numbers = count(max(numbers_in("".join(answer)), default=0) + 1)
    lines: list[str] = []
    for line in told:
        numbered: list[Citation] = [{**c, "n": next(numbers)} for c in line["citations"]]
        citations += numbered
        markers = "".join(f"[{c['n']}]" for c in numbered)
        lines.append(f"{unmarked(line['line'])} {markers}".strip())
    return {
        **draft,
        "answer": "\n".join([*answer, *lines]),
        "abstained": False,
        "citations": citations,
        "told": [*draft["told"], *lines],
        "near": [],
    }
