"""The contracts that other systems are compared by: the judge tells right from wrong, and this store keeps its own."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import contracts_own
from contracts import FAIL, NONE, PASS, judged, table
from contracts_protocol import holding, results_of

CASES = json.loads((Path(contracts_own.__file__).parent / "contract_cases.json").read_text(encoding="utf-8"))
KEPT = [
    c for c in CASES if c["contract"] in ("supersede", "late", "conflict", "repetition", "deletion", "leakage", "time")
]
ANSWER = {"steps": [{"op": "ask", "right": {"says": ["Oslo"], "silent_of": ["Bergen"]}}], "id": "x"}


@pytest.mark.parametrize("case", [pytest.param(c, id=c["id"]) for c in KEPT])
def test_a_contract_is_kept(case: dict[str, Any]) -> None:
    """By the verbs alone, in the steps that every system is given."""
    assert judged(case, results_of(contracts_own.Own, case)) == (PASS, "")


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ({"text": "Dana lives in Oslo."}, PASS),
        ({"text": "Dana lives in Bergen."}, FAIL),
        ({"text": "Oslo, before that Bergen"}, FAIL),
        ({"error": "KeyError: Oslo"}, FAIL),
        ({"not_offered": "no such verb"}, NONE),
    ],
)
def test_the_judge_tells_right_from_wrong(result: dict[str, Any], said: str) -> None:
    """What is missing, what should not be there, an error, and what is not offered."""
    assert judged(ANSWER, [result])[0] == said


def test_every_case_can_fail() -> None:
    """Each has a step with a condition; ids are unique; each contract has at least six cases."""
    assert len({c["id"] for c in CASES}) == len(CASES)
    assert all(any(step.get("right") for step in c["steps"]) for c in CASES)
    contracts = [c["contract"] for c in CASES]
    assert all(contracts.count(contract) >= 6 for contract in set(contracts))
    for case in CASES:
        wrong: list[dict[str, Any]] = [
            {} if s.get("right") == {"error": True} else {"error": "nothing", "flagged": False, "origin": False}
            for s in case["steps"]
        ]
        assert judged(case, wrong)[0] == FAIL, case["id"]


def test_files_are_looked_into(tmp_path: Path) -> None:
    """Text in plain files, Parquet and archives is found."""
    import gzip
    import zipfile

    import pyarrow as pa
    from pyarrow import parquet

    (tmp_path / "a.txt").write_text("the secret zx81")
    parquet.write_table(pa.table({"t": ["the secret zx81"]}), tmp_path / "b.parquet", compression="zstd")
    (tmp_path / "c.gz").write_bytes(gzip.compress(b"the secret zx81"))
    with zipfile.ZipFile(tmp_path / "d.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("inside", "the secret zx81 " * 50)
    (tmp_path / "e.txt").write_text("nothing")
    assert list(holding(tmp_path, "zx81")) == ["a.txt", "b.parquet", "c.gz", "d.zip"]


def test_the_table_has_every_case() -> None:
    """One line a case, one a contract."""
    outcomes = {"own": {c["id"]: (PASS, "") for c in CASES}}
    told = table(CASES, outcomes)
    assert all(c["title"] in told for c in CASES)
    assert f"| all | {len(CASES)} | {len(CASES)} kept of {len(CASES)} |" in told
