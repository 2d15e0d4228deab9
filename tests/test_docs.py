"""The manual covers what exists: commands, public names, pages, examples."""

import ast
import importlib.util
import json
import re
import tomllib
from pathlib import Path
from types import ModuleType

import click
import pandas as pd
import pytest

import transvariation
from transvariation import cli
from transvariation.cli import main
from transvariation.studies.glass import PROJECTIONS, READINGS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def extension(name: str) -> ModuleType:
    """Load one of the manual's own Sphinx extensions, which need no Sphinx for what is asked here."""
    spec = importlib.util.spec_from_file_location(name, DOCS / "_ext" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def commands(group: click.Command, path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], click.Command]]:
    if not isinstance(group, click.Group):
        return [(path, group)]
    context = click.Context(group)
    found = []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        found += commands(command, (*path, name))
    return found


def test_every_public_name_is_in_the_reference():
    listed = {name for *_, names in extension("api_reference").sections() for name in names}
    assert set(transvariation.__all__) <= listed


def test_the_reference_has_a_heading_for_every_home():
    reference = extension("api_reference")
    assert {home.split(".")[0] for home in transvariation._HOME.values()} <= set(reference.ROOMS)


@pytest.mark.parametrize("name", transvariation.__all__)
def test_every_public_name_has_an_example(name):
    assert ">>>" in (getattr(transvariation, name).__doc__ or ""), f"{name} needs a doctest in its docstring"


def test_the_whole_command_line_is_rendered():
    text = (DOCS / "commands.md").read_text(encoding="utf-8")
    assert ".. click:: transvariation.cli:main" in text
    assert ":nested: full" in text


def test_every_command_and_option_says_what_it_does():
    for path, command in commands(main):
        assert command.help, f"transvariation {' '.join(path)} has no help text"
        silent = [p.name for p in command.params if isinstance(p, click.Option) and not p.help]
        assert not silent, f"transvariation {' '.join(path)}: options without help: {silent}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_have_one_title(page):
    text = page.read_text(encoding="utf-8")
    included = re.search(r"^```\{include\} (\.\./\w+\.md)$", text, re.M)
    if included:
        text = (DOCS / included[1]).read_text(encoding="utf-8")
    outside_code = re.sub(r"^(```+|:::+|~~~+).*?^\1\s*$", "", text, flags=re.M | re.S)
    titles = re.findall(r"^# .+$", outside_code, re.M)
    assert len(titles) == 1, f"{page.name} needs one heading of the first level, has {titles}"


def test_pages_are_reachable():
    listed: set[str] = set()
    for page in PAGES:
        for block in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(encoding="utf-8"), re.S):
            listed |= {line.strip() for line in block.splitlines()}
    assert {page.stem for page in PAGES} - listed == {"index"}


def test_the_guide_lists_its_pages_by_their_titles_in_a_clone_too():
    text = (DOCS / "guide.md").read_text(encoding="utf-8")
    links = re.findall(r"^- \[(.+)\]\((\w+)\.md\)$", text, re.M)
    hidden = re.findall(r"```\{toctree\}\n:hidden:\n\n(.*?)\n```", text, re.S)
    assert [page for _, page in links] == hidden[0].split()
    for title, page in links:
        assert (DOCS / f"{page}.md").read_text(encoding="utf-8").startswith(f"# {title}\n")


def test_the_extras_are_those_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    brings = {
        name: ", ".join(re.split(r"[<>=!~;\[ ]", need)[0] for need in needs if not need.startswith("transvariation["))
        for name, needs in project["optional-dependencies"].items()
    }
    text = (DOCS / "installation.md").read_text(encoding="utf-8")
    assert dict(re.findall(r"^\| `(\w+)` \| .+ \| (.+) \|$", text, re.M)) == brings | {"all": "every extra for users"}


def test_nobody_is_sent_to_an_index_that_lacks_the_package():
    texts = {page.stem: page.read_text(encoding="utf-8") for page in [*PAGES, ROOT / "README.md"]}
    told = {name for name, text in texts.items() if re.search(r"pip install '?transvariation", text)}
    assert told <= {"installation", "tables"}  # where messages are quoted, of a package that is there
    assert all("pip install '.[app]'" in texts[name] for name in ("README", "installation", "page"))


