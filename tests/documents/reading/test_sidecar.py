from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest

from lexloop.core.metadata import Metadata
from lexloop.documents.document import Document
from lexloop.documents.reading.folder import load_documents, read_sidecars

Load = Callable[..., tuple[list[Document], dict[str, str]]]
FRONT = "---\ntitle: Act\ntags: [staff]\nin_force_from: 2023-01-01\nlayout: x\n---\nThe law.\n"


def test_a_row_wins_over_front_matter_field_by_field(tmp_path: Path, load: Load) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.md").write_text(FRONT)
    (tmp_path / "metadata.csv").write_text(
        "file,title,url,jurisdiction\nsub/a.md,Outer,https://Law.example/a,NYC\n"
    )
    (tmp_path / "sub" / "Metadata.CSV").write_text("file;Title;Kind\n./a.md;Inner;statute\n")
    documents, reasons = load(tmp_path)
    assert reasons == {}
    assert documents[0].title == "Inner"
    assert documents[0].metadata == Metadata(
        title="Inner",
        url="https://Law.example/a",
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
    names = ("open", "date", "kind", "short", "twice", "tags")
    for name in names:
        (tmp_path / f"{name}.txt").write_text("The law.")
    (tmp_path / "metadata.csv").write_text(
        "file,kind,in_force_from,tags\n"
        "open.txt,rule,2023-01-01,\n"
        "date.txt,,1.1.2023,secret\n"
        "kind.txt,law,,secret\n"
        "short.txt,rule\n"
        "twice.txt,,,secret\n"
        "twice.txt,,,\n"
        'tags.txt,,,";"\n'
        "\n"
        "gone.txt,,,secret\n"
        "../up.txt,,,secret\n"
        ",,,secret\n"
    )
    documents, reasons = load(tmp_path)
    assert [one.name for one in documents] == ["open.txt"]
    for name in names[1:]:
        assert "so who may see it is unknown" in reasons.pop(f"{name}.txt")
    for told in (
        "Line 3: in_force_from is '1.1.2023'.",
        "Line 4: kind is 'law'.",
        "Line 5: It has 2 cells under 4 columns.",
        "Line 7: file 'twice.txt' has two rows.",
        "Line 8: tags are ';', which names none.",
        "Line 10: file: there is no 'gone.txt'.",
        "Line 11: file '../up.txt' leads out of the folder.",
        "Line 12: file is empty.",
    ):
        assert told in reasons["metadata.csv"]


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (b"", "no column `file`"),
        (b"name,tags\na.txt,x\n", "no column `file`"),
        (b"file,tag\na.txt,x\n", "column 'tag' is unknown"),
        (b"file,tags,Tags\na.txt,x,\n", "two columns 'tags'"),
        (b'file,tags\na.txt,"x\n', "no CSV"),
        (b"file,tags\na.txt,\x00\n", "NUL"),
    ],
)
def test_an_unreadable_sidecar_holds_back_all_below_its_folder(
    tmp_path: Path, load: Load, table: bytes, reason: str
) -> None:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    for name in ("open.txt", "in/a.txt", "in/deep/b.txt"):
        (tmp_path / name).write_text("The law.")
    (tmp_path / "in" / "metadata.csv").write_bytes(table)
    documents, reasons = load(tmp_path)
    assert [one.name for one in documents] == ["open.txt"]
    assert reason in reasons["in/metadata.csv"]
    assert reasons.keys() == {"in/metadata.csv", "in/a.txt", "in/deep/b.txt"}


def test_a_sidecar_that_is_a_link_out_or_no_file_holds_back_its_folder(
    tmp_path: Path, load: Load
) -> None:
    for name in ("one", "two"):
        (tmp_path / "corpus" / name).mkdir(parents=True)
        (tmp_path / "corpus" / name / "a.txt").write_text("The law.")
    (tmp_path / "corpus" / "open.txt").write_text("The law.")
    (tmp_path / "outside.csv").write_text("file\na.txt\n")
    (tmp_path / "corpus" / "one" / "metadata.csv").symlink_to(tmp_path / "outside.csv")
    (tmp_path / "corpus" / "two" / "metadata.csv").mkdir()
    documents, reasons = load(tmp_path / "corpus")
    assert [one.name for one in documents] == ["open.txt", "two/a.txt"]
    assert "link out" in reasons["one/metadata.csv"]


def test_composed_and_decomposed_names_are_one(tmp_path: Path, load: Load) -> None:
    (tmp_path / "Gro\u0308ße.txt").write_text("The law.")
    (tmp_path / "metadata.csv").write_text("file,tags\nGr\u00f6ße.txt,secret\n")
    documents, reasons = load(tmp_path)
    assert (documents[0].metadata.tags, reasons) == (("secret",), {})


def test_a_mark_changes_with_what_is_said_of_a_file_and_with_nothing_else(tmp_path: Path) -> None:
    def marks(table: str) -> dict[str, str]:
        for name in ("a.txt", "rows.jsonl"):
            (tmp_path / name).write_text("x")
        (tmp_path / "metadata.csv").write_text(table)
        return read_sidecars(tmp_path)[0].marks(["a.txt", "rows.jsonl"])

    first = marks("file,tags\na.txt,x\nrows.jsonl/1,y\n")
    assert marks("tags,file\ny,rows.jsonl/1\nx,a.txt\n") == first
    other = marks("file,tags\na.txt,x\nrows.jsonl/1,z\n")
    assert (other["a.txt"] == first["a.txt"], other["rows.jsonl"] == first["rows.jsonl"]) == (
        True,
        False,
    )
    barred = marks("file,tags,kind\na.txt,x,bad\nrows.jsonl/1,y,\n")
    assert barred["a.txt"] != first["a.txt"]


def test_front_matter_and_row_must_agree(tmp_path: Path, load: Load) -> None:
    (tmp_path / "a.md").write_text(FRONT)
    (tmp_path / "b.txt").write_text("The law.")
    (tmp_path / "metadata.csv").write_text("file,in_force_to\na.md,2022-01-01\n")
    documents, reasons = load(tmp_path)
    assert [one.name for one in documents] == ["b.txt"]
    assert "Front matter and sidecar disagree" in reasons["a.md"]


def test_superseded_versions_end(tmp_path: Path) -> None:
    (tmp_path / "old.md").write_text("Old law.")
    (tmp_path / "new.md").write_text(
        "---\nsupersedes: old.md\nin_force_from: 2024-03-01\n---\nNew law."
    )
    (tmp_path / "other.md").write_text("---\nsupersedes: gone.md\n---\nOther law.")
    documents, skipped = load_documents(tmp_path)
    days = {one.name: one.metadata.in_force_to for one in documents}
    assert days == {"new.md": None, "old.md": date(2024, 2, 29), "other.md": None}
    assert [(item.name, "gone.md" in item.reason) for item in skipped] == [("other.md", True)]
