"""`python -m grail_mem` is the command `grail`."""

from __future__ import annotations

from grail_mem.cli import main

if __name__ == "__main__":
    main()
