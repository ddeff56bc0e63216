"""Frameworks under test tell nobody anything and reach no other machine."""

from __future__ import annotations

import os
import socket
import tempfile
from typing import Any

import pytest

os.environ |= {
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_DISABLE_TRACKING": "true",
    "CREWAI_TRACING_ENABLED": "false",
    "CREWAI_STORAGE_DIR": tempfile.mkdtemp(prefix="crewai-"),
    "OTEL_SDK_DISABLED": "true",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "LANGSMITH_TRACING": "false",
}


@pytest.fixture(autouse=True)
def this_machine_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every connection to another machine fails the test that made it."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in ("127.0.0.1", "::1", "localhost"):
            pytest.fail(f"something reached out to {address}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)
