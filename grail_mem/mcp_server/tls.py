"""The certificate with which the server speaks TLS, looked at before it listens. Knows nothing of HTTP."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from grail_mem.errors import InputError


@dataclass(frozen=True, slots=True)
class Tls:
    """A certificate and its key, as files of PEM.

    Attributes:
        cert: The certificate, with those that vouch for it behind it.
        key: Its key, without a password.
    """

    cert: Path
    key: Path

    @classmethod
    def read(cls, cert: str | None, key: str | None) -> Self | None:
        """Both files, looked at; None when neither is named.

        Raises:
            InputError: One of them is missing or cannot be used, or they do not belong together.
        """
        if not cert and not key:
            return None
        if not cert or not key:
            raise InputError("--tls-cert and --tls-key go together.", hint="Name both files.")
        made = cls(Path(cert), Path(key))
        problems = [
            f"{option} names {str(path)!r}, which is no file that can be read."
            for option, path in (("--tls-cert", made.cert), ("--tls-key", made.key))
            if not _can_be_read(path)
        ]
        if problems:
            raise InputError(" ".join(problems), problems=problems)
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(made.cert, made.key, password=_no_password)
        except (ssl.SSLError, ValueError) as error:
            raise InputError(
                "--tls-cert and --tls-key are no certificate with its key.",
                hint="Both are PEM, the key without a password, and made for one another.",
            ) from error
        return made


def _no_password() -> str:
    """What is said instead of asking at the terminal, where a server has nobody to ask."""
    return ""


def _can_be_read(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            file.read(1)
    except (OSError, ValueError):
        return False
    return True
