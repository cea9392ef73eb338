"""Words recognised on the picture of a page: by Tesseract or RapidOCR, whichever is installed.

Tesseract takes a fifth of the time and is as exact of clean pages; RapidOCR, asked where both are
installed and Tesseract is not sure, reads noisy ones as well. Neither fetches anything: RapidOCR's
weights lie in its package.
"""

import csv
import io
import os
import re
import shutil
import subprocess
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from itertools import groupby, product
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple

from lexloop.core.errors import CorpusError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL.Image import Image

NEEDED = "Reading pictures takes lexloop-formats[ocr], or Tesseract."
_LONGEST_EDGE = 3500
"""Of a picture, in pixels: what a page has at 300 dots an inch."""
_PATIENCE = 30
_SMALL = 700
"""The longer edge, in pixels, of the picture on which it is seen how a page is turned."""
_MOST_SKEW, _STEP, _LEAST_SKEW = 6.0, 0.5, 0.25
_FINER = 5
_CLEARLY = 1.1
_BLANK = 12
"""A page is blank if nothing on it is darker than its ground by so many of 255 shades."""
_SURE = 0.88
"""What is read less surely is read by the other engine, and may stand upside down."""
_DETECTED_EDGE = 1280
_LEAST_SURE = 0.3
_GAP, _INK, _FEWEST_GLUED = 0.19, 60, 4
"""Between words, of the height of a line; between letters it is .13 at most."""
_PARTED = re.compile(r"[a-z][A-Z]|[,;:]\w")
"""What two words leave where no blank was read between them."""
_WIDTHS = dict.fromkeys("iljtfr.,;:'’|I!()[]-", 0.48) | dict.fromkeys("mwMW", 1.55)
"""Of letters, beside a usual one."""
_LIKE_BULLETS = frozenset("e o c ¢ © ® ° « » ¤ · ■ □ ● ○ ▪ ◦".split())
"""What bullets are read as; of the letters none is a word."""
_SMALL_LETTERS, _CAPITALS = 0.54, 0.72
"""The height of most of a line's ink, as shares of the size of its font."""
_INKED = 0.65
"""Rows with so much of the usual ink hold small letters, not only what reaches above them."""


