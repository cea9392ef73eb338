"""Data, code, images and markup are no sentences."""

import time

import pytest

from lexloop.nodes.evaluate.checks import foreign_matter


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ('{"answer": "It is due [1]."}', "data instead of sentences"),
        ('["It is due [1]."]', "data instead of sentences"),
        (' [{"n": 1}]', "data instead of sentences"),
        ("[[1], [2]] is due [1].", "data instead of sentences"),
        ("It is due [1]. ![](https://evil.example)", "an image"),
        ("It is due [1]. ![x][y]", "an image"),
        ("It is due [1].\n```\nrm\n```", "a block of code"),
        ("<script>due()</script> [1]", "HTML"),
        ("It is due [1]. <IMG SRC=x>", "HTML"),
        ("It is due [1]. </div >", "HTML"),
        ("It is due [1]. <svg/onload=alert(1)>", "HTML"),
        ("It is due [1]. <made-up onclick=alert(1)>", "HTML"),
        ("It is due [1]. <!-- here -->", "HTML"),
        ("[It is due](JavaScript:alert(1)) [1].", "a link that runs a script"),
    ],
)
def test_foreign_matter(answer: str, kind: str) -> None:
    assert foreign_matter(answer) == [f"The answer holds {kind}."]


@pytest.mark.parametrize(
    "answer",
    [
        "It is due [1].",
        "[1] It is due.",
        "[1, 2] It is due.",
        "[1,2,3]",  # markers, and nothing that they cite for
        "[sic] It is due [1].",
        "{fee} is due [1].",
        "Where a < b and c > d it is due [1].",
        "I, <name of the owner>, owe it to <the master> [1].",
        "It is due! [1]",
        "",
    ],
)
def test_sentences(answer: str) -> None:
    assert foreign_matter(answer) == []


@pytest.mark.parametrize("hostile", ["[", '{"a":', "<a ", "![", "<x y", "](", "\n"])
def test_hostile_text_takes_no_time(hostile: str) -> None:
    began = time.monotonic()
    foreign_matter(hostile * 20_000)
    assert time.monotonic() - began < 20
