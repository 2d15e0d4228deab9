"""The packaged glass: the counts that its sources state."""

import numpy as np

from transvariation import load_glass, load_nfi_glass


def test_types_are_those_of_the_uci_repository():
    glass = load_glass()
    assert glass.all["Type"].value_counts().to_dict() == {1: 70, 2: 76, 3: 17, 5: 13, 6: 9, 7: 29}
    assert set(glass.all.loc[glass.control.index, "Type"]) == {1, 3}
    assert set(glass.all.loc[glass.recovered.index, "Type"]) == {5, 6, 7}
    oxides = glass.all.drop(columns=["RI", "Type"])
    assert oxides.sum(axis=1).between(99, 101).all()  # per cent of weight
    assert glass.all["RI"].between(1.51, 1.54).all()


def test_pieces_of_the_nfi_are_numbered_within_each_pane():
    frame = load_nfi_glass().frame
    pieces = frame.groupby("source")["piece"]
    assert pieces.size().value_counts().to_dict() == {3: 657, 5: 320}
    assert pieces.nunique().equals(pieces.size())
    assert np.isfinite(frame[load_nfi_glass().elements].to_numpy()).all()
