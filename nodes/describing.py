"""The document first: which documents a question describes before it asks."""

import re

from lexloop.core.types import ParsedQuestion
from lexloop.documents.text.tokens import term_set
from lexloop.nodes.question import ASKING, AUXILIARY
from lexloop.nodes.relevance import coverage
from lexloop.store.view import View

_HITS = 50
_LEAST, _NEARLY_BEST = 0.5, 0.9
"""The share of a description, weighted by idf, that a chunk of the document holds, and what it
holds of that of the best."""
_ASKED = re.compile(rf"[,;:]\s+(?=(?:{ASKING}|{AUXILIARY})\b)", re.IGNORECASE)
_STORY = re.compile(r"(?<![\w\"“-])(?:I(?= [a-z])|[Mm]y|me|[Ww]e|[Oo]ur|us)(?![\w\"”-])")
_NAME = re.compile(r"(?<![.?!:;] )(?<!^)\b[^\W\d_]*[A-Z0-9]|[\"“‘]")


def documents_described(question: ParsedQuestion, documents: View) -> list[str]:
    """Return the documents that fit what stands before a question: "In the lease of A to B, ...?".

    The words before must have a name and tell nobody's own story, and one chunk of a document must
    hold most of them, as the one that names the parties does. Several may fit equally well.
    """
    lead = before(question)
    described = _NAME.search(lead) and not _STORY.search(lead) and not lead.isupper()
    if len(documents.documents) < 2 or not described:
        return []
    wanted = {term: documents.idf(term) for term in term_set(lead)}
    best: dict[str, float] = {}
    [hits] = documents.search_lexical([lead], _HITS)
    for chunk in documents.chunks([hit.chunk_id for hit in hits]):
        held = coverage(wanted, term_set(f"{chunk['title']} {chunk['text']}"))
        best[chunk["document"]] = max(held, best.get(chunk["document"], 0.0))
    least = max(_LEAST, _NEARLY_BEST * max(best.values(), default=0.0))
    return [name for name, held in best.items() if held >= least]


def before(question: ParsedQuestion) -> str:
    """Return what of the text stands before the first thing that is asked."""
    text = question["text"]
    first = question["parts"][0]["text"] if question["parts"] else text
    if (place := text.find(first)) <= 0 and (begun := _ASKED.search(text)):
        place = begun.end()
    return text[: max(0, place)]
