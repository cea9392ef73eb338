"""What other documents change, and what versions say otherwise, stands beside an answer."""

from pathlib import Path
from typing import Any

import pytest
from indexes import view_of
from sets import rows

from lexloop.core.settings import Settings
from lexloop.documents.document import Document
from lexloop.graph.app import graph
from lexloop.graph.resources import Resources
from lexloop.models.minilm import load_minilm
from lexloop.nodes.context import drafted
from lexloop.nodes.generate.conflicts import changes, with_conflicts
from lexloop.store.view import View

RULES = [
    "A keeper must moor the boat at the berth that the warden has named.",
    "The mooring fee is due within 10 days after the boat is moored.",
    "The warden may inspect a boat at any time of the day.",
    "A boat that leaks must be taken out of the water.",
    "Nobody may light a fire on a pontoon of the harbour.",
]
ASKED = "When is the mooring fee due?"


def written(rules: list[str], heading: str = "Harbour Rules") -> str:
    """Write rules as a numbered text."""
    return f"{heading}\n\n" + "\n".join(f"{n}. {rule}" for n, rule in enumerate(rules, 1)) + "\n"


def asked(folder: Path, question: str = ASKED) -> dict[str, Any]:
    done: dict[str, Any] = graph.invoke({"question": question}, context={"corpus": str(folder)})
    return done


@pytest.fixture
def versions(tmp_path: Path) -> Path:
    (tmp_path / "old.txt").write_text(written(RULES))
    changed = [RULES[0], RULES[1].replace("10", "30"), *RULES[2:]]
    (tmp_path / "new [1].txt").write_text(written(changed))
    return tmp_path


def told_of(folder: Path, *rows: str) -> dict[str, Any]:
    """Ask of two versions, the rows of which say what is known of them."""
    columns = "file,kind,host,in_force_from,in_force_to,supersedes"
    (folder / "metadata.csv").write_text("\n".join([columns, *rows]))
    return asked(folder)


def test_what_was_replaced_is_told_and_is_no_disagreement(versions: Path) -> None:
    (versions / "new [1].txt").rename(versions / "new.txt")
    done = told_of(versions, "new.txt,,,2024-01-01,,old.txt")
    settings = Settings(corpus=str(versions))
    view = Resources(defaults=settings)(None).view
    assert view is not None
    for name, reasons in (("new.txt", []), ("old.txt", ["new.txt has replaced old.txt."])):
        start = (view.text_of(name) or "").index("2. The mooring fee")
        source = view.cited(name, start, start + len(f"2. {RULES[1]}"), "")
        draft = drafted(f"{source['quote']} [1]", [{**source, "n": 1}])
        told = with_conflicts(draft, done["passages"], view)
        [line] = told["told"]
        [one] = [other for other in told["citations"] if other["document"] != name]
        assert one["quote"] in line
        assert [
            said[-len("new.txt has replaced old.txt.") :] for said in told["conflicts"]
        ] == reasons
        if name == "new.txt":
            assert line.startswith("old.txt (in force until 2023-12-31) said otherwise: ")


@pytest.mark.parametrize(
    ("rows", "said", "weighs"),
    [
        (("old.txt,statute,,,,", "new.txt,guidance,,,,"), ("statute", "guidance"), "old.txt"),
        (("old.txt,rule,a.org,,,", "new.txt,statute,,,,"), ("rule, a.org", "statute"), "new.txt"),
        (("old.txt,rule,,,,", "new.txt,rule,,,,"), ("rule", "rule"), ""),
    ],
)
def test_kind_and_publisher_are_said_and_weigh(
    versions: Path, rows: tuple[str, str], said: tuple[str, str], weighs: str
) -> None:
    (versions / "new [1].txt").rename(versions / "new.txt")
    done = told_of(versions, *rows)
    [reason] = [one for one in done["evaluation"]["reasons"] if "disagrees" in one]
    assert f"old.txt ({said[0]})" in reason
    assert f"new.txt ({said[1]})" in reason
    assert reason.endswith(f". {weighs} weighs more." if weighs else (" 10.", " 30."))
    assert not done["evaluation"]["passed"]


def test_who_names_one_version_hears_of_no_other(versions: Path) -> None:
    view = Resources(defaults=Settings(corpus=str(versions)))(None).view
    assert view is not None
    done = asked(versions)
    first = {**done["citations"][0], "n": 1}
    draft = drafted(f"{first['quote']} [1]", [first])
    told = with_conflicts(draft, done["passages"], view)
    assert len(told["citations"]) == len(told["conflicts"]) + 1 == 2
    assert with_conflicts(draft, done["passages"], view, [first["document"]]) == draft


def test_a_sentence_without_end_and_a_name_with_markup_end_no_question(tmp_path: Path) -> None:
    endless = " ".join(f"word{n} of the fee and the boat" for n in range(3000))
    (tmp_path / "old.txt").write_text(f"{written(RULES)}\n{endless}")
    changed = [rule.replace("10", "30") for rule in RULES]
    (tmp_path / "<b onclick=1>.txt").write_text(f"{written(changed)}\n{endless}")
    (tmp_path / "blank.txt").write_text("\n \n")
    assert not asked(tmp_path)["evaluation"]["passed"]


_ACT = (
    "Goats Act 2009",
    "GOATS ACT 2009\n\nSection 1 Fee\nThe fee for a goat is 4 marks. It is paid in May.\n\n"
    "Section 2 Kids\nThe Council pays 1 mark for each kid.\n",
)
_LEASE = (
    "Lease of the Barn",
    "LEASE OF THE BARN\n\n1. Term\nIt ends on 1 May 2030.\n\n2. Rent\nThe rent is 80 euros.\n",
)
_OTHER = (
    "Lease of the Mill",
    "LEASE OF THE MILL\n\n1. Term\nIt ends on 1 June 2031.\n\n2. Rent\nThe rent is 30 euros.\n",
)


def _view(**texts: tuple[str, str]) -> View:
    documents = [Document(f"{name}.txt", title, text) for name, (title, text) in texts.items()]
    return view_of(*documents, embedder=load_minilm())


def _found(view: View) -> list[list[Any]]:
    """Each change: its document and the beginning of the provision, its words, and what does it."""
    return [
        [
            one.document,
            (view.text_of(one.document) or "")[one.start : one.end].split("\n")[0],
            sorted(one.quoted),
            " ".join(one.by["quote"].split()),
        ]
        for one in changes(view)
    ]


DOCUMENTS = {"act": {"act": _ACT, "lease": _LEASE}, "leases": {"barn": _LEASE, "mill": _OTHER}}


@pytest.mark.parametrize(("among", "title", "text", "said", "changed"), rows("changes"))
def test_a_provision_is_changed_by_what_names_it(
    among: str, title: str, text: str, said: str, changed: list[Any] | None
) -> None:
    view = _view(**DOCUMENTS[among], zz=(title, text))
    assert _found(view) == ([[*changed, " ".join(said.split())]] if changed else [])
