"""The files that a finished run leaves for its readers."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lexloop.core.errors import InputError
from lexloop.core.files import write_text
from lexloop.evaluation.record import Record, RefusalRecord, RunInfo
from lexloop.evaluation.report.page import to_html, to_markdown
from lexloop.evaluation.report.summary import Summary, summarise, timings

SUMMARY, MARKDOWN, TIMINGS, PAGE = "summary.json", "summary.md", "timings.json", "report.html"


def write_results(
    out: Path, info: RunInfo, records: Sequence[Record], refusals: Sequence[RefusalRecord]
) -> Summary:
    """Write the summary as JSON and Markdown, the timings, and the page.

    The summary holds nothing that another run of the same would not: wall times are in the
    timings and on the page.

    Raises:
        InputError: A file cannot be written.
    """
    summary, took = summarise(records, info, refusals), timings(records, info)
    files = {
        SUMMARY: _json(summary),
        MARKDOWN: to_markdown(summary),
        TIMINGS: _json(took),
        PAGE: to_html(summary, took, records, info),
    }
    for name, text in files.items():
        try:
            write_text(out / name, text)
        except OSError as error:
            raise InputError(
                f"{out / name} cannot be written: {error}.", "Make room and run again."
            ) from error
    return summary


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1) + "\n"
