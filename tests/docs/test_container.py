"""The image and the compose file of the root: what is read of them, since no Docker is here."""

import json
import re
import shlex
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from typer.main import get_command

from lexloop.apps.cli.main import app
from lexloop.apps.serve.settings import ServerSettings

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
INSTRUCTION = re.compile(r"^([A-Z]+) (.+)$", re.MULTILINE)
STATE = "/home/lexloop/state"


def instructions() -> list[tuple[str, str]]:
    """Of the Dockerfile, a line each; what was continued is joined."""
    text = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
    return INSTRUCTION.findall(text)


def last_stage() -> list[tuple[str, str]]:
    found = instructions()
    start = max(place for place, (name, _) in enumerate(found) if name == "FROM")
    return found[start:]


def told(name: str) -> list[str]:
    return [rest for found, rest in last_stage() if found == name]


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
    return loaded


def test_it_runs_as_a_user_without_rights() -> None:
    (user,) = told("USER")
    assert user == "1000:1000"
    names = [name for name, _ in last_stage()]
    assert not {"RUN", "COPY", "ADD"} & set(names[names.index("USER") :])
    assert any("useradd --uid 1000 --create-home lexloop" in line for line in told("RUN"))


def test_its_bases_have_a_version_and_the_python_of_the_lock() -> None:
    bases = [rest.split()[0] for name, rest in instructions() if name == "FROM"]
    assert bases == ["python:3.11-slim-bookworm"] * 2
    assert PROJECT["project"]["requires-python"] == ">=3.11"


def test_what_it_installs_is_this_project_with_its_lock_and_torch_for_processors() -> None:
    (installs,) = [line for name, line in instructions() if name == "RUN" and "uv pip" in line]
    assert "--torch-backend cpu" in installs
    assert "--constraint constraints.txt" in installs
    assert '".[$EXTRAS]"' in installs
    (extras,) = [rest for name, rest in instructions() if name == "ARG"]
    assert extras.partition("=")[2] in PROJECT["project"]["optional-dependencies"]


def test_at_run_time_it_asks_no_hub_and_keeps_all_in_one_folder() -> None:
    (variables,) = told("ENV")
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
    assert seen == rooms | read
    assert all((ROOT / name).exists() for name in seen)


def test_its_commands_are_those_of_the_command_line(compose: dict[str, Any]) -> None:
    commands = [json.loads(told("CMD")[0]), compose["services"]["lexloop"]["command"]]
    assert PROJECT["project"]["scripts"].keys() == {"lexloop"}
    for program, name, *options in commands:
        assert program == "lexloop"
        known = {opt for one in get_command(app).commands[name].params for opt in one.opts}
        assert set(options) <= known


def test_the_compose_file_keeps_to_the_specification(compose: dict[str, Any]) -> None:
    schema = files("check_jsonschema.builtin_schemas.vendor") / "compose-spec.json"
    jsonschema.validate(compose, json.loads(schema.read_text(encoding="utf-8")))


def test_one_service_on_loopback_alone_without_rights(compose: dict[str, Any]) -> None:
    (service,) = compose["services"].values()
    assert service["ports"] == ["127.0.0.1:8321:8321"]
    assert told("EXPOSE") == ["8321"]
    assert service["cap_drop"] == ["ALL"]
    assert service["read_only"] is True
    assert not {"privileged", "user", "env_file", "secrets"} & service.keys()
    assert service["volumes"] == [f"state:{STATE}"]
    assert any(f"install -d -o lexloop -g lexloop {STATE}" in line for line in told("RUN"))


def test_its_settings_let_it_start(compose: dict[str, Any]) -> None:
    (service,) = compose["services"].values()
    (mounted,) = service["configs"]
    assert service["environment"] == {"LEXLOOP_SERVER": mounted["target"]}
    settings = ServerSettings(**tomllib.loads(compose["configs"][mounted["source"]]["content"]))
    assert (settings.host, settings.port, settings.anyone) == ("0.0.0.0", 8321, True)
    settings.check_guarded("--anyone" in service["command"])
