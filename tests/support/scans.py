"""Pages that are pictures: drawn, as images and in PDFs."""

import io
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from fpdf import FPDF
from PIL import Image, ImageDraw, ImageFont

LAW = ["Section 5. Dogs", "Every dog must wear a collar in the", "harbour. The fine is 40 euros."]
SAID = "Section 5. Dogs\nEvery dog must wear a collar in the harbour. The fine is 40 euros.\n"


def drawn(lines: Sequence[str] = LAW, angle: float = 0) -> Image.Image:
    """A page with lines, turned against the clock."""
    page = Image.new("L", (1100, 700), 255)
    font = ImageFont.truetype(Path(mpl.get_data_path()) / "fonts" / "ttf" / "DejaVuSerif.ttf", 36)
    for number, line in enumerate(lines):
        ImageDraw.Draw(page).text((160, 200 + 54 * number + 20 * (number > 0)), line, 0, font)
    return page.rotate(angle, Image.Resampling.BICUBIC, expand=True, fillcolor=255)


def saved(page: Image.Image, form: str = "PNG", **how: object) -> bytes:
    made = io.BytesIO()
    page.save(made, form, **how)
    return made.getvalue()


def in_pdf(*pages: Image.Image | str, size: tuple[float, float] = (550, 350)) -> bytes:
    made = FPDF(unit="pt", format=size)
    for page in pages:
        made.add_page()
        made.set_font("times", size=12)
        if isinstance(page, str):
            made.text(72, 72, page)
        else:
            made.image(page, 0, 0, *size)
    return bytes(made.output())
