"""The demo's observations: how a small team that does not exist, Harbour Lights, moves its software in three months.

Written for the demo; people, customers and the team are made up. Entities and relationships are written as on the
command line, `NAME:TYPE` and `SOURCE|TYPE|TARGET`. Knows nothing of how they are stored.
"""

from __future__ import annotations

from typing import Any, Final

DEMO_NOTES: Final[tuple[dict[str, Any], ...]] = (
    {
        "title": "Harbour Lights moves Lanternbook to new foundations by the end of May",
        "content": "Lanternbook, our booking system for small ferry lines, has outgrown its rented server. We move it in "
        "three steps: database, then hosting, then payments.\n\nThe summer timetable opens on 1 June. After that date "
        "nothing may move until October.",
        "category": "migration", "tags": ["decision", "plan"], "observed_at": "2026-03-02T09:30:00Z",
        "source": "kick-off meeting", "entities": ["Lanternbook:PRODUCT", "Harbour Lights:TEAM"],
        "relationships": ["Harbour Lights|MAINTAINS|Lanternbook"],
    },
    {
        "title": "Ines leads the migration, Tobi owns the database",
        "content": "Ines decides what happens when. Tobi decides how the data moves. Wanjiru tests, Leo talks to customers.",
        "category": "team", "tags": ["roles"], "observed_at": "2026-03-02T10:00:00Z",
        "source": "kick-off meeting",
        "entities": ["Ines:PERSON", "Tobi:PERSON", "Wanjiru:PERSON", "Leo:PERSON", "Lanternbook:PRODUCT"],
        "relationships": ["Ines|LEADS|Lanternbook", "Tobi|OWNS|Lanternbook database"],
    },
    {
        "title": "Lanternbook stores its bookings in MariaDB on one rented server",
        "content": "One machine, one disk, a nightly dump. A restore was last tried two years ago.",
        "category": "platform", "tags": ["database", "fact"], "observed_at": "2026-03-03T14:00:00Z",
        "source": "inventory", "confidence": 0.95, "attribute": "lanternbook/database", "valid_from": "2022-01-01",
        "valid_until": "2026-05-16", "entities": ["Lanternbook:PRODUCT", "MariaDB:TECHNOLOGY"],
        "relationships": ["Lanternbook|STORES_IN|MariaDB"],
    },
    {
        "title": "Skerry Ferries sells two thirds of its tickets on Sunday evenings",
        "content": "Between 18:00 and 22:00. Anything we switch over must be finished by Sunday noon.",
        "category": "customers/skerry-ferries", "tags": ["constraint"],
        "observed_at": "2026-03-05T11:15:00Z", "source": "call with Skerry Ferries", "confidence": 0.9,
        "entities": ["Skerry Ferries:CUSTOMER", "Leo:PERSON"],
    },
    {
        "title": "Wanjiru wants every rehearsal written down the same day",
        "content": "What was tried, how long it took, what went wrong. Five lines are enough; memory fades by Monday.",
        "category": "team", "tags": ["preference"], "observed_at": "2026-03-06T16:40:00Z",
        "source": "chat", "source_kind": "user_statement", "entities": ["Wanjiru:PERSON"],
    },
    {
        "title": "Three candidates for the database: Postgres, a newer MariaDB, SQLite",
        "content": "Tobi compares them on a copy of last summer's bookings: speed of the departure board, online backup, "
        "and how overlapping cabin bookings can be ruled out.",
        "category": "migration/database", "tags": ["research"], "observed_at": "2026-03-09T13:00:00Z",
        "entities": ["Tobi:PERSON", "Postgres:TECHNOLOGY", "MariaDB:TECHNOLOGY", "SQLite:TECHNOLOGY"],
    },
    {
        "title": "Postgres rules out double cabin bookings by itself",
        "content": "An exclusion constraint over the cabin and the range of nights refuses the second booking. In MariaDB "
        "we need a lock and a query, and we got that wrong twice last year.",
        "category": "migration/database", "tags": ["research", "finding"],
        "observed_at": "2026-03-17T15:20:00Z", "source": "comparison by Tobi", "confidence": 0.95,
        "entities": ["Postgres:TECHNOLOGY", "MariaDB:TECHNOLOGY", "Tobi:PERSON"],
        "relationships": ["Tobi|TESTED|Postgres"],
    },
    {
        "title": "The database will be Postgres",
        "content": "Because of exclusion constraints and online backup. SQLite was fast enough, but two offices write at "
        "once. A newer MariaDB would have been the smaller step and solved nothing.",
        "category": "migration/database", "tags": ["decision", "architecture"],
        "observed_at": "2026-03-20T10:45:00Z", "source": "architecture review", "confidence": 0.98,
        "entities": ["Harbour Lights:TEAM", "Postgres:TECHNOLOGY", "SQLite:TECHNOLOGY", "MariaDB:TECHNOLOGY"],
        "relationships": ["Harbour Lights|CHOSE|Postgres", "Harbour Lights|RULED_OUT|SQLite"],
    },
    {
        "title": "Ines prefers short decisions with the rejected option named",
        "content": "Two or three sentences: what, why, and what we did not do. Nobody reads the long ones.",
        "category": "team", "tags": ["preference"], "observed_at": "2026-03-20T11:05:00Z",
        "source": "architecture review", "source_kind": "user_statement", "entities": ["Ines:PERSON"],
    },
    {
        "title": "Hosting goes to two small machines at Nordlys Hosting",
        "content": "One for the application and one for the database, in different fire zones. A container platform was "
        "ruled out: five people, one product.",
        "category": "migration/hosting", "tags": ["decision"], "observed_at": "2026-03-27T14:30:00Z",
        "source": "architecture review", "confidence": 0.9,
        "entities": ["Nordlys Hosting:SUPPLIER", "Harbour Lights:TEAM"],
        "relationships": ["Harbour Lights|CHOSE|Nordlys Hosting"],
    },
    {
        "title": "First rehearsal: the copy took 6 h 40 min, the window is 5 h",
        "content": "Index creation was most of it. The scanned paper tickets, 31 GB, are copied last and need not be there "
        "when we open.",
        "category": "migration/rehearsals", "tags": ["rehearsal", "risk"], "kind": "episodic",
        "observed_at": "2026-04-04T17:10:00Z", "source": "rehearsal log", "entities": ["Postgres:TECHNOLOGY", "Tobi:PERSON"],
    },
    {
        "title": "Postgres rounds half cents differently from MariaDB in our price code",
        "content": "Eleven of 84,000 invoices differ by one cent. Wanjiru found it by comparing totals per sailing. The price "
        "code now rounds before it stores.",
        "category": "migration/database", "tags": ["finding", "risk"], "observed_at": "2026-04-08T09:50:00Z",
        "source": "comparison run", "confidence": 0.97,
        "entities": ["Postgres:TECHNOLOGY", "MariaDB:TECHNOLOGY", "Wanjiru:PERSON"],
        "relationships": ["Wanjiru|FOUND|rounding difference"],
    },
    {
        "title": "How to run a rehearsal",
        "content": "1. Freeze a copy of the server, with the clock noted.\n2. Run `move.sh`; it stops at the first error.\n"
        "3. Compare counts and totals per sailing.\n4. Write five lines the same day.",
        "category": "migration/rehearsals", "tags": ["how-to"], "kind": "procedural",
        "observed_at": "2026-04-09T12:00:00Z", "entities": ["Wanjiru:PERSON"],
    },
    {
        "title": "Skerry Ferries asked whether season passes survive the move",
        "content": "They do: 412 passes, tested in the rehearsal. Leo answered the same day.",
        "category": "customers/skerry-ferries", "tags": ["question"], "kind": "episodic",
        "observed_at": "2026-04-14T08:20:00Z", "source": "mail", "entities": ["Skerry Ferries:CUSTOMER", "Leo:PERSON"],
    },
    {
        "title": "Second rehearsal: 3 h 55 min with indexes built in parallel",
        "content": "An hour of reserve. All totals per sailing agree. The paper tickets followed during the night.",
        "category": "migration/rehearsals", "tags": ["rehearsal"], "kind": "episodic",
        "observed_at": "2026-04-18T16:30:00Z", "source": "rehearsal log",
        "entities": ["Postgres:TECHNOLOGY", "Tobi:PERSON", "Wanjiru:PERSON"],
    },
    {
        "title": "Payments stay with the old provider until October",
        "content": "Changing database and payments in one spring was one risk too many. Sumi looks at it again after the "
        "season.",
        "category": "migration/payments", "tags": ["decision", "scope"],
        "observed_at": "2026-04-22T10:10:00Z", "source": "planning meeting", "review_at": "2026-10-05",
        "entities": ["Sumi:PERSON", "Harbour Lights:TEAM"], "relationships": ["Harbour Lights|POSTPONED|payments move"],
    },
    {
        "title": "Leo keeps customers to one mail a step, in plain words",
        "content": "What changes for you, when, and whom to call. No version numbers.",
        "category": "team", "tags": ["preference", "customers"], "observed_at": "2026-04-24T15:00:00Z",
        "source": "chat", "source_kind": "user_statement", "entities": ["Leo:PERSON"],
    },
    {
        "title": "Brisling Line may leave if the departure board is slow again",
        "content": "Heard second-hand at the harbour fair. Their board took nine seconds on two days last July.",
        "category": "customers/brisling-line", "tags": ["risk"], "observed_at": "2026-04-29T18:00:00Z",
        "source": "hearsay", "confidence": 0.4, "status": "provisional",
        "entities": ["Brisling Line:CUSTOMER", "Lanternbook:PRODUCT"],
    },
    {
        "title": "The switch happens on Saturday 16 May, from 05:00 to 10:00",
        "content": "Before the Sunday rush, and two weekends before the summer timetable. Fallback is the old server, kept "
        "running and read-only until 31 May.",
        "category": "migration/cutover", "tags": ["decision", "date"],
        "observed_at": "2026-05-04T09:40:00Z", "source": "planning meeting",
        "entities": ["Ines:PERSON", "Harbour Lights:TEAM", "Lanternbook:PRODUCT"],
    },
    {
        "title": "Grafana shows the departure board's response time from now on",
        "content": "Median and worst of a minute, for every line. The alarm is at two seconds over five minutes.",
        "category": "platform", "tags": ["monitoring", "fact"], "observed_at": "2026-05-07T13:30:00Z",
        "entities": ["Grafana:TECHNOLOGY", "Lanternbook:PRODUCT", "Sumi:PERSON"],
        "relationships": ["Grafana|WATCHES|Lanternbook"],
    },
    {
        "title": "Lanternbook stores its bookings in Postgres",
        "content": "On the database machine at Nordlys Hosting, with an online backup every fifteen minutes. The first "
        "restore was tried on the day itself.",
        "category": "platform", "tags": ["database", "fact"], "observed_at": "2026-05-16T09:25:00Z",
        "source": "cutover log", "attribute": "lanternbook/database", "valid_from": "2026-05-16",
        "entities": ["Lanternbook:PRODUCT", "Postgres:TECHNOLOGY", "Nordlys Hosting:SUPPLIER"],
        "relationships": ["Lanternbook|STORES_IN|Postgres"],
    },
    {
        "title": "The switch took 4 h 10 min and nobody lost a booking",
        "content": "05:00 read-only, 08:55 totals agree, 09:10 open. One surprise: the label printer on the pier wanted the "
        "old host name.",
        "category": "migration/cutover", "tags": ["result"], "kind": "episodic",
        "observed_at": "2026-05-16T11:00:00Z", "source": "cutover log",
        "entities": ["Tobi:PERSON", "Wanjiru:PERSON", "Postgres:TECHNOLOGY"],
    },
    {
        "title": "First Sunday on Postgres: the board answers in 0.3 seconds",
        "content": "Worst minute 0.8 seconds at 20:05, with 2,140 bookings in the evening. Last year the same evening peaked "
        "at nine.",
        "category": "platform", "tags": ["result", "monitoring"], "kind": "episodic",
        "observed_at": "2026-05-17T20:30:00Z", "source": "Grafana",
        "entities": ["Postgres:TECHNOLOGY", "Grafana:TECHNOLOGY", "Lanternbook:PRODUCT"],
    },
    {
        "title": "Looking back: two rehearsals paid for themselves",
        "content": "We would do the second one earlier. The old server is switched off on 1 June, after a last dump that "
        "Sumi keeps for seven years.",
        "category": "migration", "tags": ["retrospective"], "kind": "summary",
        "observed_at": "2026-05-29T14:00:00Z", "source": "retrospective",
        "entities": ["Harbour Lights:TEAM", "Sumi:PERSON", "Tobi:PERSON", "Wanjiru:PERSON"],
    },
)  # fmt: skip
