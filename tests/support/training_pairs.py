"""Pairs that small trainings learn, and what ends one of these in the middle."""

from lexloop_train.pairs import TrainingPair

_THINGS = [("register", "clerk"), ("seal", "mayor"), ("keys", "porter"), ("purse", "treasurer")]
PAIRS = [TrainingPair(f"Who keeps the {x}?", f"The {y} keeps the {x}.", "", y) for x, y in _THINGS]


def kill(line: str) -> None:
    """End a training behind step 2, which is measured and not kept yet."""
    if line.startswith("step 2"):
        raise KeyboardInterrupt
