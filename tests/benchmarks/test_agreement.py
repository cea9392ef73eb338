"""Agreement of the judge of groundedness with people, on sets of claims: the command."""

import json
from pathlib import Path

import pytest
from agreement import main

TEXT = "The harbour opened in 1912. It has two piers."
CLAIMS = [
    {"claim": "The harbour opened in 1912.", "evidence": TEXT, "label": "supported"},
    {"claim": "A railway was built to the quarry.", "evidence": TEXT, "label": "unsupported"},
    {"claim": "The harbour opened in 1913.", "evidence": TEXT, "label": "contradicted"},
]


def test_a_row_for_each_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "port.jsonl").write_text("\n".join(map(json.dumps, CLAIMS)), "utf-8")
    assert main(["--claims", str(tmp_path)]) == 0
    head, _, row = (
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in capsys.readouterr().out.splitlines()
    )
    found = dict(zip(head, row, strict=True))
    assert [found[name] for name in ("set", "claims", "supported", "called so")] == [
        *("port", "3", "1", "1"),
    ]
    assert {found[name].split()[0] for name in ("precision", "recall", "f1", "kappa")} == {"1.000"}
    (tmp_path / "port.jsonl").write_text("{}", "utf-8")
    assert main(["--claims", str(tmp_path)]) == 2
