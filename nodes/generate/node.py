"""generate: a drafted answer whose statements carry [n] markers, or the abstention."""

from langgraph.runtime import Runtime

from lexloop.core.running import computed
from lexloop.core.state import State, Update
from lexloop.core.types import ABSTENTION, QUOTED, Citation, Draft, Passage, StructureLine
from lexloop.nodes.context import Context, drafted
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
    if only:
        closed = bool(told) and not units
    else:
        closed = unread or await computed(
            guard.refuses, state["asked"], state["parsed"]["text"], state["passages"]
        )
    if closed:
        draft = drafted(ABSTENTION)
    else:
        draft = await generator.generate(
            state["parsed"], state["passages"], state["triplets"], state.get("advice"), pointed
        )
    if await computed(guard.withholds, draft["answer"], generator.instructions, state["asked"]):
        draft = drafted(ABSTENTION)
    draft = with_told(draft, told)
    passages = await computed(_with_quoted, state["passages"], draft, runtime.context)
    return {"passages": passages, "draft": draft}


def _with_quoted(passages: list[Passage], draft: Draft, context: Context) -> list[Passage]:
    """Return the passages, then those of the quoted chunks that are not among them."""
    known = {passage["id"] for passage in passages}
    lacking = [name for name in draft["quoted"] if name not in known]
    further = context.backend.chunks(lacking) if context.backend and lacking else []
    return [
        *passages,
        *(
            Passage(**chunk, score=0.0, signals={QUOTED: 1.0}, n=n)
            for n, chunk in enumerate(further, len(passages) + 1)
        ),
    ]


def with_told(draft: Draft, told: list[StructureLine]) -> Draft:
    """Return the draft and what code says of the structure; only that in place of an abstention.

    The sources of what is told are numbered after all markers of the draft.
    """
    if not told:
        return draft
    citations = [] if draft["abstained"] else [*draft["citations"]]
    said = "" if draft["abstained"] else draft["answer"]
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
    # what is told is an answer, so nothing stands near one
    return {
        **draft,
        "answer": answer,
        "abstained": False,
        "citations": citations,
        "told": [*draft["told"], *lines],
        "near": [],
    }
