"""Write the API reference: every public name, by topic.

The names come from the package itself, so a new one appears without an edit here.
"""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import transvariation

# Topic -> its modules and its first sentence, in the order of the page.
TOPICS = {
    "Classifiers": (
        ("neighbor_tocc", "calibrated", "open_set", "tocc", "density_tocc", "pam_tocc", "projection_ensemble"),
        "One-class classifiers: scikit-learn estimators that accept (+1) or reject (-1).",
    ),
    "Comparison and explanation": (
        ("model_selection", "inspection", "metrics"),
        "Compare classifiers, explain rejections, measure how well scores separate.",
    ),
    "Calibration": (
        ("conformal_calibration", "coverage_report", "certificate", "shift", "exchangeability"),
        "Thresholds, p-values and certificates from calibration scores; tests of what they assume.",
    ),
    "Many samples and streams": (
        ("false_discoveries", "drift"),
        "Bound false discoveries, count anomalies, detect a change over time.",
    ),
    "The measure": (("depth",), "Transvariation probability and spatial median, as functions of arrays."),
    "Densities": (("density",), "Gaussian mixtures chosen by BIC and kernel densities, with box probabilities."),
    "Components and projections": (
        ("decomposition",),
        "Minor components, sparse minor components and random projections.",
    ),
    "Feature selection": (("feature_selection",), "VIP, VarSel, and the stability of a selection."),
    "Data": (("datasets",), "Glass fragments and simulated scenarios."),
    "Model files": (("persistence",), "Save and load models without pickle."),
}

# Modules with public names of their own.
MODULES = {
    "transvariation.datasets": ("Plants", "Days of a water treatment plant, and a simulated plant."),
    "transvariation.density": ("Box probabilities", "The probability of a box under normal distributions."),
    "transvariation.displays": ("Pictures", "Displays in scikit-learn's form."),
    "transvariation.casework": ("Casework", "From tables to one conclusion per fragment."),
    "transvariation.tables": ("Tables", "From files and data frames to checked numbers."),
    "transvariation.preprocessing": (
        "Spectra and lags",
        "Transformers of spectra, between instruments, and of time series.",
    ),
    "transvariation.monitoring": ("Process monitoring", "Charts of a process over time, with alarms."),
    "transvariation.spectral_bands": ("Spectral bands", "Intervals in which a spectrum leaves the band of the class."),
    "transvariation.baselines": ("Baselines", "The paper's six competitors and DD-SIMCA, on the same base class."),
    "transvariation.dask": ("Dask", "The same classifiers on Dask collections, memory maps and blocks of rows."),
    "transvariation.metrics": ("Error rates", "The type II error and extreme samples."),
    "transvariation.persistence": (
        "Metadata of model files",
        "Read metadata; the error of a refused file.",
    ),
    "transvariation.exceptions": ("Warnings", "What classifiers warn of."),
    "transvariation.studies.simulation": ("Studies", "Recompute a data set of the simulation study."),
    "transvariation.report.case": ("Reports", "Write the report of a case."),
}


def sections() -> list[tuple[str, str, str, list[str]]]:
    """List (heading, sentence, module, names) for every section of the reference that has names."""
    found = []
    for heading, (modules, sentence) in TOPICS.items():
        home = {name: where.split(".")[0] for name, where in transvariation._HOME.items()}
        names = [name for name in home if home[name] in modules]
        # In the order of the modules, so that the recommended classifier comes first.
        names.sort(key=lambda name: (modules.index(home[name]), name.lower()))
        found.append((heading, sentence, "transvariation", names))
    listed: list[object] = []  # a class that two modules offer is described once
    for module, (heading, sentence) in MODULES.items():
        if find_spec(module) is not None:
            own = import_module(module)
            public = {name: getattr(own, name) for name in getattr(own, "__all__", [])}
            # Constants have no docstring; the pages that explain them list their values.
            kept = [n for n, each in public.items() if callable(each) and each is not getattr(transvariation, n, None)]
            kept = [name for name in kept if not any(public[name] is each for each in listed)]
            listed += [public[name] for name in kept]
            names = sorted(kept, key=str.lower)
            if names:
                found.append((heading, f"``{module}``: {sentence[0].lower()}{sentence[1:]}", module, names))
    base = ["OneClassClassifier"]
    found.append(
        (
            "Your own classifier",
            "``transvariation.base``: implement two methods; inherit the rest.",
            "transvariation.base",
            base,
        )
    )
    return found


def text() -> str:
    """Compose the page as reStructuredText."""
    lines = [
        "Python API",
        "==========",
        "",
        "Import names from ``transvariation`` unless a section names another module.",
        "",
    ]
    for heading, sentence, module, names in sections():
        lines += [heading, "-" * len(heading), "", sentence, "", f".. currentmodule:: {module}", ""]
        lines += [".. autosummary::", "   :toctree: names", "   :nosignatures:", ""]
        lines += [f"   {name}" for name in names] + [""]
    return "\n".join(lines)


def write(path: Path) -> None:
    """Write the page if it has changed, so that an unchanged one is not built again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    (path.parent / "backreferences").mkdir(exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text():
        path.write_text(text(), encoding="utf-8")
    described = {f"{module}.{name}" for _, _, module, names in sections() for name in names}
    for page in (path.parent / "names").glob("*.rst"):  # of an earlier build
        if page.stem not in described:
            page.unlink()
