"""Numbers as lists show them: 1, a, A, i, I."""

_ROMAN = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l")),
    *((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)


def numeral(value: int, kind: str) -> str:
    """A number in the style that HTML calls ``1``, ``a``, ``A``, ``i`` or ``I``.

    Args:
        value: What has no numeral in the style, such as 0 in letters, is written in digits.
        kind: Any other kind means digits.
    """
    if kind in ("a", "A") and 0 < value <= 26 * 27:
        letters = ""
        while value:
            value, last = divmod(value - 1, 26)
            letters = chr(97 + last) + letters
        return letters.upper() if kind == "A" else letters
    if kind in ("i", "I") and 0 < value < 4000:
        roman = ""
        for worth, sign in _ROMAN:
            count, value = divmod(value, worth)
            roman += sign * count
        return roman.upper() if kind == "I" else roman
    return str(value)
