from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexloop.core.metadata import Metadata
from lexloop.documents.document import Document, end_superseded

Load = Callable[..., tuple[list[Document], dict[str, str]]]

FRONT = "---\ntitle: Act\ntags: [staff]\nin_force_from: 2023-01-01\nlayout: x\n---\nThe law.\n"


def test_a_row_wins_over_front_matter_field_by_field(tmp_path: Path, load: Load) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.md").write_text(FRONT)
    (tmp_path / "metadata.csv").write_text(
        "file,title,url,jurisdiction,identifier\n"
        "sub/a.md,Outer,https://Law.example/a,NYC,urn:lex:us:ny:act:2023;1\n"
    )
    (tmp_path / "sub" / "Metadata.CSV").write_text("file;Title;Kind\n./a.md;Inner;statute\n")
    documents, reasons = load(tmp_path)
    assert reasons == {}
    assert documents[0].title == "Inner"
    assert documents[0].metadata == Metadata(
        title="Inner",
        url="https://Law.example/a",
        identifier="urn:lex:us:ny:act:2023;1",
        host="law.example",
        jurisdiction="NYC",
        kind="statute",
        tags=("staff",),
        in_force_from=date(2023, 1, 1),
    )


def test_a_row_may_speak_of_a_file_or_of_a_document_in_it(tmp_path: Path, load: Load) -> None:
    (tmp_path / "rows.jsonl").write_text('{"id":"a","text":"A."}\n{"id":"b","text":"B."}\n')
    (tmp_path / "metadata.csv").write_text('file,tags\nrows.jsonl,x\nrows.jsonl/b,"y, z"\n')
    documents, _ = load(tmp_path)
    assert [one.metadata.tags for one in documents] == [("x",), ("y", "z")]


def test_a_document_whose_row_is_malformed_is_held_back(tmp_path: Path, load: Load) -> None:
    names = ("open", "date", "short", "twice", "tags")
    for name in names:
        (tmp_path / f"{name}.txt").write_text("The law.")
    (tmp_path / "metadata.csv").write_text(
        "file,kind,in_force_from,tags\nopen.txt,rule,2023-01-01,\ndate.txt,,1.1.2023,secret\n"
        'short.txt,rule\ntwice.txt,,,secret\ntwice.txt,,,\ntags.txt,,,";"\n\n'
        "gone.txt,,,secret\n../up.txt,,,secret\n"
    )
    documents, reasons = load(tmp_path)
    assert [one.name for one in documents] == ["open.txt"]
    for name in names[1:]:
        assert "so who may see it is unknown" in reasons.pop(f"{name}.txt")
    for line in (
        "Line 3: in_force_from",
        "Line 4:",
        "Line 6:",
        "Line 7: tags",
        "Line 9:",
        "Line 10:",
    ):
        assert line in reasons["metadata.csv"]


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (b"name,tags\na.txt,x\n", "no column `file`"),
        (b"file,tag\na.txt,x\n", "column 'tag' is unknown"),
        (None, "link out"),
    ],
)
def test_an_unreadable_sidecar_holds_back_all_below_its_folder(
    tmp_path: Path, load: Load, table: bytes | None, reason: str
) -> None:
    folder = tmp_path / "corpus"
    (folder / "in" / "deep").mkdir(parents=True)
    for name in ("open.txt", "in/a.txt", "in/deep/b.txt"):
        (folder / name).write_text("The law.")
    if table is None:
        (tmp_path / "outside.csv").write_text("file\na.txt\n")
        (folder / "in" / "metadata.csv").symlink_to(tmp_path / "outside.csv")
    else:
        (folder / "in" / "metadata.csv").write_bytes(table)
    documents, reasons = load(folder)
    assert [one.name for one in documents] == ["open.txt"]
    assert reason in reasons["in/metadata.csv"]
    assert reasons.keys() == {"in/metadata.csv", "in/a.txt", "in/deep/b.txt"}


def test_front_matter_and_row_must_agree(tmp_path: Path, load: Load) -> None:
    (tmp_path / "a.md").write_text(FRONT)
    (tmp_path / "b.txt").write_text("The law.")
    (tmp_path / "metadata.csv").write_text("file,in_force_to\na.md,2022-01-01\n")
    documents, reasons = load(tmp_path)
    assert [one.name for one in documents] == ["b.txt"]
    assert "Front matter and sidecar disagree" in reasons["a.md"]


OLD = Metadata(in_force_from=date(2020, 1, 1))


def new(supersedes: str, begins: date | None = date(2023, 3, 1)) -> Metadata:
    return Metadata(supersedes=supersedes, in_force_from=begins)


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        (new("gone"), "'gone', which is not among the documents"),
        (new("new"), "which is itself"),
        (new("old", None), "does not say from when"),
        (new("old", date(2019, 1, 1)), "but that begins on 2020-01-01"),
    ],
)
def test_what_cannot_be_followed_is_told_and_changes_nothing(
    metadata: Metadata, reason: str
) -> None:
    documents = {"old": OLD, "new": metadata}
    ended, troubles = end_superseded(documents)
    assert ended == documents
    assert [item.name for item in troubles] == ["new"]
    assert reason in troubles[0].reason


NAMES = st.sampled_from("abcd")

DAYS = st.none() | st.dates(date(2020, 1, 1), date(2020, 1, 9))

SETS = st.dictionaries(
    NAMES, st.builds(Metadata, in_force_from=DAYS, supersedes=NAMES | st.just(""))
)


@given(SETS)
def test_ending_versions_twice_is_ending_them_once(documents: dict[str, Metadata]) -> None:
    once, _ = end_superseded(documents)
    assert end_superseded(once)[0] == once
    assert once.keys() == documents.keys()
    for metadata in once.values():
        Metadata.from_record(metadata.as_record())  # no version ends before it begins
