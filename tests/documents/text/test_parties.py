"""Parties are read off the ways in which agreements name them."""

import pytest

from lexloop.documents.text.parties import parties_of

_KEPT = "\n\n1. Duty\nThe Keeper feeds the goats."


@pytest.mark.parametrize(
    ("opening", "found"),
    [
        (
            'between Alder Mills Ltd (the "Owner") and Sorrel & Sons (the "Keeper")',
            [("Alder Mills Ltd", "Owner"), ("Sorrel & Sons", "Keeper")],
        ),
        (
            'Section 1 Parties\nThe parties are Kozí Farma s.r.o. (the "Owner"), Latte d\'Alpe'
            ' S.p.A. (the "Keeper"), Zaal & Zn. (the "Vet") and Geit B.V. with its seat in Goes.',
            [
                ("Kozí Farma s.r.o.", "Owner"),
                ("Latte d'Alpe S.p.A.", "Keeper"),
                ("Zaal & Zn.", "Vet"),
                ("Geit B.V.", ""),
            ],
        ),
        (
            "This Agreement is made on 4 May 2023 between (1) ALDER MILLS LIMITED, a company"
            ' registered in Wales with number 0099 ("Owner"); and (2) Sorrel GmbH, a company'
            ' registered in Austria ("Keeper").',
            [("ALDER MILLS LIMITED", "Owner"), ("Sorrel GmbH", "Keeper")],
        ),
        (
            "This deed is made by and between Ada Alder, hereinafter the Owner, and Sam Sorrel,"
            " hereinafter referred to as the Keeper.",
            [("Ada Alder", "Owner"), ("Sam Sorrel", "Keeper")],
        ),
        (
            "The owner of the goats is Ada Alder (the Owner) and the keeper is Sam Sorrel"
            " (the Keeper).",
            [("Ada Alder", "Owner"), ("Sam Sorrel", "Keeper")],
        ),
        (
            'between the Trustees of Alder Hall ("the Owner") and Milch am Markt e.K.\n'
            '(the "Keeper")',
            [("Trustees of Alder Hall", "Owner"), ("Milch am Markt e.K.", "Keeper")],
        ),
        (
            "Owner: Alder Bank plc\nKeeper: Sam Sorrel",
            [("Alder Bank plc", "Owner"), ("Sam Sorrel", "Keeper")],
        ),
        ("between Ada Alder and Sam Sorrel", [("Ada Alder", ""), ("Sam Sorrel", "")]),
        ("The goats are kept in the Alder Valley.", []),
        ("Place: Alder\nSubject: Goats", []),
        (
            "MOORING ADDENDUM\n\nThis Mooring Addendum with its schedules (“MA”) is part of the "
            "Mooring Policy, or of what is between Gull Moorings LLC (“Gull”) and its customer.",
            [("Gull Moorings LLC", "Gull")],
        ),
    ],
)
def test_each_party_has_its_name_and_its_role(opening: str, found: list[tuple[str, str]]) -> None:
    text = f"KEEPING OF GOATS\n\n{opening}{_KEPT}"
    named = parties_of(text)
    assert [(one.name, one.role) for one in named] == found
    for one in named:
        assert text[one.start : one.end] == one.name
        assert one.role in text[slice(*one.span)]
