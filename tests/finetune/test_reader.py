"""Training of the reader: what it learns from, and its weights in and out of the graph."""

from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import pytest
from transformers import BertConfig, BertForSequenceClassification

from lexloop.finetune.pairs import TrainingPair
from lexloop.finetune.reader import Example, examples_of, put_back, train, weights_in
from lexloop.models.minilm import TOKENIZER, genuine_folder
from lexloop.models.reader import Reader, load_reader

MODEL = Path(__file__).parents[2] / "data" / "reader" / "model.onnx"
TOKENS = genuine_folder() / TOKENIZER


def shapes() -> dict[str, tuple[int, ...]]:
    config = BertConfig(hidden_size=384, num_hidden_layers=12, intermediate_size=1536)
    config.num_labels = 1
    model = BertForSequenceClassification(config)
    return {name: tuple(weight.shape) for name, weight in model.state_dict().items()}


def test_each_question_has_its_answer_and_what_shares_its_words() -> None:
    subjects = ["goose", "swan", "duck", "heron", "stork", "crane"]
    pairs = [
        TrainingPair(
            f"Who feeds the {one}?",
            f"The keeper feeds the {one} at dawn. The pond of the {one} is deep.",
            "Birds",
            "birds.txt",
            "faq",
        )
        for one in subjects
    ]
    examples = [*examples_of(pairs, load_reader(), np.random.default_rng(0))]
    assert Counter(one.question for one in examples) == Counter(pair.question for pair in pairs)
    for one in examples:
        [bird] = [bird for bird in subjects if bird in one.question]
        assert one.right.startswith("Birds. ")
        assert bird in one.right
        assert len(one.wrong) == 4
        assert not any(bird in wrong for wrong in one.wrong)


def test_weights_go_out_of_the_graph_and_in_again() -> None:
    graph = onnx.load(str(MODEL))
    before = weights_in(graph, shapes())
    assert {name: weight.shape for name, weight in before.items()} == shapes()
    name = "bert.encoder.layer.11.output.dense.weight"
    changed = {name: before[name] * 2, "classifier.bias": before["classifier.bias"] + 1}
    put_back(graph, changed)
    after = weights_in(graph, shapes())
    step = np.abs(changed[name]).max() / 127
    assert np.abs(after[name] - changed[name]).max() <= step / 2 + 1e-6
    assert after["classifier.bias"] == pytest.approx(before["classifier.bias"] + 1)
    others = before.keys() - changed.keys()
    assert all(np.array_equal(after[one], before[one]) for one in others)


def test_what_is_trained_on_is_told_apart_afterwards(tmp_path: Path) -> None:
    question, right = "Is it due?", "Frogs sing in the rain."
    wrong = ["It is due.", "It was due.", "It will be due.", "It may be due."]
    examples = [Example(question, right, wrong)] * 64
    trained = tmp_path / "model.onnx"
    trained.write_bytes(train(MODEL, examples, TOKENS))
    before = load_reader().read(question, [right, *wrong])
    after = Reader(trained, TOKENS, sha256=None).read(question, [right, *wrong])
    assert before.argmax() != 0
    assert after[0] - after[1:].max() > before[0] - before[1:].max() + 1
