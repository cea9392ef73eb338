"""No regular expression takes longer than its text grows, whatever the text says."""

import signal
from collections import deque
from collections.abc import Iterator
from time import thread_time
from types import FrameType
from typing import Any, NamedTuple

from _patterns import Use, every_use
from _pumps import Text, texts
from _shared import Line

_SHORTEST, _SCREENED, _LONGEST = 125, 1000, 32_000
_CLOSER, _CLOSER_S = 2, 0.00015
"""So many of the slowest texts of a pattern are doubled, if they take so long."""
_LEAST_S, _ENOUGH_S, _MOST_S, _HANGS_S = 0.05, 0.005, 0.3, 1.0
_DOUBLINGS, _LINEAR, _FASTER = 3, 12.0, 22.0
"""Three doublings take 8 times as long if the time is linear, and 64 times if it is quadratic."""
_TEXTS, _AGAIN = 150, 3
_SHOWN = 4000
"""The longest question, unless the settings allow more."""


class Timed(NamedTuple):
    """What a pattern took for a text, in seconds of the processor by the text's characters."""

    use: Use
    text: Text
    seconds: dict[int, float]
    grows: bool = False
    """Whether the time grows faster than the text, and is long enough to tell."""

    def __str__(self) -> str:
        size, took = max(self.seconds.items())
        return f"{self.use.place} by {self.use.way}: {took:.3f} s for {size:,} of {self.text!r}"


def held() -> Iterator[Line]:
    """Time every pattern on texts of 1,000 to 32,000 characters."""
    uses, made = every_use()
    timed = [slowest(use) for use in uses]
    grown = [str(one) for one in timed if one.grows]
    patterns = len({use.pattern for use in uses})
    yield Line(
        "no pattern takes a time that grows faster than its text",
        f"{patterns} patterns in {len(uses)} uses, {len(grown)} grow faster"
        f"{': ' + '; '.join(grown) if grown else ''}; {len(made)} are made of a user's words",
        not grown,
    )
    last = max((_took(one.use, one.text.of(_SHOWN)), str(one.use.place)) for one in timed)
    yield Line(
        f"each reads a text of {_SHOWN:,} characters in 0.05 s",
        f"slowest {1000 * last[0]:.1f} ms ({last[1]})",
        last[0] < _LEAST_S,
    )


def slowest(use: Use) -> Timed:
    """The text for which a pattern takes longest, and whether its time grows as no other's."""
    first: list[tuple[float, Text]] = []
    for text in texts(use.pattern, _TEXTS):
        first.append((_took(use, text.of(_SCREENED)), text))
        if first[-1][0] > _LEAST_S / 4 and (found := _grown(use, text)):
            return found
    first.sort(key=lambda one: -one[0])
    for seconds, text in first[:_CLOSER]:
        if seconds > _CLOSER_S and (found := _grown(use, text)):
            return found
    seconds, text = first[0]
    return Timed(use, text, {_SCREENED: seconds})


def _grown(use: Use, text: Text) -> Timed | None:
    """The times for a text if they grow too fast whenever they are taken; None if not."""
    last = None
    for _ in range(_AGAIN):
        last = doubled(use, text)
        if not last.grows:
            return None
    return last


def doubled(use: Use, text: Text) -> Timed:
    """The times for a text that is doubled until it is clear how they grow."""
    seconds: dict[int, float] = {}
    size, earlier, last = _SHORTEST, 0.0, 0.0
    while size <= _LONGEST:
        made = text.of(size)
        last = seconds[size] = min(_took(use, made), _took(use, made))
        earlier = seconds.get(size // 2**_DOUBLINGS, 0.0)
        if last > _MOST_S or (size > _SCREENED and _ENOUGH_S < last < _LINEAR * earlier):
            break
        size *= 2
    return Timed(use, text, seconds, last > max(_LEAST_S, _FASTER * earlier))


class _Endless(BaseException):
    """A match that does not end."""


def _took(use: Use, text: str) -> float:
    """The seconds of the processor that a use takes; infinity if it does not end."""
    subject: Any = text if isinstance(use.pattern.pattern, str) else text.encode()

    def stop(number: int, frame: FrameType | None) -> None:
        raise _Endless

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, _HANGS_S)
    began = thread_time()
    try:
        found = getattr(use.pattern, use.way)(subject)
        if use.way == "finditer":
            deque(found, maxlen=0)
        return thread_time() - began
    except _Endless:
        return float("inf")
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
