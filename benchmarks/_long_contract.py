"""A contract of more than 60,000 characters: sixteen schedules of one form with other figures."""

from itertools import starmap
from pathlib import Path

_SERVICES = (
    ("Pilotage", "pilots board a vessel", "pilot station"),
    ("Towage", "tugs make fast to a vessel", "tug berth"),
    ("Mooring", "linesmen take the lines of a vessel", "mooring crew"),
    ("Crane hire", "a crane is ready at the quay", "crane control room"),
    ("Reefer monitoring", "a refrigerated container is connected", "reefer yard"),
    ("Weighing", "a container is weighed", "weighbridge"),
    ("Waste reception", "waste is collected from a vessel", "waste depot"),
    ("Shore power", "a vessel is connected to shore power", "substation"),
    ("Fresh water supply", "a water barge comes alongside", "water barge office"),
    ("Gate control", "a lorry passes the gate", "gate house"),
    ("Rail shunting", "wagons are placed at the ramp", "signal box"),
    ("Customs escort", "an escort is provided", "escort desk"),
    ("Ice clearance", "the basin is cleared of ice", "ice patrol"),
    ("Fire cover", "a fire crew stands by", "fire station"),
    ("Diving works", "a diver has inspected a hull", "diving base"),
    ("Waste water", "waste water is pumped ashore", "pumping station"),
)

_HOME = Path(__file__).with_name("port-services")


def _schedule(place: int, service: tuple[str, str, str]) -> str:
    title, done, station = service
    n = place + 1
    charge = 340 + 95 * ((n * 5) % 14)
    figures = {
        "staff": 2 + n % 4,
        "lead": 4 + 2 * (n % 5),
        "confirm": 10 + 5 * ((n * 3) % 7),
        "cancel": 3 + n % 6,
        "begin": 15 + 5 * ((n * 4) % 9),
        "level": 90 + (n * 2) % 9,
        "margin": 10 + 5 * (n % 4),
        "storm": 7 + n % 3,
        "credit": 2 + n % 3,
        "most": 12 + 2 * ((n * 3) % 8),
        "plan": 8 + n % 9,
        "end": 45 + 5 * ((n * 7) % 11),
        "charge": f"{charge:,}",
        "night": f"{charge + 120 + 15 * n:,}",
        "urgent": 20 + 5 * (n % 6),
        "holiday": 30 + 5 * ((n * 2) % 7),
        "length": 60 + 10 * (n % 5),
        "minimum": 20 + 4 * n,
        "training": 24 + 8 * (n % 6),
        "repeat": 2 + n % 3,
        "inspect": 6 + 2 * (n % 4),
        "report": 6 + (n * 3) % 9,
        "accident": 12 + 6 * (n % 4),
        "sub": 10 + 5 * ((n * 5) % 7),
        "refuse": 5 + n % 7,
        "excluded": 3 + n % 4,
        "fail": 6 + 3 * (n % 7),
        "answer": 4 + (n * 2) % 9,
        "late": 30 + 10 * (n % 6),
    }
    text = _read("schedule").format(n=n, title=title.upper(), done=done, place=station, **figures)
    return text + (_read("alarms") if title == "Reefer monitoring" else "")


def _read(name: str) -> str:
    return (_HOME / f"{name}.txt").read_text(encoding="utf-8")


def long_contract() -> str:
    """Return the contract's text."""
    return _read("articles") + "".join(starmap(_schedule, enumerate(_SERVICES)))
