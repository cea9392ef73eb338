"""Writes the names of currencies that identify sums of money, from the Unicode CLDR.

    python -m training.currencies --out data/currencies.json

They are the nouns of all currencies that were legal tender somewhere since 1900, in seven
languages, and their ISO 4217 codes. It needs Babel, which contains the CLDR and comes with mkdocs.
"""

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from lexloop.core.files import write_text

_LAST, _FIRST = ("en", "de", "nl"), ("fr", "es", "it", "pt")
"""Languages in which the noun of a name comes last, and first."""
_NO_NOUNS = re.compile(r"n[ou]u?[eo]?[vw].+|anti.+|ancien|unit.*|super")
"""Words in a noun's place that are not nouns, in names such as "nuevo sol"."""


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    table = {"codes": sorted(codes()), "names": sorted(names(codes()))}
    write_text(arguments.out, json.dumps(table, ensure_ascii=False, indent=0) + "\n")


def codes() -> set[str]:
    """Return the codes of the currencies that were tender somewhere since 1900."""
    from babel.core import get_global
    from babel.numbers import get_territory_currencies

    lands = get_global("territory_currencies")
    since = date(1900, 1, 1)
    return {
        code
        for land in lands
        for code in get_territory_currencies(land, since, date.today(), tender=True)
    }


def names(known: set[str]) -> set[str]:
    """Return the nouns of currencies in lower case.

    In English it is the last word of a name. In other languages it is certain if two currencies
    have it, or if the name has two words: "Schweizer Franken".
    """
    from babel import Locale

    every_noun: set[str] = set()
    for language in (*_LAST, *_FIRST):
        locale, counts = Locale(language), Counter[str]()
        for code in known & locale.currencies.keys():
            nouns: dict[str, int] = {}
            for name in {locale.currencies[code], *_plural(locale, code)}:
                words = re.split(r"[\s-]", name)
                noun = words[-1 if language in _LAST else 0].lower()
                nouns[noun] = 2 if language == "en" or len(words) <= 2 else 1
            counts.update(nouns)
        sure = {noun for noun, n in counts.items() if n >= 2 and noun.isalpha()}
        every_noun |= {noun for noun in sure if not _NO_NOUNS.fullmatch(noun)}
    return every_noun


def _plural(locale: Any, code: str) -> Iterable[str]:
    names: Mapping[str, str] = locale._data["currency_names_plural"].get(code, {})
    return names.values()


if __name__ == "__main__":
    main()
