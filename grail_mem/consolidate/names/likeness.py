"""How two names are alike: a code for what they share, or nothing.

Each function compares two names of one scope and knows nothing of where they are mentioned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from grail_mem.consolidate.names.legal_forms import CLEAR
from grail_mem.consolidate.names.name_form import NameForm
from grail_mem.consolidate.names.nicknames import Nicknames

PERSON_TYPES: Final = frozenset({"person", "people", "human", "individual", "speaker", "user"})
"""Keys of types whose entities are people."""
SHORT_CHARS: Final = 4
"""Characters of a core below which leaving out signs may make another name (`Änn`, `C-4`); chosen."""
MIN_SPELLED_CHARS: Final = 8
"""Shortest word, in characters, whose misspelling is told from another word; chosen: of shorter ones too many are words
(`casual`, `causal`; `desert`, `dessert`)."""
KEPT_HEAD: Final = 2
"""First characters that a misspelling leaves alone; prefixes such as a-, e- and in- stand there."""
RARE_TIMES: Final = 3
"""Times that a name must be mentioned as often as its misspelling, unless that stands in one observation; chosen: two words
that are both in use are two words."""
NEAR_GIVEN_NAMES: Final = 2
"""Letters by which two lone given names differ at most to be two people's rather than a nickname: Ann and Anna, Jon and Joan."""
MAX_PERSON_WORDS: Final = 4
"""Words of a person's name at most."""


@dataclass(frozen=True, slots=True)
class Named:
    """An entity as names are compared.

    Attributes:
        name: As written most often.
        form: Its form.
        types: Keys of its types.
        n: Observations that mention it.
        person: Whether it is taken for a person's name.
        is_upper: Whether it is ever written with more than one capital.
    """

    name: str
    form: NameForm
    types: frozenset[str]
    n: int
    person: bool
    is_upper: bool


@dataclass(frozen=True, slots=True)
class Likeness:
    """How two names are alike.

    Attributes:
        code: What speaks for one thing; see `alias_verdict.CONFIDENCE`.
        vague: Which of the two may stand for several things, 0 or 1; -1 for neither.
    """

    code: str
    vague: int = -1


def is_person(name: str, form: NameForm, types: frozenset[str], nicknames: Nicknames) -> bool:
    """Whether a name is a person's: by its type or, without one, by its first word, a given name or an initial."""
    words = form.tokens
    fits = (
        "," not in name
        and 0 < len(words) <= MAX_PERSON_WORDS
        and all(word.isalpha() for word in words)
        and not form.legal
    )
    if not fits or types:
        return fits and bool(types & PERSON_TYPES)
    return nicknames.knows(words[0]) or (len(words) > 1 and len(words[0]) == 1)


def same_core(a: Named, b: Named) -> Likeness | None:
    """Two names whose cores are equal."""
    x, y = a.form, b.form
    if x.legal != y.legal:
        return _by_legal_form(a, b)
    if x.plural != y.plural:
        return _by_plural(a, b)
    if x.possessive != y.possessive:
        is_one_word = min(len(x.words), len(y.words)) == 1  # McDonald and McDonald's
        return None if a.person or b.person else Likeness("possessive_name" if is_one_word else "possessive")
    if x.article != y.article:
        return None if a.person or b.person else Likeness("article")
    is_short = len(x.core) < SHORT_CHARS and x.dotted == y.dotted
    return Likeness("normal_short" if is_short else "normal")


def _by_legal_form(a: Named, b: Named) -> Likeness | None:
    if (a.types | b.types) & PERSON_TYPES or a.form.plural != b.form.plural:
        return None
    if a.form.legal and b.form.legal:
        return None  # Acme Inc. and Acme GmbH are two companies
    vague = 1 if a.form.legal else 0
    is_clear = bool(set(a.form.legal + b.form.legal) & CLEAR) and not (a.person or b.person)
    return Likeness("suffix" if is_clear else "suffix_unclear", vague)


def _by_plural(a: Named, b: Named) -> Likeness | None:
    """A common noun or an abbreviation and its plural; `Window` and `Windows` are two things."""
    if a.person or b.person or a.form.possessive or b.form.possessive:
        return None
    one = b if a.form.plural else a
    many = a if a.form.plural else b
    is_noun = one.name == one.name.lower() or many.name == many.name.lower()
    is_letters = one.is_upper and many.name.endswith("s") and many.name[:-1].isupper()
    if is_noun or is_letters:
        return Likeness("plural")
    return Likeness("plural_name") if len(a.form.tokens) > 1 else None


