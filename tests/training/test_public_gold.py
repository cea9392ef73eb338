"""Published sets become collections with cases, each with the spans of what answers it."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from sets import write_rows, write_texts

from lexloop_eval.case import Case, read_cases
from training import public_gold

LAW = "Article 1\n1. The owner pays the fee.\n2. The fee is due in May.\nArticle 2\nBoats rest.\n"
CONTRACT = "LEASE\n\n1. The tenant pays 40 euros.\n\n2. The tenant pays 40 euros twice.\n"


def law(folder: Path, unit: dict[str, Any], *probes: dict[str, Any]) -> None:
    write_rows(folder / "probes.jsonl", *({"history": [], **probe} for probe in probes))
    (folder / "law.txt").write_text(LAW, encoding="utf-8")
    (folder / "structure.json").write_text(json.dumps([unit]), encoding="utf-8")


def span(words: str) -> dict[str, int]:
    return {"start": LAW.index(words), "end": LAW.index(words) + len(words)}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    paragraphs = [{"n": "1", **span("1. The owner pays the fee.")}]
    article = {
        "article": "1",
        **span(LAW.split("Article 2", maxsplit=1)[0]),
        "paragraphs": paragraphs,
    }
    asked = {"kind": "everyday", "question": "Who pays?", "article": "1"}
    law(
        tmp_path / "gdpr", article, asked | {"paragraph": "1"}, asked | {"paragraph": ""},
        asked | {"kind": "article", "question": "What does Article 1 say?", "paragraph": ""},
    )  # fmt: skip
    unit = {"label": "Article 2", **span("Boats rest.")}
    labelled = {"kind": "follow_up", "question": "And at night?", "gold": ["Article 2"]}
    law(
        tmp_path / "us_cfr", unit, labelled | {"history": ["What do boats do?", "And by day?"]},
        {"kind": "not_there", "question": "Who sinks?", "gold": []},
    )  # fmt: skip
    clause = {"document": "a.txt", "bare_question": "What twice?", "answerable": True}
    second = CONTRACT.rindex("The tenant")
    write_texts(tmp_path / "contracts" / "documents", {"a.txt": CONTRACT})
    write_rows(
        tmp_path / "contracts" / "probes.jsonl",
        clause | {"spans": [[second, second + len("The tenant pays 40 euros")]]},
        clause | {"bare_question": "Which law?", "answerable": False, "spans": []},
    )
    sections = [
        {
            "doc": "9 CFR 7",
            "cite": f"9 CFR 7.{n}",
            "q": f"What of {n}?",
            "pos": f"_Rule_ {n} it is.",
        }
        for n in range(12)
    ]
    write_rows(tmp_path / "reader" / "cfr_questions" / "pairs.jsonl", *sections)
    page = {"document_id": "visa"}
    write_rows(
        tmp_path / "conditionalqa" / "train_passages.jsonl",
        *(page | {"id": n, "text": f"<p>Say {n} aloud.</p>"} for n in range(12)),
    )
    write_rows(
        tmp_path / "conditionalqa" / "train.jsonl",
        page | {"question": "What is said?", "relevant_ids": [3]},
        page | {"question": "What is sung?", "relevant_ids": []},
    )
    context = {"article": "Tea", "context": "Tea is hot. Tea is old."}
    write_rows(
        tmp_path / "squad2" / "dev.jsonl",
        context | {"question": "What is old?", "answerable": True,
                   "answers": [{"text": "Tea", "answer_start": 12}]},
        context | {"question": "What is new?", "answerable": False, "answers": []},
    )  # fmt: skip
    return tmp_path


def answers(folder: Path, case: Case) -> list[str]:
    return [
        (folder / one.document).read_text(encoding="utf-8")[one.start : one.end]
        for one in case.evidence or ()
    ]


def test_every_question_has_the_words_that_answer_it_or_none(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "sets"
    monkeypatch.setattr(sys, "argv", ["public_gold", str(data), "--out", str(out)])
    public_gold.main()
    told = "gdpr: 2\nus_cfr: 2\ncontracts: 2\nregulations: 6\nguides: 2\narticles: 2\n"
    assert capsys.readouterr().out == told
    found = {
        f"{gold.parent.parent.name}: {case.question}": answers(gold.parent, case)
        for gold in out.glob("*/*/gold.jsonl")
        for case in read_cases(gold)
        if case.out_of_scope is not bool(case.evidence)
    }
    assert found.pop("gdpr: Who pays?") == [LAW[: LAW.index("Article 2")]]
    regulations = [name for name in found if name.startswith("regulations")]
    for name in regulations:
        assert found.pop(name) == [f"Rule {name.split()[-1][:-1]} it is."]
    assert found == {
        "us_cfr: And at night?": ["Boats rest."],
        "us_cfr: Who sinks?": [],
        "contracts: What twice?": ["The tenant pays 40 euros"],
        "contracts: Which law?": [],
        "guides: What is said?": ["Say 3 aloud."],
        "guides: What is sung?": [],
        "articles: What is old?": ["Tea"],
        "articles: What is new?": [],
    }
    [turn, _] = read_cases(out / "us_cfr" / "law" / "gold.jsonl")
    assert [said.content for said in turn.conversation_history] == ["What do boats do?"]
    [clause, _] = read_cases(out / "contracts" / "a" / "gold.jsonl")
    assert clause.evidence is not None
    assert clause.evidence[0].start == CONTRACT.rindex("The tenant")
