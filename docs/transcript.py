"""What README.md shows: commands run as written, in a folder that is made anew each time, with ids that stay the same.

`python -m cogapp -r -U README.md` calls it. Knows nothing of the words around.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
ENV = os.environ | {"COLUMNS": "110", "NO_COLOR": "1", "TERM": "dumb", "PYTHONPATH": str(ROOT)}
TURNS = [
    ("09:00", "We go with Postgres for the orders; DynamoDB is too dear."),
    ("09:01", "I prefer concise answers."),
]
UNTIDY = [
    "--title Kick-off --content 'Northwind Traders Inc. signed.' --entity 'Northwind Traders Inc.' --entity 'Mara Lind'",
    "--title Reports --content 'Northwind Traders wants one each Friday.' --entity 'Northwind Traders' --entity 'Mara Lind'",
    "--title Rates --content 'They hold until June.' --expires-at 2026-06-01",
]


class Transcript:
    """Commands and what they print, gathered as one block of a page."""

    def __init__(self, place: Path) -> None:
        self._place, self._ids, self.lines = place, dict[str, str](), ["```console"]

    def run(self, command: str, *, code: int = 0, shown: bool = True, without: str = r"(?!)") -> str:
        """Run one command, which must end with this exit code; lines that begin with the pattern are left out."""
        done = subprocess.run(
            f"{sys.executable} -m grail_mem {command}", shell=True, text=True, env=ENV, cwd=self._place,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
        if done.returncode != code:
            raise SystemExit(f"grail {command} ended with {done.returncode}:\n{done.stdout}")
        if shown:
            self.lines.append(f"$ grail {self._known(command)}")
            said = self._known(done.stdout) if self._place != ROOT else done.stdout
            self.lines += [line.rstrip() for line in said.rstrip().splitlines() if not re.match(without, line)]
        return done.stdout

    def _known(self, text: str) -> str:
        """The text with ids that are the same in every run; one is known from the first time it is printed with its file or table."""
        for found in re.findall(r"_([0-9a-hjkmnp-tv-z]{6})\.md|^([0-9a-hjkmnp-tv-z]{6})  \w+  ", text, re.MULTILINE):
            self._ids.setdefault(found[0] or found[1], f"7qz3m{len(self._ids)}")
        for real, stable in self._ids.items():
            text = re.sub(rf"(?:01[0-9A-Z]{{18}})?{real}", stable, text, flags=re.IGNORECASE)
        return text

    def __str__(self) -> str:
        return "\n".join([*self.lines, "```"])


def asked() -> str:
    """Questions to the store of this project's own decisions."""
    told = Transcript(ROOT)
    told.run("recall --tag durability --tag git --category 'decisions/**'")
    told.run("search 'Why is a batch of writes one file sync and not many?' --limit 2 --embedder none")
    told.run("search 'Who won the chess game in Reykjavik?' --embedder none")
    return str(told)


def believed() -> str:
    """A conversation, a claim that it supports, one that it does not, and a fact that changes."""
    with tempfile.TemporaryDirectory() as place:
        lines = [{"role": "user", "speaker": "Mara", "at": f"2026-06-02T{at}:00Z", "text": text} for at, text in TURNS]
        Path(place, "chat.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        told = Transcript(Path(place))
        quoted = "--evidence 'I prefer concise answers.' --session standup"
        told.run("ingest notes chat.jsonl --session standup")
        told.run(f"remember notes 'Mara prefers concise answers.' {quoted} --attribute mara/answers")
        told.run(f"remember notes 'Mara prefers long answers.' {quoted}", code=2)
        changed = "--attribute mara/answers --observed-at 2026-07-01 --source-kind user_statement"
        told.run(f"add notes --content 'Mara prefers answers as a table.' {changed}")
        told.run("recall notes --attribute mara/answers --as-of 2026-06-15")
        told.run("recall notes --as assistant/bob")
        return str(told)


def tidied() -> str:
    """A store that grew untidy, what is proposed, and the change that applying it would make."""
    with tempfile.TemporaryDirectory() as place:
        told = Transcript(Path(place))
        for words in UNTIDY:
            told.run(f"add notes {words} --category clients --observed-at 2026-03-02", shown=False)
        found = told.run("consolidate notes", without=r"kind|\w+ +\d+ +\d+$|$|`")
        first = re.search(r"^(\w{6})  merge_aliases", found, re.MULTILINE)
        if first is None:
            raise SystemExit(f"no proposal in:\n{found}")
        told.run(f"proposals apply notes --accept {first[1]} --dry-run", without="edit")
        return str(told)


def example() -> str:
    """The Python of README.md as it stands there, and what it prints."""
    code = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)[0]
    with tempfile.TemporaryDirectory() as place:
        done = subprocess.run(
            [sys.executable, "-c", code], text=True, capture_output=True, check=True, env=ENV, cwd=place
        )
    return f"```text\n{done.stdout.rstrip()}\n```"
