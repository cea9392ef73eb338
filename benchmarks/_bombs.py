"""Pictures and scans that are small files and huge pages, and what reading them takes."""

import os
import struct
import threading
import time
import zlib
from pathlib import Path

import numpy as np
from PIL import Image
from scans import SAID, drawn, saved

from lexloop.documents.reading.folder import hash_sources, list_sources
from lexloop.documents.reading.metadata import Sidecars
from lexloop.documents.reading.workers import read_files

_GOOD = {"good.png": SAID, "good.txt": "Every dog must wear a collar in the harbour.\n"}
_LOOK_S = 0.1


def made(folder: Path) -> None:
    """Write bombs, and good files among them."""
    boxes = _boxes()
    files = {
        "png 60,000 square.png": _png(60_000, 60_000, 1, 0),
        "png 8,600 square of 16-bit rgba.png": _png(8_600, 8_600, 16, 6),
        "jpeg that says 65,500 square.jpg": _jpeg(65_500),
        "jpeg that says 8,600 square.jpg": _jpeg(8_600),
        "tiff of 1,000,000 pages.tif": _tiff([b"\xff" * 8], 8, 1_000_000),
        "tiff of 900 pages of boxes.tif": _tiff(boxes, len(boxes[0]) * 8, 900),
        "tiff whose pages lead to the first.tif": _tiff([b"\xff" * 8], 8, 3, circle=True),
        "pdf of one image 60,000 square.pdf": _pdf(60_000, 600, 1),
        "pdf of a page of 200 inches.pdf": _pdf(6_000, 14_400, 1),
        "pdf of 3,000 tiny pages.pdf": _pdf(64, 3, 3_000),
        "good.png": saved(drawn()),
        "good.txt": _GOOD["good.txt"].encode(),
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)


def read(folder: Path) -> tuple[float, float, dict[str, str], set[str]]:
    """Read a folder.

    Returns:
        The seconds, the most MiB that one process took, why each file was left out, and the good
        files whose text is not what it is.
    """
    watch, began = _Watch(), time.monotonic()
    files = hash_sources(folder, list_sources(folder)[0])[0]
    loaded = [*read_files(files, Sidecars())]
    took, peak = time.monotonic() - began, watch.end()
    why = {one.file.name: one.skipped[-1].reason for one in loaded if one.skipped}
    texts = {one.file.name: "".join(d.text for d in one.documents) for one in loaded}
    return took, peak, why, {name for name, said in _GOOD.items() if texts[name] != said}


class _Watch:
    """Looks how much memory the children of this process take."""

    def __init__(self) -> None:
        self._peak, self._over = 0.0, threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def end(self) -> float:
        """The most that one of them took, in MiB."""
        self._over.set()
        self._thread.join()
        return self._peak

    def _look(self) -> None:
        while not self._over.wait(_LOOK_S):
            for place in Path("/proc").glob("[0-9]*/status"):
                try:
                    said = place.read_text("ascii", "replace")
                except OSError:
                    continue
                if f"\nPPid:\t{os.getpid()}\n" in said and "VmHWM:" in said:
                    self._peak = max(self._peak, int(said.split("VmHWM:")[1].split()[0]) / 1024)


def _boxes() -> list[bytes]:
    """Rows of a page with 100,000 boxes of the size of letters, and no letter."""
    rng, page = np.random.default_rng(0), np.ones((3520, 2560), bool)
    for top in range(0, 3500, 11):
        for left in range(0, 2550, 9):
            page[top : top + 7, left : left + 5] = rng.integers(0, 2, (7, 5))
    return [row.tobytes() for row in np.packbits(page, axis=1)]


def _png(width: int, height: int, bits: int, colours: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    row = b"\0" + b"\xff" * ((width * bits * {0: 1, 6: 4}[colours] + 7) // 8)
    head = struct.pack(">IIBBBBB", width, height, bits, colours, 0, 0, 0)
    parts = [(b"IHDR", head), (b"IDAT", _packed(row, height)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts)


def _packed(row: bytes, count: int) -> bytes:
    packer = zlib.compressobj(9)
    return b"".join([*(packer.compress(row) for _ in range(count)), packer.flush()])


def _jpeg(edge: int) -> bytes:
    """A small picture whose head says that it is large."""
    data = bytearray(saved(Image.new("L", (64, 64), 200), "JPEG"))
    at = data.index(b"\xff\xc0") + 5
    data[at : at + 4] = struct.pack(">HH", edge, edge)
    return bytes(data)


def _tiff(rows: list[bytes], width: int, pages: int, circle: bool = False) -> bytes:
    """Pages that all have the same pixels."""
    data = zlib.compress(b"".join(rows))
    data += b"\0" * (len(data) % 2)
    first = 8 + len(data)
    fields = [(256, width), (257, len(rows)), (258, 1), (259, 8), (262, 1), (273, 8), (277, 1)]
    fields += [(278, len(rows)), (279, len(data))]
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in fields)
    size = 2 + len(entries) + 4
    parts = [b"II*\0", struct.pack("<I", first), data]
    for page in range(1, pages + 1):
        after = first + size * page if page < pages else first * circle
        parts.append(struct.pack("<H", len(fields)) + entries + struct.pack("<I", after))
    return b"".join(parts)


def _pdf(edge: int, points: int, pages: int) -> bytes:
    """Pages, so many points wide and high, that show one image so many pixels wide and high."""
    data = zlib.compress(_packed(b"\xff" * ((edge + 7) // 8), edge), 9)
    about = f"/Width {edge} /Height {edge} /BitsPerComponent 1 /ColorSpace /DeviceGray"
    filters = f"/Filter [/FlateDecode /FlateDecode] /Length {len(data)}"
    shown = f"q {points} 0 0 {points} 0 0 cm /X Do Q".encode()
    kids = " ".join(f"{5 + n} 0 R" for n in range(pages))
    page = f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {points} {points}] /Contents 4 0 R "
    page += "/Resources << /XObject << /X 3 0 R >> >> >>"
    image = f"<< /Type /XObject /Subtype /Image {about} {filters} >>\nstream\n".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {pages} >>".encode(),
        image + data + b"\nendstream",
        f"<< /Length {len(shown)} >>\nstream\n".encode() + shown + b"\nendstream",
        *[page.encode()] * pages,
    ]
    body = b"".join(b"%d 0 obj\n%b\nendobj\n" % (n, one) for n, one in enumerate(objects, 1))
    end = b"trailer << /Size %d /Root 1 0 R >>\n%%%%EOF\n" % (len(objects) + 1)
    return b"%PDF-1.4\n" + body + end
