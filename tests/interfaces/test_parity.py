"""Every verb has a command and a tool, and every command and tool a verb, or a reason why not."""

from __future__ import annotations

from grail_mem.cli.app import COMMANDS
from grail_mem.mcp_server.more_tools import MORE_TOOLS
from grail_mem.project import VERBS
from grail_mem.tools import TOOLS

COMMAND_OF = {
    "add_observation": "add",
    "add_observations": "add",
    "update": "update",
    "move": "move",
    "hide": "delete",
    "restore": "restore",
    "ingest_chat": "ingest",
    "ingest_text": "ingest",
    "ingest_document": "ingest",
    "remember": "remember",
    "verify": "verify",
    "cite": "cite",
    "revise": "revise",
    "history": "history",
    "due": "due",
    "pin": "pin",
    "unpin": "unpin",
    "archive": "archive",
    "unarchive": "unarchive",
    "erase": "erase",
    "hide_selected": "delete",
    "recall": "recall",
    "search": "search",
    "get": "get",
    "ids_ending": "get",
    "list_observations": "list",
    "list_sources": "list",
    "observe": "ingest",
    "extract": "candidates",
    "list_categories": "list",
    "list_communities": "list",
    "list_entities": "list",
    "list_tags": "list",
    "sql": "sql",
    "init": "init",
    "sync": "sync",
    "compact": "compact",
    "rebuild": "rebuild",
    "index": "index",
    "calibrate": "calibrate",
    "reset_gates": "calibrate",
    "fit": "fit",
    "reset_weights": "fit",
    "check": "check",
    "scan": "scan",
    "submit": "candidates",
    "candidates": "candidates",
    "approve": "candidates",
    "decline": "candidates",
    "consolidate": "consolidate",
    "proposals": "proposals",
    "apply": "proposals",
    "reject": "proposals",
    "undo": "proposals",
    "grant": "grant",
    "revoke": "revoke",
    "grants": "grants",
    "session": "recall",
    "backup": "backup",
    "verify_backup": "backup",
    "restore_backup": "backup",
    "log": "log",
    "export": "export",
    "import_file": "import",
    "verify_ledger": "verify-ledger",
    "retain": "retain",
    "fade": "fade",
    "migrate": "migrate",
}
NO_COMMAND = {
    "close": "a command closes what it opened",
    "graph": "a graph is an object of the program that asks; its edges are the view `relationships` of `grail sql`",
}
NO_VERB = {
    "doctor": "looks at the machine beside the store; `check` is the verb for the store",
    "tools": "grail_mem.tools: a Toolbox over a memory or session",
    "skill": "files for an agent's host; a program reads them from the package",
    "watch": "sync, whenever something changed; a program calls `sync` itself",
    "demo": "a story to look at",
    "config": "the property `settings`",
    "mcp": "a server; a program has `Toolbox` and the verbs",
    "review": "a page for people; each of its forms is a verb that has a command of its own",
}

TOOL_OF = {
    "add_observation": "add_observation",
    "remember": "memory_write",
    "revise": "memory_revise",
    "hide": "memory_forget",
    "erase": "memory_forget",
    "recall": "recall",
    "search": "memory_search",
    "get": "memory_get",
    "ids_ending": "memory_get",
    "history": "memory_get",
    "cite": "cite",
    "list_categories": "list",
    "list_communities": "list",
    "list_entities": "list",
    "list_tags": "list",
    "list_sources": "list",
    "candidates": "list",
    "consolidate": "consolidate",
    "proposals": "proposals_list",
    "apply": "proposals_apply",
}
NO_TOOL = {
    **dict.fromkeys(
        ("init", "sync", "compact", "rebuild", "index", "check", "verify", "verify_ledger", "log", "calibrate", "reset_gates", "fit",
         "reset_weights", "scan", "fade", "retain", "migrate", "close"), "keeping the store is its owner's, at the command line"),
    **dict.fromkeys(("session", "grant", "revoke", "grants"), "who may do what is never said by a model"),
    **dict.fromkeys(("backup", "verify_backup", "restore_backup", "export", "import_file", "ingest_document"), "a model names no path"),
    **dict.fromkeys(("reject", "undo", "approve", "decline", "restore", "hide_selected"), "a decision of a person"),
    **dict.fromkeys(("sql", "graph", "list_observations"), "recall and list say the same within a budget of tokens"),
    **dict.fromkeys(("update", "move", "archive", "unarchive", "pin", "unpin", "due"), "a person's work; an agent revises, with a reason"),
    **dict.fromkeys(("add_observations", "submit", "ingest_chat", "ingest_text", "observe", "extract"), "what an application sends in bulk, with identity"),
}  # fmt: skip
NO_TOOL_VERB = {"proposals_show": "one of what `proposals` returns", "status": "counts that several verbs give"}


def test_every_verb_has_a_tool_or_a_reason() -> None:
    """Agents reach through MCP what is theirs to do."""
    assert not set(TOOL_OF) & set(NO_TOOL)
    assert {*TOOL_OF, *NO_TOOL} == set(VERBS)
    assert {*TOOL_OF.values(), *NO_TOOL_VERB} == {tool.name for tool in (*TOOLS, *MORE_TOOLS)}


def test_every_verb_has_a_command_or_a_reason() -> None:
    """A new verb must be told here where people find it."""
    assert {*COMMAND_OF, *NO_COMMAND} == set(VERBS)
    assert set(COMMAND_OF.values()) <= set(COMMANDS)


def test_every_command_has_a_verb_or_a_reason() -> None:
    """Commands are thin: what they do is there for programs too."""
    assert {*COMMAND_OF.values(), *NO_VERB} == set(COMMANDS)
