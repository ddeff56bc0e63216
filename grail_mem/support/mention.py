"""Which sentences of a quote are only named in it, drafted, played or taken back by their neighbours, and said by nobody.

Knows nothing of a claim.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

import regex as re

from grail_mem.support import words as known
from grail_mem.support.reading import Sentence
from grail_mem.support.tails import FREQUENCY
from grail_mem.support.wording import is_number
from grail_mem.support.words import words_of

_A_FEW: Final = 5
_SHORT: Final = 6
"""Words of a sentence that does nothing but bring the next one, or take back the one before it."""
_LONGEST_LABEL: Final = 3

_SINGLE: Final = re.compile(r"(?<![\w’'])(?P<opens>['‘‚‹])(?=\w)|(?<=[\w.!?,…])['’‘›](?!\w)")
"""Where a quotation in single marks may begin, or end; an apostrophe stands within a word."""
_LONGEST: Final = 1_000
"""Characters of a quotation in single marks; they stand on one line."""
_CODE: Final = re.compile(r"(?<!`)`([^`\n]++)`(?!`)")
_FENCED: Final = re.compile(
    r"^[ \t]*(?:```|~~~)[^\n]*\n(.*?)(?:^[ \t]*(?:```|~~~)[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)
_FIRST_PERSON: Final = re.compile(r"\b(?:I|my|me|we|our)\b", re.IGNORECASE)
_QUOTED_LINES: Final = re.compile(r"^[ \t]*>[ \t]?(.*\S)[ \t]*$", re.MULTILINE)
_OPENING, _CLOSING, _EITHER = frozenset("“„«"), frozenset("”»"), '"'

_MENTIONED: Final = words_of("""
sentence sentences phrase phrases quote quotes quotation citation slogan motto caption line lines lyrics answer reply replies
words message messages statement statements claim claims text example examples title headline test rumour rumor exercise joke
story plan goal idea theory dream metaphor form
""")
"""What a sentence is called by who speaks of it, and does not say it."""
_BRINGS: Final = words_of("""
example examples sentence lesson quote quotation citation excerpt lyrics dialogue script roleplay exercise slogan motto caption
template transcript placeholder sample forwarded overheard testing
""")
"""A short sentence with one of these brings a text that is anybody's."""
_CARRIES: Final = words_of("message mail email text letter note answer reply statement line words post tweet")
_POINTS: Final = words_of("this following here below these follows")
_SAID: Final = words_of("""
said says replied replies answered answers wrote writes texted texts messaged shouted yelled whispered asked asks goes stated claims
claimed told tells posted tweeted reads
""")
_PLAYS: Final = words_of("pretend roleplay act imagine simulate impersonate")
_BACK: Final = words_of("that this those these")
_AS_FRAGMENT: Final = words_of("""
again until till if unless when whenever except only once twice said says almost nearly near sometimes usually rarely mostly maybe
perhaps probably possibly temporarily partly occasionally seldom supposedly allegedly
""")
"""How a fragment begins that says less of the sentence before it."""
_ATTACHED: Final = known.PREPOSITIONS - known.JOINS - words_of("from for to instead this last next") | words_of(
    "every each as used past starting beginning effective"
)
_ASIDES: Final = frozenset(
    (("you", "wish"), ("end", "of"), ("for", "a"), ("from", "now"), ("end", "quote"), ("quote", "ends"))
)
_EXERCISES: Final = words_of("fill complete repeat copy continue finish")
_COMMANDS: Final = known.DRAFTS | words_of("delete ignore forget remove repeat check pronounce spell put turn convert")
_OBJECTS: Final = words_of("that this it")
_OF_LANGUAGE: Final = words_of("sentence grammatical spelled spell translate pronounce grammar say mean")
_ENDS: Final = words_of("lasted disagrees disagree lied invented")
_ATTEMPTS: Final = words_of("tried wanted meant used planned hoped intended")
_THEN: Final = words_of("then later but afterwards however")
_BELIEFS: Final = words_of("believed believe believes thinks think says said claims bought buys")


