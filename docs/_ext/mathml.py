"""Equations as MathML, which every current browser draws by itself: no script, no network, readable aloud."""

from html import escape

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util.math import wrap_displaymath
from sphinx.writers.html5 import HTML5Translator


def visit_math(translator: HTML5Translator, node: nodes.math) -> None:
    """Write a formula that stands within a sentence."""
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def visit_displaymath(translator: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula that stands alone, with its number if it has one."""
    latex = node.astext() if node.get("no-wrap", node.get("nowrap")) else wrap_displaymath(node.astext(), "", False)
    anchor = f' id="{escape(node["ids"][0])}"' if node["ids"] else ""
    translator.body.append(f'<div class="math"{anchor}>')
    if node["number"]:
        translator.body.append(f'<span class="eqno">({node["number"]})</span>')
    for formula in filter(None, (part.strip() for part in latex.replace("\\[", "").replace("\\]", "").split("\n\n"))):
        translator.body.append(convert(_plain(formula), display="block"))
    translator.body.append("</div>")
    raise nodes.SkipNode


def _plain(latex: str) -> str:
    """Drop the wrappers that only a page of LaTeX needs; several lines become an aligned block."""
    for wrapper in (r"\begin{split}", r"\end{split}", r"\begin{equation}", r"\end{equation}"):
        latex = latex.replace(wrapper, "")
    latex = latex.replace(r"\begin{equation*}", "").replace(r"\end{equation*}", "").strip()
    if "\\\\" in latex and r"\begin" not in latex:
        latex = rf"\begin{{aligned}}{latex}\end{{aligned}}"
    return latex


def setup(app: Sphinx) -> dict[str, bool]:
    """Make this the way in which HTML pages show mathematics."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_displaymath, None))
    app.connect("config-inited", lambda app, config: setattr(config, "html_math_renderer", "mathml"))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
