"""What `.ci/run` runs of a change, that a failure hides nothing, and what it keeps for the next."""

import json
import os
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest
import yaml

ROOT = Path(__file__).parents[1]
SCRIPTS = ROOT / ".ci"
NOTHING_SAYS = "not run: nothing says that its rooms changed; CI_ALL=1 runs it"
UNCHANGED = "not run: its rooms are as they were when it last passed here"
PARTS = """\
# part | paths | command
always | always | echo always ran
broken | always | echo was here; false; echo never
room   | room/* other | test ! -e fails; echo room ran
"""
INSTALLS_NOTHING = """
with_lexloop() { mkdir -p "$work/$1/bin"; }
cached() { echo "$cache"; }
"""


def rows() -> list[tuple[str, list[str], str]]:
    """The parts of the project: a name, paths, a command."""
    lines = (SCRIPTS / "parts").read_text("utf-8").splitlines()
    split = [line.split("|", 2) for line in lines if not line.startswith("#")]
    return [(name.strip(), paths.split(), command.strip()) for name, paths, command in split]


def git(where: Path, *words: str) -> None:
    named = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(["git", *named, *words], cwd=where, check=True, capture_output=True)


class Place:
    """A small project with the scripts of this one, whose environments are made at once."""

    def __init__(self, folder: Path, cache: Path) -> None:
        self.folder, self.cache = folder, cache

    def write(self, name: str, text: str, commit: bool = True) -> None:
        (self.folder / name).parent.mkdir(exist_ok=True)
        (self.folder / name).write_text(text)
        if commit:
            git(self.folder, "add", "--all")
            git(self.folder, "commit", "-m", name)

    def run(self, **environ: str) -> tuple[int, str, dict[str, str]]:
        """Return the exit code, what was said, and the result of each part."""
        kept = {"PATH": os.environ["PATH"], "LEXLOOP_CI_CACHE": str(self.cache), **environ}
        done = subprocess.run(
            [str(self.folder / ".ci" / "run")],
            env=kept,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        table = done.stdout.rpartition("result\n")[2].splitlines()
        results = {line.split()[0]: line.split(maxsplit=2)[2] for line in table}
        return done.returncode, done.stdout, results

    def of_room(self, **environ: str) -> str:
        """Return what became of the part that is not always run."""
        return self.run(**environ)[2]["room"]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path / "project", tmp_path / "cache")
    shutil.copytree(SCRIPTS, made.folder / ".ci")
    with (made.folder / ".ci" / "environments").open("a") as opened:
        opened.write(INSTALLS_NOTHING)
    (made.folder / ".ci" / "parts").write_text(PARTS)
    for name in ("pyproject.toml", "constraints.txt"):
        (made.folder / name).touch()
    git(tmp_path, "init", "--initial-branch=main", str(made.folder))
    browser = tmp_path / "bin"
    browser.mkdir()
    for name in ("chromium", "chromedriver"):
        (browser / name).touch(mode=0o755)
    made.write("other", "1")
    made.write("room/a", "1")
    return made


@pytest.fixture(autouse=True)
def _a_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")


def test_a_failure_hides_no_other_part_and_the_table_tells_of_each(place: Place) -> None:
    code, said, results = place.run(CI_ALL="1")
    assert code == 1
    results.pop("office", None)  # of a machine without LibreOffice
    assert list(results) == ["environment", "always", "broken", "room"]
    assert results["always"] == results["room"] == "passed"
    assert results["broken"] == "FAILED: exit code 1"
    assert "was here" in said
    assert "never" not in said
    assert "room ran" in said


def test_a_part_that_cannot_reach_what_it_asks_is_skipped_and_due(place: Place) -> None:
    place.write(".ci/parts", "room | room | exit 75\n")
    code, _, results = place.run(CI_ALL="1")
    assert (code, results["room"]) == (0, "skipped: what it asks cannot be reached")
    assert place.of_room(CI_PLAN="1") == "run: it did not end well the last time"


SAFE = {"name": "a", "version": "1", "vulns": []}
HOLE = {"name": "b", "version": "2", "vulns": [{"id": "CVE-1", "fix_versions": ["3"]}]}
UNKNOWN = {"name": "c", "skip_reason": "not found"}