def with_quotes(text: str) -> str:
    r"""A quote in which everything that is quoted stands in one kind of quotation marks.

    So do quoted lines beside others, code of several words, and a code block in which somebody says `I`.

    Example:
        >>> with_quotes("He wrote 'I am late.' to us")
        'He wrote “I am late.” to us'
    """
    text = _FENCED.sub(lambda found: f"\n“{found[1].strip()}”\n" if _FIRST_PERSON.search(found[1]) else found[0], text)
    text = _CODE.sub(lambda found: f"“{found[1]}”" if " " in found[1].strip() else found[0], text)
    lines = [line for line in text.splitlines() if line.strip()]
    n_quoted = sum(line.lstrip().startswith(">") for line in lines)
    if 0 < n_quoted < len(lines):
        text = _QUOTED_LINES.sub(r"“\1”", text)
    return "".join(_without_single(text))


def _without_single(text: str) -> list[str]:
    """The characters of a text with double quotation marks in the place of single ones that belong together."""
    made, begin = list(text), -1
    for found in _SINGLE.finditer(text):
        at = found.start()
        if begin >= 0 and (at - begin > _LONGEST or "\n" in text[begin:at]):
            begin = -1
        if found["opens"]:
            begin = at if begin < 0 else begin
        elif begin >= 0:
            made[begin], made[at], begin = "“", "”", -1
    return made


def not_said(texts: Sequence[str], said: Sequence[Sentence]) -> Iterator[bool]:
    """For each sentence of a quote, whether it is not what the speaker states, because of what stands around it.

    Args:
        texts: The sentences as they are written, after `with_quotes`.
        said: The same, read.
    """
    quoted = list(_quoted(texts))
    drafted = list(_drafted(said))
    for at, sentence in enumerate(said):
        before = said[at - 1] if at else None
        after = said[at + 1] if at + 1 < len(said) else None
        yield (
            quoted[at]
            or drafted[at]
            or (before is not None and (_is_denial(before) or _makes_case(before) or _brings(before)))
            or (after is not None and _takes_back(after))
            or (sentence.is_open and _is_whole_quotation(texts[at]))
        )


def _is_whole_quotation(text: str) -> bool:
    """Whether a sentence stands in quotation marks from its beginning to its end."""
    return text[:1] in _OPENING | {_EITHER} and text.rstrip(" .!?,;")[-1:] in _CLOSING | {_EITHER, "“"}


def _quoted(texts: Sequence[str]) -> Iterator[bool]:
    """For each sentence, whether quotation marks that were opened before it are still open, or are opened in it and not closed."""
    depth, is_straight = 0, False
    for text in texts:
        was_open = depth > 0 or is_straight
        for char in text:
            if char == _EITHER:
                is_straight = not is_straight
            elif char in _OPENING:
                depth += 1
            elif char in _CLOSING:
                depth = max(0, depth - 1)
        yield was_open or depth > 0 or is_straight


def _drafted(said: Sequence[Sentence]) -> Iterator[bool]:
    """For each sentence, whether one before it asked for a text, gave out parts or brought what may be anybody's."""
    is_drafted = False
    for sentence in said:
        yield is_drafted
        is_drafted = is_drafted or _asks_for_text(sentence) or _gives_part(sentence) or _is_spoken_by_label(sentence)


def _asks_for_text(sentence: Sentence) -> bool:
    opening = next((word for word in sentence.words if word not in known.FILLERS | known.OPENINGS), "")
    return opening in known.DRAFTS and not known.DRAFTED.isdisjoint(sentence.words)


def _gives_part(sentence: Sentence) -> bool:
    """Whether a sentence tells somebody who to be, as `You are Tom` and `Act as my lawyer` do."""
    words, names = sentence.words, sentence.names
    opening = next((at for at, word in enumerate(words) if word not in known.FILLERS | known.OPENINGS), 0)
    if words[opening] in _PLAYS:
        return True
    is_you = words[opening : opening + 2] in {("you", "is"), ("you", "play")} and len(words) > opening + 2
    return is_you and (words[opening + 2] in known.ARTICLES or names[opening + 2] > 0)


def _is_spoken_by_label(sentence: Sentence) -> bool:
    """Whether a sentence begins as a line of a dialogue does, with who speaks and a colon."""
    if not sentence.labelled or sentence.breaks[:1] != sentence.labelled[:1]:
        return False
    end = sentence.labelled[0]
    label = sentence.words[:end]
    return (
        end <= _LONGEST_LABEL
        and sentence.names[0] > 0
        and known.FIRST.isdisjoint(label)
        and not all(word in known.FILLERS | known.OPENINGS | known.FUNCTION_WORDS for word in label)
    )


