"""The loop makes no right draft worse, and tells of drafts that are bad."""

from _shared import read_rows
from loop import GOOD, HOME, played

_TRIED = {"deposit-date", "appeal-date", "rent-nine", "nanny", "parking"}


def test_right_drafts_stay_and_bad_ones_are_told() -> None:
    rows = read_rows(HOME.with_suffix(".jsonl"))
    some = [row for row in rows if row.get("id", row.get("question")) in _TRIED]
    found = [*played(some)]
    assert not [one.question["id"] for one in found if one.first and not one.last]
    bad = [one for one in found if one.question["draft"] != GOOD]
    assert len(bad) >= 3
    assert all(one.told for one in bad)
