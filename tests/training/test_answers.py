"""The reader's second output: what it is trained on, and how it joins the reader."""

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from sets import write_rows

from lexloop.models.minilm import TOKENIZER, genuine_folder
from lexloop.models.reader import load_reader
from training import answer_pairs, answers
from training.answer_pairs import Draw, Pair

READER = Path(__file__).parents[2] / "data" / "reader" / "model.onnx"
SAID = (
    "The harbour master keeps the key of the mill.",
    "The key of the harbour is made of brass.",
    "Boats are painted green in the spring.",
    "Whoever lends the key pays a fee of two crowns.",
)
ASKED = "Who keeps the key of the mill?"
REPLIES = ("va_gov_faq", "ada_gov_faq", "misc_us_gov_faq", "creativecommons_faq")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    reader, text = tmp_path / "reader", " ".join(SAID)
    held = {"text": "harbour master", "answer_start": 4}
    one = {"article": "Old_mill", "context": text, "answerable": True, "answers": [held]}
    none = {"article": "Old_mill", "context": text, "answerable": False, "answers": []}
    asked = {"q": ASKED, "sents": [SAID[0]], "all_sentences": [*SAID], "doc": "mill", "pos": text}
    told = {**asked, "is_question": True, "history": [], "title": "Mill"}
    section = {"q": ASKED, "pos": SAID[0], "doc": "1 CFR part 2", "part_title": "MILLS"}
    sections = [
        {**section, "cite": f"2.{n}", "pos": said, "q": ASKED if n == 0 else "What are terms?"}
        for n, said in enumerate([*SAID, "Nothing else is said.", "This is the end of it."])
    ]
    page = {"document_id": "old-mill", "tag": "p"}
    write_rows(
        tmp_path / "squad2/dev.jsonl", {**one, "question": ASKED}, {**none, "question": "Why?"}
    )
    for name in ("squad_train_part", "selqa_devtest", "clapnq_dev"):
        write_rows(reader / name / "pairs.jsonl", asked)
    write_rows(reader / "cfr_questions/pairs.jsonl", *sections)
    for name in ("doc2dial_val", "multidoc2dial_evaltest"):
        write_rows(reader / name / "pairs.jsonl", told)
    for name in REPLIES:
        write_rows(
            reader / name / "pairs.jsonl", {"q": ASKED, "pos": SAID[0], "doc": "a", "title": "M"}
        )
    write_rows(reader / "or_sharc_devtest/pairs.jsonl", {"question": ASKED, "pos": SAID[0]})
    write_rows(reader / "or_sharc_devtest/snippets.jsonl", *({"text": said} for said in SAID))
    write_rows(
        tmp_path / "conditionalqa/train_passages.jsonl",
        *({**page, "id": f"old-mill#{n}", "text": f"<p>{said}</p>"} for n, said in enumerate(SAID)),
    )
    write_rows(
        tmp_path / "conditionalqa/train.jsonl",
        {"document_id": "old-mill", "question": ASKED, "relevant_ids": ["old-mill#0"]},
    )
    answer = {"text": SAID[0], "answer_start": 0}
    write_rows(
        tmp_path / "policyqa/dev.jsonl",
        {"policy": "mill.example", "question": ASKED, "context": text, "answers": [answer]},
    )
    return tmp_path


def test_what_is_near_in_the_same_document_does_not_answer(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answer_pairs, "_SQUAD", 1)
    pairs = [*Draw(data).pairs()]
    for pair in pairs:
        assert pair.statement.endswith(SAID[0] if pair.answers else tuple(SAID)), pair
    near = [pair for pair in pairs if pair.source == "squad1" and not pair.answers]
    assert [pair.statement for pair in near] == [SAID[1]]  # it shares "the key of the"
    count = Counter((pair.source, pair.answers) for pair in pairs)
    assert count["squad2", True] == 1  # the other question is answered by nothing
    assert count["squad2", False] == 6
    assert {source for source, _ in count} == {
        *("squad2", "squad1", "selqa", "clapnq", "cfr", "doc2dial", "multidoc2dial"),
        *REPLIES,
        *("conditionalqa", "policyqa", "sharc"),
    }


def test_the_second_output_is_what_its_layers_say_and_leaves_the_first_as_it_is() -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    torch = pytest.importorskip("torch")
    tokenizers = pytest.importorskip("tokenizers")
    reader = answers.bare(READER)
    head = answers.head_of(reader).eval()
    session = onnxruntime.InferenceSession(answers.joined(reader, head))
    tokenizer = tokenizers.Tokenizer.from_file(str(genuine_folder() / TOKENIZER))
    tokenizer.no_padding()
    pairs = [Pair("own", True, ASKED, said) for said in SAID]
    for pair, states in zip(pairs, answers.states_of(reader, pairs), strict=True):
        encoded = tokenizer.encode(pair.question, pair.statement)
        fed = {
            "input_ids": np.array([encoded.ids]),
            "attention_mask": np.array([encoded.attention_mask]),
            "token_type_ids": np.array([encoded.type_ids]),
        }
        order, said = session.run(["logits", "answers"], fed)
        with torch.no_grad():
            told = head(torch.tensor(states[None].astype(np.float32)), torch.zeros(1, len(states)))
        assert said[0] == pytest.approx(told.item(), abs=0.2)  # a byte a weight
        assert order[0, 0] == load_reader().read(ASKED, [pair.statement]).order[0]


def test_training_learns_what_it_is_given(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    reader = answers.bare(READER)
    asked = [f"{ASKED} {number}" for number in range(40)]
    pairs = [Pair("own", said == SAID[1], one, said) for one in asked for said in SAID]
    for name, value in (("_WARM", 1), ("_RATE", 2e-4), ("_BATCH", 8), ("_CHUNK", 4)):
        monkeypatch.setattr(answers, name, value)
    states = answers.states_of(reader, pairs)
    answers.trained(answers.head_of(reader), pairs, states)
    before, *_, after = capsys.readouterr().out.splitlines()
    assert float(before.split()[-1]) < 0.9
    assert float(after.split()[-1]) == 1.0


def test_the_command_needs_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["answers"])
    with pytest.raises(SystemExit):
        answers.main()
