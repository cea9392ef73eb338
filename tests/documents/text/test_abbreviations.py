"""Where sentences end at full stops, in ten languages, by evidence."""

import pytest

from lexloop.documents.text.tokens import sentence_spans


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    "sentence",
    [
        # companies
        'Kornhof e.K. (the "Vendor"), Molino S.r.l. (the "Buyer") and Dam & Zn. N.V. sell it.',
        "Hop & Co. KG ships flour from Olio d'Oro S.p.A. Bari to Tulp B.V. with a seat in Delft.",
        "The clock (approx. 30 years old, incl. Case and key) goes to Mr. Vale.",
        "It is open ca. 3 hours a day, cf. para. 3 and fig. 2 of the plan.",
        # German
        "Wer das 16. Lebensjahr vollendet hat, darf den Kran bedienen.",
        "Der Vertrag vom 3. Mai 2021 endet am 31. Dezember 2026 um 24 Uhr.",
        "Die Halle liegt in St. Gallen, vgl. § 5 Abs. 2 Satz 1 i.V.m. § 7 der Satzung.",
        "Die Kasse führt Hr. Weber gem. Nr. 4 der Ordnung für ca. 30 Euro im Jahr.",
        # French
        "La dame Mme. Dupont et M. Leroy paient la somme de l'art. L. 12, al. 2 du code.",
        "Pain d'Or S.A.R.L. (le « Vendeur ») et la Cie. Générale vendent le four.",
        # Spanish
        "El Sr. García y la Sra. López pagan según el art. 5, núm. 3 y la pág. 12.",
        # Italian
        "Il Sig. Rossi e la Dott.ssa Bianchi pagano ai sensi dell'art. 5, co. 2 e del n. 7.",
        # Dutch
        "De heer Mr. Jansen en Fa. Dekker betalen vlg. art. 5 lid 2, blz. 3.",
        # Portuguese
        "A Fundação e o Sr. Costa pagam nos termos do art. 5.º, n.º 2 e da pág. 4.",
        # Polish
        "Zgodnie z art. 5 ust. 2 ustawy (Dz. U. z 2020 r. poz. 55) ul. Długa jest zamknięta.",
        # Swedish
        "Enligt kap. 3 § 5 och 4 st. ska bolaget betala t.ex. 30 kr.",
        # Danish
        "Selskabet, jf. § 5, stk. 2 og nr. 3, betaler ca. 30 kr. pr. dag.",
        # Czech
        "Dle čl. 5 odst. 2 a zák. č. 40 platí Ing. Novák a Mgr. Horák nájem.",
    ],
)
def test_a_sentence_goes_on_behind_an_abbreviation(sentence: str) -> None:
    assert sentences(sentence) == [sentence]


@pytest.mark.parametrize(
    "expected",
    [
        ["The buyer is Blends s.r.o.", "The seller is Olio d'Oro S.p.A.", "It has a shop in Bari."],
        ["The Vendor is Acme Inc.", "The Buyer is Bolt Ltd.", "It pays."],
        ["The seat is in the U.S.", "The law of Delaware applies."],
        ["This includes pots, pans, etc.", "The cook washes them."],
        ["The fee is 16.", "The tenant pays it."],
        ["The rent is due on May 3.", "Payment in cash is refused."],
        ["The tenant pays the fee.", "2. The landlord mends the roof."],
        ["It follows Section 6.2.", "6.3 Quality is checked."],
        ["It names GitHub.", "Stripe pays."],
        ["Copies go to the board.", "(See the list.)"],
        ["Das Entgelt steht in § 16.", "Der Mieter zahlt."],
        ["Es gilt die Satzung der Mühlen GmbH.", "Die Satzung liegt aus."],
        ["El precio es de 30 euros.", "El comprador paga."],
    ],
)
def test_a_sentence_ends_where_another_begins(expected: list[str]) -> None:
    assert sentences(" ".join(expected)) == expected


def test_a_small_word_shortens_none() -> None:
    text = "The keeper shall keep it. However, one may lend it."
    assert sentence_spans(text) == [(0, 25), (26, 51)]


def test_what_goes_on_elsewhere_in_the_text_is_an_abbreviation() -> None:
    text = "The rate is calc. Tuesday morning. It is calc. by the clerk."
    assert sentences(text) == ["The rate is calc. Tuesday morning.", "It is calc. by the clerk."]
