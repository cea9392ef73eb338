"""Words for crimes and sex: they colour the facts that a question is put with.

Documents that answer a question often have no such word. A question is not to be refused for it,
so where it is, it is looked at once more without these words.
"""

import re
from collections.abc import Callable

_STEMS = r"""
    abduct abus accomplice adulter arson assassin assault behead bestial blackmail bomb brib brothel
    bullied bully burglar cannabis cocaine coerc copulat corpse corrupt counterfeit crime criminal
    defraud dildo drug embezzl erotic escort exhibitionis explosiv extort felon fetish fondl forge
    fornicat fraud gang genital gore groom gun hack harass heroin hijack homicid hooker hostage
    incest indecen intercourse kidnap kill kinky knife larcen launder lewd loot manslaughter
    masturbat methamphetamine misdemean molest mugger murder naked narcotic nude nudit obscen orgasm
    orgy paedophil pedophil penis perjur pervert pimp poison porn prostitut ransom robb scam seduc
    sext sexual sexy shoplift shoot slaughter smuggl sodom stabb stalk steal stole strangl stripper
    striptease suicid swindl terroris theft thief thiev thug tortur traffick trespass undress
    upskirt vagina vandal victim violen voyeur weapon whor
""".split()
_DELICATE = re.compile(
    rf"\b(?:(?:{'|'.join(_STEMS)})\w*|rap(?:e|ed|es|ing|ists?)|sex)\b", re.IGNORECASE
)
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_LEFT_ALONE = re.compile(r"(?: (?:and|or|of|for|by|to|with|from))* ?(?=[.,;?!]|$)", re.IGNORECASE)


def plainer(question: str, knows: Callable[[str], bool]) -> str:
    """A question that names crimes or sex, without the words that the documents lack.

    Args:
        question: The question.
        knows: Whether the documents have a word; small words, which all texts have, it knows.
    """
    if not _DELICATE.search(question):
        return question
    left = _WORD.sub(lambda found: found.group() if knows(found.group()) else "", question)
    return " ".join(_LEFT_ALONE.sub("", " ".join(left.split())).split())
