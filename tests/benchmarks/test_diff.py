"""``benchmarks/diff.py``: what the script does to a text, and what counts as found and false."""

import random
from collections import Counter

from diff import Tally, changed, compared, told_of, unexplained

WORDS = "the keeper of the harbour counts every boat and raft that lies at berth number"
TEXT = "".join(
    f"{'' if number % 9 else f'{number // 9}. '}Rule {number * 37 % 101} says that {WORDS} "
    f"{number * 53 % 97} on each day.\n\n"
    for number in range(1, 91)
)


def test_the_script_makes_each_kind_and_leaves_all_else_alone() -> None:
    olds, news = changed(TEXT, random.Random(1))
    assert "".join(block.old for block in olds).rstrip() == TEXT.rstrip()
    done = Counter(block.done for block in {*olds, *news})
    assert done.keys() == {"", "edit", "insert", "delete", "move", "renumber"}
    assert all(block.old == block.new for block in olds if block.done in ("", "delete"))
    assert all(block.old and block.old != block.new for block in olds if block.done == "edit")


def test_what_is_not_told_is_missed_and_what_was_not_done_is_false() -> None:
    olds, news = changed(TEXT, random.Random(2))
    changes = compared(olds, news)
    edits = [block for block in olds if block.done == "edit"]
    assert all(told_of(block, changes) for block in edits)
    assert not any(told_of(block, []) for block in edits)
    assert len([*unexplained([], changes)]) == sum(len(one.kinds) for one in changes)
    tally = Tally()
    tally.add(olds, news, wrapped=True)
    assert tally.made == tally.found
    assert tally.row("all")[:4] == ("all", tally.made.total(), tally.made.total(), "1.000")
