"""The two classifiers that run a transformer, on tiny models with random weights."""

from pathlib import Path

import pytest
from tiny_bert import build

from lexloop.core.errors import SettingsError
from lexloop.nodes.classify import TransformerClassifier, ZeroShotClassifier

QUESTION = "what must an employer do and who checks it ?"
WORDS = f"{QUESTION} simple complex"


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> str:
    return build(tmp_path_factory.mktemp("three"), WORDS, ["one", "two", "more"])


@pytest.mark.parametrize("question", [QUESTION, "", QUESTION * 500])
def test_transformer_gives_one_share_a_label(three: str, question: str) -> None:
    shares = TransformerClassifier(three).probabilities(question, 3)
    assert len(shares) == 3
    assert all(type(share) is float and 0.0 <= share <= 1.0 for share in shares)
    assert sum(shares) == pytest.approx(1.0)
    assert shares == TransformerClassifier(three).probabilities(question, 3)


def test_another_number_of_labels_and_other_labels_are_refused(three: str) -> None:
    with pytest.raises(SettingsError, match="has 3 labels, not 2"):
        TransformerClassifier(three).probabilities(QUESTION, 2)
    with pytest.raises(SettingsError, match="no entailment"):
        ZeroShotClassifier(three)


def test_zero_shot_gives_the_shares_in_the_order_of_the_classes(tmp_path: Path) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    nli = build(tmp_path, WORDS, ["contradiction", "neutral", "entailment"])
    model = AutoModelForSequenceClassification.from_pretrained(nli).eval()
    tokenizer = AutoTokenizer.from_pretrained(nli)
    entailed = [
        model(**tokenizer(QUESTION, f"This example is {d}.", return_tensors="pt")).logits[0, 2]
        for d in ("simple question", "complex question", "overview question")
    ]
    expected = torch.softmax(torch.stack(entailed), dim=0).tolist()
    shares = ZeroShotClassifier(nli).probabilities(QUESTION, 3)
    assert shares == pytest.approx(expected, abs=1e-5)
    assert all(type(share) is float for share in shares)


def test_pickled_weights_and_a_model_without_a_trained_head_are_refused(tmp_path: Path) -> None:
    (tmp_path / "pickled").mkdir()
    with pytest.raises(SettingsError, match="cannot be loaded"):
        TransformerClassifier(build(tmp_path / "pickled", WORDS, list("abc"), safe=False))
    with pytest.raises(SettingsError, match=r"lacks trained weights: classifier\.bias"):
        TransformerClassifier(build(tmp_path, WORDS, list("abc"), head=False))
