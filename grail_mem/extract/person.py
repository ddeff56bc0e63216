"""What somebody says of themselves, said of them: `I` becomes a name, and the verb follows.

Knows nothing of what is worth keeping.
"""

from __future__ import annotations

import re
from typing import Final

from grail_mem.extract.lexicon import ADVERBS, DAYS, MONTHS, PAST, ROUTINES, words

_FORMS: Final = {
    "i'm": "they are", "i am": "they are", "i've": "they have", "i'll": "they will", "i'd": "they would", "i was": "they were", "i": "they",
    "me": "them", "my": "their", "mine": "theirs", "myself": "themselves", "we're": "they are", "we've": "they have", "we'll": "they will",
    "we'd": "they would", "we": "they", "us": "them", "our": "their", "ours": "theirs", "ourselves": "themselves",
}  # fmt: skip
_NAMED: Final = {
    "i'm": "{name} is", "i am": "{name} is", "i've": "{name} has", "i'll": "{name} will", "i'd": "{name} would", "i was": "{name} was", "i": "{name}",
    "me": "{name}", "my": "{name}'s",
}  # fmt: skip
_FORM: Final = re.compile(
    rf"\b(?P<word>{'|'.join(sorted(_FORMS, key=len, reverse=True))})\b(?!['’](?:m|s|re|ve|ll|d)\b)(?P<verb>(?: (?:{ADVERBS}))? [a-z]+\b)?",
    re.IGNORECASE,
)
_OTHERS: Final = re.compile(rf"\b(?:(?!I\b|(?i:{MONTHS}|{DAYS})\b)[A-Z][\w'-]*|they|them|their|he|she|him|his|her)\b")
"""Who else may be meant: names, and those that the sentence calls they already."""
_THIRD: Final = ROUTINES | words("want miss like love enjoy prefer hate need hope plan think feel look know")
_VERB: Final = re.compile(
    rf"(?:{PAST})|{'|'.join(sorted(ROUTINES))}|{ADVERBS}|am|was|will|can|could|would|want|like|love|need|think|know|plan"
)
_FURTHER: Final = re.compile(
    r"\b((?:and|but) (?:(?:also|really|often|usually|never|always|sometimes) )?)([a-z]+)\b(?= \w)"
)
_IRREGULAR: Final = {
    "have": "has",
    "do": "does",
    "go": "goes",
    "am": "is",
    "don't": "doesn't",
    "do not": "does not",
    "haven't": "hasn't",
}
_INVARIABLE: Final = words("can can't cannot will won't must never always")


def of_others(text: str, name: str) -> str:
    """A part of a sentence with the speaker as they: `my tea when I'm ill` is `their tea when they are ill`.

    Where they could be somebody else, since others are named before, it is the name once more.
    """
    text = text.replace("’", "'")
    return _FORM.sub(lambda match: _other(text, match, name), text)


def _other(text: str, match: re.Match[str], name: str) -> str:
    if _is_a_name(text, match):
        return match[0]
    word, verb = match["word"].lower(), match["verb"] or ""
    if word not in _NAMED or _OTHERS.search(text, 0, match.start()) is None:
        return f"{_FORMS[word]}{verb}"
    said = _NAMED[word].format(name=name)
    adverb, _, plain = verb.rpartition(" ")
    return f"{said}{adverb} {third(plain)}" if word == "i" and plain in _THIRD else f"{said}{verb}"


def _is_a_name(text: str, match: re.Match[str]) -> bool:
    """Whether it is the US or a title, or an I belongs to a name, as in `a Tiger I tank`; what follows the pronoun is a verb or an adverb."""
    if match["word"][0].isupper() and match["word"][0] != "I" and match.start() > 0:
        return True
    before, after = text[: match.start()].split()[-1:], text[match.end("word") :].split()[:1]
    is_named = bool(before) and before[0][:1].isupper() and before[0][-1:].isalpha()
    return match["word"] == "I" and is_named and not (after and _VERB.fullmatch(after[0].strip(".,;:!")))


def third(verb: str) -> str:
    """A verb in the present, of a third person."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb in _INVARIABLE:
        return verb
    if verb.endswith(("s", "sh", "ch", "x", "z", "o")):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if verb.endswith("y") and verb[-2:-1] not in "aeiou" else f"{verb}s"


def third_after(text: str) -> str:
    """A part of a sentence whose further verbs follow the third person, too: `and work at Acme`."""
    if text.startswith("to "):
        return text
    return _FURTHER.sub(lambda match: f"{match[1]}{third(match[2])}" if match[2] in _THIRD else match[0], text)
