"""generate: a drafted answer whose statements carry [n] markers, or the abstention."""

from langgraph.runtime import Runtime

from lexloop.core.running import computed
from lexloop.core.settings_groups import Linear
from lexloop.core.state import State, Update
from lexloop.core.types import (
    ABSTENTION,
    QUOTED,
    Citation,
    Draft,
    ParsedQuestion,
    Passage,
    StructureLine,
)
from lexloop.documents.structure.place import at_of
from lexloop.nodes.context import Context, drafted
from lexloop.nodes.generate.answerable import unmet
from lexloop.nodes.generate.conflicts import with_changes, with_conflicts
from lexloop.nodes.generate.main_document import with_main
from lexloop.nodes.markers import numbers_in, unmarked
from lexloop.store.view import View


async def generate(state: State, runtime: Runtime[Context]) -> Update:
    """Write the draft of this attempt; one that recites its instructions becomes an abstention."""
    generator, guard = runtime.context.generator, runtime.context.guard
    pointed = state.get("pointed")
    told = pointed["told"] if pointed else []
    units = pointed["units"] if pointed else []
    only = pointed is not None and pointed["only"]
    # one in a language that nobody reads here, or one that is refused
    unread = bool(state.get("untranslated")) and not units
    lacks = lacking_names(state["parsed"])
    if lacks and not state["parsed"]["documents"]:
        closed, told = True, []
    elif only:
        closed = bool(told) and not units
    else:
        closed = unread or await computed(
            guard.refuses, state["asked"], state["parsed"]["text"], state["passages"]
        )
    if closed:
        draft = drafted(ABSTENTION, lacks=lacks)
    else:
        # a model answers what was meant, whatever an attempt searched for
        asked = state["meant"] if generator.instructions else state["parsed"]
        draft = await generator.generate(
            asked, state["passages"], state["triplets"], state.get("advice"), pointed
        )
    if await computed(guard.withholds, draft["answer"], generator.instructions, state["asked"]):
        draft = drafted(ABSTENTION)
    draft = with_told(draft, told)
    if (view := runtime.context.view) is not None:
        named = state["parsed"]["documents"] or state["parsed"]["called"]
        fusion = runtime.context.settings.fusion
        authority = (fusion if isinstance(fusion, Linear) else Linear()).host_scores
        draft = await computed(with_conflicts, draft, state["passages"], view, named, authority)
        lacks += await computed(unmet, state["parsed"], draft, view)
        draft = await computed(with_changes, draft, view)
        draft = await computed(with_main, draft, state["parsed"], state["passages"], view)
    if lacks and not draft["abstained"]:  # what it says is of something else
        draft = {**draft, "conflicts": [*lacks, *draft.get("conflicts", [])]}
    draft = await computed(_placed, draft, runtime.context.view)
    passages = await computed(_all_placed, state["passages"], draft, runtime.context.view)
    return {"passages": passages, "draft": draft}


def lacking_names(question: ParsedQuestion) -> list[str]:
    """Return in a sentence what a question asks for by a name that no document has."""
    absent = question.get("absent", [])
    return [f"No document names {', '.join(absent)}."] if absent else []


def _placed(draft: Draft, view: View | None) -> Draft:
    """Return the draft, its sources with where they stand in files and how surely it was read."""
    if view is None:
        return draft
    citations, near = ([*map(view.located, draft[key])] for key in ("citations", "near"))
    return {**draft, "citations": citations, "near": near}


def _all_placed(passages: list[Passage], draft: Draft, view: View | None) -> list[Passage]:
    """Return the passages and those that are quoted, each with where it stands in its file."""
    if view is None:
        return passages
    found = _with_quoted(passages, draft, view)
    places = (at_of(view.document(p["document"]), p["start"], p["end"]) for p in found)
    return [{**one, "at": at} if at else one for one, at in zip(found, places, strict=True)]


def _with_quoted(passages: list[Passage], draft: Draft, view: View) -> list[Passage]:
    """Return the passages, then those of the quoted chunks that are not among them."""
    known = {passage["id"] for passage in passages}
    lacking = [name for name in draft["quoted"] if name not in known]
    further = view.chunks(lacking) if lacking else []
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
