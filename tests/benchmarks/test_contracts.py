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
    parties = [("Arbrook Mills", "Fenwick Tarn", 940), ("Quillon Dairy", "Oswin Pratt", 715)]
    (tmp_path / "documents").mkdir()
    probes = []
    for n, (landlord, tenant, rent) in enumerate(parties):
        text, name = _LEASE.format(landlord, tenant, rent), f"lease{n}.txt"
        (tmp_path / "documents" / name).write_text(text, encoding="utf-8")
        start = text.index("The tenant pays")
        lead = f"Consider the lease between {landlord} and {tenant}; "
        asked = {"document": name, "answerable": True, "spans": [[start, text.index("\n\n2.")]]}
        probes.append(asked | {"question": f"{lead}what is the monthly rent?"})
        asked = {"document": name, "answerable": False, "spans": []}
        probes.append(asked | {"question": f"{lead}does it contain a non-compete clause?"})
    lines = "\n".join(map(json.dumps, probes))
    (tmp_path / "probes.jsonl").write_text(lines, encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["contracts.py", "--contracts", str(tmp_path)])
    contracts.main()
    (every,) = capsys.readouterr().out.splitlines()[2:]
    assert every.startswith("| all | 2 | 1.000 | 1.000 | 1.000 | 0.000 | 2 | ")
    assert every.endswith(" | 1.000 |")
