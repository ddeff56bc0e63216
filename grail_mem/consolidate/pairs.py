"""Digests of what decisions are about, as the ledger keeps them: salted, so that names cannot be looked up in a table of digests.

Of pairs of things, and of a proposal as a whole. Knows nothing of what the things are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from grail_mem.store.receipt import hint_of, said_digest

Grounds = Mapping[str, Any]


def salted(pair: str, salt: str) -> str:
    """A pair as a decision keeps it, or a fingerprint.

    Args:
        pair: Its digest, see `finding.pair_digest` and `Finding.fingerprint`; one that has a salt stays as it is.
        salt: Random, one for the store.
    """
    return pair if "." in pair else f"{salt}.{hint_of(salt, pair):03x}.{said_digest(salt, pair)}"


def salt_of(kept: Iterable[str]) -> str:
    """The salt of the first pair that has one; empty when none has."""
    return next((salt for one in kept if (salt := _parts(one)[0])), "")


def kept_as(pair: str, salt: str, known: Mapping[str, Grounds]) -> list[str]:
    """A pair as a decision keeps it, in every form in which it was rejected before, so that it can be accepted now.

    Args:
        pair: Its digest.
        salt: Of the store.
        known: What was rejected, as decisions keep it.
    """
    return sorted({salted(pair, salt), *Rejected(known).forms(pair)})


class Rejected:
    """Pairs that were rejected, with the grounds of then, or fingerprints with the decision."""

    def __init__(self, kept: Mapping[str, Any]) -> None:
        self._kept = kept
        self._by_salt: dict[str, dict[int, list[str]]] = {}
        for one in kept:
            salt, hint, _ = _parts(one)
            if salt:
                self._by_salt.setdefault(salt, {}).setdefault(hint, []).append(one)

    def get(self, pair: str) -> Grounds | None:
        """The grounds on which a pair was rejected; None when nobody did."""
        found: Grounds | None = next((self._kept[form] for form in self.forms(pair)), None)
        return found

    def forms(self, pair: str) -> list[str]:
        """How decisions keep a pair; none when it was not rejected. Decisions of old keep it without a salt."""
        found = [pair] if pair in self._kept else []
        for salt, by_hint in self._by_salt.items():
            there = by_hint.get(hint_of(salt, pair), ())
            if there:
                form = salted(pair, salt)
                found += [one for one in there if one == form]
        return found


def _parts(kept: str) -> tuple[str, int, str]:
    """Salt, hint and digest of a pair; an empty salt when it has none, or somebody changed it."""
    salt, _, rest = kept.partition(".")
    hint, dot, digest = rest.partition(".")
    try:
        bytes.fromhex(salt)
        return (salt, int(hint, 16), digest) if dot else ("", 0, "")
    except ValueError:
        return "", 0, ""
