"""Float glass from casework of the Netherlands Forensic Institute."""

from importlib.resources import as_file, files

import pandas as pd
from sklearn.utils import Bunch


def load_nfi_glass() -> Bunch:
    """Load the NFI float glass: ten elements of 977 panes by LA-ICP-MS, log10 and relative to silicon.

    Three pieces of 657 panes and five of 320 were measured. As a background, ``judge(..., background="nfi")`` uses it.

    Returns
    -------
    Bunch
        ``frame``: one row per piece, with the columns ``source`` (the pane), ``piece`` and the ten elements;
        ``elements``: their names; ``DESCR``: origin, licence and what to cite.

    Examples
    --------
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
