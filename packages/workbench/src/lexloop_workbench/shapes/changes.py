"""Changes between two versions of a document, as lines of text."""

from collections.abc import Iterable, Iterator, Sequence

from lexloop.apps.shapes.text import one_line, places, shortened
from lexloop_workbench.diff import Change, Diff, Kind, Part, Place
from lexloop_workbench.touched import Touched

KINDS: dict[Kind, str] = {
    "changed": "changed",
    "moved": "moved",
    "renumbered": "renumbered",
    "follows": "only refers otherwise",
    "new": "new",
    "gone": "gone",
}
BECAME = {
    "same": "its words are the same",
    "changed": "its words changed",
    "gone": "its words are gone",
    "unknown": "its words are not in the old version",
}
_MARKS = {"added": ("{+", "+}"), "removed": ("[-", "-]")}
_QUOTED, _BESIDE = 100, 40
NOTHING = "Nothing changed."


def summary(found: Diff) -> str:
    """Return both names and how much of each kind there is."""
    counts = [f"{found.counts[kind]} {KINDS[kind]}" for kind in KINDS if kind in found.counts]
    changed = ", ".join(counts) or NOTHING.rstrip(".").lower()
    same = f"{found.unchanged} line{'s' * (found.unchanged != 1)} the same"
    return f"{one_line(found.old)} -> {one_line(found.new)}: {changed}; {same}"


def headed(change: Change) -> str:
    """Return a heading that names the change and its provision."""
    kinds = " and ".join(KINDS[kind] for kind in change.kinds)
    old, new = (named(place) if place else "" for place in (change.old, change.new))
    if not (old and new):
        return f"{kinds}: {old or new}"
    return f"{kinds}: {old}" + (f" -> {new}" if old != new else "")


def named(place: Place) -> str:
    """Return a place's label and heading."""
    heading = place.heading if place.heading != place.section else ""
    place_words = places({"section": "", "page": place.page, "at": place.at})
    outside = f"outside of provisions{f' ({place_words[0]})' if place_words else ''}"
    return one_line(f"{place.section or outside} {heading}")


def quoted(change: Change) -> str:
    """Return the beginning of a provision."""
    place = change.new or change.old
    return shortened(place.quote, _QUOTED) if place else ""


def marked(parts: Sequence[Part]) -> str:
    """Return words with removed ones as [-...-] and added ones as {+...+}."""
    return "".join("".join((begin, text, end)) for begin, text, end, _ in pieces(parts))


def pieces(parts: Iterable[Part]) -> Iterator[tuple[str, str, str, str]]:
    """Yield words with the marks around them and what became of them; long equal ones are cut."""
    for part in parts:
        text = one_line(part.text)
        # blanks at the ends keep the words apart
        before = " " if part.text[:1].isspace() else ""
        after = " " if part.text[-1:].isspace() and text else ""
        if part.op == "same" and len(text) > 2 * _BESIDE:
            text = f"{text[:_BESIDE].rstrip()} … {text[-_BESIDE:].lstrip()}"
        begin, end = _MARKS.get(part.op, ("", ""))
        yield f"{before}{begin}", text, f"{end}{after}", part.op


def stale(found: Diff) -> Iterator[str]:
    """Yield what still refers by a number that is another's now."""
    for reference in found.stale:
        now = f"{one_line(reference.now)} now" if reference.now else "gone"
        words, meant = one_line(reference.said), one_line(reference.meant)
        yield f"still refers: {named(reference.at)} says {words}; {meant} is {now}"


def touched(answer: Touched) -> str:
    """Return which answer quotes what, and what became of that."""
    kinds = " and ".join(KINDS[kind] for kind in answer.kinds)
    now = f", {named(answer.now)} now" if answer.now and "renumbered" in answer.kinds else ""
    question = f"{shortened(answer.question, _QUOTED)}: " if answer.question else ""
    state = f" is {kinds}" if kinds else ""
    return f"{question}{named(answer.was)}{state}{now}; {BECAME[answer.became]}"
