"""Pages as pictures, and boxes on them that hold the quoted words and nothing else."""

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
from fastapi.testclient import TestClient
from PIL import Image
from reading_room import as_, people, reading_room
from typeset import Placed, Sheet, Style, lines, place, typeset

from lexloop.apps.serve.pages import Pages, fitting
from lexloop.apps.serve.state import Serving
from lexloop.core.errors import ConflictError, NotFoundError
from lexloop.documents.reading.source import Limits

LAW = "\n".join(
    f"{n}. The keeper of each undertaking shall register it with the authority before day {n}."
    for n in range(1, 60)
)
WORDS = ["Words", "of", "another", "law"]
INSET = 0.4


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


def made(folder: Path) -> dict[str, bytes]:
    upright = place([lines(" ".join(WORDS), "and others below it.", x=200, y=300)])
    turned = {n: place([lines(" ".join(WORDS), x=300, y=400)], n) for n in (90, 180, 270)}
    files = {
        "law.pdf": typeset(LAW, lambda _: Style(), Sheet(columns=2, head="Law {page}")),
        **{f"turned{n}.pdf": changed(data, turn=n) for n, data in turned.items()},
        "cropped.pdf": changed(upright, crop=(150, 350, 500, 700)),
        "both.pdf": changed(turned[90], crop=(150, 350, 500, 700), turn=90),
        "blank.pdf": place([lines("First."), [], lines("Third.")]),
    }
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return files


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bytes]]:
    folder = tmp_path_factory.mktemp("pages") / "papers"
    return folder, made(folder)


