"""The manual covers what exists: commands, public names, pages, examples."""

import ast
import importlib.util
import inspect
import json
import pkgutil
import re
import tomllib
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

import click
import pandas as pd
import pytest
from click.testing import CliRunner

import transvariation
from transvariation import casework, tables
from transvariation.casework.result import SCHEMA, CaseResult
from transvariation.cli import main
from transvariation.studies.glass import PROJECTIONS, READINGS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SECTIONS = ("tutorials", "howto", "explanation", "reference", "paper")
PAGES = sorted([*DOCS.glob("*.md"), *(page for name in SECTIONS for page in (DOCS / name).glob("*.md"))])
GENERATED = ("_generated/", "api/", "auto_examples/")  # written by the build
EXAMPLES = sorted((ROOT / "examples").glob("*/*.py"))


def extension(name: str, folder: str = "_ext") -> ModuleType:
    """Load a module of the manual's build, without Sphinx."""
    spec = importlib.util.spec_from_file_location(name, DOCS / folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(DOCS / folder))  # they import one another
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
    pytest.importorskip("dask")
    listed = {name for *_, names in extension("api_reference").sections() for name in names}
    assert set(transvariation.__all__) <= listed


def undescribed(obj: Any) -> list[str]:
    """List the parameters of a function or class that its docstring does not describe."""
    lines = (inspect.getdoc(obj) or "").splitlines()
    named = [re.match(r"((?:\*{0,2}\w+, )*\*{0,2}\w+)(?: :|$)", line) for line in lines]
    described = {
        name
        for match, text in zip(named, lines[1:], strict=False)
        if match and text.startswith("    ")
        for name in re.findall(r"\w+", match[1])
    }
    return [name for name in inspect.signature(obj).parameters if name not in {*described, "self"}]


@pytest.mark.parametrize(
    "found",
    [getattr(module, name) for module in (transvariation, casework, tables) for name in module.__all__],
    ids=lambda found: getattr(found, "__name__", "constant"),
)
def test_every_parameter_is_described(found):
    if not callable(found):
        return
    own = [m for m in vars(found).values() if inspect.isfunction(m)] if inspect.isclass(found) else []
    public = [method for method in own if not method.__name__.startswith("_")]
    missing = {obj.__qualname__: undescribed(obj) for obj in (found, *public)}
    assert {name: names for name, names in missing.items() if names} == {}


def public() -> list[Any]:
    """List the public functions and classes of the package and of its subpackages."""
    names = (
        "baselines",
        "casework",
        "decomposition",
        "density",
        "displays",
        "feature_selection",
        "preprocessing",
        "tables",
    )
    modules = [transvariation, *(importlib.import_module(f"transvariation.{name}") for name in names)]
    return [found for module in modules for name in module.__all__ if callable(found := getattr(module, name))]


def test_every_public_method_says_what_it_returns():
    silent = set()
    for found in public():
        members = [getattr(m, "__func__", m) for name, m in inspect.getmembers(found) if not name.startswith("_")]
        methods = [m for m in members if inspect.isfunction(m) and m.__module__.startswith("transvariation")]
        for function in methods if inspect.isclass(found) else [found]:
            returns = inspect.signature(function).return_annotation not in (None, "None")
            if returns and not re.search(r"^(Returns|Yields)\n---", inspect.getdoc(function) or "", re.M):
                silent.add(f"{function.__module__}.{function.__qualname__}")
    assert silent == set()


def test_signatures_are_readable_in_a_terminal():
    pytest.importorskip("dask")
    dask = importlib.import_module("transvariation.dask")
    expanded = set()
    for found in [*public(), *(getattr(dask, name) for name in dask.__all__)]:
        members = [getattr(m, "__func__", m) for name, m in inspect.getmembers(found) if not name.startswith("_")]
        for function in [found, *(m for m in members if inspect.isfunction(m))]:
            signature = str(inspect.signature(function))
            if re.search("_array_like|_nested_sequence|ForwardRef.'os", signature):
                expanded.add(f"{function.__module__}.{function.__qualname__}")
    assert expanded == set(), "write from __future__ import annotations in these modules"


