"""Legal forms of companies at the end of a name: Inc., GmbH, Ltd and their like.

Source: the commonest forms in ISO 20275, the list of entity legal forms, in the languages of its largest jurisdictions.
Knows nothing of which names are companies.
"""

from __future__ import annotations

from typing import Final

_SPELLINGS: Final = {
    "inc": "inc incorporated",
    "corp": "corp corporation",
    "co": "co company",
    "ltd": "ltd limited",
    "llc": "llc",
    "llp": "llp",
    "lp": "lp",
    "plc": "plc",
    "pty": "pty",
    "gmbh": "gmbh mbh",
    "ag": "ag",
    "kg": "kg",
    "ug": "ug",
    "se": "se",
    "sa": "sa",
    "sas": "sas",
    "sarl": "sarl",
    "srl": "srl",
    "spa": "spa",
    "bv": "bv",
    "nv": "nv",
    "ab": "ab",
    "as": "as",
    "oy": "oy oyj",
    "kk": "kk",
}
LEGAL_FORMS: Final = {word: form for form, words in _SPELLINGS.items() for word in words.split()}
"""Every spelling of a legal form, folded, with the name it goes by here."""

CLEAR: Final = frozenset({"inc", "corp", "ltd", "llc", "llp", "plc", "pty", "gmbh", "sarl"})
"""Forms that are hardly ever anything else; the others are words or blood types too (`as`, `AB`, `spa`, `company`)."""

_SPACED: Final[dict[tuple[str, ...], str]] = {
    ("s", "a"): "sa",
    ("a", "g"): "ag",
    ("s", "e"): "se",
    ("n", "v"): "nv",
    ("b", "v"): "bv",
}


def without_legal_form(tokens: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Tokens of a name without the legal forms at their end, and those forms in order; one token is always left.

    Example:
        >>> without_legal_form(("acme", "co", "ltd"))
        (('acme',), ('co', 'ltd'))
    """
    forms: list[str] = []
    end = len(tokens)
    while end > 1:
        form = LEGAL_FORMS.get(tokens[end - 1])
        if form:
            forms.append(form)
            end -= 1
        elif spaced := _SPACED.get(tokens[max(1, end - 2) : end], ""):
            forms.append(spaced)
            end -= 2
        elif tokens[end - 1] == "and" and forms:  # GmbH & Co. KG
            end -= 1
        else:
            break
    return tokens[:end], tuple(reversed(forms))
