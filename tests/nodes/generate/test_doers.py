"""Who does what is asked about, said or only leaned on."""

import pytest
from sets import rows

from lexloop.nodes.generate.doers import says_who


@pytest.mark.parametrize(("asked", "text", "how"), rows("doers"))
def test_a_statement_says_who_does_a_thing_or_leans_on_it(asked: str, text: str, how: str) -> None:
    assert says_who(asked, text) == how
