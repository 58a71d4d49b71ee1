"""The public gold sets that are read: where each comes from, under what licence, and the hash of every file."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class PublicFile:
    """A file of a set."""

    name: str
    """What it is called here."""
    path: str
    """Where it is in its repository."""
    sha256: str


@dataclass(frozen=True, slots=True)
class PublicSet:
    """A set that people published, at one commit."""

    name: str
    title: str
    licence: str
    repository: str
    commit: str
    files: tuple[PublicFile, ...]
    cite: str

    @property
    def source(self) -> str:
        """Where it comes from, in one line."""
        return f"{self.repository} at {self.commit}"


_SETS = (
    PublicSet(
        name="xstest",
        title="XSTest: answers of three models, labelled by two people for refusal",
        licence="CC BY 4.0",
        repository="https://github.com/paul-rottger/exaggerated-safety",
        commit="d7bb5bd",
        files=(
            PublicFile(
                "xstest_v2_completions_gpt4.csv",
                "model_completions/xstest_v2_completions_gpt4.csv",
                "71af323af8ecdec0efae23992317721441d2cfedddedeef3248f842f4e15c9ca",
            ),
            PublicFile(
                "xstest_v2_completions_llama2new.csv",
                "model_completions/xstest_v2_completions_llama2new.csv",
                "6365cc55ce0a593c7ab8785853d02784be027d97199d4077912b4313cd010099",
            ),
            PublicFile(
                "xstest_v2_completions_mistralinstruct.csv",
                "model_completions/xstest_v2_completions_mistralinstruct.csv",
                "6a146b65a5b96ec8249729bc2db459697175125998d7cbbcc88f7688ecf31dad",
            ),
        ),
        cite="Röttger et al., XSTest: A Test Suite for Identifying Exaggerated Safety Behaviours in Large Language"
        " Models",
    ),
    PublicSet(
        name="issuebench",
        title="IssueBench: political writing by five models, labelled by two people for stance and refusal",
        licence="CC BY 4.0",
        repository="https://github.com/paul-rottger/issuebench",
        commit="730aa08",
        files=(
            PublicFile(
                "stance_annotations.csv",
                "3_experiments/1_stance_classifier_evaluation/stance_annotations.csv",
                "44e3f4eba184678d91ef74fa527c755e3e69c9f29dbc59e0ae07ece728606be4",
            ),
        ),
        cite="Röttger et al., IssueBench: Millions of Realistic Prompts for Measuring Issue Bias in LLM Writing"
        " Assistance",
    ),
    PublicSet(
        name="pct",
        title="Political-compass answers that name no option, labelled by two people",
        licence="CC BY 4.0",
        repository="https://github.com/paul-rottger/llm-values-pct",
        commit="b4e5d89",
        files=(
            PublicFile(
                "invalid_completions_240124.csv",
                "data/annotations/invalid_completions_240124.csv",
                "224e4752e2955d7b781ced0bea937636c57c32d385c381f8322a36dd6c31c803",
            ),
        ),
        cite="Röttger et al., Political Compass or Spinning Arrow? Towards More Meaningful Evaluations for Values and"
        " Opinions in Large Language Models",
    ),
    PublicSet(
        name="pandalm",
        title="PandaLM: pairs of answers to instructions, with the preferences of three people",
        licence="Apache-2.0",
        repository="https://github.com/WeOpenML/PandaLM",
        commit="3871806",
        files=(
            PublicFile(
                "testset-v1.json",
                "data/testset-v1.json",
                "cc154f9067c7382d7ea86f8f246511a5e1ac87e1fddd845c5938d789505b07a4",
            ),
        ),
        cite="Wang et al., PandaLM: An Automatic Evaluation Benchmark for LLM Instruction Tuning Optimization",
    ),
    PublicSet(
        name="llmbar",
        title="LLMBar: pairs of answers of which one follows the instruction and the other does not",
        licence="MIT",
        repository="https://github.com/princeton-nlp/LLMBar",
        commit="900616b",
        files=(
            PublicFile(
                "Natural.json",
                "Dataset/LLMBar/Natural/dataset.json",
                "f7127b7aa78104cb8e03a2b1b3ac0077e95b125714dd441a8ee63666145a3375",
            ),
            PublicFile(
                "GPTInst.json",
                "Dataset/LLMBar/Adversarial/GPTInst/dataset.json",
                "1002425f73c2cf54b6e6de99bce3f6c60fa2a17d13194772e37d7481c1351d42",
            ),
            PublicFile(
                "Manual.json",
                "Dataset/LLMBar/Adversarial/Manual/dataset.json",
                "0d9598769a39cdbbd265778c37e49939d41d5f76dcfb17bd75dcfa07516d3837",
            ),
        ),
        cite="Zeng et al., Evaluating Large Language Models at Evaluating Instruction Following",
    ),
)

PUBLIC_SETS: Mapping[str, PublicSet] = MappingProxyType({known.name: known for known in _SETS})
"""The public sets by name."""
