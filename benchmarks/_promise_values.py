"""No value in any field of any request makes a route fail: headers, paths, queries, bodies."""

import logging
import tempfile
from collections.abc import Iterator
from pathlib import Path

from _shared import Line
from hostile_requests import library, met, requests
from servers import as_

_REQUESTS, _SEED = 5000, 7


def held() -> Iterator[Line]:
    """Send requests that are right but for one part, seeded, to each route in its turn."""
    for name in ("lexloop.serve", "python_multipart"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as place, library(Path(place)) as (client, _, known):
        schema = client.get("/api/openapi.json", headers=as_("ann")).json()
        made = met(client, requests(schema, known, _SEED), _REQUESTS)
    answered = {int(status): count for status, count in sorted(made.statuses.items())}
    shown = f"; the first: {made.failures[0][:300]}" if made.failures else ""
    yield Line(
        f"{_REQUESTS:,} requests with hostile values in headers, paths, queries and bodies",
        f"{len(made.failures)} of 500 or more, answered {answered}{shown}",
        not made.failures,
    )
