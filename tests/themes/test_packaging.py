"""The files that publish the package: workflows, recipe, versions, licenses."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from click.testing import CliRunner
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import transvariation

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]

SCHEMAS = {
    "vendor.github-workflows": ".github/workflows/*.yml",
    "vendor.github-issue-forms": ".github/ISSUE_TEMPLATE/[!c]*.yml",
    "vendor.github-issue-config": ".github/ISSUE_TEMPLATE/config.yml",
    "vendor.dependabot": ".github/dependabot.yml",
    "vendor.readthedocs": ".readthedocs.yaml",
    "vendor.citation-file-format": "CITATION.cff",
}


@pytest.mark.parametrize("schema", SCHEMAS)
def test_service_files_follow_their_schema(schema):
    check_jsonschema = pytest.importorskip("check_jsonschema")
    files = [str(path) for path in sorted(ROOT.glob(SCHEMAS[schema]))]
    assert files
    checked = CliRunner().invoke(check_jsonschema.main, ["--builtin-schema", schema, *files])
    assert checked.exit_code == 0, checked.output


def test_workflows_call_targets_that_exist():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    called = set()
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        called |= set(re.findall(r"run: make ([\w-]+)", path.read_text(encoding="utf-8")))
    assert {"test", "test-page", "test-core", "test-oldest", "docs", "package"} <= called <= targets


def test_version_is_written_once_and_repeated_faithfully():
    assert "version" in PROJECT["dynamic"]
    for file, pattern in {
        "CITATION.cff": r"^version: (\S+)",
        "packaging/conda/meta.yaml": r'version = "([^"]+)"',
    }.items():
        found = re.search(pattern, (ROOT / file).read_text(encoding="utf-8"), re.M)
        assert found, file
        assert found[1] == transvariation.__version__, file


def test_the_published_readme_has_absolute_links_only():
    hook = PYPROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    own = text = (ROOT / "README.md").read_text(encoding="utf-8")
    for substitution in hook["substitutions"]:
        text = re.sub(substitution["pattern"], substitution["replacement"], text)
    repository = PROJECT["urls"]["Homepage"]
    raw = repository.replace("github.com", "raw.githubusercontent.com")
    links = re.findall(r"(!?)\[[^]]*\]\(([^)]+)\)", own)
    published = re.findall(r"(!?)\[[^]]*\]\(([^)]+)\)", text)
    relative = [(mark, link) for mark, link in links if not link.startswith("https:")]
    assert [mark for mark, _ in relative].count("!") == 2
    assert [(mark, link) for mark, link in published if not link.startswith("https:")] == []
    absolute = [(mark, f"{raw}/main/{link}" if mark else f"{repository}/blob/main/{link}") for mark, link in relative]
    assert set(absolute) <= set(published)


def test_conda_recipe_has_the_core_dependencies():
    recipe = (ROOT / "packaging" / "conda" / "meta.yaml").read_text(encoding="utf-8")
    run = recipe.split("  run:\n")[1].split("\ntest:")[0]
    listed = set(re.findall(r"^    - (\S+ >=\S+)$", run, re.M)) - {"python >=3.11"}
    conda_names = {"matplotlib": "matplotlib-base"}
    required = set()
    for line in PROJECT["dependencies"]:
        requirement = Requirement(line)
        required.add(f"{conda_names.get(requirement.name, requirement.name)} {requirement.specifier}")
    assert listed == required


def test_constraints_pin_every_dependency_in_step_with_the_project():
    """`make constraints` writes the file; one version per Python and system, and no address of a package index."""
    text = (ROOT / "packaging" / "constraints.txt").read_text(encoding="utf-8")
    assert "://" not in text
    pinned: dict[str, list[Requirement]] = {}
    for line in text.splitlines():
        pinned.setdefault(canonicalize_name(Requirement(line).name), []).append(Requirement(line))
    lines = [*PROJECT["dependencies"], *(line for extra in PROJECT["optional-dependencies"].values() for line in extra)]
    for requirement in map(Requirement, lines):
        if requirement.name == "transvariation":
            continue
        pins = pinned.get(canonicalize_name(requirement.name))
        assert pins, f"{requirement.name} is not pinned; run make constraints"
        for pin in pins:
            (version,) = (each.version for each in pin.specifier)
            assert requirement.specifier.contains(version), f"{pin} is not {requirement}; run make constraints"


ACCEPTED = re.compile(r"\b(0?BSD|MIT|Apache|PSF|Python Software|ISC|MPL|Mozilla|Zlib|HPND|CC0|Unlicense)")
REFUSED = re.compile(r"GNU (Affero )?General|\bA?GPL")
# Their metadata name no license in a form that can be read; these were looked up.
LOOKED_UP = {"lir": "Apache-2.0", "confidence": "Apache-2.0", "locket": "BSD-2-Clause", "skops": "MIT"}


def _installed(requirements: list[str], extras: set[str]) -> set[str]:
    """List the distributions that these requirements bring, with theirs."""
    found: set[str] = set()
    queue = [(Requirement(line), extras) for line in requirements]
    while queue:
        requirement, given = queue.pop()
        wanted = [{"extra": extra} for extra in given or {""}]
        if requirement.marker and not any(requirement.marker.evaluate(environment) for environment in wanted):
            continue
        name = requirement.name.lower()
        try:
            about = distribution(name)
        except PackageNotFoundError:
            continue
        if name in found:
            continue
        found.add(name)
        queue += [(Requirement(line), requirement.extras) for line in about.requires or []]
    return found


def test_messages_say_how_to_install_packages_of_the_extras():
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    named = re.findall(r'pip install ([\w -]+)|"packages": "([\w -]+)"', sources)
    extras = {
        Requirement(need).name for needs in PYPROJECT["project"]["optional-dependencies"].values() for need in needs
    }
    assert extras >= {package for pair in named for names in pair for package in names.split()} >= {"typst", "openpyxl"}


def test_every_dependency_has_a_permissive_license():
    optional = PROJECT["optional-dependencies"]
    extras = re.findall(r"\w+", optional["all"][0].split("[")[1])
    lines = [*PROJECT["dependencies"], *(line for name in extras for line in optional[name])]
    names = _installed(lines, set())
    assert len(names) > 20
    refused = {}
    for name in sorted(names):
        about = distribution(name).metadata
        stated = [
            about.get("License-Expression") or "",
            *(about.get_all("Classifier") or []),
            about.get("License") or "",
        ]
        license = " ".join(line for line in stated if "License" in line or "::" not in line)[:300]
        if name not in LOOKED_UP and (REFUSED.search(license) or not ACCEPTED.search(license)):
            refused[name] = license or "no license stated"
    assert refused == {}
