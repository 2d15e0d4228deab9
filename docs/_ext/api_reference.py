"""The API reference: every public name, under the verb that it serves.

The names come from the package itself, so that a new one appears without anybody touching the manual.
"""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import transvariation

# Home of a public name -> heading and opening sentence, in the order in which a reader meets them.
ROOMS = {
    "depth": ("Measure", "Pure functions on arrays: how deep does an object lie among the target objects?"),
    "tocc": ("Decide", "The one-class classifiers: scikit-learn estimators that accept (+1) or reject (-1)."),
    "conformal": ("Many objects at once", "Selection among many p-values; one answer for a whole set."),
    "decomposition": ("Components", "Minor components, sparse minor components and random projections."),
    "feature_selection": ("Variable selection", "VIP, VarSel, and how stable a selection is."),
    "density": ("Densities", "Gaussian mixtures chosen by BIC and kernel densities, with box probabilities."),
    "metrics": ("Metrics", "How well scores separate target objects from non-target ones."),
    "datasets": ("Data", "The glass fragments and the simulated scenarios."),
    "persistence": ("Keep", "Models in files, without pickle."),
    "drift": ("Streaming", "Objects that arrive one after another."),
}

# Modules whose own names are public without standing at the top of the package.
SIDE_DOORS = {
    "transvariation.preprocessing": ("Spectra", "Scatter correction, smoothing and derivatives of spectra."),
    "transvariation.spectral_bands": ("Bands of spectra", "Intervals in which a spectrum leaves the known band."),
    "transvariation.metrics": ("Error rates", "Type II error and extreme samples."),
    "transvariation.report.acceptance_figures": ("Figures", "Acceptance, extremes, error rates and spectra."),
    "transvariation.persistence": ("Keep", "What else there is to model files."),
    "transvariation.tables": ("Read", "From files and data frames to checked numbers."),
    "transvariation.baselines": ("Rivals", "The paper's six competitors, on the same base and so with the same cut."),
    "transvariation.casework": ("Casework", "From two tables to a verdict with its reasons."),
    "transvariation.dask": ("Distributed", "The same classifiers on Dask arrays and data frames."),
}


def sections() -> list[tuple[str, str, str, list[str]]]:
    """List (heading, sentence, module, names) for every part of the reference that has names."""
    found = []
    homes = transvariation._HOME
    for room in [*ROOMS, *sorted(set(homes.values()) - set(ROOMS))]:
        names = sorted((name for name, home in homes.items() if home == room), key=str.lower)
        if names:
            heading, sentence = ROOMS.get(room, (room.capitalize(), ""))
            found.append((heading, sentence, "transvariation", names))
    for module, (heading, sentence) in SIDE_DOORS.items():
        if find_spec(module) is not None:
            public = getattr(import_module(module), "__all__", [])
            names = sorted((name for name in public if name not in transvariation._HOME), key=str.lower)
            if names:
                found.append((f"{heading}: ``{module}``", sentence, module, names))
    base = ["OneClassClassifier"]
    found.append(("For your own classifier", "Say what differs; inherit the rest.", "transvariation.base", base))
    return found


def text() -> str:
    """Compose the page as reStructuredText."""
    lines = [
        "API reference",
        "=============",
        "",
        "Import names from ``transvariation`` unless a heading says otherwise.",
        "",
    ]
    for heading, sentence, module, names in sections():
        lines += [heading, "-" * len(heading), "", sentence, "", f".. currentmodule:: {module}", ""]
        lines += [".. autosummary::", "   :toctree: names", "   :nosignatures:", ""]
        lines += [f"   {name}" for name in names] + [""]
    return "\n".join(lines)


def write(path: Path) -> None:
    """Write the page where it differs, so that an unchanged one is not built again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    (path.parent / "backreferences").mkdir(exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text():
        path.write_text(text(), encoding="utf-8")
