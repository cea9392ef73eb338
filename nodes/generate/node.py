"""generate: a drafted answer whose statements carry [n] markers, or the abstention."""

from dataclasses import replace

from langgraph.runtime import Runtime

from lexloop.core.state import State, Update
from lexloop.core.types import ABSTENTION, QUOTED, Chunk, Citation, Passage, StructureLine
from lexloop.nodes.context import Context, GeneratedAnswer, Generator, Guard
from lexloop.nodes.markers import numbers_in, unmarked


async def generate(state: State, runtime: Runtime[Context]) -> Update:
    """Write the draft of this attempt; one that recites its instructions becomes an abstention."""
    generator, guard = runtime.context.generator, runtime.context.guard
    pointed = state.get("pointed")
    told = pointed["told"] if pointed else []
    units = pointed["units"] if pointed else []
    only = pointed is not None and pointed["only"]
    # one in a language that nobody reads here, or one that is refused
    unread = bool(state.get("untranslated")) and not units
    if (only and told and not units) or (
        not only
        and (unread or guard.refuses(state["asked"], state["standalone"], state["passages"]))
    ):
        draft = GeneratedAnswer(ABSTENTION)
    else:
        draft = await _drafted(state, generator, guard)
    if guard.withholds(draft.answer, generator.instructions, state["asked"]):
        draft = GeneratedAnswer(ABSTENTION)
    draft = with_told(draft, told)
    return {
        "passages": _with_quoted(state["passages"], draft.quoted),
        "draft": draft.answer,
        "draft_citations": draft.citations,
        "draft_abstained": draft.abstained,
        "draft_told": draft.told,
        "draft_answers": draft.answers,
        "draft_unanswered": draft.unanswered,
        "draft_near": draft.near,
    }


async def _drafted(state: State, generator: Generator, guard: Guard) -> GeneratedAnswer:
    """Draft an answer; where that abstains, once more from the question in plainer words."""
    question = state["standalone"]
    draft = GeneratedAnswer(ABSTENTION)
    for wording in dict.fromkeys([question, guard.plainer(question)]):
        draft = await generator.generate(
            wording, state["passages"], state["triplets"], state.get("advice"), state.get("pointed")
        )
        if not draft.abstained:
            break
    return draft


def _with_quoted(passages: list[Passage], quoted: list[Chunk]) -> list[Passage]:
    """Return the passages, then those of the quoted chunks that are not among them."""
    known = {passage["id"] for passage in passages}
    further = [chunk for chunk in quoted if chunk["id"] not in known]
    return [
        *passages,
        *(
            Passage(**chunk, score=0.0, signals={QUOTED: 1.0}, n=n)
            for n, chunk in enumerate(further, len(passages) + 1)
        ),
    ]


def with_told(draft: GeneratedAnswer, told: list[StructureLine]) -> GeneratedAnswer:
    """Return the draft and what code says of the structure; only that in place of an abstention.

    The sources of what is told are numbered after all markers of the draft.
    """
    if not told:
        return draft
    citations = [] if draft.abstained else [*draft.citations]
    said = "" if draft.abstained else draft.answer
    number = max(numbers_in(said), default=0)
    lines: list[str] = []
    for line in told:
        numbered: list[Citation] = [
            {**c, "n": number + i} for i, c in enumerate(line["citations"], 1)
        ]
        number += len(numbered)
        citations += numbered
        markers = "".join(f"[{c['n']}]" for c in numbered)
        lines.append(f"{unmarked(line['line'])} {markers}".strip())
    answer = "\n".join([*filter(None, [said]), *lines])
    said_by_code = [*draft.told, *lines]
    # what is told is an answer, so nothing stands near one
    return replace(draft, answer=answer, citations=citations, told=said_by_code, near=[])
