"""Whether a question can be answered from its evidence, as far as code can tell."""

from lexloop.evaluation.testset.draft import Draft
from lexloop.evaluation.testset.material import Material

REACH = 10
"""How deep retrieval may look: chunks by BM25 and as many by cosine."""


def is_connected(draft: Draft, material: Material) -> bool:
    """Whether retrieval finds any of the evidence at all.

    Some chunk that overlaps the evidence must be among the ten best by BM25 or among the ten best
    by cosine for the question with its history. A question without evidence is connected to
    nothing, and rightly so.
    """
    if not draft.spans:
        return True
    if not all(material.quote(span).strip() for span in draft.spans):
        return False
    view = material.view
    found = [
        *view.search_lexical([draft.whole], REACH)[0],
        *view.search_vector([draft.whole], REACH)[0],
    ]
    for chunk in view.chunks(list(dict.fromkeys(hit.chunk_id for hit in found))):
        for span in draft.spans:
            here = span.document == chunk["document"]
            if here and span.start < chunk["end"] and chunk["start"] < span.end:
                return True
    return False
