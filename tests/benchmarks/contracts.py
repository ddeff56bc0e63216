"""The same cases given to grail_mem and to the systems that it is compared with, and who keeps which contract.

`python tests/benchmarks/contracts.py [--python citefold=VENV/bin/python --python graphgrail=VENV/bin/python] [--only ID …]
[--json FILE] [--markdown FILE]`. Every system runs in an interpreter of its own by `contracts_<name>.py`; one without an interpreter
is left out. The cases are `contract_cases.json`: steps in words of no system, and what is right. The JSON has every raw answer.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent
SYSTEMS: Final = ("own", "citefold", "graphgrail")
NAMES: Final = {"own": "grail_mem", "citefold": "citefold", "graphgrail": "graphgrail"}
PASS, FAIL, NONE = "pass", "fail", "not offered"

Result = Mapping[str, Any]


def missed(right: Mapping[str, Any], result: Result, before: Sequence[Result]) -> list[str]:
    """What a result lacks of what is right, in words; empty when it is right.

    Args:
        right: The conditions of a step.
        result: What the system gave.
        before: What it gave for the steps before.
    """
    if right == {"error": True}:
        return [] if "error" in result else ["it was done"]
    if "error" in result:
        return [str(result["error"])]
    text = str(result.get("text", ""))
    current = "\n".join(result.get("items", ()))
    said: list[str] = []
    for name, wanted in right.items():
        match name:
            case "says":
                said += [f"does not say {w!r}" for w in wanted if w not in text]
            case "silent_of":
                said += [f"says {w!r}" for w in wanted if w in text]
            case "current_silent_of":
                said += [f"says {w!r} as current" for w in wanted if w in current]
            case "ended":
                said += [f"{w!r} is not marked as over" for w in wanted if not any(w in e for e in result["ended"])]
            case "mentions_at_most":
                n = text.count(wanted[0])
                said += [f"says {wanted[0]!r} {n} times"] if n > wanted[1] else []
            case "marks_by_items":
                n = before[1].get("marks", 0) + (len(result["items"]) - len(before[1]["items"])) * (
                    result.get("marks_right") is None
                )
                said += [f"{result['marks']} end marks for {len(result['items'])} items"] if result["marks"] > n else []
            case "no_more_than_step" | "more_than_step":
                once, now = _sureness(before[wanted]), _sureness(result)
                is_more = now > once
                said += [f"from {once} to {now}"] if is_more != (name == "more_than_step") else []
            case "files":
                said += [f"in {', '.join(result['files'][:4])}"] if result["files"] else []
            case "acknowledged_of":
                lost = [t for t in before[wanted]["acknowledged"] if t not in text]
                said += [f"lost {len(lost)} acknowledged notes"] if lost else []
            case "n_acknowledged":
                n = len(before[0]["acknowledged"])
                said += [f"{wanted - n} writes failed: {str(before[0]['failed'])[-160:]}"] if n != wanted else []
            case "reason":
                said += [] if result.get("reason") else ["no reason"]
            case _:  # a value as it is
                said += [f"{name} is {result.get(name)!r}"] if result.get(name) != wanted else []
    return said


def _sureness(result: Result) -> tuple[Any, ...]:
    return (result["confidence"], *(result.get("authors") or ()), *(result.get("strength") or ()))


def judged(case: Mapping[str, Any], results: Sequence[Result]) -> tuple[str, str]:
    """Whether a case is kept, and why not."""
    faults: list[str] = []
    for number, (step, result) in enumerate(zip(case["steps"], results, strict=True)):
        if "not_offered" in result:
            return NONE, str(result["not_offered"])
        right = step.get("right")
        if right is None:
            if "error" in result and not _may_refuse(case, number):
                faults.append(f"{step['op']}: {result['error']}")
            continue
        lacking = [n for n in right if n in ("flagged", "origin_shown") and n.removesuffix("_shown") not in result]
        if lacking:
            return NONE, f"no sign of {lacking[0].removesuffix('_shown')}"
        right = {n.removesuffix("_shown"): w for n, w in right.items()}
        faults += missed(right, result, results[:number])
    return (FAIL, "; ".join(faults)) if faults else (PASS, "")


def _may_refuse(case: Mapping[str, Any], number: int) -> bool:
    """Whether a step before the judged one may be refused, such as an import of what was erased."""
    return case["id"] == "deletion-import" and case["steps"][number]["op"] == "tell"


def ask(name: str, python: str, cases: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What a system did with the cases, in an interpreter of its own."""
    done = subprocess.run(
        [python, str(HERE / f"contracts_{name}.py")],
        input=json.dumps(cases),
        text=True,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{name}: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.rstrip().splitlines()[-1])
    return found


