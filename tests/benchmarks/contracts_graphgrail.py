"""The cases of `contracts.py` for graphgrail's memory mode, with no hosted model.

Without a model it has one way to ask, the mode `recall`, which filters; so a question is asked as a filter on its folder. A
step that says what it replaces is `update_observation`.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from contracts_protocol import NotOffered, run
from grail import MemoryProject

MARK, HEAD = "</source>", "</sources>"
_HOME = tempfile.mkdtemp()
_ONE = "one project is one memory; there are no users or scopes in it"


class Graph:
    """One project."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._project = MemoryProject(root, registry_home=_HOME)
        self._slugs: dict[str, str] = {}

    def close(self) -> None:
        """Nothing is held open."""

    def do_tell(self, label: str, text: str, at: str, topic: str, key: str | None = None, by: str | None = None,
                origin: str | None = None, user: str | None = None, confidence: float | None = None, title: str | None = None,
                until: str | None = None, replaces: str | None = None) -> dict[str, Any]:  # fmt: skip
        if user is not None:
            raise NotOffered(_ONE)
        if until is not None:
            raise NotOffered("an observation is given no end")
        entity = {"name": topic, "type": "TOPIC", "description": f"What is known about {topic}"}
        said = {"content": text, "title": title or text.splitlines()[0][:80], "observed_at": at, "source": by,
                "confidence": 1.0 if confidence is None else confidence}  # fmt: skip
        if replaces is not None and replaces in self._slugs:
            self._slugs[label] = self._slugs[replaces]
            reply = asyncio.run(self._project.update_observation(self._slugs[replaces], **said))
        else:
            reply = asyncio.run(
                self._project.add_observation(**said, category=topic, tags=[key] if key else [], entities=[entity])
            )
        if not reply.ok:
            raise ValueError(reply.error)
        self._slugs[label] = reply.data["slug"]
        return {"slug": reply.data["slug"]}

    def do_tell_mark(self, text: str, **fields: Any) -> dict[str, Any]:
        return self.do_tell(text=text.replace("{MARK}", MARK).replace("{HEAD}", HEAD), **fields)

    def do_ask(self, question: str, topic: str | None, user: str | None = None, as_of: str | None = None,
               since: str | None = None) -> dict[str, Any]:  # fmt: skip
        if user is not None:
            raise NotOffered(_ONE)
        if topic is None:
            raise NotOffered("a question in words needs a hosted model")
        reply = asyncio.run(self._project.recall(mode="recall", category=topic, since=since, before=as_of))
        text = reply.data["context_text"]
        shown = reply.data["observations"] if "<source " in text else []
        return {
            "text": text, "items": [o["title"] for o in shown], "silent": "<source " not in text,
            "reason": None, "conflict": False, "cites": "<source id=" in text, "origin": False,
            "marks": text.splitlines().count(MARK) + sum(line.count(MARK) for line in text.splitlines() if line != MARK),
            "head_fenced": text.splitlines().count(HEAD) <= 1, "response": reply.data["response"],
        }  # fmt: skip

    def do_history(self, topic: str, key: str, user: str | None = None) -> dict[str, Any]:
        if user is not None:
            raise NotOffered(_ONE)
        raise NotOffered("an update rewrites the file; what it said is not kept")

    def do_listing(self, user: str | None = None) -> dict[str, Any]:
        if user is not None:
            raise NotOffered(_ONE)
        listed = [
            self._project.list_observations().data,
            self._project.list_entities().data,
            self._project.list_categories().data,
        ]
        every = asyncio.run(self._project.recall(mode="recall")).data
        return {"text": "\n".join([every["context_text"], *map(str, listed)])}

    def do_count(self, user: str | None = None) -> dict[str, Any]:
        if user is not None:
            raise NotOffered(_ONE)
        return {"count": len(self._project.list_observations().data["observations"])}

    def do_confidence(self, text: str) -> dict[str, Any]:
        found = asyncio.run(self._project.recall(mode="recall")).data["entities"]
        return {"confidence": max((e["confidence"] for e in found), default=None)}

    def do_forget(self, label: str, user: str | None = None) -> dict[str, Any]:
        if user is not None:
            raise NotOffered(_ONE)
        reply = self._project.delete_observation(self._slugs[label], reason="asked for")
        if not reply.ok:
            raise ValueError(reply.error)
        return {"done": str(reply.data)[:300]}

    def do_rebuild(self) -> dict[str, Any]:
        """`grail index` and `append` ask a model to read the files; the Parquet tables are made by every write."""
        return {"note": "no rebuild without a model; the project is opened anew"}

    def do_claim(self, **fields: Any) -> dict[str, Any]:
        raise NotOffered("an observation has no evidence")

    def do_forget_source(self, label: str) -> dict[str, Any]:
        raise NotOffered("an observation has no evidence")

    def do_remove_derived(self) -> dict[str, Any]:
        raise NotOffered("the tables are not made again without a hosted model")

    def do_hand_edit(self, old: str, new: str) -> dict[str, Any]:
        raise NotOffered("an edited file is read again by `grail edit`, which needs a hosted model")


def burst(root: Path, texts: list[str]) -> None:
    project = Graph(root)
    for number, text in enumerate(texts):
        project.do_tell(f"n{number}", text, "2026-01-10", "harbour")
        print(text, flush=True)


if __name__ == "__main__":
    os.environ.setdefault("HOME", _HOME)
    run(Graph, burst, {"graphgrail": version("graphgrail")})
