"""Classifiers of a few numbers with random weights, as files."""

from pathlib import Path


def build(
    folder: Path, words: str, labels: list[str], *, head: bool = True, safe: bool = True
) -> str:
    """Write a model that knows these words and gives these labels.

    Args:
        folder: Where to.
        words: What it can read; the rest is unknown to it.
        labels: What it tells apart.
        head: Whether the weights that tell the labels are among those written.
        safe: Whether weights are written as safetensors, else pickled.

    Returns:
        The folder, as libraries take it.
    """
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertModel, BertTokenizer

    torch.manual_seed(0)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words.split()]
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=32,
        id2label=dict(enumerate(labels)),
        label2id={label: number for number, label in enumerate(labels)},
        initializer_range=1.0,
    )
    model = BertForSequenceClassification(config) if head else BertModel(config)
    if safe:
        model.save_pretrained(folder)
    else:
        config.save_pretrained(folder)
        torch.save(model.state_dict(), folder / "pytorch_model.bin")
    listed = folder / "vocab.txt"
    listed.write_text("\n".join(vocabulary), encoding="utf-8")
    BertTokenizer(str(listed), model_max_length=32).save_pretrained(folder)
    return str(folder)