def test_methods_and_reductions_are_explained_on_the_page_and_named_in_the_help():
    from transvariation.casework import METHODS, REDUCTIONS

    assert list(cli.METHODS) == list(METHODS)
    assert list(cli.REDUCTIONS) == list(REDUCTIONS)
    page = " ".join((DOCS / "commands.md").read_text(encoding="utf-8").split())
    words = {name: method.description for name, method in METHODS.items()} | {n: w for n, (_, w) in REDUCTIONS.items()}
    for name, explained in words.items():
        assert f"`{name}` : {explained}" in page
    for command in ("judge", "fit"):
        options = {option.name: getattr(option, "help", "") for option in main.commands[command].params}
        assert all(f"{name} ({brief})" in options["method"] for name, brief in cli.METHODS.items())
        assert all(f"{name} ({brief})" in options["reduce"] for name, brief in cli.REDUCTIONS.items())
        assert "to two first" in options["reduce"]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_examples_are_gallery_pages(example):
    assert example.stem.startswith("plot_")
    tree = ast.parse(example.read_text(encoding="utf-8"))
    lines = (ast.get_docstring(tree) or "").splitlines()
    assert len(lines) > 3, f"{example.name} must open with a title and a paragraph"
    assert set(lines[1]) == {"="}, f"{example.name}: underline the title with ="
    assert len(lines[1]) >= len(lines[0])


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: page.stem)
def test_nothing_is_fetched_from_the_network(page):
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"!\[[^]]*\]\(https?:|<(script|img|iframe|link)[^>]+https?:|\{(image|figure)\} https?:", text)


def test_what_the_readme_links_to_exists():
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_citation_names_the_version():
    assert f"version: {transvariation.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_every_room_stands_in_the_architecture():
    package = Path(transvariation.__file__).parent
    rooms = {path.stem for path in package.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    rooms = {room for room in rooms if not room.startswith("_")}
    described = set(re.findall(r"^\| `(\w+)` \|", (DOCS / "architecture.md").read_text(encoding="utf-8"), re.M))
    assert described == rooms, "the table in docs/architecture.md has one row for each room of the package"


def test_import_graph_is_drawn_from_the_code(tmp_path):
    graph = extension("import_graph")  # import-linter brings grimp
    assert "depth" in graph.imports()["tocc"]
    assert graph.imports()["validation"] == set()
    graph.draw(tmp_path / "graph.svg")
    assert (tmp_path / "graph.svg").read_text(encoding="utf-8").count("<path") > 20


def test_the_kept_studies_are_whole_and_fit_a_page():
    results = extension("study_results")
    cells = results.cells()
    assert len(cells) == 1 + 12
    assert ["TOCC_db, varSel", "0.997 / 0.980", "0.997 / 0.980"] in [row[:3] for row in cells]
    assert {row[3] for row in cells[1:]} == {*READINGS.values(), PROJECTIONS}
    for summary in results.SUMMARIES:
        header, *settings = results.medians(summary)
        assert len(header) == 1 + 9
        assert len(settings) == 39
    made_by = json.loads((results.RESULTS / "simulation" / "provenance.json").read_text())
    assert made_by["data_sets"] == str(39 * 100)


def test_the_share_of_training_targets_is_that_of_the_kept_rows():
    table = pd.read_csv(DOCS / "results" / "simulation" / "simulation.csv.gz")
    shares = 100 * table.groupby("method")["sensitivity"].mean()
    sizes = 100 * table[table["method"] == "PAM-TOCC_df"].groupby("size")["sensitivity"].mean()
    said = " ".join((DOCS / "claims.md").read_text(encoding="utf-8").split())
    by_size = "{:.1f}, {:.1f} and {:.1f} % for n = 100, 200 and 500".format(*sizes)
    assert f"PAM-TOCC_df accepts {shares['PAM-TOCC_df']:.1f} % of its training targets on average ({by_size})" in said
    assert f"TOCC_df {shares['TOCC_df']:.1f} %, the others 90.0 %" in said
    assert set(shares.drop(["PAM-TOCC_df", "TOCC_df"]).round(1)) == {90.0}
