"""Token vectors of an index: MaxSim by hand, on disk, kept by updates, off by a setting."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from indexes import ANYBODY, Letters, content, letter_tools, sources

from lexloop.models.embedding import CODED, Codes, Halves, Progress, coded
from lexloop.store.folder.store import open_folder
from lexloop.store.folder.tokens import TokenIndex
from lexloop.store.manifest import Manifest
from lexloop.store.opening import open_index
from lexloop.store.writer import write_index

LAW = "The owner must pay a fee. The master may waive the fee."


class Spelt(Letters):
    """A token is a word, its vector the place of its first letter."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens_of: list[str] = []

    def token_codes(self, text: str) -> Codes:
        rows = np.zeros((len(words := text.lower().split()), CODED), dtype=np.float32)
        rows[np.arange(len(words)), [ord(word[0]) % CODED for word in words]] = 1.0
        return coded(rows)

    def encode_tokens(self, texts: Sequence[str], progress: Progress) -> tuple[Halves, list[Codes]]:
        self.tokens_of += texts
        return self.encode(texts, progress), [self.token_codes(text) for text in texts]


def along(*rows: dict[int, int]) -> Codes:
    """Codes with these values at these places."""
    made = np.zeros((len(rows), CODED), dtype=np.int8)
    for row, values in enumerate(rows):
        for place, value in values.items():
            made[row, place] = value
    return made


def test_maxsim_by_hand() -> None:
    held = TokenIndex.of(
        [
            along({0: 127}, {1: 127}),
            along(),
            along({0: 3, 1: 4}),  # 0.6 and 0.8 of one, however short it is
            along({5: 127}),
        ]
    )
    assert held.ends.tolist() == [0, 2, 2, 3, 4]
    question = along({0: 100}, {1: 50})
    spans = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (2, 4)]
    found = held.closeness(question, spans)
    first, second = [1.0, 1.0, 0.0, 0.6, 0.0, 0.6], [1.0, 1.0, 0.0, 0.8, 0.0, 0.8]
    np.testing.assert_allclose(found, [first, second], atol=1e-6)
    assert held.closeness(along(), spans).tolist() == [[0.0] * len(spans)]
    assert held.closeness(question, []).shape == (2, 0)
    assert held.closeness(along(), []).shape == (1, 0)
    assert TokenIndex.of([]).ends.tolist() == [0]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (place := tmp_path / "sources").mkdir()
    (place / "a.txt").write_text(LAW)
    (place / "b.txt").write_text("A berth is a place. Boats lie there.")
    return place


def write(index: Path, folder: Path, embedder: Letters, **settings: Any) -> None:
    write_index(index, sources(folder), letter_tools(embedder, **settings))


def codes_in(index: Path, embedder: Letters) -> list[list[int]]:
    """Per window the places that its tokens have."""
    contents = open_folder(index, embedder)
    try:
        assert contents.tokens is not None
        count = len(contents.dense.owners)
        return [w.argmax(axis=1).tolist() for w in contents.tokens.windows(0, count)]
    finally:
        contents.close()


def test_the_whole_of_a_chunk_has_tokens_and_its_statements_have_none(
    folder: Path, tmp_path: Path
) -> None:
    embedder = Spelt()
    write(tmp_path / "index", folder, embedder)
    found = codes_in(tmp_path / "index", embedder)
    assert len(found) == 6  # two chunks, each the whole and two statements
    assert [len(window) for window in found] == [len(LAW.split()), 0, 0, 8, 0, 0]
    assert found[0][:3] == [ord("t"), ord("o"), ord("m")]
    view = open_index(tmp_path / "index", embedder).seen_by(ANYBODY)
    near = view.closeness("owner pays", ["a.txt#0", "b.txt#0"])
    assert near is not None
    # "place" begins as "pays" does
    np.testing.assert_allclose(near, [[1.0, 0.0], [1.0, 1.0]])
    with pytest.raises(KeyError):
        view.closeness("owner", ["c.txt#0"])


def test_an_update_takes_tokens_of_new_texts_alone(folder: Path, tmp_path: Path) -> None:
    embedder = Spelt()
    write(tmp_path / "index", folder, embedder)
    embedder.tokens_of.clear()
    (folder / "b.txt").write_text("A berth is free. Boats lie there.")
    (folder / "0.txt").write_text(LAW)
    write(tmp_path / "index", folder, embedder)
    assert embedder.tokens_of == ["A berth is free. Boats lie there."]
    write(tmp_path / "fresh", folder, Spelt())
    assert codes_in(tmp_path / "index", embedder) == codes_in(tmp_path / "fresh", embedder)


def test_off_by_the_setting_and_without_a_model_of_tokens(folder: Path, tmp_path: Path) -> None:
    for place, embedder, stored in (("off", Spelt(), False), ("letters", Letters(), True)):
        index = tmp_path / place
        write(index, folder, embedder, **{"index.token_vectors": stored})
        assert not [name for name in Manifest.read(index).sha256 if name.startswith("token")]
        view = open_index(index, embedder).seen_by(ANYBODY)
        assert view.closeness("owner", ["a.txt#0"]) is None
    # on again: the vectors of sentences serve, those of tokens are made
    embedder = Spelt()
    write(tmp_path / "off", folder, embedder)
    assert len(embedder.tokens_of) == 2
    assert len(codes_in(tmp_path / "off", embedder)) == 6
    off, on = Spelt(), content(tmp_path / "off", embedder)
    write(tmp_path / "again", folder, off, **{"index.token_vectors": False})
    assert on["chunks"] == content(tmp_path / "again", off)["chunks"]
