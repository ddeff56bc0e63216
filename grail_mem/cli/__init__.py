"""The command line: every verb of Memory as `grail VERB`; parses, calls Memory, prints.

Importing loads nothing; `main` loads the parser, and each command what it needs.
"""

from __future__ import annotations


def main() -> None:
    """Run `grail` with the words of this process's command line, and leave with its exit code."""
    from grail_mem.cli.app import app

    app(prog_name="grail")
