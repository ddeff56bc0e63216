"""The parts of a turn that can be quoted: its sentences, and the clauses of each that can stand for themselves.

Every part is there as it is written. Knows nothing of what is worth keeping.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

LEAST: Final = 15
"""Characters that a quote has at least, so that it can be located."""
MOST: Final = 300
"""Characters that it has at most: what is longer is told, not stated."""
_MOST_OF_TURN: Final = 20_000
_LONG: Final = 400
_END: Final = re.compile(r"[.!?…]+[\"'”’)\]]*(?=\s|$)|\n+|(?:[\U0001F300-\U0001FAFF\u2600-\u27BF]\ufe0f?)+")
_ABBREVIATED: Final = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|approx|no|jr|sr)|\b[A-Z])\.$", re.IGNORECASE
)
_LOOK_BACK: Final = 8
_TASK: Final = re.compile(
    r"\W*(?:please |can you |could you |hi,? |hey,? )*(?:re-?write|summari[sz]e|translate|proofread|paraphrase|edit|fix|correct|improve|polish|"
    r"write|draft|compose|continue|reply|respond|act as|you are|you will|role-?play|pretend|create|generate|analy[sz]e|explain|expand|give me|"
    r"make (?:a|an|this|it)|turn this|here(?:'s| is) (?:a|an|the|my)|this is (?:a|an|the|my) (?:text|essay|email|letter|story|draft))\b",
    re.IGNORECASE,
)
"""How a turn begins that hands over a text: what follows in it may be anybody's words."""
_BREAK: Final = re.compile(
    r"(?:,\s+|\s+)(?=(?:and|but|so|because|since|though|although)\s+(?:I|we|it|they|he|she|this|that|there|now|then|please|maybe|can|could|do|does|is|are|"
    r"was|what|how|any|would|just)\b|and (?:want|wonder|hope|would)\w*\b)"
    r"|,\s+(?=(?:which|where|who|whose|so|but|because|since|though|although|can|could|do|does|is|are|what|how|any|would|please|it|that|they|I|we|you|maybe|thanks)\b)"
    r"|\s+[-–—]+\s+|[;:]\s+|\s+\("
)
_NARROWS: Final = re.compile(
    r"[\s,(–—-]{0,8}(?:(?:and|but|so)\s+)?(?:only|not\b|never|except|unless|if\b|when\b|until|as long as|though not|just not|mostly)", re.IGNORECASE
)  # fmt: skip
"""What makes the words before it say less, so that they cannot stand alone."""


def sentences(text: str) -> Iterator[str]:
    """The sentences of a turn, as they are written; none of a turn that holds code, or hands over a text."""
    if len(text) > _MOST_OF_TURN or "```" in text or (len(text) > _LONG and _TASK.match(text)):
        return
    begin = 0
    for match in _END.finditer(text):
        if match[0].startswith(".") and _ABBREVIATED.search(text, max(0, match.end() - _LOOK_BACK), match.end()):
            continue
        if said := text[begin : match.end()].strip():
            yield said
        begin = match.end()
    if said := text[begin:].strip():
        yield said


def clauses(sentence: str) -> list[str]:
    """The pieces of a sentence, as they are written, which together are the sentence; where one narrows the one before, both are one."""
    pieces: list[str] = []
    begin = 0
    for match in _BREAK.finditer(sentence):
        if match.start() - begin >= LEAST and not _NARROWS.match(sentence, match.start()):
            pieces.append(sentence[begin : match.start()])
            begin = match.start()
    return [*pieces, sentence[begin:]]
