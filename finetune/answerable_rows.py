"""The rows that answerability is fitted on: the signs that the graph itself would read."""

import json
from collections.abc import Callable, Sequence
from collections.abc import Collection as Collected
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from lexloop.core.errors import InputError
from lexloop.core.filters import Filters
from lexloop.core.settings import Settings
from lexloop.core.types import ABSTENTION, Advice, Passage, Pointed, Triplet
from lexloop.corpus.index.builder import build_collection
from lexloop.corpus.index.collection import Collection
from lexloop.corpus.load.folder import load_documents
from lexloop.corpus.opening import tools_for
from lexloop.evaluation.case import Said, read_cases, read_negative
from lexloop.evaluation.evidence import EvidenceIndex
from lexloop.graph.build import build_graph
from lexloop.graph.contexts import build_context
from lexloop.models.embedders import load_shipped
from lexloop.nodes.context import GeneratedAnswer
from lexloop.nodes.generate.answerable import AnswerabilityFeatures, read_features
from lexloop.nodes.generate.selection import score_quotables
from lexloop.nodes.relevance import Sources, parse_question

_SETTINGS = Settings(**{"loop.max_retries": 0})
_BY_NUMBER = {"article", "provision", "no_such", "typo"}


@dataclass(frozen=True)
class Row:
    """The signs of one question.

    Args:
        set: The number of its set.
        kind: Whether and why it can be answered.
        question: As it was asked.
        found: Whether one of the first passages holds what answers it.
        signs: What was read.
    """

    set: int
    kind: str
    question: str
    found: bool
    signs: AnswerabilityFeatures


class SignReader:
    """Stands where the generator does and reads the signs instead of answering."""

    instructions = ""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self.signs: AnswerabilityFeatures | None = None
        self.passages: list[Passage] = []

    async def generate(
        self,
        question: str,
        passages: list[Passage],
        triplets: list[Triplet],
        advice: Advice | None,
        pointed: Pointed | None = None,
    ) -> GeneratedAnswer:
        """Note the signs; the answer is the abstention."""
        asked = parse_question(question, self._sources)
        scored = score_quotables(asked, passages, self._sources)
        self.passages = passages
        self.signs = read_features(asked, scored, self._sources) if scored else None
        return GeneratedAnswer(ABSTENTION)


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
    collection = _collection(docs)
    view = collection.seen_by(Filters.of(_SETTINGS))
    index = EvidenceIndex(view.every_chunk())
    rows: list[Row] = []
    for item in read_cases(gold):
        asked, said = item.question, item.conversation_history
        if item.out_of_scope:
            rows += _row((number, "out of scope"), asked, said, collection, _nothing)
            continue
        answering = index.to_take_out(item)
        rows += _row(
            (number, "answerable"), asked, said, collection, partial(_is_one_of, answering)
        )
        left = view.without(answering)
        rows += _row((number, "evidence removed"), asked, said, left, _nothing)
    for query in read_negative(negative):
        rows += _row((number, "negative"), query.question, (), collection, _nothing)
    return rows


def probe_rows(number: int, folder: Path) -> list[Row]:
    """The rows of a law's probes: its text, ``structure.json`` and ``probes.jsonl``.

    A turn of a conversation is asked with the first question before it.
    """
    for name in ("structure.json", "probes.jsonl"):
        if not (folder / name).is_file():
            what = f"The folder of probes {folder} has no {name}."
            raise InputError(what, "Give a folder with a law, its structure.json and probes.jsonl.")
    structure = json.loads((folder / "structure.json").read_text(encoding="utf-8"))
    spans = {unit.get("label", unit.get("article")): unit for unit in structure}
    collection = _collection(folder)
    rows: list[Row] = []
    for line in (folder / "probes.jsonl").read_text(encoding="utf-8").splitlines():
        probe = json.loads(line)
        if probe["kind"] in _BY_NUMBER:
            continue
        units = [_unit(spans, probe, at) for at in _places(probe)]
        asked = " ".join([*probe["history"][:1], probe["question"]])
        kind = "out of scope" if probe["kind"] == "not_there" else "answerable"
        rows += _row((number, kind), asked, (), collection, partial(_lies_in, units))
    return rows


def _places(probe: dict[str, Any]) -> list[Any]:
    if probe["kind"] == "not_there":
        return []
    return probe.get("gold") or [(probe["article"], probe["paragraph"]), *probe.get("also", [])]


def _unit(spans: dict[Any, Any], probe: dict[str, Any], at: Any) -> dict[str, Any]:
    """What a probe names: a label, or an article and a paragraph of it."""
    if isinstance(at, str):
        found: dict[str, Any] = spans[at]
        return found
    article: dict[str, Any] = spans[at[0]]
    paragraphs: list[dict[str, Any]] = [p for p in article["paragraphs"] if p["n"] == at[1]]
    return paragraphs[0] if at[1] and paragraphs else article


def _overlap(passage: Passage, unit: dict[str, Any]) -> bool:
    start, end = int(unit["start"]), int(unit["end"])
    shared = min(passage["end"], end) - max(passage["start"], start)
    return shared > min(passage["end"] - passage["start"], end - start) / 2


def _is_one_of(ids: Collected[str], passage: Passage) -> bool:
    return passage["id"] in ids


def _lies_in(units: list[dict[str, Any]], passage: Passage) -> bool:
    return any(_overlap(passage, unit) for unit in units)


def _nothing(passage: Passage) -> bool:
    return False


def _collection(docs: Path) -> Collection:
    documents = [d for d in load_documents(docs)[0] if d.name.endswith(".txt")]
    return build_collection(documents, tools_for(_SETTINGS, load_shipped()))


def _row(
    of: tuple[int, str],
    question: str,
    history: Sequence[Said],
    collection: Collection,
    answering: Callable[[Passage], bool],
) -> list[Row]:
    reader = SignReader(collection.seen_by(Filters.of(_SETTINGS)))
    parts = replace(build_context(_SETTINGS, collection, None), generator=reader)
    roles = {"user": HumanMessage, "assistant": AIMessage}
    messages: list[AnyMessage] = [roles[turn.role](content=turn.content) for turn in history]
    build_graph(lambda *_: parts).invoke({"messages": [*messages, HumanMessage(content=question)]})
    found = any(map(answering, reader.passages[: _SETTINGS.answer.statements]))
    return [Row(*of, question, found, reader.signs)] if reader.signs else []
