"""``local:FOLDER``: a chat model in this process, of two layers that the test teaches."""

import json
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from running import complete
from tiny_model import TAUGHT, make_model, one_thread, teach

from lexloop.core.errors import DataError, DeadlineExceeded, ModelReplyError
from lexloop.core.settings import Connection, Settings
from lexloop.core.types import Usage
from lexloop.models.chat import ChatModel, Token, connect
from lexloop.models.local_model import load_local, local_chat
from lexloop.models.request import ChatRequest

__all__ = ["one_thread"]
ASKED = ChatRequest("generate", "Be brief.", "How long is it kept?")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return teach(make_model(tmp_path_factory.mktemp("my models") / "taught"))


@pytest.fixture
def copied(folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(folder, tmp_path / "copied"))


def model(folder: Path, **settings: object) -> ChatModel:
    return connect(Settings(model=f"local:{folder}", **settings), Connection())


@pytest.mark.parametrize("stream", [False, True])
def test_it_streams_words_and_is_counted(
    folder: Path, meter: Usage, soon: float, stream: bool
) -> None:
    shown: list[Token] = []
    asked = replace(ASKED, stream=stream)
    reply = complete(model(folder), asked, deadline=soon, meter=meter, on_token=shown.append)
    assert reply.text == TAUGHT
    assert "".join(token.text for token in shown) == (TAUGHT if stream else "")
    assert max((len(token.text.split()) for token in shown), default=1) == 1
    local = load_local(str(folder))
    turns = [{"role": "system", "content": ASKED.system}, {"role": "user", "content": ASKED.user}]
    said = len(local.tokenizer(TAUGHT)["input_ids"]) + 1  # the end is a token, too
    assert meter["model_calls"] == 1
    assert (meter["tokens_in"], meter["tokens_out"]) == (len(local.prompt(turns)), said)


def test_a_reply_at_its_limit_of_tokens(folder: Path, meter: Usage, soon: float) -> None:
    with pytest.raises(ModelReplyError, match=r"limit of reply tokens.*Raise max_tokens"):
        complete(model(folder, **{"model.max_tokens": 2}), ASKED, deadline=soon, meter=meter)
    assert meter["tokens_out"] == 2


def test_a_prompt_that_does_not_fit(folder: Path, meter: Usage, soon: float) -> None:
    long = ChatRequest("generate", "Be brief.", "§" * 20_000)
    with pytest.raises(ModelReplyError, match=r"at once \(400: its window has 16384 tokens"):
        complete(model(folder), long, deadline=soon, meter=meter)
    assert meter["model_calls"] == 1


def test_an_adapter_alone_is_no_model(tmp_path: Path) -> None:
    told = {"base_model_name_or_path": "someone/else", "peft_type": "LORA"}
    (tmp_path / "adapter_config.json").write_text(json.dumps(told))
    (tmp_path / "adapter_model.safetensors").write_bytes(b"")
    with pytest.raises(DataError, match="holds an adapter, which is no model without its base"):
        load_local(str(tmp_path))


def test_the_deadline_stops_the_writing(copied: Path, meter: Usage) -> None:
    teach(copied, "and " * 30, steps=60)
    local = load_local(str(copied))
    local.tokenizer.eos_token, local.model.generation_config.eos_token_id = "§", None
    chat = local_chat(str(copied))
    chat.local = local  # it never ends by itself
    asked = replace(ASKED, stream=True)
    begun = time.monotonic()
    with pytest.raises(DeadlineExceeded):
        complete(
            model(copied, **{"model.max_tokens": 16_000}), asked, deadline=begun + 0.3, meter=meter
        )
    assert chat.lock.acquire(timeout=5.0)


def test_a_folder_trained_anew_is_another_model(copied: Path, meter: Usage, soon: float) -> None:
    before = model(copied)
    assert model(copied).name == before.name
    teach(copied, "Nobody.")
    assert model(copied).name != before.name
    assert complete(model(copied), ASKED, deadline=soon, meter=meter).text == "Nobody."


def test_weights_that_are_not_those_of_the_checksums(copied: Path) -> None:
    from lexloop.core.files import write_sums

    write_sums(copied)
    name = model(copied).name
    assert name.startswith(f"local:{copied.name}@")
    assert model(copied).name == name
    weights = bytearray((copied / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (copied / "model.safetensors").write_bytes(weights)
    with pytest.raises(DataError, match=r"model\.safetensors has SHA-256 \w+, not \w+"):
        model(copied)


def changed(folder: Path, **config: object) -> None:
    held = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**held, **config}))


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (
            lambda folder: (folder / "model.safetensors").rename(folder / "pytorch_model.bin"),
            r"pickle \(pytorch_model\.bin\)",
        ),
        (
            lambda folder: changed(folder, num_hidden_layers=3),
            r"another architecture .* model\.layers\.2\.",
        ),
        (lambda folder: changed(folder, hidden_size=48), "cannot be loaded"),
    ],
    ids=["a pickle", "a layer more", "other widths"],
)
def test_other_weights_are_refused(copied: Path, harm: Callable[[Path], object], said: str) -> None:
    harm(copied)
    with pytest.raises(DataError, match=said):
        model(copied)


def test_code_in_the_folder_is_not_run(copied: Path, tmp_path: Path) -> None:
    changed(copied, model_type="own", auto_map={"AutoModelForCausalLM": "own.Model"})
    (copied / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(DataError, match="cannot be loaded"):
        model(copied)
    assert not (tmp_path / "ran").exists()
