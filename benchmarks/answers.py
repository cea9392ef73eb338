"""Answers every question of a gold file over a folder of texts and says what the answers are worth.

    python benchmarks/answers.py --gold GOLD.jsonl --docs DIR [--negative FILE] [--remove-evidence]

The gold file has the fields of data/gold.jsonl: ``question``, ``question_type``,
``reference_answer``, ``reference_context`` and ``conversation_history``; out-of-scope questions
have the type "out of scope". Intervals are bootstrap 95 % over questions.
"""

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

from _answers_report import OUT_OF_SCOPE, Result, print_report, report
from langchain_core.messages import AIMessage, HumanMessage

from lexloop.core.settings import Connection, Settings
from lexloop.corpus.index.assemble import build_collection
from lexloop.corpus.index.collection import Collection
from lexloop.corpus.index.subset import every_chunk, without
from lexloop.corpus.load.folder import load_documents
from lexloop.corpus.opening import tools_for
from lexloop.corpus.text.evidence import evidence_chunks
from lexloop.corpus.text.tokens import words
from lexloop.graph.build import Lexloop, build_graph
from lexloop.graph.components import Components, choose
from lexloop.models.chat import ChatModel, connect
from lexloop.models.minilm import load_minilm
from lexloop.nodes.evaluate.checks import citation_problems
from lexloop.nodes.markers import without_markers


def main() -> None:
    """Run the benchmark that the command line describes."""
    options = _options()
    settings = Settings(variant=options.variant, classes=options.classes, model=options.model)
    chat = connect(settings, Connection.from_environment(os.environ)) if settings.model else None
    documents, _ = load_documents(options.docs)
    texts = [document for document in documents if document.name.endswith(".txt")]
    collection = build_collection(texts, tools_for(settings, load_minilm()))
    gold = _read(options.gold)
    results = [_answered(row, settings, collection, chat) for row in gold]
    bereft: list[tuple[str, bool]] = []
    if options.remove_evidence:
        bereft = [
            (row["question_type"], _abstains_without_evidence(row, settings, collection, chat))
            for row in gold
            if row["question_type"] != OUT_OF_SCOPE
        ]
    negative = [
        (row["kind"], _ask(_graph(settings, collection, chat), row["query"], [])["abstained"])
        for row in (_read(options.negative) if options.negative else [])
    ]
    summary = report(results, bereft, negative)
    print_report(summary)
    if options.json:
        options.json.write_text(json.dumps(summary, indent=2), encoding="utf-8")
    if options.details:
        rows = [json.dumps(vars(result), ensure_ascii=False) for result in results]
        options.details.write_text("\n".join(rows) + "\n", encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else "")
    parser.add_argument("--gold", type=Path, required=True, help="questions with references")
    parser.add_argument("--docs", type=Path, required=True, help="folder of .txt files")
    parser.add_argument("--negative", type=Path, help="queries that must be refused")
    parser.add_argument("--remove-evidence", action="store_true", help="also without evidence")
    parser.add_argument("--variant", default="hypa", help="hypa, pa, fixed or llm_only")
    parser.add_argument("--classes", type=int, default=3, help="2 or 3")
    parser.add_argument("--model", help="chat model; without one the embedded mode answers")
    parser.add_argument("--json", type=Path, help="write the summary here")
    parser.add_argument("--details", type=Path, help="write one line per question here")
    return parser.parse_args()


def _read(path: Path) -> list[dict[str, Any]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def _graph(settings: Settings, collection: Collection, chat: ChatModel | None) -> Lexloop:
    parts: Components = choose(settings, collection, chat)
    return build_graph(lambda *_: parts)


def _ask(graph: Lexloop, question: str, history: list[dict[str, str]]) -> dict[str, Any]:
    roles = {"user": HumanMessage, "assistant": AIMessage}
    earlier = [roles[turn["role"]](content=turn["content"]) for turn in history]
    return graph.invoke({"messages": [*earlier, HumanMessage(content=question)]})


def _answered(
    row: dict[str, Any], settings: Settings, collection: Collection, chat: ChatModel | None
) -> Result:
    graph = _graph(settings, collection, chat)
    began = time.perf_counter()
    found = _ask(graph, row["question"], row["conversation_history"])
    seconds = time.perf_counter() - began
    said = without_markers(found["answer"])
    ours, theirs = collection.embed([said, row["reference_answer"]])
    problems = citation_problems(found["answer"], found["citations"], collection.text_of)
    return Result(
        question=row["question"],
        kind=row["question_type"],
        answer=found["answer"],
        reference=row["reference_answer"],
        abstained=found["abstained"],
        similarity=float(ours @ theirs),
        said=words(said),
        wanted=words(row["reference_answer"]),
        unverified=0 if found["abstained"] else len(problems),
        retries=len(found["attempts"]) - 1,
        seconds=seconds,
    )


def _abstains_without_evidence(
    row: dict[str, Any], settings: Settings, collection: Collection, chat: ChatModel | None
) -> bool:
    """Whether the question is refused once every chunk that could answer it is taken out."""
    gone = evidence_chunks(every_chunk(collection), row["reference_context"])
    graph = _graph(settings, without(collection, gone), chat)
    abstained: bool = _ask(graph, row["question"], row["conversation_history"])["abstained"]
    return abstained


if __name__ == "__main__":
    main()
