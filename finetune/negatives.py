"""Hard negatives: provisions that retrieval ranks high for a question and that do not answer it."""

from collections.abc import Collection as Names
from collections.abc import Sequence

from lexloop.core.settings import Settings
from lexloop.corpus.index.collection import Collection
from lexloop.corpus.text.tokens import term_set
from lexloop.finetune.graph_runs import retriever
from lexloop.finetune.provisions import Provision

MOST = 3
_DEPTH = 12
_SAME = 0.7
"""Of the stems of the shorter of two texts, the share from which on they say the same."""


class Miner:
    """Finds negatives by what the graph retrieves without a model.

    Args:
        collection: The documents.
        settings: Those of retrieval.
    """

    def __init__(self, collection: Collection, settings: Settings) -> None:
        self._retrieved = retriever(collection, settings, _DEPTH)

    def __call__(
        self, question: str, answers: Sequence[Provision], documents: Names[str]
    ) -> tuple[str, ...]:
        """Up to three texts, the one ranked highest first.

        Args:
            question: What is asked.
            answers: Everything that is known to answer it.
            documents: Where negatives may come from: those on the same side of a split.
        """
        said = [term_set(answer.text) for answer in answers]
        found: dict[str, None] = {}
        for passage in self._retrieved(question):
            place = passage["document"], passage["start"], passage["end"]
            apart = not any(answer.overlaps(*place) for answer in answers)
            text = " ".join(passage["text"].split())
            if apart and passage["document"] in documents and not _repeats(text, said):
                found[text] = None
            if len(found) == MOST:
                break
        return tuple(found)


def _repeats(text: str, said: Sequence[frozenset[str]]) -> bool:
    terms = term_set(text)
    return any(len(terms & own) >= _SAME * max(1, min(len(terms), len(own))) for own in said)