def nickname_or_initial(a: Named, b: Named, nicknames: Nicknames) -> Likeness | None:
    """Two people of one surname, whose given names are a name and its nickname, or a name and its initial."""
    x, y = a.form.tokens, b.form.tokens
    if not (a.person and b.person and len(x) > 1 and len(y) > 1) or x[-1] != y[-1] or x == y:
        return None
    if x[0] == y[0]:
        return _by_middle(x, y) if len(x[0]) > 1 else None
    if x[1:-1] and y[1:-1] and x[1:-1] != y[1:-1]:
        return None
    if len(x[0]) == 1 or len(y[0]) == 1:
        return Likeness("initials", 0 if len(x[0]) == 1 else 1) if x[0][0] == y[0][0] else None
    if not nicknames.are_linked(x[0], y[0]):
        return None
    vague = nicknames.shorter(x[0], y[0])
    if nicknames.is_familiar(x[0], y[0]):
        return Likeness("nickname", vague)
    return Likeness("nickname_formal", vague) if _distance(x[0], y[0]) > 1 else None  # Ann and Anna


def _by_middle(x: tuple[str, ...], y: tuple[str, ...]) -> Likeness | None:
    """A name with and without its middle initial, or with the middle name written out."""
    match x[1:-1], y[1:-1]:
        case [(), (letter,)] if len(letter) == 1:
            return Likeness("initials", 0)
        case [(letter,), ()] if len(letter) == 1:
            return Likeness("initials", 1)
        case [(middle,), (other,)] if middle[0] == other[0] and min(len(middle), len(other)) == 1:
            return Likeness("initials", 0 if len(middle) == 1 else 1)
    return None


def single_name(a: Named, b: Named, nicknames: Nicknames) -> Likeness | None:
    """A person's single name and a full name with it, or two single names of which one is a nickname of the other."""
    x, y = a.form.tokens, b.form.tokens
    if not (a.person and b.person) or min(len(x), len(y)) != 1:
        return None
    if len(x) == len(y) == 1:
        is_near = _distance(x[0], y[0]) <= NEAR_GIVEN_NAMES
        if is_near or not nicknames.are_linked(x[0], y[0]):
            return None
        return Likeness("bare_nickname", nicknames.shorter(x[0], y[0]))
    single, full = (x, y) if len(x) == 1 else (y, x)
    is_part = len(single[0]) > 1 and single[0] in (full[0], full[-1])
    return Likeness("partial", 0 if len(x) == 1 else 1) if is_part else None


def misspelling(a: Named, b: Named) -> Likeness | None:
    """Two names that differ in one letter of one long word: left out, added or doubled, or two letters that changed places."""
    x, y = a.form.tokens, b.form.tokens
    if len(x) != len(y):
        return None
    odd = [place for place in range(len(x)) if x[place] != y[place]]
    if len(odd) != 1 or not is_misspelt(x[odd[0]], y[odd[0]]):
        return None
    if a.person or b.person:
        return Likeness("spelling_person") if odd[0] == len(x) - 1 and len(x) > 1 else None
    rare, common = sorted((a.n, b.n))
    is_name = all(n.name != n.name.lower() for n in (a, b))
    return Likeness("spelling" if is_name and (rare == 1 or rare * RARE_TIMES <= common) else "spelling_unsure")


def is_misspelt(x: str, y: str) -> bool:
    """Whether one word is the other with one letter too many, too few, or two letters changed in place, not at its ends.

    Example:
        >>> is_misspelt("kubernetes", "kuberentes"), is_misspelt("microservice", "macroservice")
        (True, False)
    """
    shorter, longer = sorted((x, y), key=lambda word: (len(word), word))
    if len(shorter) < MIN_SPELLED_CHARS or not (x.isalpha() and y.isalpha()) or len(longer) - len(shorter) > 1:
        return False
    head = next((i for i, (p, q) in enumerate(zip(x, y, strict=False)) if p != q), len(shorter))
    if head < KEPT_HEAD or x[-1] != y[-1]:
        return False
    if len(x) == len(y):
        return x[head] == y[head + 1] and x[head + 1] == y[head] and x[head + 2 :] == y[head + 2 :]
    return shorter[head:] == longer[head + 1 :]


def _distance(x: str, y: str) -> int:
    from rapidfuzz.distance import OSA

    return int(OSA.distance(x, y))
