"""How well rules tell what a turn says that is worth keeping: `python tests/benchmarks/extraction.py`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from extraction_lines import turns

from grail_mem.store.sources import Turn
from grail_mem.write.extraction import extract


def main() -> None:
    """Print what was missed and taken wrongly, precision and recall."""
    right = wrong = wanted = 0
    for rule, text in turns():
        found = [one.rule for one in extract([Turn(0, "t", "user", text)])]
        wanted += rule != "-"
        right += found == [rule]
        wrong += bool(found) and found != [rule]
        if found != ([] if rule == "-" else [rule]):
            print(f"{rule:<11} {found} {text}")
    print(
        f"{len(turns())} turns, {wanted} to be found: precision {right / (right + wrong):.3f}, recall {right / wanted:.3f}"
    )


if __name__ == "__main__":
    main()
