"""Equations as drawings made while the manual is built: no script, no font from the network, the same in every browser.

The formula's source stays with the drawing as its text for screen readers.
"""

import re
from html import escape
from xml.etree import ElementTree

import ziamath
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

ziamath.config.svg2 = False  # glyphs as paths: several drawings on a page then share no ids
SIZE = 16.0  # drawing units per em

ENVIRONMENT = re.compile(r"\\(?:begin|end)\{(?:split|equation|gather|align|multline)\*?\}")


def draw(latex: str, *, display: bool) -> str:
    """Draw one formula in the color of the text around it, sized in em so that it grows with the page."""
    formula = ziamath.Latex(latex, size=SIZE, inline=not display, color="currentColor")
    svg = formula.svgxml()
    width, height = float(svg.attrib.pop("width")), float(svg.attrib.pop("height"))
    style = f"width:{1.08 * width / SIZE:.3f}em;height:{1.08 * height / SIZE:.3f}em"
    if not display:
        style += f";vertical-align:{1.08 * formula.getyofst() / SIZE:.3f}em"
    svg.attrib.update({"class": "formula", "role": "img", "aria-label": latex, "style": style})
    return ElementTree.tostring(svg, encoding="unicode")


def _drawn(node: nodes.Element, latex: str, *, display: bool) -> str:
    try:
        return draw(latex, display=display)
    except Exception as error:  # whatever the formula trips over, the page and its author should hear of it
        logging.getLogger(__name__).warning("cannot draw the formula %r: %s", latex, error, location=node)
        return f"<code>{escape(latex)}</code>"


def visit_math(translator: HTML5Translator, node: nodes.math) -> None:
    """Write a formula that stands within a sentence."""
    # The word joiner keeps a full stop or comma on the formula's line.
    translator.body.append(_drawn(node, node.astext(), display=False) + "&#8288;")
    raise nodes.SkipNode


def visit_displaymath(translator: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula that stands alone, with its number if it has one."""
    anchor = f' id="{escape(node["ids"][0])}"' if node["ids"] else ""
    translator.body.append(f'<div class="equation"{anchor}>')
    for part in re.split(r"\n\s*\n", node.astext().strip()):
        translator.body.append(_drawn(node, plain(part), display=True))
    if node["number"]:
        translator.body.append(f'<span class="equation-number">({node["number"]})</span>')
    translator.body.append("</div>")
    raise nodes.SkipNode


def plain(latex: str) -> str:
    """Drop the wrappers that only a page of LaTeX needs; several lines become one aligned block."""
    latex = " ".join(ENVIRONMENT.sub("", latex).split())
    latex = re.sub(r"(\\\\|\\begin\{\w+\}) *\[", r"\1 {}[", latex)  # a bracket there would be taken for an option
    if re.search(r"\\\\", latex) and r"\begin" not in latex:
        latex = rf"\begin{{aligned}} {latex} \end{{aligned}}"
    return latex


def setup(app: Sphinx) -> dict[str, bool]:
    """Make this the way in which HTML pages show mathematics."""
    app.add_html_math_renderer("drawn", (visit_math, None), (visit_displaymath, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
