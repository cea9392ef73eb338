"""What gateways answer in a model's place, with status 200: made by a fixed seed."""

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from fake_openai import Reply

_CODES = (
    "400 Bad Request",
    "403 Forbidden",
    "404 Not Found",
    "408 Request Timeout",
    "429 Too Many Requests",
    "500 Internal Server Error",
    "502 Bad Gateway",
    "503 Service Unavailable",
    "504 Gateway Time-out",
)
_PAGES = (
    "<html><head><title>{}</title></head><body><center><h1>{}</h1></center><hr>nginx</body></html>",
    '<!DOCTYPE html>\n<html lang="en"><body><h2>{}</h2><p>Ray ID: {}</p></body></html>',
    '<?xml version="1.0"?><Error><Code>{}</Code><RequestId>{}</RequestId></Error>',
    "<h1>{}</h1><p>The server was unable to complete your request. {}</p>",
)
_MESSAGES = (
    "{}",
    "{}: upstream connect error or disconnect/reset before headers. reset reason: {}",
    "no healthy upstream ({}, {})",
    "Error: {} while proxying to backend {}",
    "The model is overloaded, try again later ({}, {}).",
    "stream timeout {} {}",
    "Sign in to continue. {} {}",
    "Your trial has expired. Contact sales to go on. {} {}",
    "Unauthorized client {} {}",
    "ok {} {}",
)
_NAMES = ("foo", "detail", "message", "status", "error", "data", "result", "output", "reply")


def garbage(count: int, seed: int) -> Iterator[Reply]:
    """Pages, data, messages and nothing, as a whole body or as the words of a completion."""
    chance = random.Random(seed)
    for _ in range(count):
        text = chance.choice((_page, _data, _message, _nothing))(chance)
        if chance.random() < 0.5:
            kind = "text/html" if text.startswith("<") else "application/json"
            yield Reply(body=text.encode(), headers={"Content-Type": kind})
        else:
            yield Reply(text)


def _told(chance: random.Random) -> tuple[str, str]:
    return chance.choice(_CODES), f"{chance.getrandbits(40):x}"


def _page(chance: random.Random) -> str:
    return chance.choice(_PAGES).format(*_told(chance))


def _message(chance: random.Random) -> str:
    return chance.choice(_MESSAGES).format(*_told(chance))


def _nothing(chance: random.Random) -> str:
    return chance.choice(("", " ", "\n\n", "\u200b", "null", "{}", "[]", "...", "---"))


def _data(chance: random.Random) -> str:
    code, told = _told(chance)
    inner = chance.choice((code, told, 7, None, [code], {"message": code}, {"answer": told}))
    made = json.dumps({chance.choice(_NAMES): inner}, indent=chance.choice((None, 2)))
    return chance.choice((made, f"[{made}]", f"```json\n{made}\n```"))