@pytest.fixture(scope="module")
def served(
    files: tuple[Path, dict[str, bytes]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[TestClient, Serving]]:
    named = {"papers": str(files[0])}
    with reading_room(tmp_path_factory.mktemp("data"), named, people=people()) as opened:
        yield opened


@pytest.fixture
def client(served: tuple[TestClient, Serving]) -> TestClient:
    return served[0]


def get(client: TestClient, path: str, status: int = 200, **query: Any) -> Any:
    found = client.get(f"/api/collections/papers/{path}", params=query, headers=as_("ann"))
    assert found.status_code == status, found.text
    return found.json()


def read_back(data: bytes, boxed: list[dict[str, Any]]) -> str:
    """The words that PDFium finds under boxes, each turned back from shares of the shown page."""
    found = []
    with pypdfium2.PdfDocument(data) as pdf:
        for sheet in boxed:
            page = pdf[sheet["page"] - 1]
            assert page.get_size() == pytest.approx((sheet["width"], sheet["height"]))
            x0, y0, x1, y1 = page.get_bbox()
            text, turn = page.get_textpage(), page.get_rotation()
            for left, top, right, bottom in sheet["boxes"]:
                assert 0 <= left < right <= 1
                assert 0 <= top < bottom <= 1
                across, down = (left, right), (top, bottom)
                # how far the shown box is along the paper's own width, and down its own height
                along, below = {
                    0: (across, down),
                    90: (down, (1 - right, 1 - left)),
                    180: ((1 - right, 1 - left), (1 - bottom, 1 - top)),
                    270: ((1 - bottom, 1 - top), across),
                }[turn]
                edges = (
                    x0 + along[0] * (x1 - x0) + INSET,
                    y1 - below[1] * (y1 - y0) + INSET,
                    x0 + along[1] * (x1 - x0) - INSET,
                    y1 - below[0] * (y1 - y0) - INSET,
                )
                found.append(text.get_text_bounded(*edges, errors="strict"))
    return " ".join(found)


@pytest.mark.parametrize("number", [1, 7, 31, 58])
def test_the_words_under_the_boxes_are_the_quote(
    client: TestClient, files: tuple[Path, dict[str, bytes]], number: int
) -> None:
    text = get(client, "text", document="law.pdf")["text"]
    quote = (
        f"The keeper of each undertaking shall register it with the authority before day {number}."
    )
    start = text.index(quote)
    found = get(client, "boxes", document="law.pdf", start=start, end=start + len(quote))
    assert len(found["pages"]) == 1
    assert " ".join(read_back(files[1]["law.pdf"], found["pages"]).split()) == quote


@pytest.mark.parametrize(
    "name",
    ["turned90.pdf", "turned180.pdf", "turned270.pdf", "cropped.pdf", "both.pdf"],
)
def test_turned_and_cropped_pages(
    client: TestClient, files: tuple[Path, dict[str, bytes]], name: str
) -> None:
    text = get(client, "text", document=name)["text"]
    start, end = text.index("another"), text.index("another law") + len("another law")
    found = get(client, "boxes", document=name, start=start, end=end)
    assert re.sub(r"\s+", " ", read_back(files[1][name], found["pages"])).strip() == "another law"


def test_a_span_over_two_pages_has_boxes_on_both(client: TestClient) -> None:
    found = get(client, "text", document="blank.pdf")
    assert (found["text"], found["pages"]) == ("First.\nThird.\n", [0, 7, 7])
    boxed = get(client, "boxes", document="blank.pdf", start=0, end=len(found["text"]))["pages"]
    assert [(one["page"], len(one["boxes"])) for one in boxed] == [(1, 1), (3, 1)]
    assert [one["page"] for one in found["units"]] == [1, 3]


def picture(client: TestClient, name: str, page: int = 1, width: int = 400) -> Image.Image:
    found = client.get(
        "/api/collections/papers/page",
        params={"document": name, "page": page, "width": width},
        headers=as_("ann"),
    )
    assert (found.status_code, found.headers["content-type"]) == (200, "image/webp")
    return Image.open(io.BytesIO(found.content)).convert("L")


@pytest.mark.parametrize(
    ("name", "size"),
    [("turned90.pdf", (400, 300)), ("turned180.pdf", (400, 534)), ("cropped.pdf", (400, 400))],
)
def test_a_picture_shows_ink_under_the_boxes_and_none_beside_them(
    client: TestClient, name: str, size: tuple[int, int]
) -> None:
    drawn = picture(client, name)
    assert drawn.size == pytest.approx(size, abs=1)
    text = get(client, "text", document=name)["text"]
    (sheet,) = get(client, "boxes", document=name, start=0, end=len(text))["pages"]
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
    query = {"document": "law.pdf", "page": 1, "width": 390}
    asked = {"url": "/api/collections/papers/page", "params": query}
    first = client.get(**asked, headers=as_("ann"))
    again = client.get(**asked, headers={**as_("ann"), "If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert first.headers["cache-control"] == "private, no-cache"
    wider = client.get(**{**asked, "params": {**query, "width": 900}}, headers=as_("ann"))
    assert wider.headers["etag"] != first.headers["etag"]
    assert [fitting(width) for width in (1, 390, 400, 401, 9999)] == [100, 400, 400, 500, 2400]


@pytest.mark.parametrize(("page", "status"), [(0, 422), (9, 404), (2**40, 422), ("x", 422)])
def test_a_page_that_is_not_there(client: TestClient, page: Any, status: int) -> None:
    told = get(client, "page", status, document="law.pdf", page=page)
    assert told["error"]["what"]


def test_a_file_that_changed_is_never_shown_as_what_was_indexed(
    tmp_path: Path,
) -> None:
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


def test_a_page_within_an_archive(tmp_path: Path) -> None:
    import zipfile

    folder = tmp_path / "papers"
    folder.mkdir()
    with zipfile.ZipFile(folder / "acts.zip", "w") as archive:
        archive.writestr("other.pdf", place([[Placed(60, 100, "Nothing")]]))
        archive.writestr("in/law.pdf", place([lines("Words in an archive.")]))
    with reading_room(tmp_path / "data", {"papers": str(folder)}) as (client, _):
        query = {"document": "acts.zip/in/law.pdf", "start": 0, "end": 5}
        (sheet,) = client.get("/api/collections/papers/boxes", params=query).json()["pages"]
        assert sheet["boxes"][0][0] == pytest.approx(0.1, abs=0.001)
        shown = client.get("/api/collections/papers/page", params={**query, "page": 1})
        assert (shown.status_code, shown.content[8:12]) == (200, b"WEBP")


def test_what_takes_too_much_ends_its_worker_and_no_other_page(
    tmp_path: Path, files: tuple[Path, dict[str, bytes]], served: tuple[TestClient, Serving]
) -> None:
    _, parts = served
    view = parts.collections.view(parts.people.by_key("key-of-ann"), "papers")
    original = parts.pages.original(str(files[0]), view, "law.pdf")
    tight = Pages(workers=1, limits=Limits(memory=1 << 28, seconds=0.0001))
    try:
        for page in (1, 2):
            with pytest.raises(NotFoundError, match=r"Page \d of law.pdf cannot be shown"):
                tight.picture(original, page, 400)
    finally:
        tight.close()
    assert parts.pages.picture(original, 1, 400)
