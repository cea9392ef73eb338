"""The answer as a message: its text, with each citation as an annotation that clients can show."""

import uuid
from collections.abc import Iterable, Sequence
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.messages.content import Annotation, create_citation, create_text_block

from lexloop.core.settings_groups import Sources
from lexloop.core.state import State
from lexloop.core.types import Citation, StructuredAnswer
from lexloop.nodes.markers import MARKER, marker_numbers, unmarked


def answer_message(state: State, sources: Sources = "annotations") -> AIMessage:
    """Return the answer of a turn as its message.

    Args:
        state: The state at the turn's end.
        sources: ``text`` writes the sources below the answer, too, for readers of plain text.

    Returns:
        A message whose id belongs to this turn of this graph alone. If the answer has citations,
        its content is one text block with an annotation for each marker. The warning and how the
        question was read are in ``response_metadata``.
    """
    answer, citations = state["answer"], state["citations"]
    beside: dict[str, Any] = {
        name: value
        for name, value in (("warning", state["warning"]), ("read_as", state.get("read_as")))
        if value
    }
    content: Any = answer
    if citations:
        told = with_sources(answer, citations, state["warning"]) if sources == "text" else answer
        # providers' clients leave annotations out of a prompt if they know the form of the content
        beside["output_version"] = "v1"
        content = [create_text_block(told, annotations=annotations(answer, citations))]
        del content[0]["id"]  # a random one would make two runs differ
    # not by the turn alone: several graphs may answer the same message of a parent
    own = f"{state['turn']['id']}-{uuid.uuid4().hex[:12]}-answer"
    return AIMessage(content=content, id=own, response_metadata=beside)


def annotations(answer: str, citations: Iterable[Citation]) -> list[Annotation]:
    """Return an annotation for each number of each marker, at the place of the marker.

    ``extras`` has what LangChain's citations have no field for: the number, the provision, the page
    and the place in the document's text.
    """
    by_number = {citation["n"]: citation for citation in citations}
    made: list[Annotation] = []
    for marker in MARKER.finditer(answer):
        for n in marker_numbers(marker[1]):
            if (cited := by_number.get(n)) is not None:
                named = create_citation(
                    id=f"citation-{n}",
                    title=cited["document"],
                    start_index=marker.start(),
                    end_index=marker.end(),
                    cited_text=cited["quote"],
                )
                extras = {key: value for key, value in cited.items() if key in _EXTRAS}
                made.append({**named, "extras": extras})
    return made


_EXTRAS = frozenset({"n", "section", "page", "start", "end", "collection", "version", "identifier"})


def structured(state: State) -> StructuredAnswer:
    """Return the answer with its sources for agents that take a structured response."""
    cited: Sequence[Citation] = state["citations"] or state.get("near", [])
    return {
        "answer": state["answer"],
        "finding": state["finding"],
        "warning": state["warning"],
        "sources": [
            {
                "n": source["n"],
                "document": source["document"],
                "section": source["section"],
                "page": source["page"],
                "quote": source["quote"],
            }
            for source in cited
        ],
    }


def with_sources(answer: str, citations: Iterable[Citation], warning: str) -> str:
    """Return an answer as plain text: the sources below it, and the warning as a note."""
    sources = [
        f"[{c['n']}] {c['document']}, {c['section']}: {unmarked(c['quote'])}" for c in citations
    ]
    return "\n".join([answer, *sources, *([f"Note: {warning}"] if warning else [])])
