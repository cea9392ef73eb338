"""Quoting the main document of a collection beside an answer that cites only short ones."""

from collections.abc import Sequence

from lexloop.core.types import Draft, ParsedQuestion, Passage
from lexloop.documents.chunks.statements import Statement
from lexloop.documents.structure.tree import Tree
from lexloop.nodes.markers import numbers_in, unmarked
from lexloop.nodes.relevance import Query, query_of
from lexloop.store.view import View

_MAIN = 0.4
"""The share of all passages in the main document; most collections have none."""
_LONG = 50
"""The fewest passages of a main document."""
_SHORT = 5
"""How many times as many passages as all cited documents the main document has."""
_FEW = 100
"""The most documents of a collection that may have a main one."""
_LOOKED_AT = 8
"""The most passages of the main document that are compared with the question."""
_WORDS = range(4, 121)
"""The number of words of a statement that is shown."""


def with_main(
    draft: Draft,
    question: ParsedQuestion,
    passages: Sequence[Passage],
    view: View,
) -> Draft:
    """Return the draft with the main document's statement nearest to the question, if any.

    Anyone who adds a page beside a law can make it repeat the words of a question. A reader who
    sees only the page cannot know of the law, so the law is quoted too, and the reader decides.

    Args:
        draft: The draft.
        question: The question.
        passages: The passages of the draft.
        view: The documents.
    """
    cited = {citation["document"] for citation in draft["citations"]}
    if draft["abstained"] or not cited or not len(cited) < len(view.titles) <= _FEW:
        return draft
    least = max(_LONG, _SHORT * len(view.within([*cited])), _MAIN * len(view))
    if len(view) < least:
        return draft
    chunks = [(passage["document"], passage["id"]) for passage in passages]
    if not (main := _main(chunks, least, view)):
        others = view.within([name for name in view.titles if name not in cited])
        [hits] = others.search_lexical([question["text"]], _LOOKED_AT)
        chunks = [(hit.document, hit.chunk_id) for hit in hits]
        main = _main(chunks, least, view)
    own = [chunk_id for document, chunk_id in chunks if document == main][:_LOOKED_AT]
    tree = view.tree_of(main) or Tree()
    statement = _nearest(query_of(question, view), own, tree, view)
    if statement is None:
        return draft
    n = max(numbers_in(draft["answer"]), default=0) + 1
    citation = view.cited(main, statement.start, statement.end, statement.label)
    quote = unmarked(" ".join(statement.text.split()))
    line = f"{unmarked(main)}, which is far longer, has nothing nearer to this than: {quote} [{n}]"
    return {
        **draft,
        "answer": f"{draft['answer']}\n{line}",
        "told": [*draft["told"], line],
        "citations": [*draft["citations"], {**citation, "n": n}],
    }


def _main(chunks: Sequence[tuple[str, str]], least: float, view: View) -> str:
    """Return the first document of some chunks with at least so many passages, or ""."""
    documents = dict.fromkeys(document for document, _ in chunks)
    return next((name for name in documents if len(view.within([name])) >= least), "")


def _nearest(query: Query, chunk_ids: Sequence[str], tree: Tree, view: View) -> Statement | None:
    """Return the statement of some chunks that is nearest to a question, except table rows."""
    best, nearest = 0.0, None
    for chunk_id in chunk_ids:
        for statement, vector in zip(*view.statements(chunk_id), strict=True):
            cosine = float((query.vectors[:2] @ vector).max())
            place = tree.at(statement.start)
            row = place >= 0 and tree.units[place].kind == "row"
            if cosine > best and len(statement.text.split()) in _WORDS and not row:
                best, nearest = cosine, statement
    return nearest
