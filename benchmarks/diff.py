"""What is found of changes that a script made in texts of ten layouts, and what is told besides.

    python benchmarks/diff.py [--seed N] [--data DATA] [--development] [--show]

In each text paragraphs of eight words or more are edited (a word; a few words put in or left out; a
third or half of the words), put in, deleted, moved past at least five others (half of these edited
a little, too), and a numbered one is put in so that those behind it are renumbered. A change is
found where a report of its kind lies on the paragraph: in the old text, the new one, or both. A
report is false where nothing of its kind was done there. ``--development`` takes other texts, those
that the alignment was made with.
"""

import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from textwrap import fill

from _shared import DATA, options, table

from lexloop.documents.document import Document
from lexloop.documents.structure.parse import parse
from lexloop.store.manifest import IndexSource
from lexloop.store.provisions import Source
from lexloop.store.scan import scan
from lexloop_workbench.diff import Change, Comparison, Version

TEXTS = {
    "a law, a line a point": "gdpr/gdpr_en.txt",
    "the same law's page": "gdpr/gdpr_en.html",
    "a rule": "ll144/dcwp_final_rule.txt",
    "a policy": "policies/github-marketplace-terms-of-service.md",
    "an agreement of a policy": "policies/github-registered-developer-agreement.md",
    "a confidentiality agreement": "nda/documents/{8}",
    "a contract": "contracts/documents/{31}",
    "another contract": "contracts/documents/{60}",
    "a third contract": "contracts/documents/{90}",
    "a contract, each version wrapped otherwise": "contracts/documents/{21}",
}
"""``{N}`` is the N-th file of a folder by name, from 0, of those with 60 paragraphs."""
_DEVELOPMENT = {
    "a regulation": "us_cfr/coppa.txt",
    "its pages": "us_cfr/coppa.pdf",
    "a code": "ll144/admin_code_20-870.txt",
    "a policy": "policies/github-event-terms.md",
    "another policy": "policies/github-research-program-terms.md",
    "a confidentiality agreement": "nda/documents/{3}",
    "a contract": "contracts/documents/{2}",
    "another contract": "contracts/documents/{6}",
    "a third contract": "contracts/documents/{11}",
    "a contract, each version wrapped otherwise": "contracts/documents/{0}",
}
_KINDS = {
    "edit": "changed",
    "insert": "new",
    "delete": "gone",
    "move": "moved",
    "renumber": "renumbered",
}
_EACH = {"edit": 8, "insert": 5, "delete": 5, "move": 4}
_FEWEST_WORDS, _APART, _FARTHEST = 8, 1, 5
_ALSO_EDITED, _SHARES = 0.5, (3, 2)
_RUN, _FEWEST_BLOCKS = 3, 60
_WIDTHS = 80, 72
_WRAPPED, _GAP = "wrapped", "   "
_NUMBER = re.compile(r"((?:#+ )?(?:Article |Section |§ )?\(?)(\d{1,3})([.)]?\)?)(?=[ \t]+\S)")
_SUBJECTS = ("harbour office", "second reviewer", "keeper of the register", "local branch")
_DUTIES = (
    "keeps a list of all visitors for {} weeks and shows it to the owner on request",
    "tells the committee within {} days which samples were taken and where they are kept",
    "pays the fee of {} euro at the counter before the gate is opened",
    "repaints the signs along the path every {} months at its own cost",
    "lends at most {} boats a day, and none of them after sunset",
    "publishes the minutes of each meeting no later than {} days after it has ended",
)
_WORDS = ("lantern", "orchard", "seven", "quarterly", "copper", "northern", "unless", "gravel")


@dataclass(eq=False)
class Block:
    """A paragraph with what parts it from the next, in both versions, and what was done to it.

    One that was moved may have been edited as well.
    """

    old: str
    new: str
    done: str = ""
    edited: bool = False
    spans: tuple[tuple[int, int], tuple[int, int]] = ((0, 0), (0, 0))


def main() -> None:
    """Change every text, compare, and print the tables."""
    parser = options(__doc__)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--times", type=int, default=3, help="how often each text is changed anew")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the published sets")
    parser.add_argument("--development", action="store_true", help="take the other texts")
    parser.add_argument("--show", action="store_true", help="tell what was missed or false")
    given = parser.parse_args()
    if given.data is None:
        sys.exit("Name the folder of the published sets: --data DATA or LEXLOOP_DATA.")
    whole, lines = Tally(), []
    for name, path in (_DEVELOPMENT if given.development else TEXTS).items():
        text, tally = read(given.data, path), Tally()
        for time in range(given.times):
            rng = random.Random(f"{given.seed} {time} {name}")
            tally.add(*changed(text, rng), wrapped=_WRAPPED in name)
        whole += tally
        lines.append(tally.row(name))
        for told in tally.wrong if given.show else ():
            print(f"{name}: {told}")
    head = ("changes", "made", "found", "share", "reports", "false", "share")
    print(table(head, [*(whole.row(kind, kind) for kind in _KINDS), whole.row("all")]))
    print()
    print(table(("text", *head[1:]), lines))


