"""Sphinx configuration of the manual: `make docs`. The build needs no network."""

import inspect
import os
import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
os.environ.setdefault("OMP_NUM_THREADS", "1")  # threads slow the small examples down; NumPy reads this on import

import api_reference
import benchmarks_page
import casework_charts
import click
import gallery
import import_graph
import matplotlib
import scaling_charts
import study_results
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util.inspect import stringify_signature

import transvariation.cli
from transvariation.cli.options import GROUPS, GroupedCommand, group_of

matplotlib.use("agg")

project = "transvariation"
author = "The transvariation developers"
copyright = author
version = release = transvariation.__version__
language = "en"
REPOSITORY = "https://github.com/transvariation/transvariation"

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.linkcode",
    "numpydoc",
    "myst_parser",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "equations",  # ours: equations as SVG, without a script from the network
]
# Links into other manuals need their indexes from the network, which only the hosted build has.
if os.environ.get("READTHEDOCS"):
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "matplotlib": ("https://matplotlib.org/stable/", None),
        "numpy": ("https://numpy.org/doc/stable/", None),
        "pandas": ("https://pandas.pydata.org/docs/", None),
        "python": ("https://docs.python.org/3/", None),
        "sklearn": ("https://scikit-learn.org/stable/", None),
    }
    numpydoc_xref_param_type = True
    numpydoc_xref_ignore = "all"  # but these words, and those of numpydoc such as float
    numpydoc_xref_aliases = {
        "Axes": "matplotlib.axes.Axes",
        "Figure": "matplotlib.figure.Figure",
        "SubFigure": "matplotlib.figure.SubFigure",
        "DataFrame": "pandas.DataFrame",
        "Series": "pandas.Series",
        "Generator": "numpy.random.Generator",
        "RandomState": "numpy.random.RandomState",
        "ndarray": "numpy.ndarray",
        "Path": "pathlib.Path",
        "array-like": ":term:`sklearn:array-like`",
        "splitter": ":term:`sklearn:CV splitter`",
    }
html_math_renderer = "drawn"
templates_path = ["_templates"]
exclude_patterns = ["_build", "_generated", "_text", "**/sg_execution_times.rst", "sg_execution_times.rst"]
smartquotes_action = "qe"  # curly quotes and ellipses, but "--features" stays as it is
default_role = "code"  # docstrings here write `X` for an argument

# Generated from the code and the results by every build.
api_reference.write(HERE / "api" / "index.rst")
benchmarks_page.write(HERE / "_generated" / "benchmarks.md")
casework_charts.write(HERE / "_generated")
scaling_charts.write(HERE / "_generated")
study_results.write(HERE / "_generated")
import_graph.draw(HERE / "_generated" / "import_graph.svg")

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's Parameters describe them
toc_object_entries_show_parents = "hide"  # "fit" rather than "NeighborTOCC.fit" in the margin
autodoc_default_options = {"member-order": "bysource"}
numpydoc_show_class_members = False  # the class template lists them

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 3

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"[\\/]plot_",
    "backreferences_dir": "api/backreferences",
    "doc_module": ("transvariation",),
    "subsection_order": [f"../examples/{name}" for name in gallery.SECTIONS],
    "within_subsection_order": "gallery.ByTopic",
    "thumbnail_size": (440, 480),
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "write_computation_times": False,
    "min_reported_time": 3600,  # seconds differ from build to build
    "capture_repr": (),  # print what the example prints, not the representation of its last line
    "abort_on_example_error": False,  # a failing example is a warning, and -W makes that an error
    "reset_modules": ("matplotlib", "gallery.use_style"),
}

copybutton_prompt_text = r">>> |\.\.\. |\$ "  # copy what is typed, not prompts and output
copybutton_prompt_is_regexp = True

# Pages without a column on the right: the landing page, and examples, whose code has up to 120 characters per line.
EXAMPLES = [file.relative_to(HERE.parent / "examples") for file in HERE.parent.glob("examples/*/*.py")]
WIDE = ["index", "auto_examples/index", *(f"auto_examples/{file.with_suffix('').as_posix()}" for file in EXAMPLES)]

