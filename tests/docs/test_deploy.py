"""The image, the compose files and the Kubernetes manifests: schemas, and what they promise."""

import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml
from typer.main import get_command

from lexloop.apps.cli.main import app
from lexloop_server.settings import ServerSettings

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
OWN = ROOT / "compose.yaml"
COMPOSE = sorted((ROOT / "docs" / "deploy").glob("*.compose.yml"))
KUBERNETES = sorted((ROOT / "docs" / "deploy").glob("*.kubernetes.yml"))
INSTRUCTION = re.compile(r"^([A-Z]+) (.+)$", re.MULTILINE)
STATE = "/home/lexloop/state"


def stem(path: Path) -> str:
    return path.name.split(".")[0]


def objects(path: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(path.read_text(encoding="utf-8")))


def of_kind(path: Path, kind: str) -> dict[str, dict[str, Any]]:
    return {one["metadata"]["name"]: one for one in objects(path) if one["kind"] == kind}


def pods(path: Path) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """The name of each set of pods, the set, and its only container."""
    for name, one in of_kind(path, "StatefulSet").items():
        (container,) = one["spec"]["template"]["spec"]["containers"]
        yield name, one["spec"], container


@pytest.fixture(scope="module")
def stages() -> list[list[tuple[str, str]]]:
    """The instructions of the Dockerfile, by stage; what was continued is joined."""
    text = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
    found: list[list[tuple[str, str]]] = []
    for name, rest in INSTRUCTION.findall(text):
        found += [[]] if name == "FROM" or not found else []
        found[-1].append((name, rest))
    return found


def test_the_image_runs_as_a_user_without_rights_and_asks_no_hub(
    stages: list[list[tuple[str, str]]],
) -> None:
    every, last = [one for stage in stages for one in stage], stages[-1]
    bases = {rest.split()[0] for name, rest in every if name == "FROM"}
    assert bases == {"python:3.11-slim-bookworm"}  # the Python of the lock
    names = [name for name, _ in last]
    assert ("USER", "1000:1000") in last
    assert not {"RUN", "COPY", "ADD"} & set(names[names.index("USER") :])
    made = " ".join(rest for name, rest in last if name == "RUN")
    assert "useradd --uid 1000 --create-home lexloop" in made
    assert f"install -d -o lexloop -g lexloop {STATE}" in made
    (installs,) = [rest for name, rest in every if name == "RUN" and "uv pip" in rest]
    assert "--torch-backend cpu" in installs
    assert "--constraint constraints.txt" in installs
    (more,) = [rest for name, rest in every if name == "ARG"]
    assert more == "PACKAGES="
    named = ("formats", "engines", "workbench", "server")
    assert " ".join(f"./packages/{name}" for name in named) in installs
    (variables,) = [rest for name, rest in last if name == "ENV"]
    kept = dict(one.split("=", 1) for one in shlex.split(variables))
    assert kept["HF_HUB_OFFLINE"] == kept["TRANSFORMERS_OFFLINE"] == "1"
    assert all(kept[name].startswith(STATE) for name in ("LEXLOOP_DATA_DIR", "LEXLOOP_CACHE"))
    assert not [name for name in kept if re.search("KEY|PASSWORD|TOKEN|SECRET", name)]


def test_a_build_sees_what_it_reads_and_nothing_else() -> None:
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    assert rules[0] == "*"
    seen = {rule[1:] for rule in rules if rule.startswith("!")}
    folders = PROJECT["tool"]["setuptools"]["package-dir"].values()
    rooms = {folder.partition("/")[0] for folder in folders}
    read = {"pyproject.toml", "constraints.txt", "MANIFEST.in", "README.md", "LICENSE"}
    assert seen == rooms | read | {"packages"}
    assert all((ROOT / name).exists() for name in seen)


