"""The documentation says what is there."""

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest
import yaml

import evenhand
from evenhand.instruments import BUILTIN_INSTRUMENT_SETS
from evenhand.models import EMBEDDED_MODELS
from evenhand.readings import State
from evenhand.studies.audit.files import JUDGMENTS, RESPONSES
from evenhand.studies.rate.files import PAIRS, RATINGS

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"


def test_command_line_page_is_what_the_commands_say() -> None:
    spec = importlib.util.spec_from_file_location("make_cli_page", DOCS / "make_cli_page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (DOCS / "cli.md").read_text("utf-8") == module.page(), "run `make docs`"


def test_there_is_one_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert evenhand.__version__ == project["version"] == citation["version"]
    assert project["license"] == citation["license"]


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    named = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"], "hatchling"]
    page = (DOCS / "dependencies.md").read_text("utf-8")
    for requirement in named:
        name = re.split(r"[<>=]", requirement)[0]
        assert f"`{name}`" in page, name


@pytest.mark.parametrize(
    ("name", "page"),
    [
        *((name, "run-folder.md") for name in (*RESPONSES, *JUDGMENTS, *State)),
        *((name, "rating.md") for name in (*PAIRS, *RATINGS)),
    ],
)
def test_every_column_and_state_is_explained(name: str, page: str) -> None:
    assert f"`{name}`" in (DOCS / page).read_text("utf-8")


@pytest.mark.parametrize("name", [*BUILTIN_INSTRUMENT_SETS, *EMBEDDED_MODELS])
def test_every_set_and_model_is_explained(name: str) -> None:
    pages = "".join((DOCS / page).read_text("utf-8") for page in ("instruments.md", "models.md"))
    assert f"`{name}`" in pages


def test_links_lead_somewhere() -> None:
    for page in (ROOT / "README.md", *DOCS.rglob("*.md")):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_no_machine_paths() -> None:
    for page in (ROOT / "README.md", ROOT / "CHANGELOG.md", *DOCS.rglob("*.md")):
        assert not re.search(r"/(?:root|home|work|tmp)/\w", page.read_text("utf-8")), page.name
