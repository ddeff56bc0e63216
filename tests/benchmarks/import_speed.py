"""Speed and memory of a large import, and what the first search after it costs: `python tests/benchmarks/import_speed.py`.

The file is an export of ChatGPT in its public form, `conversations.json` in a zip, with messages of Zipf words in trees that
have branches. Each step runs in a process of its own, as the command would: a dry run, the import, the same import again,
an import that is killed half way and finished by another, and the first search. Nothing is asserted about time.
"""

from __future__ import annotations

import json
import random
import sys
import zipfile
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parent)]

_FIRST = 1_690_000_000.0
_TURNS = 50
"""Messages of a conversation that were shown."""
_WORDS = 20_000
_MESSAGE_WORDS = 215
"""Mean words of a message: an export of 49,500 messages comes to about a hundred megabytes."""


def conversations(n_messages: int, seed: int) -> Iterator[dict[str, Any]]:
    """Conversations with so many messages of users and assistants on the branches that were shown."""
    draw = random.Random(seed)
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(2, 9))) for _ in range(_WORDS)]
    weights = list(accumulate(1 / (rank + 3) for rank in range(_WORDS)))
    made = 0
    while made < n_messages:
        n = min(_TURNS, n_messages - made)
        made += n
        yield _conversation(draw, words, weights, made, n)


def _conversation(draw: random.Random, words: list[str], weights: list[float], number: int, n: int) -> dict[str, Any]:
    begin = _FIRST + number * 600.0
    mapping: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": []}}
    parent = "root"
    for turn in range(n):
        told = [_node(draw, words, weights, f"m-{number}-{turn}", parent, turn, begin + turn * 30)]
        if turn % 10 == 5:  # asked anew; the first answer is on a branch that was left
            told.append(_node(draw, words, weights, f"m-{number}-{turn}-left", parent, turn, begin + turn * 30 - 5))
        for node in told:
            mapping[node["id"]] = node
            mapping[parent]["children"].append(node["id"])
        parent = told[0]["id"]
    title = " ".join(draw.choices(words, cum_weights=weights, k=4)).capitalize()
    return {
        "title": title, "create_time": begin, "update_time": begin + n * 30, "mapping": mapping, "current_node": parent,
        "conversation_id": f"conversation-{number}", "id": f"conversation-{number}",
    }  # fmt: skip


def _node(
    draw: random.Random, words: list[str], weights: list[float], id_: str, parent: str, turn: int, at: float
) -> dict[str, Any]:
    said = draw.choices(words, cum_weights=weights, k=max(3, round(draw.gammavariate(1.5, _MESSAGE_WORDS / 1.5))))
    lines = [" ".join(said[first : first + 14]).capitalize() + "." for first in range(0, len(said), 14)]
    role = "assistant" if turn % 2 else "user"
    return {
        "id": id_, "parent": parent, "children": [],
        "message": {
            "id": id_, "author": {"role": role, "name": None, "metadata": {}}, "create_time": at, "status": "finished_successfully",
            "content": {"content_type": "text", "parts": ["\n".join(lines)]}, "recipient": "all", "weight": 1.0,
            "metadata": {"model_slug": "gpt-4o", "timestamp_": "absolute", "parent_id": parent},
        },
    }  # fmt: skip


def make_export(path: Path, n_messages: int, seed: int = 7) -> int:
    """Write an export as a zip; returns the bytes of its `conversations.json`."""
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("conversations.json", "w", force_zip64=True) as file,
    ):
        n = file.write(b"[")
        for number, chat in enumerate(conversations(n_messages, seed)):
            n += file.write((b",\n" if number else b"") + json.dumps(chat).encode())
        return n + file.write(b"]")