class Word(NamedTuple):
    """A word and its box, in pixels from the upper left corner; ``sure`` is from 0 to 1."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    sure: float


class Line(NamedTuple):
    """Words beside one another, the height that they stand on, and the size of their font."""

    words: list[Word]
    base: float
    size: float


class Recognised(NamedTuple):
    """The lines of a page, measured on its picture once that was turned by an angle.

    ``page`` is the picture's size before and ``upright`` its after that, in pixels.
    """

    lines: list[Line]
    angle: float
    page: tuple[int, int]
    upright: tuple[int, int]


Engine = Callable[["Image"], Iterable[list[Word]]]


def is_available() -> bool:
    """Return whether anything here can recognise text."""
    return find_spec("rapidocr") is not None or shutil.which("tesseract") is not None


def recognise(picture: "Image") -> Recognised:
    """Return the lines on a picture, which may be turned by a quarter or by a few degrees.

    Raises:
        CorpusError: Nothing here recognises text, or it fails.
    """
    if not is_available():
        raise CorpusError(f"It is a picture. {NEEDED}", "Install one of them.")
    picture = picture.convert("L")
    picture.thumbnail((_LONGEST_EDGE, _LONGEST_EDGE))
    best = Recognised([], 0.0, picture.size, picture.size)
    if _is_blank(picture):
        return best
    angle = _skew(picture)
    failed: CorpusError | None = None
    for turned, engine in product((0, 180), _engines()):
        if turned and not best.lines:
            break
        try:
            best = max(best, _read(engine, picture, angle + turned), key=_said)
        except CorpusError as error:
            failed = error
        if _sure(best) >= _SURE:
            return best
    if failed is not None and not best.lines:
        raise failed
    return best


def _engines() -> list[Engine]:
    """Return what can recognise text here, the quickest first."""
    tesseract = [_tesseract] if shutil.which("tesseract") else []
    return [*tesseract, *([_rapid] if find_spec("rapidocr") else [])]


def _read(engine: Engine, picture: "Image", angle: float) -> Recognised:
    import numpy as np
    from PIL.Image import Resampling

    how = Resampling.BICUBIC
    upright = picture.rotate(angle, how, expand=True, fillcolor=255) if angle else picture
    shades = np.asarray(upright, np.float64)
    lines = [_measured(words, shades) for words in bulleted([*engine(upright)])]
    return Recognised(lines, angle, picture.size, upright.size)


def bulleted(lines: Sequence[list[Word]]) -> list[list[Word]]:
    """Return lines with the bullets that were read as a sign which looks like one.

    Such a sign is one where several lines begin with them at the same place, apart from the text.
    """
    begun = {line[0] for line in lines if len(line) > 1 and line[0].text in _LIKE_BULLETS}
    lefts = sorted(word.left for word in begun)

    def several(word: Word) -> bool:
        near = (word.bottom - word.top) / 2
        return bisect_right(lefts, word.left + near) - bisect_left(lefts, word.left - near) > 1

    return [
        [line[0]._replace(text="•"), *line[1:]] if line[0] in begun and several(line[0]) else line
        for line in lines
    ]


def _measured(words: list[Word], shades: "NDArray[np.float64]") -> Line:
    """Return a line with the size of its font, by the rows of the picture with most of its ink.

    These reach from the foot of its letters to the top of the small ones.
    """
    import numpy as np

    top, bottom = min(word.top for word in words), max(word.bottom for word in words)
    first = max(0, int(top) - 1)
    line = shades[first : int(bottom) + 2, int(words[0].left) : int(words[-1].right) + 1]
    if not line.size:
        return Line(words, bottom, max(1.0, bottom - top))
    rows = np.clip(np.percentile(line, 90) - line, 0, None).sum(axis=1)
    rows -= rows.min()
    level = _INKED * np.median(rows[rows >= rows.max() / 2])
    inked = np.flatnonzero(rows >= level)
    ends = [_crossing(rows, level, inked[0], -1), _crossing(rows, level, inked[-1], 1)]
    has_small = any(character.islower() for word in words for character in word.text)
    share = _SMALL_LETTERS if has_small else _CAPITALS
    return Line(words, first + ends[1], max(1.0, (ends[1] - ends[0] + 1) / share))


def _crossing(rows: "NDArray[np.float64]", level: float, at: int, step: int) -> float:
    """Return where, beyond a row, the ink falls below a level: between it and the next."""
    beyond = at + step
    if not 0 <= beyond < len(rows) or rows[at] <= rows[beyond]:
        return float(at)
    return float(at + step * (rows[at] - level) / (rows[at] - rows[beyond]))


def _said(found: Recognised) -> float:
    """Return how many characters were read, each counted by how surely."""
    return sum(len(word.text) * word.sure for line in found.lines for word in line.words)


def _sure(found: Recognised) -> float:
    """Return how surely characters were read in the mean."""
    return _said(found) / max(1, sum(len(w.text) for line in found.lines for w in line.words))


def _is_blank(picture: "Image") -> bool:
    import numpy as np

    small = picture.reduce(max(1, min(picture.size) // 200))
    return int(np.ptp(np.asarray(small, np.int16))) < _BLANK


def _skew(picture: "Image") -> float:
    """Return by how many degrees a page is to be turned, against the clock, until lines are level.

    Level lines are those between which the rows of the picture differ most.
    """
    import numpy as np
    from PIL import Image, ImageFilter

    small = picture.copy()
    small.thumbnail((_SMALL, _SMALL))
    ground = small.filter(ImageFilter.BoxBlur(_SMALL // 20))
    ink = np.clip(np.asarray(ground, np.int16) - np.asarray(small, np.int16), 0, 255)
    inked = Image.fromarray(ink.astype(np.uint8))

    def differing(angle: float) -> float:
        rows = np.asarray(inked.rotate(angle, expand=abs(angle) > 45), np.float64).sum(axis=1)
        return float(np.square(np.diff(rows)).sum())

    def steepest(centre: float, reach: float, step: float) -> float:
        count = round(reach / step)
        return max((centre + n * step for n in range(-count, count + 1)), key=differing)

    best = {quarter: steepest(quarter, _MOST_SKEW, _STEP) for quarter in (0, 90)}
    quarter = 90 if differing(best[90]) > _CLEARLY * differing(best[0]) else 0
    angle = steepest(best[quarter], _STEP, _STEP / _FINER)
    is_level = abs(angle - quarter) < _LEAST_SKEW
    return float(quarter if is_level else angle)


def _rapid(picture: "Image") -> Iterator[list[Word]]:
    """Yield the lines that RapidOCR reads."""
    import numpy as np

    found = _reader()(np.asarray(picture.convert("RGB"))[:, :, ::-1])
    if found.boxes is not None and found.txts:
        shades = np.asarray(picture, np.float64)
        rows = zip(found.boxes, found.txts, found.scores, found.word_results, strict=True)
        for row in rows:
            yield [part for word in _rapid_line(*row) for part in _parted(word, shades)]


@cache
def _reader() -> Any:
    """Return RapidOCR, loaded once in a process."""
    import rapidocr

    held = Path(rapidocr.__file__).parent / "models"
    weights = {part: [*held.glob(f"*_{part.lower()}_*.onnx")][:1] for part in ("Det", "Rec")}
    if not all(weights.values()):  # it would fetch them
        raise CorpusError("The installed rapidocr comes without weights.", "Install 3.10.")
    # files are read side by side, each by one thread
    threads = {f"EngineConfig.onnxruntime.{kind}_op_num_threads": 1 for kind in ("intra", "inter")}
    return rapidocr.RapidOCR(
        params={
            **{f"{part}.model_path": str(path) for part, (path,) in weights.items()},
            **threads,
            "Global.log_level": "error",
            "Global.use_cls": False,
            "Global.return_word_box": True,
            "Global.text_score": _LEAST_SURE,
            "Det.limit_type": "max",
            "Det.limit_side_len": _DETECTED_EDGE,
        }
    )


def _rapid_line(box: Any, text: str, score: float, words: Sequence[Any]) -> list[Word]:
    """Return a line of RapidOCR's, whose words may be parted where its text has no blank."""
    (left, top), (right, bottom) = box.min(axis=0).tolist(), box.max(axis=0).tolist()
    places = [
        (x0 + (x1 - x0) * n / len(said), x0 + (x1 - x0) * (n + 1) / len(said), sure)
        for said, sure, corners in words
        for x0, x1 in [(min(x for x, _ in corners), max(x for x, _ in corners))]
        for n in range(len(said))
    ]
    wanted = len("".join(text.split()))
    if wanted != len(places):  # no place of each character is known
        step = (right - left) / max(1, len(text))
        at = [n for n, character in enumerate(text) if not character.isspace()]
        places = [(left + n * step, left + (n + 1) * step, score) for n in at]
    line: list[Word] = []
    begun = 0
    for said in text.split():
        own = places[begun : (begun := begun + len(said))]
        sure = min(1.0, float(fmean(place[2] for place in own)))
        line.append(Word(said, own[0][0], top, own[-1][1], bottom, sure))
    return line


