"""The main figures of benchmarks/README.md beside those of an earlier commit.

    python benchmarks/beside.py [COMMIT]

Reads benchmarks/README.md as it is and as it was at a commit (default: fdff044e, before the house
was split into packages), and prints one table: the figure, then, now, and at which commits each was
measured. Nothing is measured here: ``benchmarks/all.py`` does that. A figure that a page does not
have is shown as "–".
"""

import argparse
import re
import subprocess
import tempfile
from pathlib import Path

from _shared import ROOT
from all import Page, cell

_README = "benchmarks/README.md"
_LAW = ("everyday_found", "everyday_right", "follow_up_found", "follow_up_right", "not_there_right")
_LISTS = ("list_items", "list_right", "article_right", "definition_right", "typo_right")
_ANSWERS = ("correctness (1–5)", "correct (≥ 4)", "passed the evaluation", "faithfulness")
_TRUST = (
    *("as it is", "parties_swapped", "exception_dropped"),
    *("may_must", "number_nowhere", "and_or"),
)
FIGURES = (
    *(("answers-ll144", "hypa", column) for column in _ANSWERS),
    *(("answers-sample", "hypa", column) for column in _ANSWERS),
    ("refusals", "negative.jsonl: all", "refused"),
    ("refusals", "kept_back.jsonl: all", "refused"),
    ("refusals", "names crimes or sex", "refused"),
    *(("retrieval", row, "recall@10") for row in ("default", "linear", "reranked")),
    *(("retrieval", row, "map@10") for row in ("default", "linear", "reranked")),
    ("references", "all (36), without", "passages"),
    ("references", "all (36), with the graph", "passages"),
    *(("law", row, "txt") for row in (*_LAW, *_LISTS)),
    *(("contracts", "all", column) for column in ("cited", "first", "AUROC")),
    *(("table", "as asked", column) for column in ("said", "clause cited", "not stated")),
    ("contracts-three", "30 collections", "clause"),
    *(("trust", row, "after") for row in _TRUST),
    *(("claims", row, "AUROC") for row in ("wice", "factcheck_bench", "summedits")),
    ("poison", "answers as asked", "only source"),
    ("reading", "contracts", "found"),
    ("headings", 'What does the section "X" say?', "first citation in the section"),
    *(("profiles", row, "share") for row in ("kind", "party named", "law")),
    ("latency", "times as fast as LangChain", "13,000 chunks"),
    ("latency", "times as fast as bare", "13,000 chunks"),
    ("indexing", "times the encoder", "statements"),
    *(("startup", row, "") for row in ("help_s", "ask_cold_s", "ask_warm_ms", "graph_overhead_ms")),
)
"""Block, row and column of each figure; a block of JSON has no columns."""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("commit", nargs="?", default="fdff044e", help="The earlier commit.")
    commit = parser.parse_args().commit
    now, before = Page(ROOT / _README), page_at(commit)
    print(f"| figure | {commit} | now | measured at |")
    print("|---|---|---|---|")
    for block, row, column in FIGURES:
        name = f"{block}: {row}" + (f", {column}" if column else "")
        then, today = (figure(page, block, row, column) for page in (before, now))
        print(f"| {name} | {then} | {today} | {_measured(before, now, block)} |")


def page_at(commit: str) -> Page:
    """Return the page of figures as it was at a commit.

    Raises:
        SystemExit: Git does not know the commit, or it has no such page.
    """
    shown = subprocess.run(
        ["git", "show", f"{commit}:{_README}"], cwd=ROOT, capture_output=True, check=False
    )
    if shown.returncode:
        raise SystemExit(f"{commit} has no {_README}: {shown.stderr.decode().strip()}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "README.md")
        path.write_bytes(shown.stdout)
        return Page(path)


def block_of(page: Page, name: str) -> str:
    """Return a block of a page, and "" if it has none of this name."""
    try:
        return page.block(name)
    except KeyError:
        return ""


def figure(page: Page, block: str, row: str, column: str) -> str:
    """Return a figure as a page has it, and "–" if it has none.

    Args:
        page: The page.
        block: The name of a block of figures.
        row: A cell of the figure's row, or the key of a block of JSON.
        column: The head of its column; empty for a block of JSON.
    """
    text = block_of(page, block)
    if column:
        return cell(text, row, column) or "–"
    found = re.search(rf'"{re.escape(row)}": ([\d.]+)', text)
    return found[1] if found else "–"


def _measured(before: Page, now: Page, block: str) -> str:
    commits = [page.commit(block) if block_of(page, block) else None for page in (before, now)]
    return ", ".join(commit or "–" for commit in commits)


if __name__ == "__main__":
    main()
