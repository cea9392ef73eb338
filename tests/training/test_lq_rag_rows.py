"""LQ-RAG's sets from files of their publishers' forms: each is read as what a generator takes."""

import json
from pathlib import Path

import pytest

from lexloop.core.errors import InputError
from lexloop_train.generator_rows import Example, MeasuredRow
from training.lq_rag_rows import READERS, read

MMLU = '"Who, if anyone, may moor?",The owner,The guest,Both,Nobody,C\n'
BENCH = "index\ttext\tanswer\n0\tThe mark Salt for salt.\tgeneric\n"
SQUAD = {
    "data": [{"paragraphs": [{"context": "The fee is 5 euros.", "qas": [
        {"question": "What is the fee?", "answers": [{"text": "5 euros"}]},
        {"question": "Who pays?", "answers": [], "is_impossible": True},
    ]}]}]
}  # fmt: skip
POST = {"title": "May I moor?", "body": "At night.", "label": 3, "text_label": "harbours"}
ENDING = {"ctx": "She rings the bell", "endings": ["and waits.", "and swims."], "label": "0"}
FILES = {
    "legal_qa": ("a.jsonl", json.dumps({"question": "Who pays?", "answer": "The owner."})),
    "alpaca": ("a.json", json.dumps([
        {"instruction": "Shorten it.", "input": "A long text.", "output": "A text."},
        {"instruction": "Say nothing.", "input": "", "output": " "},
    ])),
    "squad_v2": ("dev.json", json.dumps(SQUAD)),
    "truthful_qa": ("T.csv", "Type,Question,Best Answer\nx,Is it so?,It is not.\n"),
    "law_stack_exchange": ("test.jsonl", json.dumps(POST)),
    "big_bench_hard": ("b.json", json.dumps({"examples": [{"input": "1 + 1?", "target": "2"}]})),
    "mmlu_international_law": ("m.csv", MMLU),
    "mmlu_professional_law": ("m.csv", MMLU),
    "hellaswag": ("h.jsonl", json.dumps(ENDING)),
    "contract_qa": ("t.tsv", "index\tquestion\ttext\tanswer\n0\tIs it secret?\tKeep it.\tYes\n"),
    **dict.fromkeys(
        ("canada_tax_court_outcomes", "abercrombie", "legal_reasoning_causality"), ("t.tsv", BENCH)
    ),
}  # fmt: skip
RIGHT = {
    "squad_v2": "5 euros",
    "truthful_qa": "It is not.",
    "law_stack_exchange": "harbours",
    "big_bench_hard": "2",
    "mmlu_international_law": "Both",
    "mmlu_professional_law": "Both",
    "hellaswag": "and waits.",
    "contract_qa": "Yes",
}


@pytest.mark.parametrize("name", READERS)
def test_every_set_is_read_from_a_file_of_its_form(name: str, tmp_path: Path) -> None:
    file, text = FILES[name]
    (tmp_path / file).write_text(text, encoding="utf-8")
    [row] = read(name, tmp_path / file)
    if name in ("legal_qa", "alpaca"):
        assert Example.model_validate(row).answer in ("The owner.", "A text.")
    else:
        assert MeasuredRow.model_validate(row).right == RIGHT.get(name, "generic")


def test_of_a_folder_the_split_is_read_and_another_form_is_refused(tmp_path: Path) -> None:
    (tmp_path / "train.tsv").write_text(BENCH.replace("generic", "fanciful"), encoding="utf-8")
    (tmp_path / "test.tsv").write_text(BENCH, encoding="utf-8")
    assert read("abercrombie", tmp_path, "train")[0]["label"] == "fanciful"
    assert read("abercrombie", tmp_path)[0]["label"] == "generic"
    with pytest.raises(InputError, match="not a file of hellaswag"):
        read("hellaswag", tmp_path / "test.tsv")
    with pytest.raises(InputError, match="not a file of mmlu"):
        read("mmlu_professional_law", tmp_path / "none.csv")
