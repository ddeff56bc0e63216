r"""What text looks like that gives orders, imitates a speaker, or claims a standing that it has not.

Nothing about it is certain: what is found is told, and what is not found may be an order all the same. Knows nothing of
what is done about it. Every `\s` is bounded, so that the time grows with the text alone.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from grail_mem.model.tongues import LOOKALIKES, beginnings, begun_in, gives_orders

_ORDERS: Final[dict[str, tuple[tuple[tuple[str, ...], str], ...]]] = {
    "instruction": (
        (("ignore", "disregard", "forget", "override", "bypass", "follow"),
         (r"\b(?:ignore|disregard|forget|override|bypass|do not follow|don['’]t follow)\b.{0,40}\b(?:previous|prior|earlier|above|preceding|"
         r"all|any|your|these|system|other)\b.{0,40}\b(?:instructions?|rules?|prompts?|guidelines?|directives?|directions?|orders|messages?|"
         r"memor(?:y|ies)|observations?|training)\b")),
        (("you must ", "you should ", "you shall ", "you will ", "you are to "),
         r"\b(?:you must|you should|you shall|you will|you are to) (?:now|always|never|immediately|only|henceforth|obey|comply)\b"),
        (("you are ", "act as ", "behave as ", "pretend to be "),
         r"\b(?:you are|act as|behave as|pretend to be) (?:now|no longer|henceforth|an? (?:unrestricted|jailbroken|different))\b"),
        (("from now on", "henceforth"), r"\b(?:from now on|henceforth),? (?:you|always|never|ignore|respond|reply|answer|treat)\b"),
        (("system ", "developer ", "hidden ", "initial "), r"\b(?:system|developer|hidden|initial) (?:prompt|message|instructions?)\b"),
        (("new instruction", "new rule", "new system prompt"), r"\bnew (?:instructions?|rules?|system prompt)\s{0,8}:"),
        (("important", "attention", "note"),
         r"\b(?:important|attention|note)\b.{0,20}\b(?:assistant|ai|model|agent)s?\b.{0,20}\b(?:must|should|do not|never|always)\b"),
        (("do not ",), r"\bdo not (?:tell|inform|mention|reveal|show)\b.{0,30}\b(?:user|human|anyone|operator)\b"),
        (("reveal", "print", "repeat", "leak", "exfiltrate"),
         r"\b(?:reveal|print|repeat|leak|exfiltrate)\b.{0,30}\b(?:prompt|instructions|secrets?|api keys?|credentials|passwords?)\b"),
        (("treat ", "consider ", "regard "),
         (r"\b(?:treat|consider|regard) (?:this|the following|these|it|me|my) .{0,30}\b(?:as|like) .{0,20}\b(?:system|developer|admin\w*|root|owner|trusted|authoritative)\b"
         r"|\b(?:treat|consider|regard) (?:this|these|it|me) (?:as|like) (?:an? |the )?(?:system|developer|admin\w*|root|owner|trusted|authoritative)\b")),
    ),
    "role": (
        (("system", "developer", "assistant", "human", "tool"),
         r"(?:^|\n)[ \t>*#_\-\[(\"']{0,8}(?:system|developer|assistant|human|tool)\b[ \t*_\])\"']{0,4}[:：]"),
        (("<", "["), r"<\s{0,8}\|\s{0,8}[\w ]{1,40}\|\s{0,8}>|<<\s{0,8}/?\s{0,8}sys\s{0,8}>>|\[\s{0,8}/?\s{0,8}inst\s{0,8}\]|</?s>|<(?:start|end)_of_turn>"),
        (("<",), r"<\s{0,8}/?\s{0,8}(?:system|assistant|user|human|developer|tool|function|instructions?|tool_(?:use|call|result)|function_(?:calls?|results?)|invoke)\b[^<>]{0,80}>"),
        (("[", "【", "("), r"(?:^|\n)[ \t>*#]{0,8}[\[【(](?:system|developer|admin(?:istrator)?|root)\b[^\])】\n]{0,20}[\])】]"),
        (("#",), r"(?:^|\n)\s{0,8}#{1,6}\s{0,8}(?:system|instructions?|assistant|developer)\s{0,8}:?[ \t]{0,8}(?:\n|$)"),
    ),
    "label": (
        (("trust", "authority", "priority", "clearance", "verified", "confidence", "status", "source"),
         (r"\b(?:trust(?:ed)?|trust[ _-]?level|authority|priority|clearance|verified|confidence|status|source(?:_kind)?)[\"'”]?\s{0,8}[=:：]\s{0,8}[\"'“]?"
         r"(?:high(?:est)?|full|absolute|system|admin(?:istrator)?|root|owner|security[ -]team|trusted|verified|confirmed|true|yes|100 ?%|1(?:\.0{1,8})?\b)")),
        (("---",), (r"(?:^|\n)---[^\n]{0,80}\n(?:[^\n]{0,200}\n){0,8}?[ \t]{0,8}"
         r"(?:scope|source_kind|confidence|status|supersedes|superseded_by|trust|authority|valid_until|evidence|id)[ \t]{0,8}:")),
        ((" by ",), r"\b(?:verified|approved|signed|authori[sz]ed|confirmed) by (?:the )?(?:system|admin\w{0,12}|security|owner|developers?|operators?|anthropic|openai)\b"),
        (("supersede", "override", "replace", "overrule"), r"\b(?:supersedes?|overrides?|replaces?|overrules?) (?:all|any|every)\b"),
        (("this ",), r"\bthis (?:memory|observation|note|message) (?:is|has) (?:trusted|authoritative|the only|the highest|priority|precedence)\b"),
        (("you ", "i ", "agent", "user"),
         r"\b(?:you are|you're|i am|i'm|this (?:agent|user) is|the (?:agent|user) is) (?:now |hereby |already )(?:allowed|permitted|authori[sz]ed|cleared|granted|entitled|trusted|an? admin\w{0,12}|root|the owner)\b"),
        (("grant",), (r"\bgrant(?:s|ed|ing)? .{0,40}\b(?:full|admin\w{0,12}|unlimited|unrestricted|root|elevated|write|all) (?:access|rights?|permissions?|privileges?)\b"
         r"|\bgrant (?:me|this agent|the agent|the assistant|yourself|user:\S{1,60}|agent:\S{1,60}|\*) .{0,40}\b(?:access|rights?|permissions?|privileges?|scopes?|read|write)\b")),
        (("scope", "permission", "clearance"), r"(?:^|\n)\s{0,8}(?:scopes?|permissions?|clearance|grants?)\s{0,8}[=:：]\s{0,8}[\"'“]?(?:\*|all\b|any\b|admin|root|full|everything)"),
    ),
    "remote": (
        (("![",), r"!\[[^\]\n]{0,200}\](?:\(\s{0,8}<?(?:https?:)?//|\[)"),
        (("<",), r"<\s{0,8}(?:img|iframe|script|link|object|embed|video|audio|source|svg|image|form|meta|base)\b[^<>]{0,300}?\b(?:src|href|data|action|content)\s{0,8}="),
        (("](",), r"\]\(\s{0,8}<?(?:javascript|vbscript|data)\s{0,8}:"),
        (("](",), r"\]\(\s{0,8}<?(?:https?:)?//[^)\s]{0,300}(?:[{<$]|%7b)"),
        (("url(",), r"\burl\(\s{0,8}[\"']?(?:https?:)?//"),
    ),
}  # fmt: skip
"""By what it reads like: marks of which one must stand in the text for a pattern to be tried, and the pattern.

