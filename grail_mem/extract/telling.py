"""How what was found is told: the claim in the third person, and the name of the fact that it states.

Knows nothing of the rules.
"""

from __future__ import annotations

import re
from typing import Final

from grail_mem.extract.lexicon import words
from grail_mem.extract.person import of_others, third, third_after

_PRESENT: Final = re.compile(" (?:is|has) ")
_PLACES: Final = {"live": "home", "work": "work", "study": "studies"}
_BEING: Final = {"based in": "home", "from": "origin", "originally from": "origin"}
_ONE: Final = words("birthday anniversary name age rent salary budget email address surname pronouns timezone deadline")
"""Things of which somebody has one."""
_MUCH: Final = re.compile(
    r" (?:now|anymore|any more|too|a lot|so much|very much|the most|these days|lately|though)$", re.IGNORECASE
)
"""Behind what somebody likes, how much or since when."""
_OBJECT: Final = 9
"""Words of an object that its name has: enough that what is not the same has another one."""


def claim(template: str, match: re.Match[str], name: str) -> str:
    """A claim by its template, in which stand: `who`, `adv`, `verb`, `does` for the verb of a third person, `what`, and `rest`.

    Args:
        template: As for `str.format`.
        match: What was found, with groups of these names as far as there are any.
        name: What the speaker is called.
    """
    given = {key: value or "" for key, value in match.groupdict().items()}
    verb, rest = given.get("verb", "").lower(), of_others(given["rest"].strip(" ,;:-"), name)
    does = _does(verb) if "{does}" in template else ""
    parts = {
        "name": name,
        "who": f"{name}'s group" if given.get("who", "").lower() == "we" else name,
        "adv": f"{adverb.lower()} " if (adverb := given.get("adv", "").strip()) else "",
        "verb": of_others(verb, name),
        "does": does,
        "what": _thing(given.get("what", ""), name),
        "rest": third_after(rest) if does or _PRESENT.search(template) else rest,
    }
    return " ".join(template.format(**parts).split())


def _does(verb: str) -> str:
    if verb.startswith("do not "):
        return f"does not {verb[7:]}"
    first, _, more = verb.partition(" ")
    return f"{third(first)} {more}".strip()


def _thing(what: str, name: str) -> str:
    owner, _, thing = what.partition(" ")
    own = {"my": f"{name}'s", "our": f"{name}'s group's"}.get(owner.lower())
    return f"{own} {thing}" if own else what[:1].upper() + what[1:]


def of_a_thing(match: re.Match[str], name: str) -> str:
    """The fact that is stated of a thing: `ann/birthday`, `course/starts`."""
    owner, _, thing = match["what"].partition(" ")
    what = _slug(thing if owner.lower() in {"my", "our", "the"} else match["what"], _OBJECT)
    verb = "" if re.fullmatch("is|was|are|were", match["verb"], re.IGNORECASE) else _slug(match["verb"], 2)
    if owner.lower() in {"my", "our"}:
        return "/".join((_whose(name), f"{what}-{verb}" if verb else what))
    return f"{what}/{verb or 'is'}"


def of_one_thing(match: re.Match[str], name: str) -> str:
    """The same of something of which somebody has one; empty of what there may be several of."""
    return of_a_thing(match, name) if match["what"].split()[-1].lower() in _ONE else ""


def of_a_taste(match: re.Match[str], name: str) -> str:
    """The fact of a taste: what it is for, so that another word on the same is another state of it."""
    return f"{_whose(name)}/taste-{_slug(_MUCH.sub('', match['rest']), _OBJECT)}"


def of_a_habit(match: re.Match[str], name: str) -> str:
    """The fact of a habit: what is done, however often."""
    return f"{_whose(name)}/{_slug(match['verb'], 3)}-{_slug(match['rest'], _OBJECT)}"


def of_a_place(match: re.Match[str], name: str) -> str:
    """The fact of where somebody lives, works and studies; empty of all other verbs."""
    key = _PLACES.get(match["verb"].lower(), "")
    return f"{_whose(name)}/{key}" if key and re.match(r"(?:in|at|for|as|with|near)\b", match["rest"]) else ""


def of_being(match: re.Match[str], name: str) -> str:
    """The fact of an age, a home and an origin; empty of all else that somebody is."""
    verb = match["verb"].lower()
    key = "age" if verb.isdigit() else _BEING.get(verb, "")
    return f"{_whose(name)}/{key}" if key else ""


def _whose(name: str) -> str:
    """The subject of a fact: the speaker, or the user where the name has no letters."""
    return _slug(name.removeprefix("The "), 4) or "user"


def _slug(text: str, most: int) -> str:
    return "-".join(re.findall(r"\w+", text.lower().replace("'", ""))[:most])[:80].rstrip("-")
