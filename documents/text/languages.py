"""The language of a text, recognised by its small words, which no sentence lacks.

Questions are short, and full of names, Latin and typing errors, so libraries that guess from
letters are wrong too often. A word such as ``wird`` or ``alla`` is reliable.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from operator import itemgetter

from lexloop.core.folding import folded

_WORD = re.compile(r"(?<![\w./@])[^\W\d_]++(?![\d_@])(?:['’](?=[^\W\d_]))?")
_LEAST_LETTERS = 3
"""From this many letters of another script on, a question is written in it."""
_SHORT = 5
"""Text of at most this many letters, all Chinese characters, may be Japanese."""
_SHARE = 0.2
"""The share of the first language's count of small words that makes a further language."""
_DENSE = 0.1
"""The share of small words in any running text of a language that is known here."""
_PARTICLES = frozenset("da das de del della den der di do dos el la le los van von y".split())
"""Small words that names have as well."""

_SMALL_WORDS = {
    "English": """a about an and any are as at be been by can could did do does for from had has
        have how i if in into is it its may me must my no not of on or our shall she should so such
        than that the their them there these they this to under us was we were what when where
        which who whom whose why will with without would you your am also all he his her""",
    "German": """aber als auch auf aus bei bin bis bist darf das dass dem den der des dürfen
        durch ein eine einem einen einer eines es für gibt haben hat ich ihr im in ist
        kann kein keine können mein meine mich mir mit muss müssen nach nicht ob oder
        ohne sein sich sie sind soll sollen über um und uns unser unter vom von vor wann
        warum was welche welchem welchen welcher welches wenn wer werden wie wieso will
        wir wird wo wurde zu zum zur zwischen""",
    "French": """à afin ai au aucun aussi aux avec avoir ce ces cet cette comment dans de des
        doit doivent du elle elles en est être faut il ils je la le les leur leurs
        lorsque ma mes mon ne nos notre nous ont ou où pas pendant peut peuvent pourquoi
        puis quand que quel quelle quelles quels qui quoi sa sans ses si sont sous tout
        toute un une vos votre vous y l' d' c' j' n' s' m' t' qu' lorsqu' puisqu' jusqu'
        aujourd'""",
    "Spanish": """a al antes como cómo con cual cuál cuáles cuando cuándo cuánto cuántos de debe
        deben del desde donde dónde el él ella en entre es esta está este esto están fue
        ha hay la las le les lo los mi mis muy ni no nos o para pero por porque puede
        pueden puedo que qué quien quién quiénes se según ser si sí sin sobre su sus
        también te tiene tienen un una unos y ya""",
    "Italian": """a agli ai al alla alle anche che chi ci come con cosa cui da dal dalla degli dei
        del della delle deve devono di dove e è ed essere fra gli ha hanno i il in io la
        le lo loro ma mi mia mio nei nel nella nelle o ogni perché possono può qual
        quale quali quando quanto quanti se senza si sono su sua sui sul sulla suo tra
        un una uno l' d' c' dell' all' nell' sull' dall' cos' un' dov' quest'""",
    "Dutch": """aan als bij dat de deze dit een en er geen geldt hebben heeft het ik in is kan
        kunnen maar mag mijn mogen moet moeten naar niet nog of om onder ons ook op te
        tot tussen uit u uw van voor waar waarom wanneer wat we welk welke werd wie wij
        wordt worden zal zich zij zijn zonder zou""",
    "Portuguese": """a ao aos as até com como da das de deve devem do dos e é ela ele em entre
        essa esse esta este está foi há isso lhe mais mas me meu minha muito na não nas no nos o
        os ou para pela pelo pode podem por porque posso qual quais quando quanto que quê quem se
        sem ser seu sua são só sobre também tem têm um uma""",
    "Polish": """a albo ale być był bez co czy dla dlaczego do dotyczy gdy gdzie i ich ile jak
        jaka jaki jakie jakich jako jest jestem jeśli każdy kiedy kogo kto która które który lub ma
        mają mi może można mogę mój muszą musi na nad nie niż o od oraz po pod podczas przed przez
        przy są się ta tak także tej ten to tych tylko tym w we wolno z za ze że został""",
    "Swedish": """alla att av bara de dem den det detta efter eller en ett från för får får ha har
        hur i inte jag kan man med mig min måste mot när några och om på sig sin skall
        ska som till ut utan vad var vara varför vem vi vid vilka vilken vilket är över""",
    "Danish or Norwegian": """af alle at av da de dem den denne der det du eller en er et fra før
        gjelder gælder ha har hva hvad hvem hver hvilke hvilken hvilket hvis hvor hvordan
        hvornår hvorfor i ikke jeg kan man med min må når og også om på seg sig skal som
        til uten uden ved vi være""",
    "Czech": """a aby ale ani až být bez by bylo co či do i já jak jaká jaké jaký jako je jeho
        jejich jestli již jsem jsou k kde kdo kdy kdy které která který má mají mezi
        mohou může musí na nebo není o od po pod podle proč před při s se si ta tak také
        ten to u v ve však z za ze že""",
    "Romanian": """a ale am au ca care că cât când ce cea cei cel cine către cu cum cui de de din
        după este fi fie fără în la lui mai mea meu nu o ori pe pentru pot poate prin sau se sunt
        să și te trebuie un unei unde unui va""",
    "Hungarian": """a az azt be csak de egy el és ez ezt ha hogy hogyan hol ki kell kik lehet
        meg mely mennyi mi miért mikor milyen mit minden nem olyan s sem szabad és vagy van vannak
        volt""",
    "Finnish": """ei eivät että ja jos joka jotka kenen koska kuin kuinka kuka kun mikä miksi
        milloin minkä missä miten mitä mutta niin ole olla on onko ovat pitää saa sen se sekä tai
        tämä täytyy vai voi voiko voivat""",
    "Turkish": """ama bir bu çok da daha de değil en gibi hangi için ile kaç kadar kim mı mi mu mü
        mıdır midir ne neden nedir nasıl olan olarak ve veya ya zaman""",
}
NOT_ANSWERED = (
    "It was not translated, and so not answered: ask it in the documents' language, or set a "
    "model, which translates it."
)
MAY_MISS = (
    "It was not translated, so the answer may miss what is asked: ask it in the documents' "
    "language, or set a model, which translates it."
)
"""The warning about different languages, for a question without and with an answer."""
_SCRIPTS = {"Cjk": "Chinese", "Hiragana": "Japanese", "Katakana": "Japanese", "Hangul": "Korean"}
_SENTENCE = re.compile(r"[^\n.!?;。！？]{12,}")
_FEWEST, _PART, _MOST_READ = 5, 0.25, 1_000_000
"""The fewest words of a sentence whose language is recognised, the least share of small words, and
the characters of a document that are read.
"""
_SETS = {name: frozenset(listed.split()) for name, listed in _SMALL_WORDS.items()}
_LANGUAGES_OF = {
    word: [name for name, small in _SETS.items() if word in small]
    for word in frozenset().union(*_SETS.values())
}