Where the pattern is found, no Latin letter stands before the mark: a word begins there.
"""
_SOUGHT: Final = tuple(
    (name, beginnings(marks), marks, pattern) for name, tried in _ORDERS.items() for marks, pattern in tried
)
"""The same with how words begin in a text that has one of the marks; none where that cannot be told."""


MEANINGS: Final = {
    "instruction": "reads like an instruction",
    "role": "imitates another speaker's turn",
    "label": "claims authority",
    "fence": "imitates this fence",
    "hidden": "holds hidden characters",
    "remote": "loads or sends something when it is shown",
}
"""The flags in the order they are given, and what each says."""


_BEFORE: Final = 32
_BEHIND: Final = 240
"""Characters around a mark within which every pattern stays; twice as many behind it are looked at, for the next marks, too."""


def reads_like(folded: str) -> tuple[str, ...]:
    """Which of `instruction`, `role`, `label` and `remote` a text reads like, in that order.

    Letters of other scripts are taken for those that they look like as well.

    Args:
        folded: The text in lower case, without accents and hidden characters; see `tongues.folded`.
    """
    begun = begun_in(folded)
    found = _read(folded, begun)
    if gives_orders(folded, begun):
        found.add("instruction")
    if not folded.isascii() and (latin := folded.translate(LOOKALIKES)) != folded:
        found |= _read(latin, begun_in(latin))
    return tuple(name for name in _ORDERS if name in found)


def _read(folded: str, begun: frozenset[str]) -> set[str]:
    """What a text reads like; most patterns are passed over since no word begins as one of their marks does."""
    found: set[str] = set()
    for name, own, marks, pattern in _SOUGHT:
        if name not in found and not (own and begun.isdisjoint(own)) and _holds(folded, marks, pattern):
            found.add(name)
    return found


def _holds(folded: str, marks: tuple[str, ...], pattern: str) -> bool:
    """Whether a pattern is found around one of the marks."""
    for mark in marks:
        at = folded.find(mark)
        while at >= 0:
            if _compiled(pattern).search(folded, max(0, at - _BEFORE), at + 2 * _BEHIND):
                return True
            at = folded.find(mark, at + _BEHIND)
    return False


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL)  # when it is first needed: all of them cost more than a write