def _parted(word: Word, shades: "NDArray[np.float64]") -> list[Word]:
    """Return the words that stand in the box of one, parted where its ink leaves a blank."""
    import numpy as np

    left, height = int(word.left), word.bottom - word.top
    box = shades[int(word.top) : int(word.bottom) + 1, left : int(word.right) + 1]
    if not box.size or height <= 0 or len(word.text) < _FEWEST_GLUED:
        return [word]
    inked = np.flatnonzero((np.percentile(box, 90) - box).max(axis=0) > _INK)
    wide = np.flatnonzero(np.diff(inked) > max(2.0, _GAP * height))
    gaps = [(left + int(inked[n]), left + int(inked[n + 1])) for n in wide]
    ends = np.cumsum(
        [_WIDTHS.get(letter, 1.25 if letter.isupper() else 1.0) for letter in word.text]
    )
    inner = word.right - word.left - sum(b - a for a, b in gaps)
    parts, begun, x, passed = [], 0, word.left, 0.0
    for a, b in gaps:
        share = (a - word.left - passed) / max(1.0, inner)
        near = int(np.argmin(np.abs(ends - share * ends[-1]))) + 1
        end = next((n for n in (near, near - 1, near + 1) if _PARTED.match(word.text, n - 1)), near)
        passed += b - a
        if begun < end < len(word.text):
            parts.append(word._replace(text=word.text[begun:end], left=x, right=float(a)))
            begun, x = end, float(b)
    return [*parts, word._replace(text=word.text[begun:], left=x)]


def _tesseract(picture: "Image") -> Iterator[list[Word]]:
    """Return what Tesseract, a program, reads; it lives no longer than this call."""
    given = io.BytesIO()
    picture.save(given, "PPM")
    command = ["tesseract", "stdin", "stdout", "--psm", "3", "tsv"]
    environment = {**os.environ, "OMP_THREAD_LIMIT": "1"}  # files are read side by side
    try:
        done = subprocess.run(  # noqa: S603 - a program named by us
            command,
            input=given.getvalue(),
            capture_output=True,
            env=environment,
            timeout=_PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        what = f"Tesseract takes longer than {_PATIENCE} s."
        raise CorpusError(what, "Install lexloop-formats[ocr].") from error
    except OSError as error:
        what = f"Tesseract cannot be started ({error})."
        raise CorpusError(what, "Install lexloop-formats[ocr].") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()[:1]
        what = f"Tesseract cannot read it ({''.join(said)[:200] or f'exit {done.returncode}'})."
        raise CorpusError(what, "Install lexloop-formats[ocr].")
    return _tesseract_lines(done.stdout.decode("utf-8", "replace"))


def _tesseract_lines(table: str) -> Iterator[list[Word]]:
    rows = csv.DictReader(io.StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE)
    said = (row for row in rows if row["level"] == "5" and row["text"].strip())
    keys = ("block_num", "par_num", "line_num")
    for _, held in groupby(said, lambda row: [row[key] for key in keys]):
        words = []
        for row in held:
            left, top, wide, high = (float(row[k]) for k in ("left", "top", "width", "height"))
            sure = max(0.0, float(row["conf"]) / 100)
            words.append(Word(row["text"].strip(), left, top, left + wide, top + high, sure))
        yield words
