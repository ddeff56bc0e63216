"""What holds for all tests: no time limit on an example, since a machine may be busy."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("grail", deadline=None)
settings.load_profile("grail")
