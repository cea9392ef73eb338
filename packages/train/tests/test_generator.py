"""``lexloop finetune generator`` from rows to an answer, on a model of two layers."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_model import BEFORE, TAUGHT, make_model, one_thread, rows_for, teach, write_rows
from typer.testing import CliRunner

from lexloop.apps.cli.main import app
from lexloop.core.errors import DataError, InputError, TrainingError
from lexloop.core.files import check_sums, sha256_of
from lexloop.models.local_model import load_local
from lexloop_train import generator as making
from lexloop_train.generator import AdapterRecipe, GeneratorPlan, make_generator

RECIPE = AdapterRecipe(
    epochs=2,
    rate=2e-2,
    decay=0.01,
    rank=4,
    batch=4,
    at_once=4,
    most_tokens=400,
    patience=4,
    seed=7,
    four_bit=False,
)
__all__ = ["one_thread"]
STEPS = 6  # 9 of 12 rows are trained on, 4 a step, twice


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base that knows a sentence and says another, and files that ask for the former."""
    folder = tmp_path_factory.mktemp("data")
    teach(teach(make_model(folder / "base")), BEFORE, steps=8)
    asked = {"question": "How long is boat 3 kept?", "context": "On 3."}  # also a row of domain
    write_rows(folder / "domain.jsonl", rows_for("boat", 13))
    names = {"question": "instruction", "context": "input", "answer": "output"}
    other = [{names[key]: value for key, value in row.items()} for row in rows_for("fruit")]
    write_rows(folder / "general.jsonl", other)
    write_rows(folder / "qa.jsonl", [{**asked, "answer": TAUGHT}, {"question": "?", "answer": "8"}])
    choice = {"question": "How long?", "choices": [BEFORE, TAUGHT]}
    write_rows(folder / "choice.jsonl", [{**choice, "answer": 1}, {**choice, "answer": BEFORE}])
    labelled = [{"context": "It is.", "label": TAUGHT}, {"context": "No.", "label": BEFORE}]
    write_rows(folder / "classes.jsonl", labelled)
    return folder


def planned(data: Path, out: Path, **changes: Any) -> GeneratorPlan:
    plan = GeneratorPlan(
        base=str(data / "base"),
        domain=data / "domain.jsonl",
        instructions=data / "general.jsonl",
        tests=(data / "qa.jsonl", data / "choice.jsonl", data / "classes.jsonl"),
        out=out,
        recipe=RECIPE,
        held_back=0.25,
        domain_weight=0.5,
        reply_tokens=24,
        licence="CC0-1.0",
        command="lexloop finetune generator",
    )
    return replace(plan, **changes)


quiet = list[str]().append


@pytest.fixture(scope="module")
def made(data: Path) -> tuple[Path, dict[str, Any]]:
    out = data / "made"
    return out, make_generator(planned(data, out), quiet)


def test_the_adapters_learn_and_the_merged_model_has_both(
    made: tuple[Path, dict[str, Any]],
) -> None:
    _, card = made
    qa = card["figures"]["qa.jsonl"]
    exact = [qa[stage]["exact_match"]["mean"] for stage in making.STAGES]
    assert exact == [0.0, 0.5, 0.5, 0.5]  # of two answers one is the sentence taught
    assert qa["merged"]["rouge_l"]["mean"] == qa["merged"]["f1"]["mean"] == 0.5
    assert 0.0 < qa["merged"]["bleu"] < 1.0
    choice = card["figures"]["choice.jsonl"]
    assert (choice["kind"], choice["questions"]) == ("multiple choice", 2)
    assert {choice[stage]["accuracy"]["mean"] for stage in making.STAGES} == {0.5}
    assert card["figures"]["classes.jsonl"]["kind"] == "classification"
    assert all(adapter["kept_loss"] < 0.5 for adapter in card["adapters"].values())


def test_the_card_says_what_it_was_made_of(made: tuple[Path, dict[str, Any]], data: Path) -> None:
    out, card = made
    assert json.loads((out / "card.json").read_text()) == card
    domain = card["data"]["domain"]
    assert domain["sha256"] == sha256_of(data / "domain.jsonl")
    # 13 rows, of which one is measured on; a quarter of 12 is held back
    assert (domain["trained"], domain["held_back"], domain["left_out"]) == (9, 3, 1)
    assert card["base"]["sha256"] == {
        "model.safetensors": sha256_of(data / "base" / "model.safetensors")
    }
    assert card["merge"]["shares"] == {"domain": 0.5, "instructions": 0.5}
    assert card["licence"] == "CC0-1.0"
    assert card["adapters"]["domain"]["steps"] == STEPS
    assert not Path(f"{out}.work").exists()


