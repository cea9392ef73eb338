"""What the main document of a collection says beside an answer that rests on short ones alone."""

from collections.abc import Sequence

from lexloop.core.types import Citation, Draft, ParsedQuestion, Passage
from lexloop.documents.chunks.statements import Statement
from lexloop.documents.structure.tree import Tree
from lexloop.nodes.markers import numbers_in, unmarked
from lexloop.nodes.relevance import Query, query_of
from lexloop.store.view import View

_MAIN = 0.4
"""The share of all passages that the main document has: most collections have none."""
_LONG = 50
"""The least passages of a main document."""
_SHORT = 5
"""How many times the passages of all sources the main document has, for them to be short."""
_FEW = 100
"""The most documents of a collection that is thought to have a main one."""
_LOOKED_AT = 8
"""The passages, the first ones of other documents, that are searched for if none is known."""
_WORDS = range(4, 121)
"""Words of a statement that is shown."""


def with_main(
    draft: Draft,
    question: ParsedQuestion,
    passages: Sequence[Passage],
    view: View,
) -> Draft:
    """Return the draft with what the main document says nearest to the question, if there is one.

    Whoever may lay a page beside a law can have it say what is asked in the words of the question.
    A reader who sees only the page cannot know that the law was there. Which one is right is left
    to the reader: no words of the page count for it.

    Args:
        draft: As it was written.
        question: What was asked.
        passages: What it was written from.
        view: The documents.
    """
    sources = {citation["document"] for citation in draft["citations"]}
    if draft["abstained"] or not sources or not len(sources) < len(view.titles) <= _FEW:
        return draft
    least = max(_LONG, _SHORT * len(view.within([*sources])), _MAIN * len(view))
    if len(view) < least:
        return draft
    found = [(passage["document"], passage["id"]) for passage in passages]
    main = _main(found, least, view)
    asked = query_of(question, view)
    if not main:
        others = view.within([name for name in view.titles if name not in sources])
        [hits] = others.search_lexical([question["text"]], _LOOKED_AT)
        found = [(hit.chunk_id.rpartition("#")[0], hit.chunk_id) for hit in hits]
        main = _main(found, least, view)
    own = [name for document, name in found if document == main][:_LOOKED_AT]
    said = _nearest(asked, own, view, view.tree_of(main))
    if said is None:
        return draft
    n = max(numbers_in(draft["answer"]), default=0) + 1
    citation: Citation = {**view.cited(main, said.start, said.end, said.label), "n": n}
    quote = unmarked(" ".join(said.text.split()))
    line = f"{unmarked(main)}, which is far longer, has nothing nearer to this than: {quote} [{n}]"
    return {
        **draft,
        "answer": f"{draft['answer']}\n{line}",
        "told": [*draft["told"], line],
        "citations": [*draft["citations"], citation],
    }


def _main(found: Sequence[tuple[str, str]], least: float, view: View) -> str:
    """Return the document among some that has so many passages at least; or nothing."""
    for document in dict.fromkeys(document for document, _ in found):
        if len(view.within([document])) >= least:
            return document
    return ""


def _nearest(
    asked: Query, chunk_ids: Sequence[str], view: View, tree: Tree | None
) -> Statement | None:
    """Return the statement of some chunks that is nearest to a question; no row of a table."""
    best, nearest = 0.0, None
    for name in chunk_ids:
        for said, vector in zip(*view.statements(name), strict=True):
            near = float((asked.vectors[:2] @ vector).max())
            place = tree.at(said.start) if tree else -1
            row = tree is not None and place >= 0 and tree.units[place].kind == "row"
            if near > best and len(said.text.split()) in _WORDS and not row:
                best, nearest = near, said
    return nearest
