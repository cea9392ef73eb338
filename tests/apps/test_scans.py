"""Answers from scans: what was recognised on a picture is cited as such, in every shape."""

from answers import citation, record

from lexloop.apps.shapes.files import as_markdown
from lexloop.apps.shapes.outline import outline_of
from lexloop.apps.shapes.text import as_text, places
from lexloop_server.shapes.tools import Source

READ = "read from a picture, 93% sure"


def test_every_shape_of_an_answer_says_it() -> None:
    read = citation(read_from_picture=0.934)
    assert READ in places(read)
    assert READ not in places(citation())
    answer = record(citations=[read])
    assert f", {READ}" in as_text(answer)
    assert READ in as_markdown(outline_of([answer], ""))
    source = Source.of({"collection": "laws", **read})
    assert (source.read_from_picture, READ in source.place) == (0.934, True)
    assert Source.of({"collection": "laws", **citation()}).read_from_picture is None
