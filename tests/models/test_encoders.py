"""Folders of sentence-transformers and PyLate: what is read of them, and what never is."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tiny_encoders import TOKEN_WIDTH, WIDTH, pylate_folder, sentence_folder

from lexloop.core.errors import DataError, InputError
from lexloop.core.metadata import Filters
from lexloop.core.settings import Connection, Settings
from lexloop.documents.reading.folder import load_documents
from lexloop.models.embedders import load_embedder
from lexloop.models.embedding import CODED, TokenEmbedder, unit_rows
from lexloop.models.encoders import LateEncoder, is_late, open_encoder
from lexloop.store.opening import tools_for
from lexloop.store.writer import build_collection

TEXT = "The mayor keeps the seal. The porter keeps the keys."


@pytest.fixture(scope="module")
def late(tmp_path_factory: pytest.TempPathFactory) -> LateEncoder:
    folder = pylate_folder(tmp_path_factory.mktemp("late") / "colbert")
    model = load_embedder(f"sentence-transformers:{folder}", Connection())
    assert isinstance(model, LateEncoder)
    return model


def test_pooling_and_prompts_are_those_of_the_folder(tmp_path: Path) -> None:
    plain = sentence_folder(tmp_path / "plain")
    asking = sentence_folder(tmp_path / "asking", {"query": "ask: ", "document": "read: "})
    first, other = (
        load_embedder(f"sentence-transformers:{f}", Connection()) for f in (plain, asking)
    )
    assert first.dimension == WIDTH
    same = first.encode([TEXT], lambda *_: None)[0] @ first.embed([TEXT])[0]
    assert float(same) == pytest.approx(1, abs=1e-2)
    states = open_encoder(str(plain), "cpu").encode([TEXT], output_value="token_embeddings")[0]
    cls = states[0].numpy() / np.linalg.norm(states[0].numpy())
    np.testing.assert_allclose(first.embed([TEXT])[0], cls, atol=1e-5)
    np.testing.assert_allclose(other.embed(["x"]), first.embed(["ask: x"]), atol=1e-5)
    read = other.encode(["x"], lambda *_: None)
    np.testing.assert_allclose(read, first.encode(["read: x"], lambda *_: None), atol=1e-2)


def test_a_folder_of_pylate_gives_a_vector_for_each_token(late: LateEncoder) -> None:
    assert isinstance(late, TokenEmbedder)
    # 40 tokens a document, of which "[D] " takes three: it is no word of this tokenizer
    assert (late.dimension, late.window) == (TOKEN_WIDTH, 37)
    assert late.token_codes("Who keeps it?").shape == (12, CODED)  # as long as all questions
    seal = ((TEXT.index("the seal"), TEXT.index(".")),)
    made = late.encode_tokens([TEXT, ""], [[seal], []], lambda *_: None)
    # of [CLS], "[", "d", "]", the words and [SEP]; the two stops are on the folder's list
    assert [len(codes) for codes in made.codes] == [1 + 3 + 10 + 1, 5]
    assert not made.codes[0][:, TOKEN_WIDTH:].any()
    rows = unit_rows(made.codes[0])[4 + 3 : 4 + 5, :TOKEN_WIDTH]  # the, seal
    mean = rows.sum(axis=0) / np.linalg.norm(rows.sum(axis=0))
    assert float(made.parts[0][0] @ mean) > 0.99
    assert made.parts[1].shape == (0, TOKEN_WIDTH)
    np.testing.assert_array_equal(made.vectors, late.encode([TEXT, ""], lambda *_: None))
    with pytest.raises(InputError, match=r"U\+D800"):
        late.embed(["\ud800"])
    assert late.embed([]).shape == (0, TOKEN_WIDTH)


def test_documents_are_indexed_and_found_by_it(late: LateEncoder, tmp_path: Path) -> None:
    (tmp_path / "rule.txt").write_text(f"{TEXT}\n", encoding="utf-8")
    documents, _ = load_documents(tmp_path)
    collection = build_collection(documents, tools_for(Settings(), late))
    view = collection.seen_by(Filters.of(Settings()))
    [[hit]] = view.search_vector(["Who keeps the seal?"], 1)
    found = view.closeness("Who keeps the seal?", [hit.chunk_id])
    assert found is not None
    assert found.shape == (12, 1)
    assert (found <= 1.001).all()


def _pickled(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def _pickled_part(folder: Path) -> None:
    (folder / "1_Dense" / "model.safetensors").rename(folder / "1_Dense" / "pytorch_model.bin")


def _cut(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1000])


def _none(folder: Path) -> None:
    for path in folder.rglob("*.safetensors"):
        path.unlink()
    (folder / "model.onnx").write_bytes(b"a graph")


def _foreign(folder: Path) -> None:
    modules = json.loads((folder / "modules.json").read_text("utf-8"))
    modules[1]["type"] = "evil.Module"
    (folder / "modules.json").write_text(json.dumps(modules), "utf-8")
    (folder / "evil.py").write_text(f"open({str(folder / 'ran')!r}, 'w')", "utf-8")


def _no_json(folder: Path) -> None:
    (folder / "config_sentence_transformers.json").write_text("{", "utf-8")


def _wide(folder: Path) -> None:
    dense = folder / "1_Dense" / "config.json"
    dense.write_text(dense.read_text("utf-8").replace(str(TOKEN_WIDTH), "200"), "utf-8")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (_pickled, r"pytorch_model\.bin is a pickle"),
        (_pickled_part, r"1_Dense/pytorch_model\.bin is a pickle"),
        (_cut, "cannot be loaded"),
        (_none, r"it holds no model\.safetensors"),
        (_foreign, "cannot be loaded"),
        (_no_json, "no JSON"),
        (_wide, "cannot be loaded"),
    ],
)
def test_what_cannot_be_read_is_refused(
    tmp_path: Path, spoil: Callable[[Path], None], said: str
) -> None:
    folder = pylate_folder(tmp_path / "colbert")
    assert is_late(folder)
    spoil(folder)
    with pytest.raises(DataError, match=said):
        load_embedder(f"sentence-transformers:{folder}", Connection())
    assert not (folder / "ran").exists()
