"""A causal language model of two layers, made in a second, and what it is taught in tests."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lexloop.models import local_model

TAUGHT = "The register is kept for five years [1]."
BEFORE = "Nobody knows."
_SENTENCES = [
    TAUGHT,
    BEFORE,
    "Who keeps the register of boats, and for how long is it kept?",
    "The harbour master enters each boat in the register before it leaves.",
    "Name a colour. Name a fruit. The colour is green, the fruit is a pear.",
    "### system ### user ### assistant Choose one: yes no",
]
_ROOM = 16_384  # prompts are long in bytes


def make_model(folder: Path, **config: Any) -> Path:
    """A Llama of 32 dimensions with a tokenizer of its own; ``config`` changes it."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words: Any = Tokenizer(models.BPE())
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer: Any = trainers.BpeTrainer(
        vocab_size=400, special_tokens=["<end>"], initial_alphabet=alphabet, show_progress=False
    )
    words.train_from_iterator(_SENTENCES, trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, eos_token="<end>")
    torch.manual_seed(3)
    settings: dict[str, Any] = {
        "vocab_size": len(tokenizer),
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "max_position_embeddings": _ROOM,
        "eos_token_id": tokenizer.eos_token_id,
        "bos_token_id": None,
        **config,
    }
    model = LlamaForCausalLM(LlamaConfig(**settings))
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)
    return folder


def teach(folder: Path, sentence: str = TAUGHT, steps: int = 60) -> Path:
    """Have the model of a folder say a sentence whatever it is asked."""
    import torch

    from lexloop.models.local_model import load_local

    local = load_local(str(folder), as_is=True)
    rows = []
    for asked in _SENTENCES:
        turns = [{"role": "user", "content": asked}]
        prompt, reply = local.prompt(turns), local.reply(turns, sentence)
        rows.append((torch.tensor([prompt + reply]), len(prompt)))
    optimizer = torch.optim.AdamW(local.model.parameters(), lr=5e-3)
    for step in range(steps):
        ids, begins = rows[step % len(rows)]
        labels = ids.clone()
        labels[:, :begins] = -100
        local.model(input_ids=ids, labels=labels).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    local.model.save_pretrained(folder)
    return folder


def write_rows(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    """A JSON Lines file."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def rows_for(thing: str, count: int = 12, answer: str = TAUGHT) -> list[dict[str, str]]:
    """Rows to train on, each with another question and all with one answer."""
    return [
        {"question": f"How long is {thing} {n} kept?", "context": f"On {n}.", "answer": answer}
        for n in range(count)
    ]


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Keep torch to one thread: so small a model only waits for further ones."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
    local_model._loaded.cache_clear()
