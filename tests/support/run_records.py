"""Records of an evaluation, made by hand."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from lexloop_eval.case import Case
from lexloop_eval.record import AttemptSeen, Record, RunInfo, unanswered


def attempt(score: float | None, **fields: Any) -> AttemptSeen:
    """An attempt whose three scores are the one given."""
    seen: dict[str, Any] = {
        "answer_relevance": score,
        "context_relevance": score,
        "groundedness": score,
        "passed": False,
        "verified": True,
        "abstained": False,
        "model_calls": 0,
        "tokens": 0,
        "correctness": None,
    }
    return cast("AttemptSeen", seen | fields)


def record(**fields: Any) -> Record:
    """A question that was answered at no cost, but for the fields given."""
    asked = Case(id="q1", question="Who pays?", question_type="simple")
    answered = {"variant": "fixed", "complexity": 0, "answer": "The owner pays. [1]"}
    return cast("Record", {**unanswered(asked, ""), **answered, "passed": True, **fields})


def run_info(*rows: str, **fields: Any) -> RunInfo:
    """What identifies a run of the rows."""
    plain: dict[str, Any] = {
        "gold": "gold.jsonl",
        "gold_sha256": "ab" * 32,
        "questions": 3,
        "variants": [{"name": row, "source": "", "settings": {}} for row in rows],
        "skipped": [],
        "corpus": "law",
        "corpus_sha256": "cd" * 32,
        "model": None,
        "judge": None,
        "rubrics": "hardened",
        "version": "0.1.0",
        "commit": "",
    }
    return cast("RunInfo", plain | fields)


def write_run(folder: Path, records: Sequence[Record], info: RunInfo) -> Path:
    """A run's folder as ``lexloop eval`` leaves it, without its tables."""
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({**info, "settings": {}}), "utf-8")
    lines = "".join(f"{json.dumps(one)}\n" for one in records)
    (folder / "records.jsonl").write_text(lines, "utf-8")
    return folder