def languages_of(texts: Iterable[str]) -> list[str]:
    """Return the languages of texts, and their scripts except Latin, most used first."""
    counts = Counter(word for text in texts for word in words_of(text))
    total, most = counts.total(), 0
    known: list[str] = []
    unexplained = dict(counts)
    while unexplained:
        sums = {name: sum(n for w, n in unexplained.items() if w in s) for name, s in _SETS.items()}
        name, count = max(sums.items(), key=itemgetter(1))
        most = most or count
        if count < max(1, _SHARE * most, _DENSE * total * _SHARE) or most < _DENSE * total:
            break
        known.append(name)
        unexplained = {word: n for word, n in unexplained.items() if word not in _SETS[name]}
    scripts: Counter[str] = Counter()
    for word, count in counts.items():
        scripts[_script(word)] += count
    if scripts["Japanese"] >= _SHARE * scripts["Chinese"]:  # its words may have Chinese signs alone
        scripts["Japanese"] += scripts.pop("Chinese", 0)
    return known + [
        f"{s} script" for s, n in scripts.items() if s != "Latin" and n >= max(1, _SHARE * total)
    ]


def small_words(languages: Collection[str]) -> frozenset[str]:
    """Return the small words of some languages; of all known ones if none is given."""
    return frozenset().union(*(_SETS.get(name, ()) for name in languages or _SETS))


def other_language(question: str, languages: Collection[str], known: Collection[str]) -> str:
    """Return the language of a question if the documents are not in it; otherwise "".

    The language is not guessed beyond the question's own words: if two languages match equally,
    both are named. ``languages`` come from ``languages_of``, and ``known`` are those words of the
    question (``words_of``) that the documents contain.
    """
    words = words_of(question)
    scripts: Counter[str] = Counter()
    for word in words:
        scripts[_script(word)] += len(word)
    script, letters = max(scripts.items(), key=itemgetter(1), default=("Latin", 0))
    if script == "Chinese" and letters <= _SHORT and "Japanese script" in languages:
        script = "Japanese"
    if not languages:
        return ""
    if script != "Latin":
        foreign = letters >= _LEAST_LETTERS and f"{script} script" not in languages
        return f"{script} script" if foreign else ""
    home = frozenset[str]().union(*(_SETS.get(name, ()) for name in languages))
    large = [word for word in words if not any(word in small for small in _SETS.values())]
    mostly_known = 2 * sum(word in known for word in large) > len(large)
    others = {name: small for name, small in _SETS.items() if name not in languages}
    evidence = {name: _evidence(words, small, home, mostly_known) for name, small in others.items()}
    best = max(evidence.values(), default=0)
    return " or ".join(name for name, n in evidence.items() if n == best) if best else ""