def table(cases: Sequence[Mapping[str, Any]], outcomes: Mapping[str, Mapping[str, tuple[str, str]]]) -> str:
    """The contracts as a markdown table, then every case."""
    named = list(outcomes)
    lines = [f"| contract | cases | {' | '.join(NAMES[n] for n in named)} |", f"|---|---:|{'---|' * len(named)}"]
    for contract in dict.fromkeys(c["contract"] for c in cases):
        mine = [c["id"] for c in cases if c["contract"] == contract]
        lines.append(
            f"| {contract} | {len(mine)} | {' | '.join(_counts([outcomes[n][i][0] for i in mine]) for n in named)} |"
        )
    everything = [_counts([outcomes[n][c["id"]][0] for c in cases]) for n in named]
    lines.append(f"| all | {len(cases)} | {' | '.join(everything)} |")
    for contract in dict.fromkeys(c["contract"] for c in cases):
        lines += [
            "",
            f"### {contract}",
            "",
            f"| case | right | {' | '.join(NAMES[n] for n in named)} |",
            f"|---|---|{'---|' * len(named)}",
        ]
        for c in cases:
            if c["contract"] == contract:
                cells = [_cell(*outcomes[n][c["id"]]) for n in named]
                lines.append(f"| {c['title']} | {c['right']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _counts(said: Sequence[str]) -> str:
    n_offered = sum(s != NONE for s in said)
    gone = f", {len(said) - n_offered} not offered" if n_offered < len(said) else ""
    return f"{said.count(PASS)} kept of {n_offered}{gone}" if n_offered else NONE


def _cell(said: str, why: str) -> str:
    plain = (
        "".join(ch if ch.isprintable() else "?" for ch in why.splitlines()[0] if ch not in "|<>`")[:140] if why else ""
    )
    return {PASS: "kept", FAIL: "**not kept**", NONE: NONE}[said] + (f": {plain}" if plain else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", action="append", default=[], metavar="NAME=PATH")
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    args = parser.parse_args()
    pythons = {"own": sys.executable, **dict(p.split("=", 1) for p in args.python)}
    cases = json.loads((HERE / "contract_cases.json").read_text(encoding="utf-8"))
    cases = [c for c in cases if not args.only or c["id"] in args.only or c["contract"] in args.only]
    raw = {name: ask(name, pythons[name], cases) for name in SYSTEMS if pythons.get(name)}
    outcomes = {name: {c["id"]: judged(c, found["cases"][c["id"]]) for c in cases} for name, found in raw.items()}
    if args.json:
        whole = [
            {**c, "systems": {n: {"outcome": outcomes[n][c["id"]], "answers": raw[n]["cases"][c["id"]]} for n in raw}}
            for c in cases
        ]
        versions = {n: found["versions"] for n, found in raw.items()}
        args.json.write_text(json.dumps({"versions": versions, "cases": whole}, indent=1), encoding="utf-8")
    told = table(cases, outcomes)
    if args.markdown:
        args.markdown.write_text(told, encoding="utf-8")
    print(told)


if __name__ == "__main__":
    main()
