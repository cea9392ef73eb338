"""What a wheel and a source archive hold: all that an installed Lexloop reads, and nothing else."""

import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PACKAGES = sorted(path.parent.name for path in ROOT.glob("packages/*/pyproject.toml"))
TOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
FOLDERS: dict[str, str] = TOOLS["package-dir"]
BESIDE = ("pyproject.toml", "README.md", "LICENSE", "MANIFEST.in", "constraints.txt")
KEPT_BACK = {"__pycache__", ".DS_Store"}
BUILT = "import sys, setuptools.build_meta as b; print(getattr(b, sys.argv[1])(sys.argv[2]))"


def sources() -> set[str]:
    """Every file of a room, by its name once it is installed."""
    return {
        f"{package.replace('.', '/')}/{path.relative_to(ROOT / folder).as_posix()}"
        for package, folder in FOLDERS.items()
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and not KEPT_BACK & set(path.parts)
    }


def copied(folder: Path) -> Path:
    """What a build reads, in a folder where it may leave things behind."""
    for room in FOLDERS.values():
        shutil.copytree(ROOT / room, folder / room, ignore=shutil.ignore_patterns(*KEPT_BACK))
    for name in BESIDE:
        shutil.copy2(ROOT / name, folder)
    return folder


def built(source: Path, kind: str, out: Path) -> Path:
    """Build a ``wheel`` or an ``sdist`` of a folder with the setuptools that are here."""
    command = [sys.executable, "-c", BUILT, f"build_{kind}", str(out)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out / done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A source archive, unpacked."""
    pytest.importorskip("setuptools", "77", "no setuptools that read pyproject.toml's licence")
    made = tmp_path_factory.mktemp("source")
    archive = built(copied(tmp_path_factory.mktemp("project")), "sdist", made)
    with tarfile.open(archive) as opened:
        opened.extractall(made / "unpacked", filter="data")
    (unpacked,) = (made / "unpacked").iterdir()
    return unpacked


@pytest.fixture(scope="module")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel that the source archive makes."""
    return built(source, "wheel", tmp_path_factory.mktemp("wheel"))


def held(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def test_a_wheel_holds_every_file_of_the_rooms_and_no_other(wheel: Path) -> None:
    names = {name for name in held(wheel) if ".dist-info/" not in name}
    wanted = sources()
    assert {"left out": wanted - names, "of no room": names - wanted} == {
        "left out": set(),
        "of no room": set(),
    }
    assert {"lexloop/py.typed", "lexloop/data/ll144/law.txt"} <= names
    files = {
        name.rpartition("/")[2]: text for name, text in held(wheel).items() if "-info/" in name
    }
    assert b"lexloop = lexloop.apps.cli.main:main" in files["entry_points.txt"]
    metadata = files["METADATA"].decode()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    required = [line for line in metadata.splitlines() if line.startswith("Requires-Dist: ")]
    assert len([line for line in required if "extra ==" not in line]) == len(
        project["dependencies"]
    )
    assert "LICENSE" in files


@pytest.mark.parametrize("package", PACKAGES)
def test_a_wheel_of_a_package_holds_its_files_and_the_licence(package: str, tmp_path: Path) -> None:
    folder = shutil.copytree(
        ROOT / "packages" / package, tmp_path / package, ignore=shutil.ignore_patterns(*KEPT_BACK)
    )
    held_names = held(built(folder, "wheel", tmp_path))
    source = ROOT / "packages" / package / "src"
    wanted = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*")
        if path.is_file() and not {*KEPT_BACK, f"lexloop_{package}.egg-info"} & set(path.parts)
    }
    assert {name for name in held_names if ".dist-info/" not in name} == wanted
    assert any(name.endswith("/LICENSE") for name in held_names)


def test_a_source_archive_holds_the_rooms_and_what_a_build_reads(source: Path, wheel: Path) -> None:
    rooms = {name.partition("/")[0] for name in FOLDERS.values()}
    strangers = {path.name for path in source.iterdir()} - rooms - {*BESIDE}
    assert strangers <= {"PKG-INFO", "setup.cfg", "lexloop.egg-info", "build", "src"}
    installed = {name.partition("/")[2]: text for name, text in held(wheel).items()}
    laws = ROOT / "data" / "ll144" / "law.txt"
    assert installed["data/ll144/law.txt"] == laws.read_bytes()


def test_an_installed_wheel_answers_where_there_is_no_source(wheel: Path, tmp_path: Path) -> None:
    installed = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as opened:
        opened.extractall(installed)
    paths = os.pathsep.join([str(installed), os.environ["PYTHONPATH"]])
    environment = {**os.environ, "PYTHONPATH": paths, "LEXLOOP_CACHE": str(tmp_path / "cache")}
    asked = "import lexloop; print(lexloop.__file__); print(lexloop.ask('What is a bias audit?'))"
    done = subprocess.run(
        [sys.executable, "-c", asked],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    where, answer = done.stdout.split("\n", 1)
    assert Path(where).is_relative_to(installed)
    assert "an impartial evaluation" in answer or "made impartially" in answer


def test_the_lock_pins_all_that_is_declared_and_names_no_place_to_fetch_it_from() -> None:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pins = dict(line.split(" ;")[0].split("==") for line in lines)
    assert [line for line in lines if "/" in line or "@" in line] == []
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    declared = [Requirement(line) for line in project["dependencies"]]
    for extra in extras.keys() - {"bench"}:  # its stemmer is another version
        declared += [Requirement(line) for line in extras[extra]]
    for beside in (ROOT / "packages").glob("*/pyproject.toml"):
        more = tomllib.loads(beside.read_text("utf-8"))["project"]
        declared += [Requirement(line) for line in more["dependencies"]]
    wrong = [
        str(one)
        for one in declared
        if not one.name.startswith("lexloop")
        and pins.get(canonicalize_name(one.name)) not in one.specifier
    ]
    assert wrong == []
