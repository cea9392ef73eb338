"""What ``benchmarks/contracts.py`` asks of a collection, and what it counts, by hand."""

import json
import sys
from pathlib import Path

import contracts
import pytest

_LEASE = """LEASE between {} and {}

1. Rent. The tenant pays a monthly rent of {} euros on the first day of each month.

2. Repairs. The landlord repairs the roof, the walls and the heating within thirty days.

3. Keys. The tenant returns all keys on the last day of the lease.
"""


def test_a_clause_is_cited_of_the_contract_described(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    parties = [
        ("Arbrook Mills", "Fenwick Tarn", 940),
        ("Quillon Dairy", "Oswin Pratt", 715),
        ("Tolmere Brewery", "Ines Calder", 820),
    ]
    (tmp_path / "documents").mkdir()
    probes = []
    for n, (landlord, tenant, rent) in enumerate(parties):
        text, name = _LEASE.format(landlord, tenant, rent), f"lease{n}.txt"
        (tmp_path / "documents" / name).write_text(text, encoding="utf-8")
        start = text.index("The tenant pays")
        lead = f"Consider the lease between {landlord} and {tenant}; "
        spans = [[start, text.index("\n\n2.")]]
        for there, asked in (
            (True, "what is the monthly rent?"),
            (False, "which sport is played?"),
        ):
            probe = {"document": name, "answerable": there, "spans": spans if there else []}
            probe |= {"category": asked, "bare_question": asked, "question": f"{lead}{asked}"}
            probes.append(probe)
    lines = "\n".join(map(json.dumps, probes))
    (tmp_path / "probes.jsonl").write_text(lines, encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["contracts.py", "--contracts", str(tmp_path)])
    contracts.main()
    (every,) = capsys.readouterr().out.splitlines()[2:]
    assert every.startswith("| all | 3 | 1.000 | 1.000 | 1.000 | 0.000 | 3 | ")
    assert every.endswith(" | 1.000 |")
    monkeypatch.setattr(sys, "argv", [*sys.argv, "--three"])
    contracts.main()
    (each,) = capsys.readouterr().out.splitlines()[2:]
    assert each == "| 30 collections | 1 | 3 | 1.000 | 1.000 | 0 |  |"
