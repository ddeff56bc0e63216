"""Receipts of what was erased: enough to know it again when it comes back, and nothing that says what it was.

A receipt holds a digest of the text that is slow to make, so that guessing costs, and a few bits of a fast one, so that
writing does not: most texts are told from all that was erased without the slow digest. What both leak is worked out in
docs/concepts/forgetting.md. Knows nothing of files.
"""

from __future__ import annotations

import json
import secrets
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from dataclasses import astuple, dataclass, replace
from functools import lru_cache
from hashlib import blake2b, scrypt
from typing import Any, Final

from grail_mem.store.ledger_line import AGAIN, ERASE, Entry

SLOW: Final = 2**12
"""Cost of the slow digest: 4 MiB and about 12 ms; chosen from benchmarks, see docs/concepts/forgetting.md."""
HINT_BITS: Final = 12
"""Bits of the fast digest; chosen: with 1,000 receipts one new text in five needs the slow one."""
_KEPT: Final = 1_024
"""Slow digests kept, so that what was worked out before a lock was taken is not worked out again under it."""
ALONE: Final = 40
"""Characters from which on a text is the same whatever title it has; shorter ones, such as `Yes.`, are many people's."""
_SALT_BYTES: Final = 16


def text_of(title: str, content: str, scope: str | None) -> str:
    """What counts of an observation when it is compared with what was erased: case, spaces and look-alike forms do not.

    The scope does: that somebody erased a text is nobody else's business, nor does it keep others from saying the same.
    """
    said = _normal(content)
    said = said if len(said) >= ALONE else f"{_normal(title)}\0{said}"
    return f"{scope}\0\0{said}" if scope else said


def _normal(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


@dataclass(frozen=True, slots=True)
class Receipt:
    """That something was erased.

    Attributes:
        id: Which observation it was.
        at: When.
        clone: In which chain that is recorded.
        seq: And as which line.
        actor: Who erased it.
        salt: Of both digests, hex; empty when only the id is known again.
        hint: The first bits of the fast digest.
        digest: The slow digest, hex.
        again_at: When the same was told again on purpose; empty as long as nobody did.
    """

    id: str
    at: str
    clone: str
    seq: int
    actor: str
    salt: str = ""
    hint: int = 0
    digest: str = ""
    again_at: str = ""

    @property
    def order(self) -> tuple[str, str, int]:
        """Where it stands in the whole history."""
        return (self.at, self.clone, self.seq)


def detail_of(text: str, salt: str) -> str:
    """What a receipt keeps of a text, as it stands in the ledger."""
    return json.dumps({"salt": salt, "hint": _hint(salt, text), "digest": _slow(salt, text)}, separators=(",", ":"))


def new_salt() -> str:
    """A salt for a store that has none yet."""
    return secrets.token_hex(_SALT_BYTES)


def _hint(salt: str, text: str) -> int:
    digest = blake2b(text.encode(errors="surrogatepass"), digest_size=4, key=bytes.fromhex(salt))
    return int.from_bytes(digest.digest(), "big") >> (32 - HINT_BITS)


@lru_cache(maxsize=_KEPT)
def _slow(salt: str, text: str) -> str:
    return scrypt(text.encode(errors="surrogatepass"), salt=bytes.fromhex(salt), n=SLOW, r=8, p=1, dklen=16).hex()


class Receipts:
    """All receipts of a store, as far as the ledger was heard.

    Args:
        known: Those that are known already.
        default_scope: The scope of what names none.
    """

    def __init__(self, known: Iterable[Receipt] = (), *, default_scope: str = "") -> None:
        self._default = default_scope
        self._by_id = {receipt.id: receipt for receipt in known}
        self._again: dict[str, str] = {}
        self._hints: dict[str, dict[int, list[Receipt]]] | None = None

    def __contains__(self, id_: object) -> bool:
        return id_ in self._by_id

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[Receipt]:
        return iter(self._by_id.values())

    def get(self, id_: str) -> Receipt | None:
        """The receipt of an id; None when that was not erased."""
        return self._by_id.get(id_)

    @property
    def salt(self) -> str:
        """The salt that the next receipt takes: that of the others, so that one slow digest tells a text from all of them."""
        return next((receipt.salt for receipt in sorted(self, key=lambda r: r.order) if receipt.salt), "") or new_salt()

    def hear(self, entry: Entry) -> None:
        """Take in what the ledger says: `ERASE`, or `AGAIN` for what was told again on purpose."""
        self._hints = None
        if entry.action == AGAIN:
            self._again[entry.id] = max(entry.at, self._again.get(entry.id, ""))
        elif entry.action == ERASE:
            known = self._by_id.get(entry.id)
            if known is None or entry.order > known.order:
                self._by_id[entry.id] = _receipt(entry)
        known = self._by_id.get(entry.id)
        if known is not None and self._again.get(entry.id, "") > max(known.at, known.again_at):
            self._by_id[entry.id] = replace(known, again_at=self._again[entry.id])

    def of(self, title: str, content: str, scope: str | None) -> Receipt | None:
        """The receipt of an observation that said this in this scope; the default scope is one, named or not."""
        scopes = (None, self._default) if scope in (None, self._default) else (scope,)
        found = (self.saying(text_of(title, content, one)) for one in scopes)
        return next((receipt for receipt in found if receipt is not None), None)

    def saying(self, text: str) -> Receipt | None:
        """The receipt of an observation that said this, unless it was told again on purpose; see `text_of`."""
        for salt, by_hint in self._by_salt().items():
            there = by_hint.get(_hint(salt, text), ())
            if there:
                digest = _slow(salt, text)
                for receipt in there:
                    if receipt.digest == digest:
                        return receipt
        return None

    def _by_salt(self) -> dict[str, dict[int, list[Receipt]]]:
        if self._hints is None:
            made: dict[str, dict[int, list[Receipt]]] = {}
            for receipt in self:
                if receipt.salt and not receipt.again_at:
                    made.setdefault(receipt.salt, {}).setdefault(receipt.hint, []).append(receipt)
            self._hints = made
        return self._hints

    def to_json(self) -> list[list[Any]]:
        """All of them as JSON values."""
        return [list(astuple(receipt)) for receipt in self]


def read_receipts(values: Iterable[Collection[Any]]) -> tuple[Receipt, ...]:
    """Receipts from what `to_json` gave."""
    return tuple(Receipt(*value) for value in values)


def _receipt(entry: Entry) -> Receipt:
    """The receipt in an entry; somebody may have changed the line, then only the id is known again."""
    bare = Receipt(entry.id, entry.at, entry.clone, entry.seq, entry.actor)
    try:
        said = json.loads(entry.detail or "{}")
        salt, hint, digest = said["salt"], said["hint"], said["digest"]
        if len(bytes.fromhex(salt)) != _SALT_BYTES or not isinstance(hint, int) or not isinstance(digest, str):
            return bare
    except (ValueError, LookupError, TypeError, RecursionError):
        return bare
    return replace(bare, salt=salt, hint=hint, digest=digest)