@dataclass
class Tally:
    """What was made and found of each kind of change, reports, and false ones, in words too."""

    made: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    reports: Counter[str] = field(default_factory=Counter)
    false: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.made + other.made,
            self.found + other.found,
            self.reports + other.reports,
            self.false + other.false,
        )

    def add(self, olds: Sequence[Block], news: Sequence[Block], wrapped: bool) -> None:
        """Compare two versions, and count."""
        every = {*olds, *news}
        if wrapped:
            wrap(every)
        changes = compared(olds, news)
        blocks = [block for block in every if block.done]
        for block in blocks:
            self.made[block.done] += 1
            self.found[block.done] += (told := told_of(block, changes))
            if not told:
                self.wrong.append(f"missed {block.done}: {(block.new or block.old)[:160]!r}")
        names = {kind: name for name, kind in _KINDS.items()}
        self.reports.update(names.get(kind, kind) for one in changes for kind in one.kinds)
        for kind, text in unexplained(blocks, changes):
            self.false[names.get(kind, kind)] += 1
            self.wrong.append(f"false {kind}: {text[:160]!r}")

    def row(self, name: str, kind: str = "") -> Sequence[object]:
        """A line of the table, of one kind or of all."""
        made, found, reports, false = (
            each[kind] if kind else each.total()
            for each in (self.made, self.found, self.reports, self.false)
        )
        shares = (
            f"{part / whole:.3f}" if whole else "-"
            for part, whole in ((found, made), (false, reports))
        )
        return name, made, found, next(shares), reports, false, next(shares)


def read(data: Path, path: str) -> str:
    """The text of a file."""
    file = data / path
    if found := re.fullmatch(r"(.*)/\{(\d+)\}", path):
        file = _long(data / found[1])[int(found[2])]
    scanned = scan([IndexSource(str(file))])
    documents: list[Document] = []
    for loaded in scanned.read([*scanned.fingerprints], lambda *_: None):
        documents += loaded.documents
    return documents[0].text


@cache
def _long(folder: Path) -> list[Path]:
    """The files of a folder that have many paragraphs."""
    texts = {file: file.read_text(encoding="utf-8-sig") for file in sorted(folder.iterdir())}
    return [file for file, text in texts.items() if len(blocks_of(text)) >= _FEWEST_BLOCKS]


def blocks_of(text: str) -> list[Block]:
    """The paragraphs of a text: what blank lines part, else its lines."""
    pieces = re.findall(r"(?:[^\n]*\S[^\n]*\n?)+\s*", text)
    if len(pieces) * 4 < text.count("\n"):
        pieces = re.findall(r"[^\n]*\S[^\n]*\n?\s*", text)
    pieces[-1] += "\n\n"
    return [Block(piece, piece) for piece in pieces]


def wrap(blocks: Iterable[Block]) -> None:
    """Wrap the lines of both versions, each at another width; not those of tables."""
    for block in blocks:
        block.old, block.new = (
            text if not text or _GAP in text else f"{fill(text, width, break_on_hyphens=False)}\n\n"
            for text, width in zip((block.old, block.new), _WIDTHS, strict=True)
        )


def changed(text: str, rng: random.Random) -> tuple[list[Block], list[Block]]:
    """The paragraphs of a text before and after the script's changes."""
    olds = blocks_of(text)
    news = [*olds]
    renumber(news, rng)
    counts = Counter(_bare(block.old) for block in olds)
    fit = [
        block
        for block in olds
        if sum(word.isalpha() for word in block.old.split()[2:]) >= _FEWEST_WORDS
        and counts[_bare(block.old)] == 1
        and "|" not in block.old
    ]
    rng.shuffle(fit)
    for kind, many in _EACH.items():
        for _ in range(many):
            block = next((one for one in fit if _is_free(news, news.index(one))), None)
            if block is not None:
                change(kind, block, news, rng)
    return olds, [block for block in news if block.done != "delete"]


def change(kind: str, block: Block, news: list[Block], rng: random.Random) -> None:
    """Change a paragraph, or what stands before it."""
    at = news.index(block)
    if kind == "insert":
        news.insert(at, Block("", f"{sentence(rng)}\n\n", kind))
    elif kind == "move":
        free = [to for to in range(1, len(news)) if abs(to - at) > _FARTHEST and _is_free(news, to)]
        if not free:
            return
        news.insert(rng.choice(free), news.pop(at))
        block.done, block.edited = kind, rng.random() < _ALSO_EDITED
        block.new = edited(block.old, rng, much=False) if block.edited else block.new
    else:
        block.new = edited(block.old, rng) if kind == "edit" else block.new
        block.done = kind


