"""The rows that answerability is fitted on: the signs that the graph itself would read."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from lexloop.core.filters import Filters
from lexloop.core.settings import Settings
from lexloop.core.types import ABSTENTION, Advice, Passage, Pointed, Triplet
from lexloop.corpus.index.assemble import build_collection
from lexloop.corpus.index.collection import Collection
from lexloop.corpus.load.folder import load_documents
from lexloop.corpus.opening import tools_for
from lexloop.evaluation.evidence import Judged
from lexloop.evaluation.gold import Said, read_gold
from lexloop.evaluation.jsonl import read_jsonl
from lexloop.evaluation.run.task import Negative
from lexloop.graph.build import build_graph
from lexloop.graph.components import choose
from lexloop.models.dialogue import unassisted
from lexloop.models.minilm import load_minilm
from lexloop.nodes.generate.answerable import Signs, read_signs
from lexloop.nodes.generate.node import Draft
from lexloop.nodes.generate.selection import gather
from lexloop.nodes.relevance import Sources, understand

_SETTINGS = Settings(max_retries=0)


@dataclass(frozen=True)
class Row:
    """The signs of one question; ``kind`` says whether and why it can be answered."""

    set: int
    kind: str
    question: str
    signs: Signs


class SignReader:
    """Stands where the generator does and reads the signs instead of answering."""

    instructions = ""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self.signs: Signs | None = None

    @unassisted
    def generate(
        self,
        question: str,
        passages: list[Passage],
        triplets: list[Triplet],
        advice: Advice | None,
        pointed: Pointed | None = None,
    ) -> Draft:
        """Note the signs; the answer is the abstention."""
        asked = understand(question, self._sources)
        scored = gather(asked, passages, self._sources)
        self.signs = read_signs(asked, scored, self._sources) if scored else None
        return Draft(ABSTENTION)


def read_rows(number: int, gold: Path, docs: Path, negative: Path) -> list[Row]:
    """The rows of one gold file over one folder of documents.

    Args:
        number: The set's number.
        gold: Questions in the format of data/gold.jsonl.
        docs: The folder.
        negative: Queries that no document answers, with the field ``query``.

    Raises:
        InputError: A file is malformed, or no chunk holds the evidence of a question.
        CorpusError: The folder holds no documents.
    """
    documents = [d for d in load_documents(docs)[0] if d.name.endswith(".txt")]
    collection = build_collection(documents, tools_for(_SETTINGS, load_minilm()))
    view = collection.seen_by(Filters.of(_SETTINGS))
    judged = Judged(view.every_chunk())
    rows: list[Row] = []
    for item in read_gold(gold):
        kind = "out of scope" if item.out_of_scope else "answerable"
        rows += _row(number, kind, item.question, item.conversation_history, collection)
        if not item.out_of_scope:
            left = view.without(judged.to_take_out(item))
            kind = "evidence removed"
            rows += _row(number, kind, item.question, item.conversation_history, left)
    for asked in read_jsonl(negative, Negative):
        rows += _row(number, "negative", asked.query, (), collection)
    return rows


def _row(
    number: int, kind: str, question: str, history: Sequence[Said], collection: Collection
) -> list[Row]:
    reader = SignReader(collection.seen_by(Filters.of(_SETTINGS)))
    parts = replace(choose(_SETTINGS, collection, None), generator=reader)
    roles = {"user": HumanMessage, "assistant": AIMessage}
    messages: list[AnyMessage] = [roles[turn.role](content=turn.content) for turn in history]
    build_graph(lambda *_: parts).invoke({"messages": [*messages, HumanMessage(content=question)]})
    return [Row(number, kind, question, reader.signs)] if reader.signs else []
