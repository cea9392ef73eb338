"""Pages as pictures, and boxes on them that hold the quoted words and nothing else."""

import io
import zipfile
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
from fastapi.testclient import TestClient
from PIL import Image
from scans import drawn, in_pdf, saved
from servers import as_, got, people, reading_room
from typeset import Placed, lines, place

from lexloop.core.errors import ConflictError, NotFoundError
from lexloop.documents.reading.source import Limits
from lexloop_server.pages import Pages, fitting
from lexloop_server.state import Serving


def changed(data: bytes, **how: Any) -> bytes:
    """A PDF whose first page is turned, or cropped to left, bottom, right and top."""
    out = io.BytesIO()
    with pypdfium2.PdfDocument(data) as pdf:
        if "turn" in how:
            pdf[0].set_rotation(how["turn"])
        if "crop" in how:
            pdf[0].set_cropbox(*how["crop"])
        pdf.save(out)
    return out.getvalue()


def write(folder: Path) -> None:
    upright = place([lines("Words of another law", "and others below it.", x=200, y=300)])
    turned = {n: place([lines("Words of another law", x=300, y=400)], n) for n in (90, 180, 270)}
    files = {
        **{f"turned{n}.pdf": changed(data, turn=n) for n, data in turned.items()},
        "cropped.pdf": changed(upright, crop=(150, 350, 500, 700)),
        "both.pdf": changed(turned[90], crop=(150, 350, 500, 700), turn=90),
        "scan.png": saved(drawn()),
        "askew.tif": saved(drawn(angle=3), "TIFF"),
        "scan.pdf": in_pdf(drawn(angle=90), size=(700, 1100)),
        "blank.pdf": place([lines("First."), [], lines("Third.")]),
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TestClient, Serving]]:
    folder = tmp_path_factory.mktemp("papers")
    write(folder)
    named = {"papers": str(folder)}
    with reading_room(tmp_path_factory.mktemp("data"), named, people=people()) as opened:
        yield opened


@pytest.fixture
def client(served: tuple[TestClient, Serving]) -> TestClient:
    return served[0]


def test_a_span_over_two_pages_has_boxes_on_both(client: TestClient) -> None:
    found = got(client, "papers/text", document="blank.pdf")
    assert (found["text"], found["pages"]) == ("First.\nThird.\n", [0, 7, 7])
    boxed = got(client, "papers/boxes", document="blank.pdf", start=0, end=len(found["text"]))[
        "pages"
    ]
    assert [(one["page"], len(one["boxes"])) for one in boxed] == [(1, 1), (3, 1)]
    assert [one["page"] for one in found["units"]] == [1, 3]


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("turned90.pdf", (400, 300)),
        ("turned180.pdf", (400, 534)),
        ("turned270.pdf", (400, 300)),
        ("cropped.pdf", (400, 400)),
        ("both.pdf", (400, 400)),
    ],
)
def test_a_picture_shows_ink_under_the_boxes_and_none_beside_them(
    client: TestClient, name: str, size: tuple[int, int]
) -> None:
    asked = {"document": name, "page": 1, "width": 400}
    found = client.get("/api/collections/papers/page", params=asked, headers=as_("ann"))
    assert (found.status_code, found.headers["content-type"]) == (200, "image/webp")
    drawn = Image.open(io.BytesIO(found.content)).convert("L")
    assert drawn.size == pytest.approx(size, abs=1)
    text = got(client, "papers/text", document=name)["text"]
    (sheet,) = got(client, "papers/boxes", document=name, start=0, end=len(text))["pages"]
    for left, top, right, bottom in sheet["boxes"]:
        box = (
            round(left * drawn.width) - 1,
            round(top * drawn.height) - 1,
            round(right * drawn.width) + 1,
            round(bottom * drawn.height) + 1,
        )
        assert drawn.crop(box).getextrema()[0] < 128
        drawn.paste(255, box)
    assert drawn.getextrema()[0] > 200


