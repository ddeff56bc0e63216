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
QUICK: Final = 2**6
"""Cost of the digest of a turn or document: 64 KiB and 0.2 ms, since a conversation has thousands of turns; chosen."""
EVERYWHERE: Final = "*"
"""Stands for the scope of a document that nobody holds any more."""
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
        said: Digests of turns and documents that were erased, see `said_digest`.
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
    said: tuple[str, ...] = ()

    @property
    def order(self) -> tuple[str, str, int]:
        """Where it stands in the whole history."""
        return (self.at, self.clone, self.seq)


def detail_of(text: str, salt: str) -> str:
    """What a receipt keeps of a text, as it stands in the ledger."""
    return json.dumps({"salt": salt, "hint": hint_of(salt, text), "digest": _slow(salt, text)}, separators=(",", ":"))


def text_of_turn(text: str, session: str, scope: str | None) -> str:
    """What counts of a turn when it is compared with what was erased; the session only where the text is many people's."""
    said = _normal(text)
    return f"turn\0{scope or ''}\0{'' if len(said) >= ALONE else session}\0{said}"


def text_of_quote(quote: str, source: str, scope: str | None) -> str:
    """The same of a quote that an observation lost, by the file that it stood in."""
    return f"quote\0{scope or ''}\0{source.partition('#')[0]}\0{_normal(quote)}"


def text_of_document(digest: str, scope: str | None) -> str:
    """The same of a document, by the SHA-256 of its bytes."""
    return f"document\0{scope or ''}\0{digest}"


def detail_of_said(digests: Iterable[str], salt: str) -> str:
    """What a receipt keeps of turns and documents, as it stands in the ledger."""
    return json.dumps({"salt": salt, "said": list(digests)}, separators=(",", ":"))


@lru_cache(maxsize=_KEPT * 16)
def said_digest(salt: str, text: str) -> str:
    """The digest by which an erased turn or document is known again; see `text_of_turn`, `text_of_document`."""
    key = bytes.fromhex(salt)
    return scrypt(text.encode(errors="surrogatepass"), salt=key, n=QUICK, r=8, p=1, dklen=10).hex()


def mark_of(salt: str, text: str) -> str:
    """Salt and digest in one word; empty for what is no salt."""
    try:
        return f"{salt}.{said_digest(salt, text)}"
    except ValueError:
        return ""


def forget_texts() -> None:
    """Let go of the texts that digests were made of."""
    said_digest.cache_clear()
    _slow.cache_clear()


def new_salt() -> str:
    """A salt for a store that has none yet."""
    return secrets.token_hex(_SALT_BYTES)


def hint_of(salt: str, text: str) -> int:
    """The first bits of a fast digest, by which most texts are told from those that a digest was kept of."""
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
        self._lifted: dict[str, set[str]] = {}
        self._hints: dict[str, dict[int, list[Receipt]]] | None = None
        self._said: dict[str, set[str]] | None = None

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
        self._hints = self._said = None
        if entry.action == AGAIN and (lifted := _said_in(entry)[1]):
            self._lifted.setdefault(entry.id, set()).update(lifted)
        elif entry.action == AGAIN:
            self._again[entry.id] = max(entry.at, self._again.get(entry.id, ""))
        elif entry.action == ERASE:
            known = self._by_id.get(entry.id)
            if known is None or entry.order > known.order:
                self._by_id[entry.id] = _receipt(entry)
        known = self._by_id.get(entry.id)
        if known is not None and not self._lifted.get(entry.id, set()).isdisjoint(known.said):
            left = tuple(said for said in known.said if said not in self._lifted[entry.id])
            self._by_id[entry.id] = known = replace(known, said=left)
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
            there = by_hint.get(hint_of(salt, text), ())
            if there:
                digest = _slow(salt, text)
                for receipt in there:
                    if receipt.digest == digest:
                        return receipt
        return None

    def told(self, text: str) -> dict[str, set[str]]:
        """The digests by which a turn or document was erased, by the id of the receipt; none when nothing stands against it.

        Args:
            text: See `text_of_turn` and `text_of_document`.
        """
        found: dict[str, set[str]] = {}
        for salt, digests in self._said_by_salt().items():
            if (digest := said_digest(salt, text)) in digests:
                for receipt in self:
                    if receipt.salt == salt and digest in receipt.said:
                        found.setdefault(receipt.id, set()).add(digest)
        return found

    def tells(self, text: str) -> bool:
        """Whether a turn or document was erased."""
        return any(said_digest(salt, text) in digests for salt, digests in self._said_by_salt().items())

    @property
    def tells_of_sources(self) -> bool:
        """Whether any turn, quote or document was erased."""
        return bool(self._said_by_salt())

    def _said_by_salt(self) -> dict[str, set[str]]:
        if self._said is None:
            self._said = {}
            for receipt in self:
                if receipt.said:
                    self._said.setdefault(receipt.salt, set()).update(receipt.said)
        return self._said

    def _by_salt(self) -> dict[str, dict[int, list[Receipt]]]:
        if self._hints is None:
            made: dict[str, dict[int, list[Receipt]]] = {}
            for receipt in self:
                if receipt.digest and not receipt.again_at:
                    made.setdefault(receipt.salt, {}).setdefault(receipt.hint, []).append(receipt)
            self._hints = made
        return self._hints

    def to_json(self) -> list[list[Any]]:
        """All of them as JSON values."""
        return [list(astuple(receipt)) for receipt in self]


def read_receipts(values: Iterable[Collection[Any]]) -> tuple[Receipt, ...]:
    """Receipts from what `to_json` gave."""
    return tuple(replace(Receipt(*value[:-1]), said=tuple(value[-1])) for value in map(list, values))


def _receipt(entry: Entry) -> Receipt:
    """The receipt in an entry; somebody may have changed the line, then only the id is known again."""
    bare = Receipt(entry.id, entry.at, entry.clone, entry.seq, entry.actor)
    salt, digests = _said_in(entry)
    if digests:
        return replace(bare, salt=salt, said=digests)
    try:
        said = json.loads(entry.detail or "{}")
        salt, hint, digest = said["salt"], said["hint"], said["digest"]
        if len(bytes.fromhex(salt)) != _SALT_BYTES or not isinstance(hint, int) or not isinstance(digest, str):
            return bare
    except (ValueError, LookupError, TypeError, RecursionError):
        return bare
    return replace(bare, salt=salt, hint=hint, digest=digest)


def _said_in(entry: Entry) -> tuple[str, tuple[str, ...]]:
    """The salt and the digests of turns and documents in an entry; none when it is about an observation."""
    try:
        found = json.loads(entry.detail or "{}")
        salt, digests = found["salt"], found["said"]
        if len(bytes.fromhex(salt)) != _SALT_BYTES or not all(isinstance(digest, str) for digest in digests):
            return "", ()
    except (ValueError, LookupError, TypeError, RecursionError):
        return "", ()
    return salt, tuple(digests)
