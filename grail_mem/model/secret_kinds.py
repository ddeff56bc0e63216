"""What credentials look like: the keys of providers by their form, and the names that a secret stands behind.

Every pattern takes time in proportion to the text: what may be long is one class of characters at the end of a match, or
bounded. Knows nothing of what is done about a secret.
"""

from __future__ import annotations

import re
from typing import Final

FORMS: Final = (
    ("aws key", ("AKIA",), r"AKIA[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("aws key", ("ASIA",), r"ASIA[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("github token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"gh[pousr]_[A-Za-z0-9]{36,}"),
    ("github token", ("github_pat_",), r"github_pat_[A-Za-z0-9_]{22,}"),
    ("gitlab token", ("glpat-", "gldt-", "glrt-", "glptt-"), r"gl(?:pat|dt|rt|ptt)-[A-Za-z0-9_.-]{20,}"),
    ("slack token", ("xox", "xapp-"), r"(?:xox[abeprs]|xapp)-[A-Za-z0-9-]{10,}"),
    ("slack webhook", ("hooks.slack.com",), r"hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9_/-]{30,}"),
    ("stripe key", ("sk_live_", "sk_test_"), r"sk_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("stripe key", ("rk_live_", "rk_test_"), r"rk_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("stripe key", ("whsec_",), r"whsec_[A-Za-z0-9+/=]{24,}"),
    ("google key", ("AIza",), r"AIza[A-Za-z0-9_-]{35,}"),
    ("google token", ("ya29.", "GOCSPX-"), r"(?:ya29\.|GOCSPX-)[A-Za-z0-9_.-]{20,}"),
    ("anthropic key", ("sk-ant-",), r"sk-ant-[A-Za-z0-9_-]{20,}"),
    ("openai key", ("sk-",), r"sk-(?!ant-)(?=[a-z-]{0,12}[A-Za-z0-9_-]{0,60}[0-9])(?=[A-Za-z0-9_-]{0,72}[A-Z])[A-Za-z0-9_-]{20,}"),
    ("npm token", ("npm_",), r"npm_[A-Za-z0-9]{36,}"),
    ("pypi token", ("pypi-",), r"pypi-[A-Za-z0-9_-]{50,}"),
    ("hugging face token", ("hf_",), r"hf_[A-Za-z0-9]{30,}"),
    ("sendgrid key", ("SG.",), r"SG\.(?<![A-Za-z0-9_-]SG\.)[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,}"),
    ("twilio key", ("SK",), r"SK[0-9a-f]{32}(?![A-Za-z0-9])"),
    ("telegram token", (":AA",), r"[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}"),
    ("digitalocean token", ("do", "_v1_"), r"do[opr]_v1_[a-f0-9]{64}"),
    ("shopify token", ("shp",), r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32,}"),
    ("databricks token", ("dapi",), r"dapi[a-f0-9]{32,}"),
    ("vault token", ("hvs.", "hvb."), r"hv[sb]\.[A-Za-z0-9_-]{24,}"),
    ("age key", ("AGE-SECRET-KEY-",), r"AGE-SECRET-KEY-1[0-9A-Z]{50,}"),
    ("linear key", ("lin_api_",), r"lin_api_[A-Za-z0-9]{32,}"),
    ("mailgun key", ("key-",), r"key-[0-9a-f]{32}(?![A-Za-z0-9])"),
    ("jwt", ("eyJ",), r"eyJ(?<![A-Za-z0-9_-]eyJ)[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
)  # fmt: skip
"""Kind, what must stand in a text for its pattern to be tried, and the pattern.

A letter or digit right before it makes it something else. Each begins with plain letters, for which the search is fast.
"""
PRIVATE_KEY: Final = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----(?P<body>[^-]*(?:-(?!----)[^-]*)*)"
    r"(?P<end>-----END (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----)?"
)
KEY_LINES: Final = re.compile(r"(?:(?:\s|\\[nr]){0,8}[A-Za-z0-9+/=]{16,})+")
"""What of a private key without an end belongs to it."""

IN_URL: Final = re.compile(r"://[^\s/:@\"'<>`]{0,100}:(?P<value>[^\s/\"'<>`]{1,200})@(?=[\w\[$.{-])")

HEADER: Final = re.compile(
    r"\bauthorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:(?:bearer|basic|token|digest)\s{1,4})?(?P<value>[A-Za-z0-9._~+/=:-]{8,})"
    r"|\bbearer\s{1,4}(?P<bearer>[A-Za-z0-9._~+/=-]{16,})",
    re.IGNORECASE,
)

NAME: Final = re.compile(
    "(?P<password>pass(?:word|wd|wort|phrase|code)|passwd|pwd|(?<![a-z])pass(?=[\"'`\\]]{0,2} ?[=:]))|(?P<strong>secret|credential)|token|key"
)
"""The core of a name that a secret stands behind, in lower case."""
STRONG: Final = re.compile(
    r"(?:api|access|secret|private|client|signing|encryption|master|account|auth|refresh|bearer|deploy|bot|webhook|license)[ _-]?$"
)
"""What before `key` or `token` leaves no doubt."""
VALUE: Final = re.compile(
    r"(?P<rest>[A-Za-z0-9_-]{0,24}+)[\"'`\]*]{0,3}"
    r"(?P<sign>\s{0,4}(?:=>|:=|={1,2}|:)[*]{0,2}\s{0,4}|\s{1,4}(?:is|was|ist|to)(?:\s{0,2}:\s{0,2}|\s{1,4})|\s{1,4}(?=[\"'`]))"
    r"(?:[furb]{0,2}\"(?P<double>[^\"\n]{1,400})\"|[furb]{0,2}'(?P<single>[^'\n]{1,400})'|`(?P<tick>[^`\n]{1,400})`"
    r"|(?P<bare>[^\s\"'`<>|,;]{1,400}))"
)
"""What follows the core: the rest of the name, what joins them, and the value."""
OTHER_NAMES: Final = re.compile(
    r"hash|count|_?ids?$|name|type|len|path|file|ur[il]|polic|expir|ttl|limit|size|field|hint|reset|rotat|manager|usage|budget|"
    r"version|index|prefix|column|word|board|pair|rule|length|min|max|label|format|algo|require|less|value|store|vault|ring|s$",
    re.IGNORECASE,
)
"""What follows such a name when it is about a secret, and not one."""
PLACEHOLDER: Final = re.compile(
    r"(?:x{3,}|\*{2,}|•{2,}|\.{2,}|-{2,}|_{2,}|[?]+|none|null|nil|true|false|undefined|todo|tbd|n/?a|required|optional|unset|empty|string|str|"
    r"secret|password|passw(?:or)?d|passphrase|pass|pwd|token|key|value|text|bytes|changed?|change[ _-]?me|changeit|hidden|masked|redacted|removed|"
    r"unknown|missing|invalid|correct|wrong|stored|env|vault|default|mypassword|my[ _-]?secret|user|username)[.,;:!?)\]}]*"
    r"|(?:<|!|\$|\{|%\(|%s|\[redacted|\[|\(|&|@|your[ _-]|my[ _-]|the[ _-]|some[ _-]|example|sample|dummy|fake|placeholder|insert|replace|xxx|\*\*|"
    r"process\.env|os\.environ|env\.|env\[|getenv|config\.|settings\.|self\.|args\.|request\.|vault:|ssm:|secrets?\.|secretref|op://|file:|https?:|/).*",
    re.IGNORECASE | re.DOTALL,
)  # fmt: skip
"""What stands in the place of a secret without being one."""
DIGEST: Final = re.compile(
    r"(?:sha\d+[:-]|md5[:-])?(?:[0-9a-f]{7,128}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9A-HJKMNP-TV-Z]{26})|sha\d+-[A-Za-z0-9+/=]{40,}",
    re.IGNORECASE,
)
"""Hashes, commits, UUIDs and ULIDs."""
DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}.{0,20}|\d{1,2}[:./]\d{1,2}(?:[:./]\d{2,4})?\S{0,4}")
CARD: Final = re.compile(
    r"[2-6]\d{3}(?:(?P<gap>[ -])\d{4}(?P=gap)\d{4}(?P=gap)\d{4}|(?P<wide>[ -])\d{6}(?P=wide)\d{5}|\d{9,15})(?![\w-]|[.,]\d)"
)
BEFORE_A_CARD: Final = re.compile(r"[\w.,/#-]")
"""What right before a long number makes it part of something else."""
CARD_ISSUERS: Final = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:2[2-9]|[3-6]\d|7[01])\d{13}|3[47]\d{13}|6(?:011|5\d{2})\d{12}|35\d{14}|3(?:0[0-5]|[68]\d)\d{11}"
)
NOT_A_CARD: Final = re.compile(
    r"(?:\bids?|order|ticket|invoice|tracking|account|serial|number of|trace|span|build|run|request|message|isbn|imei|phone|tel)\W{0,12}(?:(?:no|nr|number|id)\W{0,4})?$",
    re.IGNORECASE,
)
"""What stands before a long number that is none."""