def test_a_picture_is_kept_and_named(client: TestClient) -> None:
    query = {"document": "blank.pdf", "page": 1, "width": 390}
    asked = {"url": "/api/collections/papers/page", "params": query}
    first = client.get(**asked, headers=as_("ann"))
    again = client.get(**asked, headers={**as_("ann"), "If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert first.headers["cache-control"] == "private, no-cache"
    wider = client.get(**{**asked, "params": {**query, "width": 900}}, headers=as_("ann"))
    assert wider.headers["etag"] != first.headers["etag"]
    assert [fitting(width) for width in (1, 390, 400, 401, 9999)] == [100, 400, 400, 500, 2400]


@pytest.mark.parametrize(("page", "status"), [(0, 422), (9, 404), (2**40, 422)])
def test_a_page_that_is_not_there(client: TestClient, page: Any, status: int) -> None:
    told = got(client, "papers/page", status=status, document="blank.pdf", page=page)
    assert told["error"]["what"]


def test_a_file_that_changed_is_never_shown_as_what_was_indexed(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "law.pdf").write_bytes(place([lines("The old words.")]))
    with reading_room(tmp_path / "data", {"papers": str(folder)}) as (client, parts):
        view = parts.collections.view(parts.people.identified({}, "", ""), "papers")
        corpus = str(folder)
        original = parts.pages.original(corpus, view, "law.pdf")
        assert parts.pages.picture(original, 1, 100)
        (folder / "law.pdf").write_bytes(place([lines("Other new words.")]))
        with pytest.raises(ConflictError, match="changed since it was indexed"):
            parts.pages.original(corpus, view, "law.pdf")
        # what asks anew is told of the new file: the collection follows its folder
        found = client.get("/api/collections/papers/text", params={"document": "law.pdf"}).json()
        assert found["text"] == "Other new words.\n"
        (folder / "law.pdf").unlink()
        with pytest.raises(NotFoundError):
            parts.pages.original(corpus, view, "law.pdf")


@pytest.mark.parametrize("within", ["acts.zip/in", "mail.eml/Inner.eml"])
def test_a_page_within_another_file(tmp_path: Path, within: str) -> None:
    folder, law = tmp_path / "papers", place([lines("Words in a file.")])
    folder.mkdir()
    with zipfile.ZipFile(folder / "acts.zip", "w") as archive:
        archive.writestr("other.pdf", place([[Placed(60, 100, "Nothing")]]))
        archive.writestr("in/law.pdf", law)
    inner, outer = EmailMessage(), EmailMessage()
    outer["From"], inner["From"], inner["Subject"] = "bob@example.org", "ann@example.org", "Inner"
    inner.add_attachment(law, "application", "pdf", filename="law.pdf")
    outer.add_attachment(inner)
    (folder / "mail.eml").write_bytes(outer.as_bytes())
    with reading_room(tmp_path / "data", {"papers": str(folder)}) as (client, _):
        query = {"document": f"{within}/law.pdf"}
        words = {**query, "start": 0, "end": 5}
        (sheet,) = client.get("/api/collections/papers/boxes", params=words).json()["pages"]
        assert sheet["boxes"][0][0] == pytest.approx(0.1, abs=0.001)
        shown = client.get("/api/collections/papers/page", params={**query, "page": 1})
        assert (shown.status_code, shown.content[8:12]) == (200, b"WEBP")


def test_what_takes_too_much_ends_its_worker_and_no_other_page(
    served: tuple[TestClient, Serving],
) -> None:
    _, parts = served
    ann = parts.people.by_key("key-ann")
    corpus = parts.collections.settings(ann, "papers").corpus
    original = parts.pages.original(corpus, parts.collections.view(ann, "papers"), "blank.pdf")
    tight = Pages(workers=1, limits=Limits(memory=1 << 28, seconds=0.0001))
    try:
        for page in (1, 2):
            with pytest.raises(NotFoundError, match=r"Page \d of blank.pdf cannot be shown"):
                tight.picture(original, page, 400)
    finally:
        tight.close()
    assert parts.pages.picture(original, 1, 400)
