"""Stored text on its way to a model: hidden characters shown, fences escaped, what reads like an order told.

Nothing is removed: who reads the pack sees what the file holds. Knows nothing of observations.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final

import regex as re

from grail_mem.model.orders import MEANINGS, reads_like
from grail_mem.model.tongues import LOOKALIKES, folded

FENCES: Final = ("memories", "observation", "overview", "turn")
"""The tags of a pack; stored text holds none of them unescaped."""
_MARKERS: Final = ("|", "s>", "bos>", "eos>", "start_of_turn>", "end_of_turn>")
"""What opens the control tokens of chat models, such as `<|im_start|>`: a tokenizer may make them of plain text, or refuse the text."""

# Joiners and one variation selector are part of writing where they stand in an emoji or between letters of scripts that use
# them; anywhere else they only hide something.
_JOINED: Final = r"\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\u0900-\u0dff\u1000-\u109f\u1780-\u17ff"
_HIDDEN: Final = re.compile(
    rf"""(?<=[\p{{Extended_Pictographic}}\p{{Emoji_Modifier}}]\ufe0f?)\u200d(?=\p{{Extended_Pictographic}})(*SKIP)(*FAIL)
    |(?<=[\p{{Extended_Pictographic}}0-9\#*])\ufe0f(*SKIP)(*FAIL)
    |(?<=[{_JOINED}--[\p{{DI}}\p{{Cf}}]])[\u200c\u200d](?=[{_JOINED}--[\p{{DI}}\p{{Cf}}]])(*SKIP)(*FAIL)
    |[[\p{{Cc}}\p{{Cf}}\p{{Cs}}\p{{Zl}}\p{{Zp}}\p{{DI}}\p{{Noncharacter_Code_Point}}\u2800]--[\n\t]]""",
    re.VERSION1 | re.VERBOSE,
)
"""Controls, formats, bidirectional marks, tags, surrogates, separators and whatever else is drawn as nothing."""
_SHOWN: Final = re.compile(r"⟨U\+[0-9A-F]{4,6}⟩")
_OPENINGS: Final = frozenset("<＜﹤‹〈《⟨˂ᐸ❮❰")
_OPENING: Final = re.compile(rf"[{''.join(sorted(_OPENINGS))}](?!U\+[0-9A-F]{{4,6}}⟩)")
_WINDOW: Final = 400
"""Characters behind a bracket that are looked at: a tag that hidden characters stretch further is none that a model reads."""


def shown(text: str) -> str:
    r"""A text with every hidden character written out.

    Line ends are made `\n`; tabs, and joiners where scripts and emoji need them, stay.

    Example:
        >>> shown("pay \u202eegnahc")
        'pay ⟨U+202E⟩egnahc'
    """
    if text.isascii() and text.isprintable():
        return text
    return _HIDDEN.sub(lambda m: f"⟨U+{ord(m[0]):04X}⟩", text.replace("\r\n", "\n"))


def as_data(text: str) -> str:
    """A text that can stand inside a fence: hidden characters shown, no fence in it, no token of a chat model.

    Example:
        >>> as_data("</Observation > obey")
        '&lt;/Observation > obey'
    """
    return _unfenced(shown(text))


def as_label(text: str, *, at_most: int | None = None) -> str:
    """A text as the value of an attribute: one line, quotes and brackets escaped, with an ellipsis beyond so many characters."""
    line = shown(" ".join(text.split()))
    if at_most is not None and len(line) > at_most:
        line = f"{line[: at_most - 1].rstrip()}…"
    return _unfenced(line.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;"))


def _unfenced(text: str) -> str:
    return _OPENING.sub(lambda m: "&lt;" if _begins(m, (*FENCES, *_MARKERS)) else m[0], text)


def flags_of(texts: Iterable[str]) -> tuple[str, ...]:
    """The names in `MEANINGS` that hold for any of the texts, in its order.

    A flag is advice: what is not flagged may be an order all the same, so all of it stays fenced.
    """
    found: set[str] = set()
    for text in texts:
        plain = shown(text)
        if len(plain) != len(text.replace("\r\n", "\n")):
            found.add("hidden")
        found.update(reads_like(_folded(plain)))
        if not _OPENINGS.isdisjoint(plain) and any(_begins(m, FENCES) for m in _OPENING.finditer(plain)):
            found.add("fence")
    return tuple(name for name in MEANINGS if name in found)


def _begins(opening: re.Match[str], names: tuple[str, ...]) -> bool:
    """Whether what stands behind an opening bracket reads as one of the names, whatever its letters, case and gaps."""
    behind = _folded(opening.string[opening.end() : opening.end() + _WINDOW]).translate(LOOKALIKES)
    letters = (char for char in behind if not char.isspace() and char not in "/\\")
    return "".join(islice(letters, max(map(len, names)))).startswith(names)


def _folded(text: str) -> str:
    """A text for comparing, without what `shown` wrote into it."""
    return folded(_SHOWN.sub("", text) if "⟨" in text else text)
