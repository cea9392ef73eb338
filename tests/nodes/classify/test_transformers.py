"""The two classifiers that run a transformer, on tiny models with random weights."""

from pathlib import Path

import pytest

from lexloop.core.errors import SettingsError
from lexloop.nodes.classify import TransformerClassifier, ZeroShotClassifier

QUESTION = "what must an employer do and who checks it ?"
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *QUESTION.split(), "simple", "complex"]


def build(folder: Path, labels: list[str], *, head: bool = True, safe: bool = True) -> str:
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertModel, BertTokenizer

    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=32,
        id2label=dict(enumerate(labels)),
        label2id={label: i for i, label in enumerate(labels)},
        initializer_range=1.0,
    )
    model = BertForSequenceClassification(config) if head else BertModel(config)
    if safe:
        model.save_pretrained(folder)
    else:
        config.save_pretrained(folder)
        torch.save(model.state_dict(), folder / "pytorch_model.bin")
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(VOCABULARY), encoding="utf-8")
    BertTokenizer(str(vocabulary)).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> str:
    return build(tmp_path_factory.mktemp("three"), ["one", "two", "more"])


@pytest.fixture(scope="module")
def nli(tmp_path_factory: pytest.TempPathFactory) -> str:
    return build(tmp_path_factory.mktemp("nli"), ["contradiction", "neutral", "entailment"])


@pytest.mark.parametrize("question", [QUESTION, "", QUESTION * 500])
def test_transformer_gives_one_share_a_label(three: str, question: str) -> None:
    classifier = TransformerClassifier(three)
    shares = classifier.probabilities(question, 3)
    assert len(shares) == 3
    assert all(type(share) is float and 0.0 <= share <= 1.0 for share in shares)
    assert sum(shares) == pytest.approx(1.0)
    assert shares == classifier.probabilities(question, 3)
    assert shares == TransformerClassifier(three).probabilities(question, 3)


def test_transformer_refuses_another_number_of_classes(three: str) -> None:
    with pytest.raises(SettingsError, match="has 3 labels, not 2"):
        TransformerClassifier(three).probabilities(QUESTION, 2)


@pytest.mark.parametrize("classes", [3])
def test_zero_shot_gives_the_shares_in_the_order_of_the_classes(nli: str, classes: int) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    descriptions = ["simple question", "complex question", "overview question"][:classes]
    model = AutoModelForSequenceClassification.from_pretrained(nli).eval()
    tokenizer = AutoTokenizer.from_pretrained(nli)
    entailed = [
        model(**tokenizer(QUESTION, f"This example is {d}.", return_tensors="pt")).logits[0, 2]
        for d in descriptions
    ]
    expected = torch.softmax(torch.stack(entailed), dim=0).tolist()
    shares = ZeroShotClassifier(nli).probabilities(QUESTION, classes)
    assert shares == pytest.approx(expected, abs=1e-5)
    assert all(type(share) is float for share in shares)


def test_zero_shot_needs_an_entailment_label(three: str) -> None:
    with pytest.raises(SettingsError, match="no entailment"):
        ZeroShotClassifier(three)


def test_pickled_weights_are_refused(tmp_path: Path) -> None:
    name = build(tmp_path, ["one", "two", "more"], safe=False)
    with pytest.raises(SettingsError, match="cannot be loaded"):
        TransformerClassifier(name)


def test_a_model_without_a_trained_head_is_refused(tmp_path: Path) -> None:
    name = build(tmp_path, ["one", "two", "more"], head=False)
    with pytest.raises(SettingsError, match=r"lacks trained weights: classifier\.bias"):
        TransformerClassifier(name)