def test_the_compose_file_of_the_image_serves_loopback_alone_and_its_settings_let_it_start(
    stages: list[list[tuple[str, str]]],
) -> None:
    (compose,) = objects(OWN)
    (service,) = compose["services"].values()
    assert service["ports"] == ["127.0.0.1:8321:8321"]
    assert ("EXPOSE", "8321") in stages[-1]
    assert (service["cap_drop"], service["read_only"]) == (["ALL"], True)
    assert not {"privileged", "user", "env_file", "secrets"} & service.keys()
    assert service["volumes"] == [f"state:{STATE}"]
    (command,) = [json.loads(rest) for name, rest in stages[-1] if name == "CMD"]
    for program, name, *options in (command, service["command"]):
        assert program == "lexloop"
        known = {opt for one in get_command(app).commands[name].params for opt in one.opts}
        assert set(options) <= known
    (mounted,) = service["configs"]
    assert service["environment"] == {"LEXLOOP_SERVER": mounted["target"]}
    settings = ServerSettings(**tomllib.loads(compose["configs"][mounted["source"]]["content"]))
    assert (settings.host, settings.port, settings.anyone) == ("0.0.0.0", 8321, True)
    settings.check_guarded("--anyone" in service["command"])


@pytest.mark.parametrize("path", [OWN, *COMPOSE], ids=stem)
def test_a_compose_file_keeps_to_the_specification(path: Path) -> None:
    schema = files("check_jsonschema.builtin_schemas.vendor") / "compose-spec.json"
    (compose,) = objects(path)
    jsonschema.validate(compose, json.loads(schema.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", KUBERNETES, ids=stem)
def test_every_object_keeps_to_kubernetes_own_schema(path: Path) -> None:
    for one in objects(path):
        for version in ("1.31", "1.34"):
            kubernetes_validate.validate(one, version, strict=True)


@pytest.mark.parametrize("path", [*COMPOSE, *KUBERNETES], ids=lambda path: path.name)
def test_images_have_a_version_and_nothing_holds_a_password(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    images = re.findall(r"^\s+image: (\S+)", text, re.MULTILINE)
    assert len(images) >= 2
    assert [image for image in images if not re.search(r":\d+\.\d+\.\d+$", image)] == []
    for line in text.splitlines():
        if "PASSWORD" in line and "name: " not in line:
            assert "$" in line, line  # from a secret, where it is used


@pytest.mark.parametrize("path", KUBERNETES, ids=stem)
def test_pods_have_memory_probes_and_no_rights(path: Path) -> None:
    for _, spec, container in pods(path):
        resources = container["resources"]
        login = {one["name"]: one for one in container["env"]}
        assert resources["requests"]["memory"] == resources["limits"]["memory"]
        pod = spec["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert {"startupProbe", "livenessProbe", "readinessProbe"} <= container.keys()
        for secret in ("LEXLOOP_ENGINE_USER", "LEXLOOP_ENGINE_PASSWORD"):
            assert "secretKeyRef" in login[secret]["valueFrom"]


@pytest.mark.parametrize("path", KUBERNETES, ids=stem)
def test_selectors_services_volumes_and_the_first_masters_fit_together(path: Path) -> None:
    sets = of_kind(path, "StatefulSet")
    held = of_kind(path, "Service")
    for name, spec, container in pods(path):
        labels = spec["template"]["metadata"]["labels"]
        assert spec["selector"]["matchLabels"].items() <= labels.items()
        assert held[spec["serviceName"]]["spec"]["selector"] == spec["selector"]["matchLabels"]
        volumes = {one["name"] for one in spec["template"]["spec"]["volumes"]}
        volumes |= {one["metadata"]["name"] for one in spec["volumeClaimTemplates"]}
        assert {one["name"] for one in container["volumeMounts"]} == volumes, name
    config = yaml.safe_load(of_kind(path, "ConfigMap")["engine"]["data"]["opensearch.yml"])
    assert config["plugins.security.ssl.http.enabled"] is True
    for master in config.get("cluster.initial_cluster_manager_nodes", []):
        owner, _, number = master.rpartition("-")
        assert int(number) < sets[owner]["spec"]["replicas"] == 3
    assert all(name in held for name in config.get("discovery.seed_hosts", []))
    assert "engine" in held  # the name that server.toml asks