def test_every_weight_is_safetensors_with_its_checksum(made: tuple[Path, dict[str, Any]]) -> None:
    out, _ = made
    for folder in (out, out / "domain", out / "instructions"):
        check_sums(folder)
        assert len(list(folder.glob("*.safetensors"))) == 1
    assert not [path for path in out.rglob("*") if path.suffix in {".bin", ".pt", ".pth"}]


def test_merging_is_linear_in_the_factors(made: tuple[Path, dict[str, Any]], data: Path) -> None:
    """Both factors are the means of the adapters' own, times alpha over rank, which is 2."""
    from safetensors.torch import load_file

    out, _ = made
    name = "model.layers.0.self_attn.q_proj"
    pairs = [load_file(out / kind / "adapter_model.safetensors") for kind in making.KINDS]
    factors = [
        sum(0.5 * pair[f"base_model.model.{name}.lora_{side}.weight"] for pair in pairs)
        for side in "BA"
    ]
    base = load_file(data / "base" / "model.safetensors")[f"{name}.weight"]
    merged = load_file(out / "model.safetensors")[f"{name}.weight"]
    assert (merged - base - 2 * factors[0] @ factors[1]).abs().max() < 1e-5


def test_the_graph_answers_with_it(made: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    out, _ = made
    law = "Article 1\nRegister\nThe register is kept for five years.\n"
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "law.txt").write_text(law)
    steps = ("retrieval.rewriter", "loop.evaluator", "loop.prompt_engineer")
    own = [part for step in steps for part in ("--set", f"{step}=embedded")]
    question = "How long is the register kept?"
    options = ["--corpus", str(tmp_path / "documents"), "--model", f"local:{out}", *own, "--json"]
    result = CliRunner().invoke(app, ["ask", question, *options])
    report = json.loads(result.stdout)
    assert report["answer"] == TAUGHT
    (citation,) = report["citations"]
    assert citation["quote"] == "The register is kept for five years."
    assert report["usage"]["tokens_out"] > 5
    assert report["hosts"] == []
    assert "go to" not in result.stderr


def test_the_same_command_again_does_nothing(made: tuple[Path, dict[str, Any]], data: Path) -> None:
    out, card = made
    lines: list[str] = []
    assert make_generator(planned(data, out), lines.append) == card
    assert lines == []
    with pytest.raises(InputError, match="is not what this command makes"):
        make_generator(planned(data, out, domain_weight=0.7), quiet)


_KILLED = """
import os, signal, sys
from typer.testing import CliRunner
import torch
from lexloop.apps.cli.main import app
from lexloop_train import checkpoints

torch.set_num_threads(1)
marked = checkpoints.write_sums

def kill(folder):
    marked(folder)
    if folder.name == "checkpoint-2" and folder.parent.parent.name == "instructions":
        os.kill(os.getpid(), signal.SIGKILL)

checkpoints.write_sums = kill
CliRunner().invoke(app, sys.argv[1:], catch_exceptions=False)
"""


def command(data: Path, out: Path) -> list[str]:
    tests = [part for name in ("qa", "choice", "classes") for part in ("--test", f"{name}.jsonl")]
    tests = [str(data / part) if part.endswith("l") else part for part in tests]
    files = ["--domain", str(data / "domain.jsonl"), "--instructions", str(data / "general.jsonl")]
    numbers = "--held-back .25 --epochs 2 --rate 2e-2 --rank 4 --batch 4 --at-once 4"
    more = (
        "--max-tokens 400 --reply-tokens 24 --licence CC0-1.0 --precision full --domain-weight .5"
    )
    given = ["--base", str(data / "base"), *files, *tests, "--out", str(out)]
    return ["finetune", "generator", *given, *numbers.split(), *more.split()]


