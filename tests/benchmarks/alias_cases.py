"""Stores of names of which it is known which are one thing: people from a table of nicknames, and our own lists.

Each case is two names with a label and the observations that mention them, made by the rule that its name says. A thing has a
circle of six other things; an observation mentions none to three of them. Knows nothing of how names are compared.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rapidfuzz.distance import OSA

SURNAMES = [
    "Smith",
    "Johnson",
    "Williams",
    "Brown",
    "Jones",
    "Garcia",
    "Miller",
    "Davis",
    "Rodriguez",
    "Martinez",
    "Hernandez",
    "Lopez",
    "Gonzalez",
    "Wilson",
    "Anderson",
    "Thomas",
    "Taylor",
    "Moore",
    "Jackson",
    "Martin",
    "Lee",
    "Perez",
    "Thompson",
    "White",
    "Harris",
    "Sanchez",
    "Clark",
    "Ramirez",
    "Lewis",
    "Robinson",
    "Walker",
    "Young",
    "Allen",
    "King",
    "Wright",
    "Scott",
    "Torres",
    "Nguyen",
    "Hill",
    "Flores",
    "Green",
    "Adams",
    "Nelson",
    "Baker",
    "Hall",
    "Rivera",
    "Campbell",
    "Mitchell",
    "Carter",
    "Roberts",
    "Gomez",
    "Phillips",
    "Evans",
    "Turner",
    "Diaz",
    "Parker",
    "Cruz",
    "Edwards",
    "Collins",
    "Reyes",
    "Stewart",
    "Morris",
    "Morales",
    "Murphy",
    "Cook",
    "Rogers",
    "Gutierrez",
    "Ortiz",
    "Morgan",
    "Cooper",
    "Peterson",
    "Bailey",
    "Reed",
    "Kelly",
    "Howard",
    "Ramos",
    "Kim",
    "Cox",
    "Ward",
    "Richardson",
    "Watson",
    "Brooks",
    "Chavez",
    "Wood",
    "Bennett",
    "Gray",
    "Mendoza",
    "Ruiz",
    "Hughes",
    "Price",
    "Alvarez",
    "Castillo",
    "Sanders",
    "Patel",
    "Myers",
    "Long",
    "Ross",
    "Foster",
    "Jimenez",
    "Powell",
    "Jenkins",
    "Perry",
    "Russell",
    "Sullivan",
    "Bell",
    "Coleman",
    "Butler",
    "Henderson",
    "Barnes",
    "Fisher",
    "Vasquez",
    "Simmons",
    "Graham",
    "Murray",
    "Ford",
    "Hamilton",
    "Wallace",
    "Woods",
    "West",
    "Owens",
    "Reynolds",
    "Ellis",
    "Harrison",
    "Gibson",
    "Wells",
    "Webb",
]
STEMS = [
    "Northwind",
    "Fabrikam",
    "Contoso",
    "Globex",
    "Initech",
    "Umbrella",
    "Hooli",
    "Vandelay",
    "Soylent",
    "Stark",
    "Wayne",
    "Cyberdyne",
    "Tyrell",
    "Wonka",
    "Oscorp",
    "Massive",
    "Aperture",
    "Acme",
    "Brightwell",
    "Halcyon",
    "Meridian",
    "Zenith",
    "Lumen",
    "Cobalt",
    "Juniper",
    "Harbour",
    "Kestrel",
    "Larkspur",
    "Monarch",
    "Orchard",
    "Palisade",
    "Quarry",
    "Redwood",
    "Sapphire",
    "Tamarind",
    "Veritas",
    "Willow",
    "Yarrow",
    "Cascade",
    "Drift",
]
FIELDS = ["Systems", "Logistics", "Analytics", "Foods", "Robotics", "Energy", "Media", "Partners", "Health", "Labs"]
SPELLED = [
    ("Kubernetes", "Kuberentes"), ("Elasticsearch", "Elastcsearch"), ("PostgreSQL", "PosgreSQL"), ("TypeScript", "TypeScirpt"),
    ("Cloudflare", "Cloudfare"), ("Confluence", "Confuence"), ("Prometheus", "Promethues"), ("Databricks", "Datbaricks"),
    ("Mediterranean", "Mediteranean"), ("Massachusetts", "Massachussetts"), ("Philadelphia", "Philadephia"),
    ("Commonwealth Bank", "Commonweath Bank"), ("Schlumberger", "Schlumbeger"), ("Volkswagen", "Volkwsagen"),
    ("Shakespeare Festival", "Shakespare Festival"), ("Guggenheim Museum", "Gugenheim Museum"),
]  # fmt: skip
WRITTEN = [
    ("OpenAI", "Open AI"), ("Node.js", "NodeJS"), ("GPT-4", "GPT 4"), ("São Paulo", "Sao Paulo"), ("CI/CD", "CI-CD"),
    ("Stable Diffusion", "StableDiffusion"), ("Café Lumière", "Cafe Lumiere"), ("scikit-learn", "scikit learn"),
    ("Coca-Cola", "Coca Cola"), ("The Rolling Stones", "Rolling Stones"), ("LLM", "LLMs"), ("vector database", "vector databases"),
    ("Parkinson's disease", "Parkinson disease"), ("U.S.A.", "USA"), ("AT&T", "AT and T"), ("Wi-Fi", "WiFi"),
    ("Zürich Airport", "Zurich Airport"), ("GitHub Actions", "Github-Actions"), ("DuckDB", "Duck DB"), ("macOS", "Mac OS"),
]  # fmt: skip
SPELLED_OUT = [
    ("API", "Application Programming Interface"), ("ETL", "Extract Transform Load"), ("DoD", "Department of Defense"),
    ("CERN", "Centre Europeen Recherche Nucleaire"), ("SLA", "Service Level Agreement"), ("NLP", "Natural Language Processing"),
    ("KPI", "Key Performance Indicator"), ("UCL", "University College London"), ("IRS", "Internal Revenue Service"),
    ("EIB", "European Investment Bank"), ("RAG", "Retrieval Augmented Generation"), ("SSO", "Single Sign On"),
]  # fmt: skip
INITIALS_ONLY = [
    ("MIT", "Made In Taiwan"), ("CIA", "Culinary Institute of America"), ("ATM", "Asynchronous Transfer Mode"),
    ("ROI", "Region Of Interest"), ("PCA", "Parks Council Australia"), ("SME", "Subject Matter Expert"),
    ("ABC", "Advanced Bioanalytics Centre"), ("DPA", "Danish Port Authority"), ("IRA", "Irish Rowing Association"),
]  # fmt: skip
NUMBERED = [
    ("Topic1", "Topic10"), ("Topic2", "Topic3"), ("v1.2", "v1.20"), ("Python 3.1", "Python 3.11"), ("iPhone 12", "iPhone 13"),
    ("GPT-3", "GPT-4"), ("Room 101", "Room 110"), ("Llama 2 7B", "Llama 27B"), ("Boeing 737", "Boeing 747"), ("H100", "H200"),
    ("Sprint 12", "Sprint 21"), ("Qwen2.5", "Qwen 25"), ("Release 2024-01", "Release 2024-10"), ("Windows 10", "Windows 11"),
    ("Phase I", "Phase II"), ("Rocky III", "Rocky II"), ("RFC 2616", "RFC 2661"), ("Apollo 11", "Apollo 12"),
]  # fmt: skip
NEAR = [
    ("Java", "JavaScript"), ("React", "React Native"), ("Apple", "Apple Music"), ("Postgres", "PostGIS"), ("C", "C++"),
    ("C++", "C#"), ("Team A", "Team B"), ("North Carolina", "South Carolina"), ("East Timor", "West Timor"), ("Window", "Windows"),
    ("hypertension", "hypotension"), ("virus", "antivirus"), ("microeconomics", "macroeconomics"), ("Austria", "Australia"),
    ("Slovakia", "Slovenia"), ("Niger", "Nigeria"), ("Iran", "Iraq"), ("conservation", "conversation"), ("casual", "causal"),
    ("marital law", "martial law"), ("prewar period", "postwar period"), ("immigration", "emigration"), ("GitHub", "GitLab"),
    ("Docker", "Docker Swarm"), ("Amazon", "Amazon Prime"), ("Disney", "Disney+"), (".NET", "Net"), ("Guinea", "Guyana"),
    ("University of York", "University of New York"), ("Bank of China", "Central Bank of China"), ("Symmetry", "Asymmetry"),
    ("interstate road", "intrastate road"), ("Sales Team", "Sales Team Europe"), ("King's College", "Queen's College"),
    ("Frankfurt am Main", "Frankfurt an der Oder"), ("Adam Project", "Adams Project"), ("absorption", "adsorption"),
]  # fmt: skip
SIBLINGS = [
    ("Ann", "Anna"), ("Jon", "Joan"), ("Maria", "Mario"), ("Christian", "Christina"), ("Paul", "Paula"), ("Eric", "Erica"),
    ("Daniel", "Danielle"), ("Julian", "Julia"), ("Martin", "Martina"), ("Carl", "Carla"), ("Francis", "Frances"),
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Case:
    """Two names, by which rule they were made, and whether they are one thing."""

    rule: str
    left: str
    right: str
    is_one: bool


@dataclass(slots=True)
class CaseStore:
    """A store to write and what is true of its names.

    Attributes:
        drafts: Arguments of `add_observation`.
        cases: The cases in it.
        thing_of: The thing that each name is, by name in lower case.
    """

    drafts: list[dict[str, Any]] = field(default_factory=list)
    cases: list[Case] = field(default_factory=list)
    thing_of: dict[str, int] = field(default_factory=dict)


def nickname_links(path: Path) -> list[tuple[str, str]]:
    """Names and their nicknames from a CSV file with the columns name1, relationship, name2."""
    with path.open(newline="") as file:
        return sorted(
            {
                (row["name1"].title(), row["name2"].title())
                for row in csv.DictReader(file)
                if row["name1"] != row["name2"]
            }
        )


def case_store(links: Sequence[tuple[str, str]], seed: int) -> CaseStore:
    """One store of about 250 names, half of the pairs of people one person."""
    maker = _Maker(links, random.Random(seed))
    maker.people()
    maker.organisations()
    maker.things()
    maker.random.shuffle(maker.store.drafts)
    return maker.store


class _Maker:
    """Makes the cases of one store, each name used once."""

    def __init__(self, links: Sequence[tuple[str, str]], rng: random.Random) -> None:
        self.links, self.random, self.store = links, rng, CaseStore()
        self.linked = {frozenset(link) for link in links}
        self.given = sorted({name for link in links for name in link})
        self.surnames = rng.sample(SURNAMES, len(SURNAMES))
        self.n_things = self.n_circles = 0

    def circle(self) -> list[str]:
        """Six things of nobody else."""
        self.n_circles += 1
        return [f"Item{chr(97 + n)} Q{self.n_circles}" for n in range(6)]

    def case(
        self, rule: str, left: str, right: str, *, is_one: bool, kind: str, shared: float, together: bool = False,
        says: str = "", least: int = 1, alias: bool = False,
    ) -> bool:  # fmt: skip
        """Add a case; `shared` is the share of cases whose two names have one circle."""
        if any(name.lower() in self.store.thing_of for name in (left, right)):
            return False
        rng, circle = self.random, self.circle()
        other = circle if rng.random() < shared else self.circle()
        typed = rng.random() < 0.6
        self.n_things += 1
        for name, around in ((left, circle), (right, other)):
            self.store.thing_of[name.lower()] = self.n_things
            self.n_things += not is_one
            for _ in range(rng.randint(least, 6)):
                self.mention([name], around, kind if typed else "", f"{name} came up again.")
        if together:
            self.mention([left, right], other, kind if typed else "", f"{left} and {right} met.")
        if says:
            self.mention([left], circle, kind if typed else "", says)
        if alias:
            self.mention([left], [], kind if typed else "", "Known by two names.", [right])
        self.store.cases.append(Case(rule, left, right, is_one))
        return True

    def mention(self, names: list[str], around: list[str], kind: str, text: str, aliases: Sequence[str] = ()) -> None:
        """One observation; its text has a number, so that no two are the same statement."""
        rng = self.random
        near = rng.sample(around, rng.randint(0, min(3, len(around))))
        entities = [{"name": name, **({"type": kind} if kind else {}), "aliases": list(aliases)} for name in names]
        self.store.drafts.append({
            "content": f"{text} Note {len(self.store.drafts)}." + (f" With {', '.join(near)}." if near else ""),
            "entities": [*entities, *({"name": name} for name in near)], "category": rng.choice(["people", "work", "home"]),
        })  # fmt: skip

    def people(self) -> None:
        """People: nicknames, initials, order, single names, and others of the same or nearly the same name."""
        for number, surname in enumerate(self.surnames):
            full, nick = self.random.choice(self.links)
            rule = number % 13
            if rule < 4:
                self.case("nickname", f"{full} {surname}", f"{nick} {surname}", is_one=True, kind="PERSON", shared=1)
            elif rule == 4:
                self.case(
                    "initials", f"{full[0]}. {surname}", f"{full} {surname}", is_one=True, kind="PERSON", shared=1
                )
            elif rule == 5:
                self.case("order", f"{surname}, {full}", f"{full} {surname}", is_one=True, kind="PERSON", shared=1)
            elif rule == 6:
                near = self.near_name(full)
                self.case(
                    "near given name", f"{full} {surname}", f"{near} {surname}", is_one=False, kind="PERSON", shared=0.3
                )
            elif rule == 7:
                other = self.random.choice([s for s in SURNAMES if s != surname])
                self.case(
                    "other surname", f"{full} {surname}", f"{nick} {other}", is_one=False, kind="PERSON", shared=0.3
                )
            elif rule in {8, 9}:
                self.case(
                    "nickname, two people", f"{full} {surname}", f"{nick} {surname}", is_one=False, kind="PERSON", shared=0.3,
                    together=True, least=2,
                )  # fmt: skip
            elif rule == 10:
                self.initials_of_two(surname)
            elif rule == 11:
                self.case(
                    "nickname, two strangers",
                    f"{full} {surname}",
                    f"{nick} {surname}",
                    is_one=False,
                    kind="PERSON",
                    shared=0,
                )
            else:
                left, right = self.random.choice(SIBLINGS)
                both = self.random.random() < 0.5
                self.case(
                    "siblings",
                    f"{left} {surname}",
                    f"{right} {surname}",
                    is_one=False,
                    kind="PERSON",
                    shared=0.5,
                    together=both,
                )
        for left, right in self.random.sample(SIBLINGS, 4):
            self.case("near single names", left, right, is_one=False, kind="PERSON", shared=0.5)

    def near_name(self, name: str) -> str:
        """The given name closest in spelling that is not linked to it."""
        others = [g for g in self.given if g != name and frozenset((g, name)) not in self.linked]
        return min(others, key=lambda g: (OSA.distance(g, name), g))

    def initials_of_two(self, surname: str) -> None:
        """An initial that two people have."""
        first = self.random.choice(self.given)
        second = self.random.choice(
            [g for g in self.given if g[0] == first[0] and frozenset((g, first)) not in self.linked]
        )
        if first != second and self.case(
            "initial of two", f"{first} {surname}", f"{second} {surname}", is_one=False, kind="PERSON", shared=0
        ):
            short = f"{first[0]}. {surname}"
            self.n_things += 1
            self.store.thing_of[short.lower()] = self.n_things
            for _ in range(3):
                self.mention([short], self.circle(), "PERSON", f"{short} called.")

    def organisations(self) -> None:
        """Companies with and without legal forms, and sisters with two."""
        stems = [f"{stem} {self.random.choice(FIELDS)}" for stem in self.random.sample(STEMS, 16)]
        for number, stem in enumerate(stems):
            form = self.random.choice(["Inc.", "GmbH", "Ltd", "LLC", "Corp.", "PLC"])
            if number < 6:
                self.case("suffix", stem, f"{stem} {form}", is_one=True, kind="ORGANIZATION", shared=1)
            elif number < 8:
                self.case("suffix", f"{stem} Incorporated", f"{stem}, Inc.", is_one=True, kind="ORGANIZATION", shared=1)
            elif number < 14:
                self.case(
                    "two legal forms", f"{stem} Inc.", f"{stem} GmbH", is_one=False, kind="ORGANIZATION", shared=0.2
                )
            else:
                self.case(
                    "declared", stem, f"Project {stem[:4]}x", is_one=True, kind="ORGANIZATION", shared=1, alias=True
                )

    def things(self) -> None:
        """Names of things from our own lists."""
        for rule, pairs, n, one, shared in (
            ("spelling", SPELLED, 6, True, 1.0), ("written otherwise", WRITTEN, 8, True, 1.0),
            ("numbers", NUMBERED, 9, False, 0.7), ("near names", NEAR, 16, False, 0.6),
            ("initials by chance", INITIALS_ONLY, 4, False, 0.0),
        ):  # fmt: skip
            for left, right in self.random.sample(pairs, n):
                self.case(rule, left, right, is_one=one, kind="THING", shared=shared)
        for short, long in self.random.sample(SPELLED_OUT, 5):
            self.case(
                "acronym", short, long, is_one=True, kind="THING", shared=1, says=f"The {long} ({short}) is meant."
            )


def all_pairs(store: CaseStore) -> Iterator[tuple[str, str]]:
    """Every pair of names that the store is about, for baselines that try all."""
    names = sorted({name for case in store.cases for name in (case.left, case.right)})
    for n, left in enumerate(names):
        for right in names[n + 1 :]:
            yield left, right
