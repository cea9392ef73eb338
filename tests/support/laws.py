"""How often a law is tried: as the profile says, and slow laws less often in proportion."""

import hypothesis

_USUAL = 100


def examples(count: int) -> int:
    """How many examples a slow law gets where the usual one gets 100 times the profile's share.

    Args:
        count: Examples under the usual profile.
    """
    return max(1, count * hypothesis.settings().max_examples // _USUAL)
