"""How well laws are read: by format, by part of the system, and by label.

    python benchmarks/law.py [--gdpr FOLDER] [--formats txt,pdf] [--kinds article,list] [--limit N]
    python benchmarks/law.py --parts [--kinds everyday,follow_up] [--limit N]
    python benchmarks/law.py --labels

The first asks the probes of a law (FOLDER holds its text, its page, ``structure.json`` and
``probes.jsonl``; default the folder ``gdpr`` of ``LEXLOOP_DATA``) of its text, its page, and a DOCX
and a PDF made from the text, and scores every citation by its words, so that all formats are
measured alike; ``_law_scoring.py`` says how. ``--parts`` asks of its text with one part of the
system left out at a time. ``--labels`` asks about the sample and about a contract, an act and a
policy with tables, and compares each citation's label with the one that a reader wrote down.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from _law_asking import Figures, chosen, labelled, probed
from _law_files import as_format
from _law_scoring import Law

_ROOT = Path(__file__).resolve().parents[1]
_ASKED = _ROOT / "tests" / "data" / "asked_laws"
_FORMATS = ("txt", "html", "docx", "pdf")
_PARTS: dict[str, dict[str, Any]] = {
    "everything": {},
    "untrained embedder": {"index.embedder": "minilm"},
    "no token vectors": {"index.token_vectors": False},
    "ranks fused": {"fusion": "rrf"},
    "no rewriting": {"retrieval.rewriter": "none"},
    "no graph": {"retrieval.knowledge_graph": "none"},
    "no reranking": {"retrieval.reranker": "none"},
    "one statement": {"answer.statements": 1},
    "no retry": {"loop.max_retries": 0},
}


def main() -> None:
    """Measure what is asked for, and print it."""
    options = _options()
    if options.labels:
        questions = json.loads((_ASKED / "questions.json").read_text(encoding="utf-8"))
        print(json.dumps(labelled((_ASKED, _ROOT / "data" / "ll144"), questions), indent=2))
    elif (folder := options.gdpr) is None or not (folder / "probes.jsonl").is_file():
        print(f"Left out: no probes in {folder}; give --gdpr FOLDER or set LEXLOOP_DATA.")
    else:
        report = _by_part(folder, options) if options.parts else _by_format(folder, options)
        print(_table(report))


def _options() -> argparse.Namespace:
    data = os.environ.get("LEXLOOP_DATA")
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--gdpr", type=Path, default=Path(data) / "gdpr" if data else None)
    parser.add_argument("--formats", default=",".join(_FORMATS))
    parser.add_argument("--kinds", help="kinds of probes, with commas")
    parser.add_argument("--limit", type=int, help="at most so many probes of each kind")
    parser.add_argument("--parts", action="store_true")
    parser.add_argument("--labels", action="store_true")
    return parser.parse_args()


def _text_of(folder: Path) -> Path:
    return next(iter(sorted(folder.glob("*.txt"))))


def _law_of(folder: Path) -> Law:
    structure = json.loads((folder / "structure.json").read_text(encoding="utf-8"))
    return Law(_text_of(folder).read_text(encoding="utf-8"), structure)


def _by_part(folder: Path, options: argparse.Namespace) -> dict[str, Figures]:
    probes = chosen(folder / "probes.jsonl", options.kinds, options.limit)
    report: dict[str, Figures] = {}
    with tempfile.TemporaryDirectory() as made:
        corpus = as_format(_text_of(folder), "txt", Path(made))
        for name, settings in _PARTS.items():
            report[name] = probed(corpus, _law_of(folder), probes, settings)
            print(name, json.dumps(report[name]), file=sys.stderr, flush=True)
    return report


def _by_format(folder: Path, options: argparse.Namespace) -> dict[str, Figures]:
    text, law = _text_of(folder), _law_of(folder)
    probes = chosen(folder / "probes.jsonl", options.kinds, options.limit)
    report: dict[str, Figures] = {}
    with tempfile.TemporaryDirectory() as made:
        for kind in options.formats.split(","):
            report[kind] = probed(as_format(text, kind, Path(made)), law, probes)
            print(kind, json.dumps(report[kind]), file=sys.stderr, flush=True)
    return report


def _table(report: dict[str, Figures]) -> str:
    """The figures by format, each with its difference from the first format's."""
    first, *others = report
    lines = [f"| | {' | '.join(report)} |", "|---" * (1 + len(report)) + "|"]
    for name, value in report[first].items():
        cells = [f"{value:.3f}"]
        cells += [f"{report[o][name]:.3f} ({report[o][name] - value:+.3f})" for o in others]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
