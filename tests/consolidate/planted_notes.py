"""A small store of notes as people write them, in which it is known what belongs where.

Two projects, the running of the servers, a household; a move to a new database that all three work folders write about; a
folder of two clients that have nothing to do with each other; a note in the wrong folder, one in the inbox, and a dinner
with colleagues that belongs where it is.
"""

from __future__ import annotations

from typing import Any

from grail_mem import Memory

NOTES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("projects/apollo", "Ines drew the first start page in Figma for the Apollo shop", ("Ines", "Figma", "Apollo shop")),
    ("projects/apollo", "The Apollo shop takes cards through Stripe from May on", ("Apollo shop", "Stripe")),
    ("projects/apollo", "Ines wants the checkout in two steps, Stripe allows it", ("Ines", "Stripe", "Checkout")),
    ("projects/apollo", "Checkout drops a third of the baskets on phones", ("Checkout", "Apollo shop")),
    ("projects/apollo", "Marta tests the checkout with ten customers", ("Marta", "Checkout")),
    ("projects/apollo", "Marta found the start page in Figma too dark", ("Marta", "Figma")),
    ("projects/apollo", "Ines and Marta agree on a lighter Apollo shop", ("Ines", "Marta", "Apollo shop")),
    ("projects/apollo", "Stripe refunds need a second pair of eyes, Marta signs", ("Stripe", "Marta")),
    ("projects/apollo", "Figma files move to the team account of the Apollo shop", ("Figma", "Apollo shop")),
    ("projects/apollo", "Checkout texts are short now, Ines counted", ("Checkout", "Ines")),
    ("projects/borealis", "Tom builds the Borealis app in Flutter", ("Tom", "Borealis app", "Flutter")),
    ("projects/borealis", "Flutter 4 breaks the camera view of the Borealis app", ("Flutter", "Borealis app", "Camera view")),
    ("projects/borealis", "Tom rewrote the camera view in a week", ("Tom", "Camera view")),
    ("projects/borealis", "Yuki translates the Borealis app into Japanese", ("Yuki", "Borealis app")),
    ("projects/borealis", "Yuki reports crashes of the camera view on old phones", ("Yuki", "Camera view")),
    ("projects/borealis", "TestFlight build 41 goes to Yuki and Tom", ("TestFlight", "Yuki", "Tom")),
    ("projects/borealis", "TestFlight testers like the Borealis app", ("TestFlight", "Borealis app")),
    ("projects/borealis", "Flutter plug-ins are pinned since TestFlight build 44", ("Flutter", "TestFlight")),
    ("projects/borealis", "Tom will give a talk on Flutter", ("Tom", "Flutter")),
    ("projects/borealis", "Camera view fixed for TestFlight build 45", ("Camera view", "TestFlight")),
    ("ops", "Nagios watches every rack, Otto reads it", ("Nagios", "Otto")),
    ("ops", "Otto swapped the fans in rack 7", ("Otto", "Rack 7")),
    ("ops", "Rack 7 runs five degrees cooler, says Nagios", ("Rack 7", "Nagios")),
    ("ops", "Backups go to tape on Fridays, Otto keeps the key", ("Tape backup", "Otto")),
    ("ops", "Tape backup of rack 7 takes four hours", ("Tape backup", "Rack 7")),
    ("ops", "Nagios warns when a tape backup is late", ("Nagios", "Tape backup")),
    ("ops", "Otto on leave in August, Nagios calls Lena", ("Otto", "Nagios")),
    ("ops", "Rack 7 gets a second power line, Otto ordered it", ("Rack 7", "Otto")),
    ("projects/apollo", "The Postgres move of the orders goes through pgloader", ("Postgres move", "pgloader")),
    ("projects/apollo", "Dana checks the order sums after each pgloader run", ("Dana", "pgloader")),
    ("projects/apollo", "Cut-over weekend of the Postgres move is the first in June", ("Postgres move", "Cut-over weekend")),
    ("projects/apollo", "Dana freezes the orders on the cut-over weekend", ("Dana", "Cut-over weekend", "Postgres move")),
    ("projects/borealis", "The app reads from both bases until the Postgres move is done", ("Postgres move", "Dual reads")),
    ("projects/borealis", "Dual reads slow the lists, Dana measures", ("Dual reads", "Dana")),
    ("projects/borealis", "Dual reads go off after the cut-over weekend", ("Dual reads", "Cut-over weekend", "Postgres move")),
    ("projects/borealis", "Dana wrote how pgloader maps our types", ("Dana", "pgloader", "Postgres move")),
    ("ops", "pgloader needs a box of its own, Dana asks for one", ("pgloader", "Dana")),
    ("ops", "Plan for the cut-over weekend: Dana first, then the Postgres move", ("Cut-over weekend", "Dana", "Postgres move")),
    ("ops", "Dual reads double the load before the Postgres move", ("Dual reads", "Postgres move")),
    ("ops", "Roll back of the Postgres move rehearsed with pgloader", ("Postgres move", "pgloader")),
    ("home/garden", "Beans sown along the south wall with Ruth", ("South wall", "Ruth")),
    ("home/garden", "Ruth brought three quince trees for the south wall", ("Ruth", "Quince", "South wall")),
    ("home/garden", "Quince needs pruning in March", ("Quince",)),
    ("home/garden", "Slugs ate the beans, Ruth laid copper tape", ("Ruth", "Copper tape")),
    ("home/garden", "Copper tape holds, the south wall is green again", ("Copper tape", "South wall")),
    ("home/garden", "Quince jelly with Ruth, eleven jars", ("Quince", "Ruth")),
    ("home/garden", "Copper tape around the quince too", ("Copper tape", "Quince")),
    ("home/garden", "South wall repaired, Ruth paid half", ("South wall", "Ruth")),
    ("home/garden", "Ruth lends copper tape to the neighbours", ("Ruth", "Copper tape")),
    ("home/garden", "Quince in bloom along the south wall", ("Quince", "South wall")),
)  # fmt: skip

