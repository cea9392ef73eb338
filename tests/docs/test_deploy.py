"""The compose files and Kubernetes manifests of docs/deploy: schemas, and what they promise."""

import json
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "deploy"
COMPOSE = sorted(FOLDER.glob("*.compose.yml"))
KUBERNETES = sorted(FOLDER.glob("*.kubernetes.yml"))
VERSIONS = ("1.31", "1.34")
HEAP = re.compile(r"-Xms(\d+)g -Xmx(\d+)g")
GIB = re.compile(r"(\d+)(?:Gi|g)")
MOST_HEAP = 31  # above, the JVM needs eight bytes for a reference


def stem(path: Path) -> str:
    return path.name.split(".")[0]


def objects(path: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(path.read_text(encoding="utf-8")))


def of_kind(path: Path, kind: str) -> dict[str, dict[str, Any]]:
    return {one["metadata"]["name"]: one for one in objects(path) if one["kind"] == kind}


def services(path: Path) -> dict[str, dict[str, Any]]:
    held: dict[str, dict[str, Any]] = objects(path)[0]["services"]
    return held


def pods(path: Path) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """The name of each set of pods, the set, and its only container."""
    for name, one in of_kind(path, "StatefulSet").items():
        (container,) = one["spec"]["template"]["spec"]["containers"]
        yield name, one["spec"], container


def gib(text: str) -> int:
    found = GIB.fullmatch(text)
    assert found, text
    return int(found[1])


def heap(options: str) -> int:
    found = HEAP.fullmatch(options)
    assert found, options
    assert found[1] == found[2]
    return int(found[1])


def environment(container: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in container["env"]}


@pytest.mark.parametrize("path", COMPOSE, ids=stem)
def test_a_compose_file_keeps_to_the_specification(path: Path) -> None:
    vendored = files("check_jsonschema.builtin_schemas.vendor") / "compose-spec.json"
    schema = json.loads(vendored.read_text(encoding="utf-8"))
    (compose,) = objects(path)
    jsonschema.validate(compose, schema)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("path", KUBERNETES, ids=stem)
def test_every_object_keeps_to_kubernetes_own_schema(path: Path, version: str) -> None:
    for one in objects(path):
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


@pytest.mark.parametrize("path", COMPOSE, ids=stem)
def test_the_heap_of_a_service_is_half_of_its_memory(path: Path) -> None:
    engines = {n: one for n, one in services(path).items() if n != "lexloop"}
    for one in engines.values():
        taken = heap(one["environment"]["OPENSEARCH_JAVA_OPTS"])
        assert taken * 2 == gib(one["mem_limit"])
        assert taken <= MOST_HEAP
    assert engines


@pytest.mark.parametrize("path", KUBERNETES, ids=stem)
def test_the_heap_of_a_pod_is_half_of_its_memory(path: Path) -> None:
    for name, _, container in pods(path):
        resources = container["resources"]
        assert resources["requests"]["memory"] == resources["limits"]["memory"]
        if name != "lexloop":
            taken = heap(environment(container)["OPENSEARCH_JAVA_OPTS"]["value"])
            assert taken * 2 == gib(resources["limits"]["memory"])
            assert taken <= MOST_HEAP


@pytest.mark.parametrize("path", KUBERNETES, ids=stem)
def test_pods_are_probed_and_without_rights(path: Path) -> None:
    for _, spec, container in pods(path):
        pod = spec["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert {"startupProbe", "livenessProbe", "readinessProbe"} <= container.keys()
        login = environment(container)
        for name in ("LEXLOOP_ENGINE_USER", "LEXLOOP_ENGINE_PASSWORD"):
            assert "secretKeyRef" in login[name]["valueFrom"]


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
