"""Glass: the UCI fragments that the paper analyses, and float glass from casework of the NFI."""

from importlib.resources import as_file, files

import pandas as pd
from sklearn.utils import Bunch

CONTROL_TYPES = (1, 3)  # float-processed windows of buildings and vehicles
RECOVERED_TYPES = (5, 6, 7)  # containers, tableware, headlamps
TYPE_NAMES = {
    1: "building window, float",
    2: "building window, non-float",
    3: "vehicle window, float",
    5: "container",
    6: "tableware",
    7: "headlamp",
}


def load_glass() -> Bunch:
    """Load the glass fragments: refractive index and eight oxides in weight percent.

    Returns
    -------
    Bunch
        ``control``: the 87 float-processed window fragments (types 1 and 3), the target class of the paper;
        ``recovered``: the 51 containers, tableware and headlamps (types 5 to 7), its non-targets;
        ``all``: all 214 fragments with their ``Type``; ``type_names``: what the type codes mean;
        ``DESCR``: origin and license. The fragments' numbers are the index of every table.

    See Also
    --------
    transvariation.load_nfi_glass : Float glass with several measurements of each pane.

    Examples
    --------
    >>> from transvariation import load_glass
    >>> glass = load_glass()
    >>> glass.control.shape, glass.recovered.shape, glass.all.shape
    ((87, 9), (51, 9), (214, 10))
    """
    source = files("transvariation.datasets") / "data"
    with (source / "glass.csv").open(encoding="utf-8") as file:
        table = pd.read_csv(file)
    table.index = pd.RangeIndex(1, len(table) + 1, name="fragment")
    features = table.drop(columns="Type")
    return Bunch(
        control=features[table["Type"].isin(CONTROL_TYPES)],
        recovered=features[table["Type"].isin(RECOVERED_TYPES)],
        all=table,
        type_names=TYPE_NAMES,
        DESCR=(source / "glass.md").read_text(encoding="utf-8"),
    )


def load_nfi_glass() -> Bunch:
    """Load float glass of the Netherlands Forensic Institute (NFI): ten elements of 977 panes, by LA-ICP-MS.

    The values are common logarithms of concentrations in µg/g; silicon was the internal standard, so they are not to be
    divided by it. The pieces of a source are replicate measurements of one fragment.

    Three pieces of 657 panes and five of 320 were measured. ``judge(..., background="nfi")`` uses them as a background.

    Returns
    -------
    Bunch
        ``frame``: one row per piece, with the columns ``source`` (the pane), ``piece`` and the ten elements;
        ``elements``: their names; ``DESCR``: origin, license and what to cite.

    See Also
    --------
    transvariation.load_glass : Glass of several types.
    transvariation.casework.judge : Judge a case with such a background.

    Examples
    --------
    >>> from transvariation import load_nfi_glass
    >>> glass = load_nfi_glass()
    >>> glass.frame.shape, glass.frame["source"].nunique(), glass.elements[:3]
    ((3571, 12), 977, ['K39', 'Ti49', 'Mn55'])
    """
    data = files("transvariation.datasets") / "data"
    with as_file(data / "nfi_glass.csv.gz") as path:
        frame = pd.read_csv(path)
    return Bunch(
        frame=frame,
        elements=[name for name in frame.columns if name not in ("source", "piece")],
        DESCR=(data / "nfi_glass.md").read_text(encoding="utf-8"),
    )