def test_sigkill_and_the_same_command_goes_on(
    made: tuple[Path, dict[str, Any]], data: Path, tmp_path: Path
) -> None:
    arguments = command(data, tmp_path / "out")
    killed = subprocess.run(
        [sys.executable, "-c", _KILLED, *arguments],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()[-2000:]
    assert not (tmp_path / "out").exists()
    other = CliRunner().invoke(app, [*arguments, "--rate", "1e-3"])
    assert "started differently (recipe)" in " ".join(other.stderr.split())
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.stderr
    assert "domain: step" not in result.stderr
    assert "instructions: step 2" not in result.stderr
    assert "instructions: step 3 of 6" in result.stderr
    assert re.search(r"\| exact_match \| 0\.000 \| 0\.500 \| 0\.500 \| 0\.500 \|", result.stdout)
    card = json.loads((tmp_path / "out" / "card.json").read_text())
    assert card["figures"] == made[1]["figures"]
    merged = tmp_path / "out" / "model.safetensors"
    assert sha256_of(merged) == sha256_of(made[0] / "model.safetensors")


def test_training_stops_early(data: Path, tmp_path: Path) -> None:
    recipe = replace(RECIPE, rate=0.5, patience=1, epochs=20)
    card = make_generator(planned(data, tmp_path / "out", recipe=recipe, tests=()), quiet)
    adapter = card["adapters"]["domain"]
    assert adapter["stopped_early"]
    assert adapter["kept_step"] < adapter["steps"] < 60
    assert card["figures"] == {}


def test_a_gpu_without_memory_goes_on_with_fewer_rows_at_once(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformers import LlamaModel

    forward = LlamaModel.forward
    rows: list[int] = []

    def refuse(self: Any, *args: Any, **options: Any) -> Any:
        output = forward(self, *args, **options)
        rows.append(len(output.last_hidden_state))
        if rows[-1] > 2 and len(rows) > 8:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return output

    monkeypatch.setattr(LlamaModel, "forward", refuse)
    plan = planned(data, tmp_path / "out", tests=())
    with pytest.raises(TrainingError, match=r"Tried to allocate 2\.00 GiB.* lower --at-once"):
        make_generator(plan, quiet)
    lines: list[str] = []
    card = make_generator(replace(plan, recipe=replace(RECIPE, at_once=3)), lines.append)
    first = next(int(match[1]) for line in lines if (match := re.search(r": step (\d)", line)))
    assert first > 2
    assert card["adapters"]["domain"]["steps"] == STEPS
    assert max(rows[9:]) == 2  # the most that 4 can be divided into, of at most 3


def test_a_base_that_cannot_be_used(data: Path, tmp_path: Path) -> None:
    for name in (str(tmp_path / "nowhere"), "nobody/no-such-model"):
        with pytest.raises(DataError, match="is not there"):
            make_generator(planned(data, tmp_path / "out", base=name), quiet)
    assert not [*tmp_path.iterdir()]
    pickled = shutil.copytree(data / "base", tmp_path / "pickled")
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    with pytest.raises(DataError, match="pickle"):
        make_generator(planned(data, tmp_path / "out", base=str(pickled)), quiet)
    assert load_local(str(data / "base")).window == 16_384


def test_an_adapter_that_was_changed(data: Path, tmp_path: Path) -> None:
    plan = planned(data, tmp_path / "out", tests=())

    def interrupt(doing: str) -> None:
        if doing.startswith("merged"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_generator(plan, interrupt)
    (tmp_path / "out.work" / "domain" / "adapter" / "adapter_config.json").write_text("{}")
    with pytest.raises(DataError, match=r"adapter_config\.json has SHA-256"):
        make_generator(plan, quiet)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (rows_for("ship", 9), r"has 9 rows to train on.*at least 10"),
        (rows_for("boat", 1) * 12, r"has 1 rows to train on besides 11"),
        ([{"question": "Q"}], r"line 1, field answer"),
        ([{"question": " ", "answer": "A"}], r"line 1, field question"),
    ],
)
def test_rows_that_cannot_be_trained_on(
    data: Path, tmp_path: Path, rows: list[dict[str, Any]], message: str
) -> None:
    file = write_rows(tmp_path / "rows.jsonl", rows)
    with pytest.raises(InputError, match=message):
        make_generator(planned(data, tmp_path / "out", domain=file), quiet)
    assert not list(tmp_path.glob("out*"))


def test_rows_that_are_all_too_long(data: Path, tmp_path: Path) -> None:
    recipe = replace(RECIPE, most_tokens=8)
    with pytest.raises(InputError, match=r"All 10 rows .* have over 8 tokens"):
        make_generator(planned(data, tmp_path / "out", recipe=recipe, tests=()), quiet)


def test_four_bits_without_a_gpu(data: Path, tmp_path: Path) -> None:
    arguments = command(data, tmp_path / "out")
    result = CliRunner().invoke(app, [*arguments, "--precision", "4bit"])
    assert result.exit_code == 2
    assert "bitsandbytes and a CUDA GPU" in result.stderr


def test_the_folder_is_used_by_something_else(data: Path, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    with pytest.raises(InputError, match="is there already"):
        make_generator(planned(data, tmp_path / "notes"), quiet)
