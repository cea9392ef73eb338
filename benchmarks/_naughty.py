"""Texts that trip programs up, made class by class.

Each class is a way in which text is taken for something else: an escape, a template, markup, a
query, a command, a pattern, a number, a name. ``texts`` gives them all, ``follow_ups``
conversations of which every part is one of them in its turn.
"""

import random
from collections.abc import Iterator

_ESCAPES = ("\\", "\\\\", "\\1", "\\9", "\\g<1>", "\\g<name>", "\\g<", "\\u", "\\x", "\\N{", "\\k<a>",
            "C:\\new\\table", "\\\\host\\share", "\\Qa\\E", "a\\", "\\'", '\\"', "$1", "$&", "&")  # fmt: skip
_TEMPLATES = ("{}", "{0}", "{question}", "{0.__class__}", "{{passages}}", "{{", "}}", "{%raw%}",
              "%s", "%(name)s", "%n%d", "%", "100%", "${HOME}", "#{1}", "<%= 1 %>", "$x^{$", "{!r:>99}")  # fmt: skip
_MARKUP = ("<b>", "</b>", "<script>x()</script>", "<!--", "-->", "]]>", "<![CDATA[", "&amp;", "&#0;",
           "&nosuch;", "[red]", "[/]", "[/red]", "[link=x]", ":skull:", "[x](y)", "![x](y)", "`x`",
           "```", "# x", "| a | b |", "***", "~~x~~", "<data-1>", "</data-1>", "=== user ===",
           "<|endoftext|>", "[INST]", "\x1b[31m", "\x1b]0;x\x07", "[1]", "[999]", "[0-50]", "[1-9999999]")  # fmt: skip
_QUERIES = ("'", '"', "''", "' OR '1'='1", "'; DROP TABLE kept; --", '" OR ""="', "_", "%a%", "*", "a*",
            "NEAR(a b)", "a AND", "NOT", "a:b", "^a", "-a", "+a", "a~2", "(a", "a)", "a || b", "NULL")  # fmt: skip
_COMMANDS = ("$(ls)", "`ls`", "; ls", "| ls", "&& ls", "> x", "~", "..", "../..", "/etc/passwd", "-", "--",
             "--help", "-rf", "/quit", "/reset", "/up", "con", "nul.txt", "a/b", "a\tb", "!!", "file:///x")  # fmt: skip
_PATTERNS = (
    ".*",
    "[a-z",
    "(",
    ")",
    "(?P<a>",
    "(?i)",
    "a{9}",
    "a{2,1}",
    "+",
    "?",
    "^$",
    "(a+)+$",
    "\\d+",
    "[]",
    "|",
)
_NUMBERS = ("0", "-0", "00", "-1", "1e999", "NaN", "Infinity", "0x1f", "1_000", "1,000", "1,,0", "1.2.3.4", "½",
            "²", "①", "٣", "໓", "Ⅳ", "一", "𝟗", "9" * 5000, "0." + "3" * 5000, "§ " + "7" * 4500, "1" + ",000" * 900,
            "9999-99-99", "0000-00-00", "2024-02-30", "31 February", "99:99", "1/0", "twenty hundred million days",
            "[" + "1" * 3000 + "]", "IIIIIIIIIIIIV", "§²", "Article ①(²)(½)", "$٣ million")  # fmt: skip
_CHARACTERS = ("\ud800", "\udfff", "\udc00\ud800", "a\ud83d", "\ud83d\ude00", "\x00", "a\x00b", "\ufeff", "\ufffe",
               "\uffff", "\U0010ffff", "\ue000", "\x7f", "\x85", "\x1c", "\u2028", "\u200b", "\u200d", "\u202e",
               "\u2066", "\u061c", "\xad", "\xa0", "\u3000", "\u180e", "e\u0301", "a" + "\u0300" * 200, "👩‍👩‍👧", "🇪🇺",
               "👍🏿", "ß", "İ", "ı", "ſ", "ǅ", "ﬁ", "Å", "한", "ᄒ", "عربى", "עברית", "ไทย", "漢字", "Ω≈ç√", "€", "ﷺ", "𒐫")  # fmt: skip
_WORDS = ("null", "None", "undefined", "true", "nan", "inf", "system", "assistant:", "question", "self",
          "__proto__", "constructor", "lexloop", "default", "_", "a" * 3900, "a-" * 1900, "ab " * 1300)  # fmt: skip
_BLANKS = (
    "",
    " ",
    "\t",
    "\n",
    "\r\n",
    "\x0b\x0c",
    "\u2003" * 9,
    " " * 3000,
    "\n" * 3000,
    ".",
    "?",
    "...",
    "()",
    "!?",
)

CLASSES: dict[str, tuple[str, ...]] = {
    "escapes": _ESCAPES,
    "templates": _TEMPLATES,
    "markup": _MARKUP,
    "queries": _QUERIES,
    "commands": _COMMANDS,
    "patterns": _PATTERNS,
    "numbers": _NUMBERS,
    "characters": _CHARACTERS,
    "words": _WORDS,
    "blanks": _BLANKS,
}
_ABOUT = ("{}", "What is {}?", "What is the definition of '{}'?", "I would like to know about the {} of an audit.",
          "{} and what is a bias audit?", "What is the difference between {} and {}?", "Is {} § 20-871(b)(1)?")  # fmt: skip
_AFTER = ("What is it?", "What about its cost?", "Who enforces that, and when?", "And then?", "Why?", "{}",
          "What is its {}?", "Is it {} or {}?", "Compare it with {}.", "Their {}?", "How long is the {} kept?")  # fmt: skip


def texts() -> Iterator[str]:
    """Every text of every class."""
    for members in CLASSES.values():
        yield from members


def follow_ups(count: int, seed: int) -> Iterator[tuple[str, str, str]]:
    """A question, an answer to it and a question after that, so many times.

    Every text stands in a first question at least once where ``count`` allows.
    """
    chance = random.Random(seed)
    naughty = list(texts())
    for number in range(count):
        text = naughty[number % len(naughty)]
        other = chance.choice(naughty)
        yield (
            _put(chance.choice(_ABOUT), text),
            chance.choice(("A bias audit is impartial [1].", "", other)),
            _put(chance.choice(_AFTER), chance.choice((text, other))),
        )


def _put(frame: str, text: str) -> str:
    return frame.replace("{}", text)[:4000]