@pytest.mark.parametrize(
    ("found", "code", "said"),
    [
        ([SAFE, UNKNOWN], 0, "1 of 2 packages were looked up.\n"),
        ([SAFE, HOLE], 1, "b 2: CVE-1, mended in 3\n2 of 2 packages were looked up.\n"),
        ([UNKNOWN], 75, "skipped: no feed can be reached\n"),
        (None, 75, "skipped: no feed can be reached\n"),
    ],
)
def test_known_holes_are_told_and_none_is_claimed_unasked(
    tmp_path: Path, found: list[dict[str, object]] | None, code: int, said: str
) -> None:
    tool = tmp_path / "pip-audit"
    text = "" if found is None else json.dumps({"dependencies": found, "fixes": []})
    tool.write_text(f"#!/bin/sh\nfor last; do :; done\nprintf '%s' '{text}' >\"$last\"\nexit 1\n")
    tool.chmod(0o755)
    done = subprocess.run(
        [str(SCRIPTS / "audit"), str(tool)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (code, said)


def test_a_part_that_hangs_is_ended(place: Place) -> None:
    script = place.folder / ".ci" / "run"
    script.write_text(script.read_text().replace("longest=45m", "longest=1s"))
    place.write(".ci/parts", "slow | always | sleep 60\nnext | always | true\n")
    code, _, results = place.run()
    assert (code, results["slow"]) == (1, "FAILED: it took more than 1s")
    assert results["next"] == "passed"


def test_an_interrupt_ends_what_runs_and_it_runs_again(place: Place) -> None:
    place.write(".ci/parts", "room | room | echo started; exec sleep 600\n")
    with subprocess.Popen(
        [str(place.folder / ".ci" / "run")],
        env={"PATH": os.environ["PATH"], "LEXLOOP_CI_CACHE": str(place.cache), "CI_ALL": "1"},
        text=True,
        stdout=subprocess.PIPE,
    ) as running:
        assert running.stdout
        assert any(line == "started\n" for line in running.stdout)
        running.terminate()
        running.communicate(timeout=60)  # until nobody is left who could write to it
        assert running.returncode == 130
    assert place.of_room(CI_PLAN="1") == "run: it did not end well the last time"


def test_a_part_runs_once_its_rooms_changed_and_then_no_more(place: Place) -> None:
    place.write(".ci/parts", PARTS.replace("false", "true"))
    assert place.of_room() == NOTHING_SAYS
    plan = place.run(CI_PLAN="1", CI_ALL="1")[2]
    assert plan == {"always": "run: always", "broken": "run: always", "room": "run: CI_ALL"}
    for name in ("room/new", "other", "constraints.txt"):
        place.write(name, "2")
        assert place.of_room(CI_PLAN="1") == "run: its rooms changed since the last run"
        code, _, results = place.run()
        assert (code, results["room"]) == (0, "passed")
        assert place.of_room() == UNCHANGED
    place.write("room/a", "changed", commit=False)  # what is not committed counts too
    assert place.of_room() == "passed"
    place.write("room/a", "1", commit=False)
    assert place.of_room() == "passed"
    place.write("room/__pycache__/a.pyc", "made by Python", commit=False)
    assert place.of_room() == UNCHANGED


def test_a_part_that_comes_first_runs_where_nothing_is_known_of_it(place: Place) -> None:
    place.write(".ci/parts", "room | first room | echo room ran\n")
    assert place.of_room(CI_PLAN="1") == "run: it has not run here"
    assert place.of_room() == "passed"
    assert place.of_room() == UNCHANGED
    place.write("room/new", "2")
    assert place.of_room(CI_PLAN="1") == "run: its rooms changed since the last run"


def test_the_tests_of_each_package_are_run_by_a_part() -> None:
    commands = " ".join(command for _, _, command in rows())
    folders = sorted(str(tests.relative_to(ROOT)) for tests in ROOT.glob("packages/*/tests"))
    assert [folder for folder in ("tests", *folders) if f" {folder} " not in f"{commands} "] == []


def test_a_part_that_failed_runs_until_it_passes(place: Place) -> None:
    place.write("fails", "")
    assert place.of_room(CI_ALL="1") == "FAILED: exit code 1"
    assert place.of_room() == "FAILED: exit code 1"
    (place.folder / "fails").unlink()
    assert place.of_room() == "passed"
    assert place.of_room() == UNCHANGED


def test_with_no_cache_what_differs_from_origins_main_runs(place: Place, tmp_path: Path) -> None:
    clone = Place(tmp_path / "clone", tmp_path / "other-cache")
    git(tmp_path, "clone", str(place.folder), str(clone.folder))
    assert clone.of_room(CI_PLAN="1") == NOTHING_SAYS
    clone.write("room/a", "2")
    assert clone.of_room(CI_PLAN="1") == "run: its rooms changed since origin/main"
    assert clone.of_room() == "passed"
    place.write("room/a", "main went on")  # after the clone left it: no change of its own
    git(clone.folder, "reset", "--hard", "HEAD^")
    shutil.rmtree(clone.cache)
    git(clone.folder, "fetch")
    assert clone.of_room() == NOTHING_SAYS


def test_without_an_environment_no_part_is_run_and_that_fails(place: Place) -> None:
    with (place.folder / ".ci" / "environments").open("a") as opened:
        opened.write("with_lexloop() { echo no network; return 1; }\n")
    code, _, results = place.run(CI_ALL="1")
    assert code == 1
    assert results["environment"] == "FAILED: exit code 1"
    assert {results[name] for name in ("always", "broken", "room")} == {
        "not run: there is no environment"
    }


def test_every_part_of_the_table_finds_its_paths_and_its_script() -> None:
    words = ("always", "first", "HEART")
    named = [path for _, paths, _ in rows() for path in paths if path not in words]
    lost = [path for path in named if not any(ROOT.glob(path))]
    assert lost == []
    scripts = [word for _, _, command in rows() for word in command.split() if ".ci/" in word]
    assert all(os.access(ROOT / script, os.X_OK) for script in scripts)


def test_tests_that_need_engines_make_the_engines_run() -> None:
    (paths,) = [paths for name, paths, _ in rows() if name == "engines"]
    covered = {file for path in paths for file in (ROOT / path, *ROOT.glob(path))}
    marks = ("engine_address", "ON_ENGINES", "mark.engines", "mark.secured")
    marked = [
        path
        for folder in (ROOT / "tests", *(ROOT / "packages").glob("*/tests"))
        for path in folder.rglob("test_*.py")
        if path != Path(__file__) and any(mark in path.read_text("utf-8") for mark in marks)
    ]
    assert len(marked) > 5
    assert [path for path in marked if not covered & {path, *path.parents}] == []


def test_a_workflow_runs_everything_weekly() -> None:
    text = (ROOT / ".github" / "workflows" / "weekly.yml").read_text("utf-8")
    read = {"on" if name is True else name: one for name, one in yaml.safe_load(text).items()}
    schema = files("check_jsonschema.builtin_schemas.vendor") / "github-workflows.json"
    jsonschema.validate(read, json.loads(schema.read_text(encoding="utf-8")))
    assert read["on"]["schedule"]
    assert read["jobs"]["all"]["steps"][-1]["run"] == "CI_ALL=1 .ci/run"