def exists(name: str, found: Any) -> bool:
    """Return whether a name in See Also leads somewhere, from the top or from the package of the object."""
    package = (
        "" if name.startswith(("transvariation.", "scipy.", "sklearn.")) else f"{found.__module__.rpartition('.')[0]}."
    )
    try:
        pkgutil.resolve_name(package + name)
    except (AttributeError, ImportError):
        return False
    return True


def test_relatives_refer_to_each_other_by_names_that_exist():
    alone, wrong = set(), set()
    for found in public():
        section = re.search(r"^See Also\n-+\n(.+?)(?:\n\n|\Z)", inspect.getdoc(found) or "", re.M | re.S)
        if section is None:
            alone.add(found.__name__)
        else:
            wrong |= {name for name in re.findall(r"^(\w[\w.]*) :", section[1], re.M) if not exists(name, found)}
    assert wrong == set()
    assert alone & set(transvariation.__all__) == set()


def test_every_reference_is_a_paragraph_of_its_own():
    together = set()
    for found in public():
        section = re.search(r"^References\n-+\n(.+?)(?:\n\n\w+\n--|\Z)", inspect.getdoc(found) or "", re.M | re.S)
        references = re.split(r"\n\n|^\.\. \[", section[1], flags=re.M) if section else []
        together |= {found.__name__ for each in references if len(re.findall(r"\(\d{4}\)", each)) > 1}
    assert together == set()


@pytest.mark.parametrize(
    "name", ["compare_classifiers", "exchangeability_test", "selection_stability", "count_anomalies"]
)
def test_the_classes_of_results_are_public(name):
    function = getattr(transvariation, name)
    assert str(function.__annotations__["return"]) in transvariation.__all__
    assert {"AlarmRecord", "Finding"} <= {*transvariation.__all__, *casework.__all__}


def test_docstrings_refer_to_names_that_the_reference_describes():
    pytest.importorskip("dask")
    sections = extension("api_reference").sections()
    described = {f"{module}.{name}" for _, _, module, names in sections for name in names}
    missing = set()
    for _, _, module, names in sections:
        for name in names:
            found = getattr(importlib.import_module(module), name)
            members = [member for key, member in inspect.getmembers(found) if not key.startswith("_")]
            own = [m for m in members if inspect.isfunction(m) and m.__module__.startswith("transvariation")]
            text = "\n".join(inspect.getdoc(each) or "" for each in [found, *own])
            links = re.findall(r":(?:func|class):`~?([\w.]+)`", text)
            missing |= {f"{name}: {link}" for link in links if not described & {link, f"{module}.{link}"}}
    assert missing == set()


@pytest.mark.parametrize("page", [*PAGES, *EXAMPLES], ids=lambda page: page.stem)
def test_pages_and_examples_import_only_names_that_the_reference_describes(page):
    pytest.importorskip("dask")
    described = {f"{module}.{name}" for _, _, module, names in extension("api_reference").sections() for name in names}
    described.add("transvariation.dask")  # a module
    text = re.sub(r"^(>>>|\.\.\.) ?", "", page.read_text(encoding="utf-8"), flags=re.M)
    found = re.findall(r"^ *from (transvariation[\w.]*) import (?:\(([^)]*)\)|(.*))", text, flags=re.M)
    names = {
        f"{module}.{name.split(' as ')[0].strip()}" for module, *both in found for name in "".join(both).split(",")
    }
    assert {name for name in names if not name.endswith(".")} <= described


