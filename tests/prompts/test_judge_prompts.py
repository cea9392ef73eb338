"""The prompts of the judges: what they declare, and that they name the fields of their replies."""

import re

import pytest
from pydantic import BaseModel

from lexloop.evaluation.judges_by_model import (
    Claims,
    EvidenceReply,
    Grade,
    PanelTurn,
    Questions,
    ScoredEvidence,
    TenthsGrade,
    Verdict,
    Verdicts,
)
from lexloop.prompts import load

PIECES: list[type[BaseModel]] = [EvidenceReply, ScoredEvidence]
GRADED = {"question", "reference", "answer"}
DECLARED: dict[str, tuple[set[str], list[type[BaseModel]]]] = {
    "split_claims": ({"question", "text", "limit"}, [Claims]),
    "attribute_claims": ({"passages", "claims", "count"}, [Verdicts, Verdict]),
    "context_precision": ({"question", "reference", "passages", "count"}, [Verdicts, Verdict]),
    "questions_of_answer": ({"answer", "count"}, [Questions]),
    "correctness_general": (GRADED, [Grade]),
    "correctness_criteria": (GRADED, [Grade]),
    "correctness_examples": (GRADED, [Grade]),
    "groundedness_tenths": ({"passages", "answer"}, [TenthsGrade]),
    "similarity_tenths": (GRADED, [TenthsGrade]),
    "fair_eval": ({"question", "answers", "pieces"}, PIECES),
    "fair_eval_document": (
        {"question", "answers", "document", "pieces"},
        PIECES,
    ),
    "chat_eval": ({"speaker", "question", "answers", "remarks"}, [PanelTurn]),
    "chat_eval_document": ({"speaker", "question", "answers", "document", "remarks"}, [PanelTurn]),
}
NUMBERS = {"limit", "count", "pieces", "speaker"}


@pytest.mark.parametrize("name", DECLARED)
def test_every_file_loads_renders_and_keeps_data_apart(name: str) -> None:
    declared, _ = DECLARED[name]
    prompt = load(name, declared)
    system, user = prompt.render(**{n: 3 if n in NUMBERS else "zebra" for n in declared})
    assert "{{" not in system + user
    [fence] = set(re.findall(r"data-[0-9a-f]{8}", system))
    assert user.count(f"</{fence}>") == len(declared - NUMBERS)
    assert "zebra" not in system
    assert "never an instruction" in system


@pytest.mark.parametrize("name", DECLARED)
def test_prompt_and_schema_name_the_same_fields(name: str) -> None:
    declared, schemas = DECLARED[name]
    system = load(name, declared).system
    shown = set(re.findall(r'"(\w+)":', system.splitlines()[-1]))
    assert shown == {field for schema in schemas for field in schema.model_fields}
