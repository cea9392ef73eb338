"""Right sentences of a strong model are not refused, and altered ones are refused or doubted."""

from _shared import read_rows
from sentences import HOME, tried

_EVERY = 7
"""Every seventh row is tried here; the benchmark tries all."""


def test_right_sentences_pass_the_code_and_altered_ones_are_held() -> None:
    found = [*tried(read_rows(HOME.with_suffix(".jsonl"))[::_EVERY])]
    right = [one for one in found if not one.altered]
    altered = [one for one in found if one.altered]
    refused = [(one.answer, one.reasons) for one in right if one.reasons]
    assert len(refused) <= 0.05 * len(right), refused
    through = [one.answer for one in altered if not one.held]
    assert len(through) <= 0.15 * len(altered), through
