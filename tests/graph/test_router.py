"""The embedded router, and collections as people name them and as they are described."""

import json
from pathlib import Path
from typing import Any

import pytest

from lexloop.core.errors import SettingsError
from lexloop.core.metadata import Filters
from lexloop.core.settings import Settings
from lexloop.graph.collections import described, named_collections, route
from lexloop.graph.resources import Resources
from lexloop.nodes.context import Context

ROUTING = Path(__file__).parents[1] / "support" / "routing"
NAMES = ("tenancy", "privacy", "workplace")
Contexts = dict[str, Context]


@pytest.fixture(scope="module")
def contexts(cache_folder: Path) -> Contexts:
    resources = Resources()
    own = {name: resources(Settings(corpus=str(ROUTING / name))) for name in NAMES}
    return {"hiring": resources(Settings()), **own}


def test_nine_of_ten_new_questions_go_to_the_right_collections(contexts: Contexts) -> None:
    lines = (ROUTING / "blind.jsonl").read_text("utf-8").splitlines()
    rows: list[Any] = [json.loads(line) for line in lines]
    wrong = [
        row["question"]
        for row in rows
        if set(route(row["question"], row.get("history", []), contexts).ways)
        != set(row["collections"])
    ]
    assert len(rows) == 60
    assert len(wrong) <= 6, wrong


def test_the_only_collection_is_asked_without_a_choice(contexts: Contexts) -> None:
    asked = "How is a patent for an invention applied for?"
    assert route(asked, [], {"hiring": contexts["hiring"]}).ways == {"hiring": ""}
    assert route(asked, [], contexts).ways == {}


@pytest.mark.parametrize("said", ["?!", "x" * 4000, "and and and, and or, or with to"])
def test_hostile_questions_go_somewhere_or_nowhere(contexts: Contexts, said: str) -> None:
    assert set(route(said, [], contexts).ways) <= set(contexts)


RULES = "# Harbour rules\n\nArticle 1 Mooring\n\n1. The owner must pay the mooring fee.\n"
RENT = "# Lease\n\nArticle 1 Rent\n\n1. The tenant must pay the rent.\n"


def test_names_and_paths_are_told_apart(tmp_path: Path) -> None:
    laws = tmp_path / "laws"
    laws.mkdir()
    (tmp_path / "lease.txt").write_text(RENT)
    said = f"sample, our lease = {tmp_path}/lease.txt,{laws}/"
    named = named_collections(said)
    assert named == {"sample": "sample", "our lease": f"{tmp_path}/lease.txt", "laws": f"{laws}/"}
    assert list(named) == ["sample", "our lease", "laws"]


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ("", "An empty list names no collection"),
        ("sample,sample", "'sample' is named twice: sample and sample"),
        ("a:b=sample", "'a:b' of a collection holds ':'"),
        ("—=sample", "holds no letter"),
        (",".join(f"c{n}=sample" for n in range(101)), "101 collections are named"),
    ],
)
def test_what_names_no_collection_is_said(said: str, problem: str) -> None:
    with pytest.raises(SettingsError) as caught:
        named_collections(said)
    assert problem in str(caught.value)


def test_a_description_tells_apart_and_nothing_closed(tmp_path: Path, cache_folder: Path) -> None:
    for name, text in {"harbour": RULES, "lease": RENT}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "open.md").write_text(text)
    secret = "# Merger of the century\n\nArticle 1 Golden parachutes\n\nNobody may know.\n"
    secret = f"---\ntags: [board]\n---\n{secret}"
    (tmp_path / "lease" / "secret.md").write_text(secret)

    def told(*tags: str) -> str:
        resources = Resources()
        views = {}
        for name in ("harbour", "lease"):
            settings = Settings(corpus=str(tmp_path / name), access={"tags": tags})
            views[name] = resources.collection(settings)[0].seen_by(Filters.of(settings))
        return described("lease", views)

    outside, inside = told(), told("board")
    assert "Documents: Lease." in outside
    assert "About: Rent." in outside
    assert "Merger" not in outside
    assert "parachutes" not in outside
    assert "Golden parachutes" in inside