html_theme = "pydata_sphinx_theme"
html_title = "transvariation: anomaly and novelty detection with calibrated error rates"
html_short_title = "transvariation"
html_static_path = ["_static"]
html_favicon = "_static/logo.svg"
html_css_files = ["house.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "transvariation", "image_light": "_static/logo.svg", "image_dark": "_static/logo.svg"},
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 7,
    "navbar_persistent": ["search-button"],
    "github_url": REPOSITORY,
    "use_edit_page_button": True,
    "navbar_end": ["theme-switcher", "navbar-icon-links"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "secondary_sidebar_items": {"**": ["page-toc", "edit-this-page"], **{page: [] for page in WIDE}},
}
html_context = {
    "github_user": "transvariation",
    "github_repo": "transvariation",
    "github_version": "main",
    "doc_path": "docs",
}
html_sidebars = {page: [] for page in ("index", "installation", "quickstart")}


def linkcode_resolve(domain: str, info: dict[str, str]) -> str | None:
    """Find the lines of the repository that define an object of the reference."""
    if domain != "py" or not info["module"]:
        return None
    found: Any = sys.modules.get(info["module"])
    for name in info["fullname"].split("."):
        found = inspect.unwrap(getattr(found, name, None))
    try:
        file, (lines, first) = inspect.getsourcefile(found), inspect.getsourcelines(found)
        path = Path(str(file)).resolve().relative_to(HERE.parent)
    except (TypeError, ValueError, OSError):  # a property, or inherited from another library
        return None
    return f"{REPOSITORY}/blob/main/{path.as_posix()}#L{first}-L{first + len(lines) - 1}"


def strip_last_line(app: Sphinx, doctree: nodes.document) -> None:
    """Drop the empty last line of code blocks; doctest needs it in the source, the reader does not."""
    for block in doctree.findall(nodes.literal_block):
        block.rawsource = block.astext().rstrip("\n")  # Sphinx colors a block whose source is its text
        block[:] = [nodes.Text(block.rawsource)]


def mark_options(app: Sphinx, doctree: nodes.document) -> None:
    """Mark options of the command line, so that no line ends between the hyphens and the name."""
    for literal in doctree.findall(nodes.literal):
        if "--" in literal.astext():
            literal["classes"].append("option")


class StraightQuotes(SphinxTransform):
    """Keep the quotes of values in the types of parameters straight."""

    default_priority = 740  # before SphinxSmartQuotes

    def apply(self, **kwargs: Any) -> None:
        for node in self.document.findall(nodes.classifier):
            node["support_smartquotes"] = False


def mark_line_breaks(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document) -> None:
    """Let a line end within a name that is wider than a phone, and never within the option of a command."""

    def mark(found: re.Match[str]) -> str:
        return re.sub("(?<=>)[^<]{24,}", lambda name: re.sub("(?<=[(.=_/])(?=[A-Za-z])", "<wbr>", name[0]), found[0])

    body = re.sub(r"<code[^>]*>.*?</code>|<h1>[^<]+", mark, context.get("body", ""))
    command = re.compile(r'<div class="highlight-(?:console|shell) .*?</pre>', re.DOTALL)
    option = r'<span class="option">\1</span>'
    context["body"] = command.sub(lambda found: re.sub(r"(?<![\w-])(--?[\w-]+)", option, found[0]), body)


def strip_versions_of_scikit_learn(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Drop versions and labels of scikit-learn's manual from methods that are inherited from it."""
    if str(getattr(obj, "__module__", "")).startswith("sklearn."):
        kept = [line for line in lines if ".. version" not in line]
        lines[:] = [re.sub(r":ref:`([^<`]+) <[^`]+>`", r"\1", line) for line in kept]  # labels of its manual


def show_options_as_help_does(command: click.Command) -> None:
    """Give options the defaults and the metavariables of `--help`, which sphinx-click takes from elsewhere."""
    for option in command.params:
        if isinstance(option, click.Option) and not option.is_flag:
            option.metavar = option.make_metavar(click.Context(command))
            option.type = click.STRING  # choices are in the metavariable
            if option.show_default is None and isinstance(option.default, int | float | str) and option.default != "":
                option.help = f"{option.help} [default: {option.default}]"
    for inner in getattr(command, "commands", {}).values():
        show_options_as_help_does(inner)


def group_options(app: Sphinx, context: click.Context, lines: list[str]) -> None:
    """List the options of a command under the headings of `--help`."""
    if not isinstance(context.command, GroupedCommand):
        return
    blocks: dict[str, list[str]] = {}
    shown = [each for each in context.command.params if isinstance(each, click.Option) and not each.hidden]
    for option, block in zip(shown, "\n".join(lines).split(".. option::")[1:], strict=True):
        blocks.setdefault(group_of(option), []).append(f".. option::{block}")
    lines[:] = []
    for group in sorted(blocks, key=GROUPS.index):
        lines += [f"**{group.capitalize()}**", "", *"\n".join(blocks[group]).split("\n"), ""]


def leave_out_arguments(app: Sphinx, context: click.Context, lines: list[str]) -> None:
    """Leave out the list of arguments: the usage and the description of a command name them."""
    lines.clear()


def tidy_defaults(app: Sphinx, *args: Any) -> tuple[str, str] | None:
    """Shorten defaults: three dots for a function without a name, no fields of an object, and 10_000 for 10000.

    Sphinx takes the parameters of a class from an inherited `__new__`, which hides those of `__init__`.
    """
    what, _, found, _, signature, returns = args
    if not signature:
        return None
    if what == "class" and signature == "(*args, **kwargs)":
        signature = stringify_signature(inspect.signature(found), show_annotation=False)
    signature = re.sub("<function <lambda>>|<factory>", "...", signature).replace("mappingproxy({})", "{}")
    signature = re.sub(r"=(TableSettings|Limits)\([^()]*\)", r"=\1()", signature)
    return re.sub(r"(?<![\d.])\d{5,}", lambda number: f"{int(number[0]):_}", signature), returns


def skip_fields_of_tuples(app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what a named tuple has as a tuple: its Attributes section describes the fields."""
    return True if type(obj).__name__ == "_tuplegetter" or obj in (tuple.count, tuple.index) else None


def setup(app: Sphinx) -> None:
    show_options_as_help_does(transvariation.cli.main)
    app.connect("builder-inited", gallery.crop_thumbnails, priority=900)  # after the gallery was built
    app.connect("autodoc-process-signature", tidy_defaults)
    app.connect("autodoc-skip-member", skip_fields_of_tuples)
    app.connect("sphinx-click-process-options", group_options)
    app.connect("sphinx-click-process-arguments", leave_out_arguments)
    app.connect("doctree-read", strip_last_line)
    app.connect("doctree-read", mark_options)
    app.connect("html-page-context", mark_line_breaks)
    app.add_transform(StraightQuotes)
    app.connect("autodoc-process-docstring", strip_versions_of_scikit_learn, priority=400)  # before numpydoc