def _is_free(blocks: Sequence[Block], at: int) -> bool:
    """Whether nothing was done to a paragraph and those beside it."""
    near = blocks[max(0, at - _APART) : at + _APART + 1]
    return not blocks[at].done and all(one.done in ("", "renumber") for one in near)


def _bare(text: str) -> str:
    return _NUMBER.sub("", text.strip(), count=1)


def sentence(rng: random.Random) -> str:
    """A paragraph that no text has."""
    said = rng.sample(_DUTIES, 2)
    each = (f"The {rng.choice(_SUBJECTS)} {one.format(rng.randint(2, 90))}." for one in said)
    return " ".join(each)


def edited(text: str, rng: random.Random, much: bool = True) -> str:
    """A paragraph with other words."""
    words = re.split(r"(\s+)", text)
    places = [at for at in range(4, len(words), 2) if words[at].isalpha()]
    at = rng.choice(places)
    kind = rng.choice(("word", "in", "out", "many")[: 4 if much else 3])
    if kind == "word":
        words[at] = rng.choice(_WORDS)
    elif kind == "in":
        words[at] += f", {' '.join(rng.sample(_WORDS, 4))},"
    elif kind == "out" and len(places) > _FEWEST_WORDS:
        del words[places[2] : places[2] + 6]
    else:
        for one in rng.sample(places, max(1, len(places) // rng.choice(_SHARES)) if much else 1):
            words[one] = rng.choice(_WORDS)
    return "".join(words)


def renumber(news: list[Block], rng: random.Random) -> None:
    """Put a numbered paragraph in, and count those behind it on."""
    runs: dict[tuple[str, str], list[Block]] = defaultdict(list)
    for block in news:
        if (found := _NUMBER.match(block.old)) and _GAP not in block.old:
            run = runs[found[1], found[3]]
            if not run or int(found[2]) == _value(run[-1]) + 1:
                run.append(block)
    longest = max(runs.values(), key=len, default=[])
    if len(longest) <= _RUN:
        return
    first = rng.randrange(1, len(longest) - 1)
    found = _NUMBER.match(longest[first].old)
    assert found is not None
    made = Block("", f"{found[0]} {sentence(rng)}\n\n", "insert")
    for block in longest[first:]:
        block.new = _NUMBER.sub(_counted_on, block.old, count=1)
        block.done = "renumber"
    news.insert(news.index(longest[first]), made)


def _value(block: Block) -> int:
    found = _NUMBER.match(block.old)
    return int(found[2]) if found else 0


def _counted_on(found: re.Match[str]) -> str:
    return f"{found[1]}{int(found[2]) + 1}{found[3]}"


def compared(olds: Sequence[Block], news: Sequence[Block]) -> list[Change]:
    """What the comparison reports; notes where the paragraphs stand."""
    texts = ["", ""]
    for side, blocks in enumerate((olds, news)):
        for block in blocks:
            said = (block.old, block.new)[side]
            start = len(texts[side])
            texts[side] += said
            spans = [*block.spans]
            spans[side] = start, start + len(said.rstrip())
            block.spans = spans[0], spans[1]
    old, new = (
        Version(Source(name, "", parse(text), text, ()), "")
        for name, text in zip(("old", "new"), texts, strict=True)
    )
    return Comparison(old, new).record().changes


def told_of(block: Block, changes: Sequence[Change]) -> bool:
    """Whether a report of a paragraph's kind lies on it."""
    kind = _KINDS[block.done]
    return any(kind in change.kinds and _on(block, change) for change in changes)


def _on(block: Block, change: Change) -> bool:
    """Whether most of what a report is about lies in a paragraph, in each version that has both."""
    sides = zip((change.old, change.new), block.spans, strict=True)
    each = [(place, span) for place, span in sides if place is not None]
    return all(
        2 * (min(place.end, span[1]) - max(place.start, span[0])) > place.end - place.start
        for place, span in each
    )


def _explains(block: Block, kind: str) -> bool:
    return _KINDS[block.done] == kind or (block.edited and kind == "changed")


def unexplained(blocks: Sequence[Block], changes: Sequence[Change]) -> Iterator[tuple[str, str]]:
    """The reports of a kind that was done to no paragraph that they lie on."""
    for change in changes:
        for kind in change.kinds:
            if not any(_explains(one, kind) and _on(one, change) for one in blocks):
                place = change.new or change.old
                yield kind, f"{place.section if place else ''}: {place.quote if place else ''}"


if __name__ == "__main__":
    main()
