"""The file of a document is found again, and is what was indexed or is not shown."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from indexes import ANYBODY, Letters
from typeset import lines, place

from lexloop.core.errors import ConflictError, NotFoundError
from lexloop.core.metadata import Filters
from lexloop.store.manifest import IndexSource, Manifest
from lexloop.store.opening import open_index, sources_of
from lexloop.store.scan import find_again
from lexloop.store.writer import IndexUpdate

Write = Callable[..., IndexUpdate]


def source(index: Path, name: str, access: Filters = ANYBODY) -> tuple[str, str] | None:
    with closing(open_index(index, Letters())) as collection:
        return collection.seen_by(access).access.source_of(name)


def test_a_file_is_found_again(index: Path, folder: Path, write: Write) -> None:
    write()
    assert sources_of(str(index)) == Manifest.read(index).sources
    assert sources_of(str(folder)) == [IndexSource(str(folder))]
    name, fingerprint = source(index, "fees.txt") or ("", "")
    assert (name, fingerprint) == ("fees.txt", Manifest.read(index).fingerprints["fees.txt"])
    found = find_again(sources_of(str(index)), name, fingerprint)
    assert (found.path, found.size) == (folder / "fees.txt", (folder / "fees.txt").stat().st_size)
    assert source(index, "none.txt") is None


def test_a_file_that_changed_or_went_is_told_apart(index: Path, folder: Path, write: Write) -> None:
    write()
    held = sources_of(str(index))
    name, fingerprint = source(index, "fees.txt") or ("", "")
    # what a sidecar says anew counts as a change
    for changed, text in (("metadata.csv", "file,tags\nfees.txt,x\n"), ("fees.txt", "Nothing.")):
        (folder / changed).write_text(text)
        with pytest.raises(ConflictError, match="changed since it was indexed"):
            find_again(held, name, fingerprint)
        (folder / changed).unlink()
    with pytest.raises(NotFoundError):
        find_again(held, name, fingerprint)
    for nowhere in ([], [IndexSource("")], [IndexSource(str(folder), "else/")]):
        with pytest.raises(NotFoundError):
            find_again(nowhere, "notices.md", "")


def test_a_place_is_told_to_who_may_see_it(index: Path, folder: Path, write: Write) -> None:
    written = "---\nlanguage: en\n---\n# Fees\n\nThe **berth fee** is [due](#due) in May.\n"
    (folder / "rules.md").write_text(written)
    (folder / "fees.pdf").write_bytes(place([lines("The berth fee is due in May.")]))
    (folder / "metadata.csv").write_text("file,tags\nrules.md,secret\nfees.pdf,secret\n")
    write()
    with closing(open_index(index, Letters())) as collection:
        stranger = collection.seen_by(ANYBODY)
        member = collection.seen_by(Filters(allowed_tags=frozenset({"secret"})))
        start = (member.text_of("rules.md") or "").index("berth fee is due")
        said = member.cited("rules.md", start, start + len("berth fee is due"), "")
        at, end = member.located(said)["in_file"]
        assert written[at:end] == "berth fee** is [due"
        (box,) = member.boxes("fees.pdf", 0, 3)
        assert (box.page, box.x0) == (1, pytest.approx(60, abs=0.2))
        assert stranger.located(said) == said
        with pytest.raises(KeyError):
            stranger.document("rules.md")
        assert stranger.access.source_of("rules.md") is None
        assert stranger.boxes("fees.pdf", 0, 3) == []
        assert member.boxes("fees.txt", 0, 3) == member.boxes("none.pdf", 0, 3) == []