def _brings(sentence: Sentence) -> bool:
    """Whether a sentence brings the words of somebody else, or of nobody, as `He replied` and `Example sentence` do."""
    words = sentence.words
    if words[0] in known.FIRST and not _POINTS.intersection(words):
        return False
    if len(words) <= _SHORT:
        if not _BRINGS.isdisjoint(words) or words[:2] == ("test", "case"):
            return True
        if words[0] in _EXERCISES or (not _SAID.isdisjoint(words) and not sentence.asks):
            return True
    brings = _CARRIES | _BRINGS | _SAID | known.HEDGES | {"what"}
    return not _POINTS.isdisjoint(words) and not brings.isdisjoint(words)


def _takes_back(sentence: Sentence) -> bool:
    """Whether a sentence takes back the one before it, names it, or says less of it."""
    words = sentence.words
    is_tag = sentence.asks and len(words) <= _A_FEW and words[0] in known.TAGS
    return (
        is_tag
        or _is_denial(sentence)
        or any(words[: len(opening)] == opening for opening in known.RETRACTIONS)
        or _points_back(words)
        or _is_fragment(words)
        or _asks_of_words(sentence)
        or _ends(words)
        or (words[0] in _THEN and not known.REVERSALS.isdisjoint(words))
        or (words[0] == "nobody" and len(words) <= _A_FEW and not _BELIEFS.isdisjoint(words))
    )


def _asks_of_words(sentence: Sentence) -> bool:
    """Whether a sentence asks how the one before it is spelled or put, or what is to be done with it."""
    words = tuple(word for word in sentence.words if word not in known.FILLERS)
    if sentence.asks:
        return not _OF_LANGUAGE.isdisjoint(words) or not (_SAID.isdisjoint(words) or _OBJECTS.isdisjoint(words))
    if not words or words[0] not in _COMMANDS:
        return False
    return len(words) <= _SHORT // 2 or not _OBJECTS.isdisjoint(words[1:3])


def _ends(words: tuple[str, ...]) -> bool:
    """Whether a short sentence says that what was said did not last or was not so."""
    if len(words) > _SHORT:
        return False
    if not _BRINGS.isdisjoint(words) or (words[0] in _OBJECTS and not known.FAKES.isdisjoint(words)):
        return True
    pairs = set(pairwise(words))
    is_attempt = words[-1] == "to" and not _ATTEMPTS.isdisjoint(words)
    return (
        is_attempt
        or not _ENDS.isdisjoint(words)
        or not pairs.isdisjoint({("fell", "through"), ("that", "up"), ("it", "up")})
    )


def _points_back(words: tuple[str, ...]) -> bool:
    """Whether a sentence speaks of the words before it, or says that they were so once."""
    if words[0] == "so" and words[1:2] and words[1] in known.REPORTS:
        return True
    if words[:2] == ("at", "least"):
        return True
    if words[0] not in _BACK:
        return False
    return "was" in words[1:3] or not (_MENTIONED | known.OPERATORS - {"would", "should"}).isdisjoint(words[1:])


def _is_fragment(words: tuple[str, ...]) -> bool:
    if len(words) < _A_FEW and (words[0] == "well" or (words[0] == "@me" and words[-1] in known.HEDGES)):
        return True
    rest = tuple(word for word in words if word not in known.FILLERS | {"well", "ok", "okay", "oh", "and", "but", "or"})
    if not rest or len(rest) > _A_FEW:
        return False
    if rest[0] == "not":
        return not (
            known.PREPOSITIONS | known.ADVERBS | FREQUENCY | {"any", "quite", "really", "exactly", "entirely", "even"}
        ).isdisjoint(rest[1:2])
    is_count = is_number(rest[0]) and rest[1:2] in {("times",), ("x",)}
    return is_count or rest[0] in _AS_FRAGMENT or (rest[0] in _ATTACHED and len(rest) > 1) or rest[:2] in _ASIDES


def _is_denial(sentence: Sentence) -> bool:
    words = sentence.words
    is_of_another = words[0] == "@my" and words[-1] == "not" and len(words) > 1
    return len(words) <= _A_FEW and words[-1] in known.DENIALS and not is_of_another


def _makes_case(sentence: Sentence) -> bool:
    """Whether a sentence says that the next one is only imagined, or denies it beforehand."""
    return len(sentence.words) <= _A_FEW and sentence.words[0] in known.FRAMES