@pytest.mark.parametrize(
    "page", [*PAGES, *sorted(DOCS.glob("_text/*.md")), *EXAMPLES, ROOT / "README.md"], ids=lambda page: page.stem
)
def test_sensitivity_is_explained_where_a_page_first_mentions_it(page):
    """By a link to the glossary, or by the words for it; titles cannot."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".py":  # the text of an example is its docstring and its comments
        text = "\n".join([ast.get_docstring(ast.parse(text)) or "", "", *re.findall(r"^# ?(.*)", text, flags=re.M)])
    prose = re.sub(r"^```[^`]+^```$|^#+ .*|^.*\n={3,}$", "", text, flags=re.M)
    mentions = [each for each in re.split(r"\n\s*\n", prose) if re.search(r"\bsensitivity\b(?!=)", each, flags=re.I)]
    assert not mentions or re.search(r"term\}?:?`sensitivity`|\bshares?\b", mentions[0]), mentions[0]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_picture_says_what_it_shows(page):
    pictures = re.findall(r"^```\{(?:figure|image)\}.*\n((?:.+\n)*)", page.read_text(encoding="utf-8"), flags=re.M)
    assert [options for options in pictures if not re.search(r"^:alt: \w.{10}", options, flags=re.M)] == []
    aside = [options for options in pictures if re.search(r"^:alt:.*\b(Left|Right)\b", options, flags=re.M)]
    assert aside == [], "panels are one below the other"


def test_the_reference_lists_every_public_module():
    pytest.importorskip("dask")
    modules = {module for _, _, module, _ in extension("api_reference").sections()}
    assert {
        f"transvariation.{name}" for name in ("baselines", "casework", "dask", "preprocessing", "tables")
    } <= modules


@pytest.mark.parametrize("name", transvariation.__all__)
def test_every_public_name_has_an_example(name):
    assert ">>>" in (getattr(transvariation, name).__doc__ or ""), f"{name} needs a doctest in its docstring"


def test_the_whole_command_line_is_rendered():
    text = (DOCS / "commands.md").read_text(encoding="utf-8")
    assert ".. click:: transvariation.cli:main" in text
    assert ":nested: full" in text


def test_cases_on_the_pages_conclude_as_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(main, ["demo", "--tables", "."]).exit_code == 0
    printed: dict[str, str] = {}  # by command without its files to write: both pages show one of them
    for page in ("casework.md", "tutorials/examiner.md"):
        text = (DOCS / page).read_text(encoding="utf-8")
        typed = re.findall(r"^(?:\$ )?transvariation (judge .+(?<!\\)$|judge .+\\\n.+$)", text, re.M)
        assert len(typed) == text.count("transvariation judge ")
        for command in typed:
            shown = re.sub(r" --(report|json) \S+", "", command.replace("\\\n", ""))
            if shown not in printed:
                ran = CliRunner().invoke(main, shown.split())
                assert ran.exit_code == 0, ran.output
                printed[shown] = " ".join(ran.output.split())
            ratios = r"The likelihood ratio supports [^.]+\."
            headline = re.search(rf"\d+ of \d+ recovered fragments excluded\.|{ratios}", printed[shown])
            assert headline, printed[shown]
            assert f'"{headline[0]}"' in " ".join(text.split())
            assert "not applied" not in printed[shown]  # the ASTM criterion, to logarithms
    assert len(printed) == 2


def test_every_command_and_option_says_what_it_does():
    for path, command in commands(main):
        assert command.help, f"transvariation {' '.join(path)} has no help text"
        silent = [p.name for p in command.params if isinstance(p, click.Option) and not p.help]
        assert not silent, f"transvariation {' '.join(path)}: options without help: {silent}"


def test_every_warning_is_on_the_page_that_lists_them():
    text = (DOCS / "howto" / "calibrate.md").read_text(encoding="utf-8").partition("\n## Warnings\n")[2]
    assert {name for name in transvariation.exceptions.__all__ if f"\n`{name}`\n: " not in text} == set()


def test_the_help_of_every_command_shows_the_defaults():
    silent = set()
    for path, command in commands(main):
        text = " ".join(CliRunner().invoke(main, [*path, "--help"]).output.split())
        for option in command.params:
            plain = isinstance(option.default, int | float | str) and option.default != ""
            if isinstance(option, click.Option) and plain and not option.is_flag and not option.hidden:
                described = text.partition(f" {option.opts[-1]} ")[2].partition(" --")[0]
                if f"[default: {option.default}" not in described:
                    silent.add((*path, option.opts[-1]))
    assert silent == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_pages_have_one_title(page):
    text = page.read_text(encoding="utf-8")
    included = re.search(r"^```\{include\} (\.\./\w+\.md)$", text, re.M)
    if included:
        text = (DOCS / included[1]).read_text(encoding="utf-8")
    outside_code = re.sub(r"^(```+|:::+|~~~+).*?^\1\s*$", "", text, flags=re.M | re.S)
    titles = re.findall(r"^# .+$", outside_code, re.M)
    assert len(titles) == 1, f"{page.name} needs one heading of the first level, has {titles}"


def without_code(page: Path) -> str:
    return re.sub(r"^(```+|:::+|~~~+).*?^\1\s*$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)


def toctree(page: Path) -> list[str]:
    blocks = re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
    entries = [line.strip() for block in blocks for line in block.splitlines() if line and not line.startswith(":")]
    base = page.parent.relative_to(DOCS)
    return [entry[1:] if entry.startswith("/") else (base / entry).as_posix() for entry in entries]


def test_every_page_is_in_one_toctree():
    listed = sorted(entry for page in PAGES for entry in toctree(page) if not entry.startswith(GENERATED))
    names = sorted(page.relative_to(DOCS).with_suffix("").as_posix() for page in PAGES)
    assert listed == [name for name in names if name != "index"]


@pytest.mark.parametrize("section", SECTIONS)
def test_sections_link_to_their_pages_by_title(section):
    index = DOCS / section / "index.md"
    links = dict(re.findall(r"^-? ?\[(.+)\]\(([\w/.]+\.md)\)", index.read_text(encoding="utf-8"), re.M))
    linked = {(index.parent / link).resolve(): title for title, link in links.items()}
    for entry in toctree(index):
        page = DOCS / f"{entry}.md"
        if page.exists():
            assert page in linked, f"{index} does not link to {entry}"
    for page, title in linked.items():
        if page.parent == index.parent:
            assert page.read_text(encoding="utf-8").startswith(f"# {title}\n"), f"{page.name} is not called {title!r}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_internal_links_lead_somewhere(page):
    links = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", without_code(page))
    generated = [(DOCS / name).resolve() for name in GENERATED]
    missing = [
        link
        for link in links
        if not (page.parent / link).exists()
        and not any((page.parent / link).resolve().is_relative_to(folder) for folder in generated)
    ]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_typed_lines_fit_the_width_of_a_page(page):
    blocks = re.findall(r"^```(?:python|console)\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    typed = [line for block in blocks for line in block.splitlines() if line.startswith((">>> ", "... ", "$ "))]
    wide = [line for line in typed if len(line) > 74]
    assert wide == []


def test_typed_lines_of_examples_fit_the_width_of_the_reference():
    pytest.importorskip("dask")
    sections = extension("api_reference").sections()
    objects = [getattr(importlib.import_module(home), name) for _, _, home, names in sections for name in names]
    methods = [each for found in objects if inspect.isclass(found) for each in vars(found).values()]
    lines = [line.strip() for each in (*objects, *methods) for line in (inspect.getdoc(each) or "").splitlines()]
    typed = [line for line in lines if line.startswith((">>> ", "... "))]
    assert len(typed) > 500
    assert [line for line in typed if len(line) > 82] == []


def test_the_extras_are_those_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    brings = {
        name: ", ".join(re.split(r"[<>=!~;\[ ]", need)[0] for need in needs if not need.startswith("transvariation["))
        for name, needs in project["optional-dependencies"].items()
    }
    text = (DOCS / "installation.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| `([\w-]+)` \| .+ \| (.+) \|$", text, re.M))
    assert listed == brings | {"all": "every extra for users"}


def test_methods_and_reductions_are_explained_on_the_page_and_named_in_the_help():
    from transvariation.casework import METHODS, REDUCTIONS
    from transvariation.report.wording import statements

    page = " ".join((DOCS / "commands.md").read_text(encoding="utf-8").split())
    words = statements.METHOD_TEXTS | statements.REDUCTION_TEXTS
    for name, explained in words.items():
        assert f"`{name}` : {explained}" in page
    for command in ("judge", "fit"):
        options = {option.name: getattr(option, "help", "") for option in main.commands[command].params}
        assert all(f"{name} ({brief})" in options["method"] for name, brief in METHODS.items())
        assert all(f"{name} ({brief})" in options["reduce"] for name, brief in REDUCTIONS.items())


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_examples_are_gallery_pages(example):
    assert example.stem.startswith("plot_")
    tree = ast.parse(example.read_text(encoding="utf-8"))
    lines = (ast.get_docstring(tree) or "").splitlines()
    assert len(lines) > 3, f"{example.name} must open with a title and a paragraph"
    assert set(lines[1]) == {"="}, f"{example.name}: underline the title with ="
    assert len(lines[1]) >= len(lines[0])


def test_the_gallery_orders_every_example():
    text = (DOCS / "_ext" / "gallery.py").read_text(encoding="utf-8")
    assert sorted(re.findall(r'"(plot_\w+\.py)"', text)) == sorted(example.name for example in EXAMPLES)
    sections = re.findall(r"\w+", re.search(r"SECTIONS = \((.+)\)", text)[1])
    assert sorted(sections) == sorted({example.parent.name for example in EXAMPLES})


def test_most_examples_use_the_recommended_classifier_at_its_defaults():
    """By itself, or in what uses it by default."""
    use = re.compile(r"(NeighborTOCC|OpenSetClassifier|monitor|judge)\((?!n_neighbors|scalings|pairs)")
    using = [example for example in EXAMPLES if use.search(example.read_text(encoding="utf-8"))]
    assert len(using) > 0.6 * len(EXAMPLES)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_nothing_is_fetched_from_the_network(page):
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"!\[[^]]*\]\(https?:|<(script|img|iframe|link)[^>]+https?:|\{(image|figure)\} https?:", text)


def test_what_the_readme_links_to_exists():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [link for link in re.findall(r"\]\((?!https?:)([^)#]+)\)", text) if not (ROOT / link).exists()] == []
    pages = re.findall(r"\]\(https://transvariation\.readthedocs\.io/en/latest/([\w/]+)\.html\)", text)
    assert len(pages) > 5
    sources = [ROOT / p[5:] if p.startswith("auto_examples/") else DOCS / p for p in pages]
    assert [s for s in sources if not s.with_suffix(".md").exists() and not s.with_suffix(".py").exists()] == []


def test_the_readme_quotes_the_kept_benchmark(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    copy = tmp_path / "README.md"
    copy.write_text(readme.replace("| NeighborTOCC | **0.", "| NeighborTOCC | **1."), encoding="utf-8")
    extension("benchmarks_page").update_readme(copy)
    assert copy.read_text(encoding="utf-8") == readme, "run python docs/_ext/benchmarks_page.py"


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_the_first_figure_shows_what_its_caption_says(page):
    hero = extension("hero", "_figures")
    known, windows, others = hero.split()
    classifier = hero.fit(known)
    accepted, rejected = (classifier.predict(windows) == 1).sum(), (classifier.predict(others) == -1).sum()
    said = " ".join((ROOT / page).read_text(encoding="utf-8").split())
    assert f"{accepted} of {len(windows)} new windows are accepted and {rejected} of {len(others)} pieces" in said
    assert f"sensitivity={classifier.sensitivity}" in said
    assert f"{len(known)} window" in said


@pytest.mark.parametrize("name", ["hero.png", "report.png", "page.png"])
def test_pictures_of_the_demonstration_show_the_present_p_values(name):
    demonstration = extension("demonstration", "_figures")
    assert demonstration.stamped(DOCS / "_static" / name) == demonstration.p_values(), "run make picture picture-page"


def test_the_recommended_classifier_ranks_first(monkeypatch):
    """README, "Choose a classifier" and "Compared with other software" say so."""
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    _, *rows = extension("benchmarks_page").quality_table()
    assert min(rows, key=lambda row: float(row[2].strip("*")))[0] == "NeighborTOCC"


def test_the_benchmarks_page_has_a_conclusion_per_chart(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    extension("benchmarks_page").write(tmp_path / "benchmarks.md")
    text = (tmp_path / "benchmarks.md").read_text(encoding="utf-8")
    assert text.count("### ") == text.count("```{image}")
    assert "KernelTOCC" not in text
    assert not re.search(r"\d{6,}", re.sub(r"\b[0-9a-f]{7,}(-dirty)?\)", "", text))  # but commits may have six digits
    drawn = set(re.findall(r"_generated/(\w+\.svg)", text))
    assert drawn == {path.name for path in tmp_path.glob("*.svg")}


def test_the_casework_page_concludes_from_the_kept_benchmark(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    extension("casework_charts").write(tmp_path)
    pages = DOCS / "explanation" / "casework_error_rates.md", DOCS / "casework.md"
    page = "".join(page.read_text(encoding="utf-8") for page in pages)
    shown = set(re.findall(r"_generated/(casework_\w+\.\w+)", page))
    written = {path.name for path in tmp_path.iterdir()}
    assert written <= shown
    assert shown - written == {"casework_rates.svg"}  # a chart of the benchmarks page
    for path in tmp_path.glob("*.md"):
        assert re.search(r"\d", path.read_text(encoding="utf-8"))


def test_the_sentences_on_what_misleads_say_what_the_table_shows():
    table = pd.read_csv(ROOT / "benchmarks" / "results" / "casework_lead.csv").set_index(["glass", "leads"])
    kinds = ["same source, misled", "different sources, misled"]
    found = table[kinds].apply(lambda column: column.str.split().str[0].astype(float))
    low, high = (table[kinds].apply(lambda column, at=at: column.str.findall(r"[\d.]+").str[at]) for at in (1, 2))
    for glass in ("NFI", "FIU", "Zadora"):
        ratio = found.loc[glass, "likelihood ratio"]
        nine, more = (found.loc[glass, f"exclusion at {sensitivity}"] for sensitivity in (0.9, 0.95))
        assert ratio.sum() < min(nine.sum(), more.sum())
        if glass == "Zadora":
            assert ratio.iloc[0] < nine.iloc[0] / 2
            assert float(low.loc[glass, "exclusion at 0.95"].iloc[0]) < ratio.iloc[0] < more.iloc[0]
            assert float(low.loc[glass, "exclusion at 0.9"].iloc[1]) < ratio.iloc[1] < nine.iloc[1] < more.iloc[1]
            ends = high.loc[glass, "likelihood ratio"].iloc[1], low.loc[glass, "exclusion at 0.95"].iloc[1]
            assert float(ends[0]) < float(ends[1])
        else:
            assert ratio.iloc[0] < min(nine.iloc[0], more.iloc[0]) / 5
            assert max(nine.iloc[1], more.iloc[1]) < ratio.iloc[1] < 0.01


def test_every_key_of_a_case_file_is_described():
    text = (DOCS / "reference" / "json.md").read_text(encoding="utf-8")
    shown = re.findall(r"autoclass:: (?:transvariation\.casework\.([\w.]+)\.)?(\w+)", text)
    kinds = [getattr(importlib.import_module(f"transvariation.casework.{m or 'result'}"), name) for m, name in shown]
    nested, queue = set(), [CaseResult]
    while queue:
        kind = queue.pop()
        nested.add(kind)
        annotated = " ".join(map(str, get_type_hints(kind).values()))
        named = set(re.findall(r"\w+", annotated))
        queue += [each for each in kinds if each.__qualname__ in named and each not in nested]
        assert not re.search(r"transvariation\.(?!casework|tables.settings)", annotated)
        described = {word for line in attributes(kind) for word in re.findall(r"\w+", line.split(" : ")[0])}
        assert {field.name for field in fields(kind)} <= described, kind
    assert nested == set(kinds)
    assert SCHEMA in text


def attributes(kind: type) -> list[str]:
    """List the lines that name attributes in a docstring."""
    text = (inspect.getdoc(kind) or "").split("Attributes\n----------\n")[1]
    return [line for line in text.splitlines() if line and not line.startswith(" ")]


def test_the_paper_quotes_kept_results():
    text = " ".join((ROOT / "paper.md").read_text(encoding="utf-8").split())
    held_out = pd.read_csv(DOCS / "results" / "glass" / "held_out.csv")
    published = held_out[(held_out["calibration"] == "resubstitution") & (held_out["classifier"] != "NeighborTOCC")]
    low, high = published["sensitivity"].min(), published["sensitivity"].max()
    assert f"accept between {low:.2f} and {high:.2f} where" in text
    auc = pd.read_csv(ROOT / "benchmarks" / "results" / "quality.csv", index_col="method")["mean AUC"]
    assert f"{auc['NeighborTOCC']:.2f}, as that of the nearest neighbor" in text
    assert f"against {auc['PyOD KNN']:.2f} for PyOD's KNN and {auc['IsolationForest']:.2f} for an isolation" in text
    cells = pd.read_csv(ROOT / "benchmarks" / "results" / "neighbor_coverage.csv")
    ninety, ninety_five = (cells[level].max() for level in ("at 0.90", "at 0.95"))
    assert f"In {len(cells)} combinations of" in text
    assert f"at most {ninety:.3f} at a nominal 0.10 and at most {ninety_five:.3f} at a nominal 0.05" in text
    rates = pd.read_csv(ROOT / "benchmarks" / "results" / "casework_rates.csv").query(
        "glass == 'Zadora' and known == 3 and replicates == 3 and nominal == 0.1"
    )
    tp, _, mahalanobis, astm = rates["false inclusion"]
    assert f"includes {tp:.0%}. Calibrated Mahalanobis distances include {mahalanobis:.0%}, and" in text
    assert f"same false exclusion, {astm:.0%}." in text


def test_the_page_on_neighbors_quotes_kept_results():
    page = " ".join((DOCS / "explanation" / "neighbors.md").read_text(encoding="utf-8").split())
    results = ROOT / "benchmarks" / "results"

    def said(share):
        return f"{share:.3f}".removeprefix("0")

    hundred, five_hundred = pd.read_csv(results / "robustness_wide.csv").itertuples(index=False, name=None)
    assert f"At a nominal .10, {said(hundred[2])} of new target samples are rejected with 100 samples" in page
    assert f"and {said(five_hundred[2])} with 500 samples" in page
    tail = pd.read_csv(results / "neighbor_tail.csv")
    largest = [said(tail[f"tail, {level}"].max()) for level in (0.1, 0.05, 0.01)]
    assert f"at most {largest[0]}, {largest[1]} and {largest[2]} of new targets were rejected" in page
    correlated = tail[tail["data"] == "Gaussian, correlation .5"].set_index("n")
    tail_power, rank_power = (
        said(correlated.loc[15, f"power of {name}, {n}"]) for name, n in (("tail", 0.1), ("ranks", ".1"))
    )
    assert f"{tail_power} of shifted samples are rejected at .10, instead of {rank_power}" in page
    assert f"where ranks reject none, {said(correlated.loc[8, 'power of tail, 0.1'])}" in page
    left_out = pd.read_csv(results / "robustness_bad_samples.csv")["left out"].iloc[-1]
    assert f"of these clean samples, {left_out:.1f} are left out on average" in page


def test_the_page_on_shift_quotes_the_kept_benchmark():
    page = (DOCS / "howto" / "shift.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| .+? \| (\d+)% \| (\d+)% \|$", page, flags=re.M)
    kept = pd.read_csv(ROOT / "benchmarks" / "results" / "shift.csv").query("data == 'NFI, later series, 20 panes'")
    remedies = ["casework, none", "casework, recalibrate", "none", "recalibrate", "recalibrate, align mean"]
    table = 100 * kept.set_index("remedy").loc[[*remedies, "estimated ratio"], ["false alarms", "found"]]
    assert [list(map(int, row)) for row in rows] == table.round().astype(int).to_numpy().tolist()
    assert f"rejects {rows[2][0]}%" in " ".join(page.split())


def test_the_table_of_the_readme_is_that_of_the_benchmarks():
    results = ROOT / "benchmarks" / "results"
    classical = pd.read_csv(results / "quality.csv", index_col="method")
    tables = pd.read_csv(results / "quality_tables.csv").query("`set aside` == True")
    newer = tables.pivot_table(index="method", columns="collection", values="mean AUC")
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip(" *") for cell in line.split("|")[1:-1]] for line in lines if line.count("|") == 7]
    rows = {name: values for name, *values in cells}
    for method, expected in classical.join(newer).iterrows():
        shown = [float(cell or "nan") for cell in rows[method]]
        assert shown == pytest.approx(expected.to_list(), abs=0.0501, nan_ok=True)  # ranks have one decimal
        assert [shown[0], *shown[2:]] == pytest.approx(expected.drop("mean rank").to_list(), abs=1e-9, nan_ok=True)


def test_citation_names_the_version():
    assert f"version: {transvariation.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_every_module_is_in_the_architecture():
    package = Path(transvariation.__file__).parent
    modules = {path.stem for path in package.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    modules = {module for module in modules if not module.startswith("_")}
    described = set(re.findall(r"^\| `(\w+)` \|", (DOCS / "architecture.md").read_text(encoding="utf-8"), re.M))
    assert described == modules, "the table in docs/architecture.md has one row for each module and package"


def test_import_graph_is_drawn_from_the_code(tmp_path):
    pytest.importorskip("grimp")  # import-linter brings it
    graph = extension("import_graph")
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
    said = " ".join((DOCS / "paper" / "claims.md").read_text(encoding="utf-8").split())
    by_size = "{:.1f}, {:.1f} and {:.1f}% for n = 100, 200 and 500".format(*sizes)
    assert f"PAM-TOCC_df accepts {shares['PAM-TOCC_df']:.1f}% of its training targets on average ({by_size})" in said
    assert f"TOCC_df {shares['TOCC_df']:.1f}%, the others 90.0%" in said
    assert set(shares.drop(["PAM-TOCC_df", "TOCC_df"]).round(1)) == {90.0}


def test_the_page_on_plants_concludes_from_the_kept_study(tmp_path):
    results = extension("study_results")
    results.write(tmp_path)  # raises an error if the conclusion on the classifiers no longer holds
    page = (DOCS / "explanation" / "plants.md").read_text(encoding="utf-8")
    assert "../_generated/found_days.md" in page
    table = pd.read_csv(DOCS / "results" / "water" / "classifiers.csv", index_col="classifier")
    found, total = table["faulty days found"].str.split(" of ", expand=True).astype(int).to_numpy().T
    assert f"On {total[0]} days it" in page
    assert table.index[found.argmin()].startswith("PAM-TOCC")
    assert abs(table["new normal days accepted"].iloc[0] - 0.9) < 0.02
    shares = pd.read_csv(tmp_path / "faulty_days.csv")
    assert list(shares.columns) == ["day", "what went wrong", "sensors"]