def mismatch(language: str, languages: Sequence[str]) -> str:
    """Return the warning that a question is not in the language of the documents.

    Args:
        language: Language of the question.
        languages: Languages of the documents, from ``languages_of``.
    """
    return (
        f"The question seems to be in {language}, and the documents are in "
        f"{' and '.join(languages)}."
    )


def read_badly(languages: Sequence[str]) -> str:
    """Return the warning for documents only in scripts that the models cannot read; otherwise "".

    Args:
        languages: Languages of the documents, from ``languages_of``.
    """
    if not languages or not all(name.endswith(" script") for name in languages):
        return ""
    return (
        f"The documents are in {' and '.join(languages)}, a language that is read badly without "
        "a model: search for exact words finds them all."
    )


def foreign_languages(text: str, languages: Sequence[str]) -> list[str]:
    """Return the languages of a document's sentences that are not in ``languages``.

    Args:
        text: Text of the document; only the beginning of a very long one is read.
        languages: Languages from ``languages_of``; if empty, nothing is returned.
    """
    return [*_foreign(text[:_MOST_READ], tuple(languages))] if languages else []


@lru_cache(maxsize=1 << 4)  # asked of the same documents by one question after another
def _foreign(text: str, languages: tuple[str, ...]) -> tuple[str, ...]:
    home = frozenset[str]().union(*(_SETS.get(name, ()) for name in languages))
    scripts = (_strange(sentence, home) for sentence in _SENTENCE.findall(text))
    return tuple(dict.fromkeys(name for name in scripts if name and name not in languages))


def _strange(sentence: str, home: frozenset[str]) -> str:
    """Return the language of a sentence without any of the small words ``home``; else ""."""
    words = words_of(sentence)
    letters = Counter[str]()
    for word in words if not all(map(str.isascii, words)) else ():
        letters[_script(word)] += len(word)
    script, most = max(letters.items(), key=itemgetter(1), default=("Latin", 0))
    if script != "Latin" and 2 * most > letters.total():
        return f"{script} script"
    usual = {word for word in words if len(word) > 1 and word in _LANGUAGES_OF}
    written = f" {sentence.replace('’', chr(39))}"
    small = {word for word in usual if f" {word}" in written}  # words in capitals are names
    if usual & home or len(words) < _FEWEST:
        return ""
    counts = Counter(name for word in small for name in _LANGUAGES_OF[word])
    name, count = max(counts.items(), key=itemgetter(1), default=("", 0))
    named = small & _SETS.get(name, frozenset()) <= _PARTICLES
    return "" if named or count < max(2, _PART * len(words)) else name


def partly_in(document: str, languages: Sequence[str]) -> str:
    """Return the sentence for a document that has some in other languages than the question."""
    return f"{document} is partly in {' and '.join(languages)}: what it says there may be missed."


def _evidence(
    words: list[str], small: Collection[str], home: Collection[str], mostly_known: bool
) -> int:
    """Return how many words speak for a language; 0 for few, or as many for the documents'."""
    speaking = [word for word in words if word in small and word not in _PARTICLES]
    foreign = [word for word in speaking if word not in home]
    against = [word for word in words if word in home and word not in small]
    enough = len(speaking) > 1 and (not mostly_known or 3 * len(speaking) >= len(words))
    return len(speaking) if enough and len(foreign) > len(against) else 0


def words_of(text: str) -> list[str]:
    """Return the words in lower case; an elided word keeps its apostrophe."""
    return [word.replace("’", "'") for word in _WORD.findall(folded(text).lower())]


def _script(word: str) -> str:
    """Return the script of a word, as Unicode names it: Latin, Cyrillic, Greek.

    Japanese uses Chinese characters as well as its own.
    """
    scripts = [_script_of(letter) for letter in dict.fromkeys(word)]
    return "Japanese" if "Japanese" in scripts else scripts[0]


@lru_cache(maxsize=1 << 12)
def _script_of(letter: str) -> str:
    name = unicodedata.name(letter, "unknown").partition(" ")[0].capitalize()
    return _SCRIPTS.get(name, name)
