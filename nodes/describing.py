"""The document first: which documents a question describes before it asks."""

import re
from collections.abc import Iterable, Set

from lexloop.core.types import Chunk, ParsedQuestion
from lexloop.documents.text.tokens import term_set
from lexloop.nodes.question import ASKING, AUXILIARY
from lexloop.nodes.relevance import coverage
from lexloop.store.view import View

_HITS = 50
_LEAST, _NEARLY_BEST = 0.5, 0.9
"""The share of a description, weighted by idf, that a chunk of the document holds, and what it
holds of that of the best."""
_RARE = 3.0
"""The least idf of a word that alone names a document: one chunk in twenty has it."""
_ASKED = re.compile(rf"[,;:]\s+(?=(?:{ASKING}|{AUXILIARY})\b)", re.IGNORECASE)
_STORY = re.compile(r"(?<![\w\"“-])(?:I(?=[ '’][a-z])|[Mm]y|me|[Ww]e|[Oo]ur|us)(?![\w\"”-])")
_NAME = re.compile(r"(?<![.?!:;] )(?<!^)\b[^\W\d_]*[A-Z0-9][\w&'-]*|[\"“‘][^\"”’]+")


def documents_described(question: ParsedQuestion, documents: View) -> list[str]:
    """Return the documents that fit what stands before a question: "In the lease of A to B, ...?".

    The words before must tell nobody's own story, and one chunk of a document must hold most of
    them, as the one that names the parties does, with a name that no other document shows: two
    words, or one that is rare or in the title. What is spoken of all over describes nothing.
    """
    lead = before(question)
    names = term_set(" ".join(_NAME.findall(lead)))
    if len(documents.documents) < 2 or not names or _STORY.search(lead) or lead.isupper():
        return []
    wanted = {term: documents.idf(term) for term in term_set(lead)}
    best: dict[str, float] = {}
    named: dict[str, Set[str]] = {}
    for chunk in _nearest(lead, documents):
        name, terms = chunk["document"], term_set(f"{chunk['title']} {chunk['text']}")
        best[name] = max(coverage(wanted, terms), best.get(name, 0.0))
        named[name] = named.get(name, frozenset()) | (terms & names)
    least = max(_LEAST, _NEARLY_BEST * max(best.values(), default=0.0))
    found = [name for name, held in best.items() if held >= least]
    others = frozenset[str]().union(*(named[name] for name in named if name not in found))
    for name in found:
        own = named[name] - others
        titled = term_set(f"{documents.titles[name]} {name}")
        if len(own) > 1 or any(one in titled or wanted[one] > _RARE for one in own):
            return found
    return []


def _nearest(lead: str, documents: View) -> Iterable[Chunk]:
    """Return the chunks that share most with these words; of a few, all: BM25 cannot weigh them."""
    if len(documents) <= _HITS:
        return documents.every_chunk()
    [hits] = documents.search_lexical([lead], _HITS)
    return documents.chunks([hit.chunk_id for hit in hits])


def before(question: ParsedQuestion) -> str:
    """Return what of the text stands before the first thing that is asked."""
    text = question["text"]
    first = question["parts"][0]["text"] if question["parts"] else text
    if (place := text.find(first)) <= 0 and (begun := _ASKED.search(text)):
        place = begun.end()
    return text[: max(0, place)]
