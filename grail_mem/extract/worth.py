"""What makes words no statement, or one that says nothing once the talk is over.

Closed lists, written by hand: rather nothing than something wrong. Knows nothing of the forms of statements.
"""

from __future__ import annotations

import re
from typing import Final

from grail_mem.extract.lexicon import TALK

_NEVER: Final = re.compile(
    r"^\W*(?:if|unless|imagine|suppose|pretend|in theory|hypothetical|for example|e\.g\.|let's say|say,|what if|as if|whether)\b|^\s*>|\bkidding\b|\bjoking\b|\bhaha|\blol\b|"
    r";\)|😂|🤣|\bdreamt?\b|\bin (?:my|the|a|this|our) (?:novel|story|book|game|movie|film|play|script|poem)\b",
    re.IGNORECASE,
)
"""What makes a whole sentence no statement."""
_TAKEN_BACK: Final = re.compile(
    r"\W*(?:(?:I'm |I was |just |only |no,? )*(?:kidding|joking)|not really|jk\b|lol\b|haha|psych\b|scratch that|never ?mind|no,? wait|"
    r"(?:well,? )?(?:almost|not yet|not quite)\b)",
    re.IGNORECASE,
)
_DOUBTED: Final = re.compile(
    r"\?|\bif\b|\bunless\b|\bwhether\b|\bwould\b|\b\w+'d (?!been\b)|\bmaybe\b|\bperhaps\b|\bmight\b|\bprobably\b|\bwish\b|\bsuppose\b|\bimagine\b|\bguess\b|\bnot sure\b|\bI think\b|"
    r"\bsays?\b|\bsaid\b|\btold\b|\baccording to\b|\bclaims?\b|\bheard\b|\bin theory\b|\bhypothetical|\bshould\b|\bcould\b|\bdidn't\b|\bhaven't\b|\bhasn't\b|\bhas not\b|\bused to\b|"
    r"\bwonder\w*|\bquestions?\b|\b(?:can|could|please|to) help me (?:with|find|figure|understand|create|come)\b|^help me\b|\bneed (?:\w+ )?help\b|\byou\b|\byour\b|\byours\b|\bfor example\b|\be\.g\.|«|»",
    re.IGNORECASE,
)
"""What makes the words no statement of the speaker's, or one to somebody in the talk."""
_TITLE: Final = re.compile(r"[\"“]([A-Z0-9][^\"“”]{0,60})[\"”]")
_ANAPHORA: Final = re.compile(
    r"(?:all |both |some |one |each |either |most |any )?(?:of )?(?:it|that|this|them|these|those|him|her|his|their|its|they|one|so|not|to think|to say|to see|how|what|where|when|why|"
    r"know|knew|thought|think|mind|forget|again|everything|anything|nothing|something|somewhere|someone|here|there|such)\b",
    re.IGNORECASE,
)
"""How an object begins that says nothing without the turn before."""
_OF_THE_MOMENT: Final = re.compile(
    rf"{TALK}|\bsounds?\b|\blooks? (?:like|great|good|nice|so)\b",
    re.IGNORECASE,
)
_POINTING: Final = re.compile(
    r"\b(?:this|these|those)\b(?! (?:morning|afternoon|evening|night|week\w*|month|year|summer|winter|fall|autumn|spring|past|coming|days)\b)|"
    r"\b(?:for|about|with|of|on|to|like|in|from) (?:it|that|them)$|"
    r"\binterested in (?:learning|exploring|knowing|hearing|finding|seeing|trying|getting|understanding|incorporating)\b|\bwanting to know\b",
    re.IGNORECASE,
)
"""What points into the talk, or is about what comes next in it."""
_FEW: Final = 5
_IT: Final = re.compile(r"\b(?:it|them|that)\b", re.IGNORECASE)
"""In a few words, what stands for all that they say."""
_THE: Final = re.compile(
    r"the (?!(?:outdoors|beach|ocean|sea|mountains?|countryside|city|water|theat(?:er|re)|gym|library|sun|rain|snow|winter|summer|spring|fall|autumn|piano|guitar|violin|"
    r"(?:smell|taste|feeling|freedom|flexibility|thrill|challenge|rush|peace|convenience|combination|way|fact|process|art|history|sound) (?:of|to)|[A-Z]))"
)
"""A thing of the talk, of which nobody knows later which one it was."""
_NOT_HAD: Final = re.compile(
    r"(?:no|to|not|yet|an?|some|any|one|another|several|many|few|a few|a couple of|a lot of|lots of|two|three|more|been|heard|seen|the|this|that|these|such|enough|only)?\s*"
    r"(?:\w+ ){0,2}(?:questions?|ideas?|doubts?|trouble|feelings?|time|issues?|chance|look|sense|thoughts?|requests?|problems?|clue|luck|fun|mind|hope|choice|list|table|help|"
    r"files?|function|code|dataset|following|to|it|that|this|them|these|bit|lot|say|been)\b",
    re.IGNORECASE,
)  # fmt: skip


def is_told_as_true(sentence: str) -> bool:
    """Whether a sentence may state something: it is no condition as a whole, no joke, no dream and no story."""
    return _NEVER.search(sentence) is None


def takes_back(sentence: str) -> bool:
    """Whether a sentence says that the one before it was not meant so."""
    return _TAKEN_BACK.match(sentence) is not None


def is_sure(said: str) -> bool:
    """Whether words state something of their speaker: no question or doubt, nobody else's words, and nothing said to somebody in the talk."""
    plain = _TITLE.sub("Title", said)
    return _DOUBTED.search(plain) is None and '"' not in plain and "“" not in plain


def needs_the_talk(said: str, rest: str) -> bool:
    """Whether words say nothing without the turn before.

    Args:
        said: The words.
        rest: What stands in them behind the verb.
    """
    is_bare = len(rest.split()) <= _FEW and _IT.search(rest) is not None
    return is_bare or any((_ANAPHORA.match(rest), _OF_THE_MOMENT.search(rest), _POINTING.search(said)))


def is_of_the_talk(rest: str) -> bool:
    """Whether what somebody likes or is interested in is a thing of the talk, of which nobody knows later which one it was."""
    return _THE.match(rest) is not None


def is_not_had(rest: str) -> bool:
    """Whether what somebody has is no possession: a question, an idea, time."""
    return _NOT_HAD.match(rest) is not None