MISPLACED = ("home/garden", "Tom asks for TestFlight slots, the Flutter camera view is ready", ("Tom", "TestFlight", "Flutter", "Camera view"))  # fmt: skip
WAITING = ("inbox", "Marta and Ines: Stripe fees in the checkout go up", ("Marta", "Ines", "Stripe", "Checkout"))
DINNER = ("home/garden", "Sowed beans with Tom and Yuki by the wall, then jelly, pruning and jars of tape talk", ("Tom", "Yuki", "Flutter"))  # fmt: skip

NORTH = ("Harbour lease", "Kaja", "Crane permit", "Fish hall")
SOUTH = ("Olive press", "Bruno", "Bottling line", "Export papers")


def client_notes() -> list[tuple[str, str, tuple[str, ...]]]:
    """A folder of two clients that share nothing, twelve notes each, and two notes about neither."""
    notes = []
    for names in (NORTH, SOUTH):
        pairs = [(one, other) for at, one in enumerate(names) for other in names[at + 1 :]]
        for verb in ("discussed with", "depends on"):
            notes += [("clients", f"{one} {verb} {other}", (one, other)) for one, other in pairs]
    return [*notes, ("clients", "Invoices are due in thirty days", ()), ("clients", "Client dinner in autumn", ())]


def write(memory: Memory, notes: list[tuple[str, str, tuple[str, ...]]], **more: Any) -> dict[str, str]:
    """Write notes; returns ids by title."""
    drafts = [
        {
            "title": text,
            "content": f"{text}.",
            "category": category,
            "entities": [{"name": name} for name in names],
            **more,
        }
        for category, text, names in notes
    ]
    return {note[1]: made.id for note, made in zip(notes, memory.add_observations(drafts), strict=True)}
