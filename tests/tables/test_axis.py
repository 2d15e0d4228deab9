"""Spectra: positions as names of columns, and grids that differ."""

import numpy as np
import pandas as pd
import pytest
from tests.tables.conftest import problems

from transvariation.tables import TableError, TableSettings, read_chunks, read_pair, read_table


class TestSpectra:
    @staticmethod
    def spectra(n: int, **labels) -> pd.DataFrame:
        X = np.random.default_rng(0).normal(size=(n, 30)).cumsum(axis=1)
        frame = pd.DataFrame(X, columns=[f"{899.3 + 3.9 * i:.1f}" for i in range(30)])
        for at, (name, values) in enumerate(labels.items()):
            frame.insert(at, name, values)
        return frame

    @pytest.mark.parametrize("name", ["label", "class", "origin"])
    def test_a_class_is_not_the_fragment(self, name):
        table = read_table(self.spectra(60, **{name: ["olive"] * 40 + ["hazelnut"] * 20}))
        assert table.fragment is None
        assert table.source is None
        assert len(table.features) == 30

    @pytest.mark.parametrize("name", ["label", "origin"])  # taken for the fragment and the source
    def test_a_class_of_the_known_spectra_is_one_of_a_few_new_ones_too(self, name):
        known = self.spectra(60, **{name: ["olive"] * 40 + ["hazelnut"] * 20})
        new = self.spectra(6, **{name: ["olive"] * 4 + ["sold as olive"] * 2})
        pair = read_pair(known, new)
        assert pair.recovered.fragment is None
        assert pair.recovered.source is None
        assert len(set(pair.recovered.ids)) == 6
        chosen = read_pair(known, new, (TableSettings(), TableSettings(fragment_column=name)))
        assert len(set(chosen.recovered.fragment)) == 2

    def test_a_label_that_names_samples_is(self):
        table = read_table(self.spectra(60, label=[f"S{i // 3}" for i in range(60)]))
        assert len(set(table.fragment)) == 20

    def test_samples_numbered_by_each_supplier_are_asked_about(self):
        frame = self.spectra(12, supplier=["A"] * 6 + ["B"] * 6, sample=[1, 1, 2, 2, 3, 3] * 2)
        (found,) = problems(frame, name="c.csv")
        assert "column 'supplier': '1' in column 'sample' has several labels here ('A', 'B')" in found
        nested = read_table(frame, roles={"supplier": "source"})
        assert len(set(nested.fragment_keys)) == 6

    @staticmethod
    def smooth(positions) -> pd.DataFrame:
        """Spectra of a known function of the wavelength."""
        x = np.asarray(positions, dtype=float)
        return pd.DataFrame([np.sin(x / 50 + i) for i in range(5)], columns=[f"{p:g}" for p in x])

    def test_a_wavelength_is_a_number(self):
        known = self.smooth(np.arange(1100, 1200, 2))
        decimals = known.set_axis([f"{float(name):.1f}" for name in known], axis=1)
        floats = known.set_axis([float(name) for name in known], axis=1)
        units, letters = (known.set_axis([how.format(name) for name in known], axis=1) for how in ("{} nm", "X{}"))
        for other in (decimals, floats, units, letters):
            pair = read_pair(known, other)
            assert len(pair.features) == 50
            np.testing.assert_array_equal(pair.recovered.X, known)
            (block,) = read_chunks(other, list(known.columns))
            np.testing.assert_array_equal(block.X, known)

    @pytest.mark.parametrize("grid", [np.arange(1099, 1203, 2), np.arange(1099.5, 1203), np.arange(1203, 1097, -2)])
    def test_another_grid_is_interpolated_and_said(self, grid):
        known, new = self.smooth(np.arange(1100, 1200, 2)), self.smooth(grid)
        pair = read_pair(known, new)
        assert pair.features == tuple(known.columns)
        np.testing.assert_allclose(pair.recovered.X, known, atol=1e-5)  # straight lines: 2e-4
        (note,) = [note for note in pair.notes if note.code == "resampled"]
        assert "interpolated to the 50 positions from 1100 to 1198" in note.message
        blocks = list(read_chunks(new.assign(id=[f"S{i}" for i in range(5)]), list(known.columns), rows=2))
        np.testing.assert_array_equal(np.concatenate([block.X for block in blocks]), pair.recovered.X)
        assert blocks[0].ids == ("S0", "S1")

    def test_positions_beside_a_missing_value_have_none(self):
        known, new = self.smooth(np.arange(1100, 1200, 2)), self.smooth(np.arange(1099, 1203, 2))
        new.loc[1, "1131"] = np.nan
        missing = np.isnan(read_pair(known, new, missing="keep").recovered.X)
        assert np.argwhere(missing).tolist() == [[1, 15], [1, 16]]  # 1130 and 1132

    def test_spectra_are_compared_at_the_positions_that_are_farther_apart(self):
        """Between them a coarse spectrum is smoother than any that was measured there, and would be rejected."""
        known, new = self.smooth(np.arange(1100, 1200, 2)), self.smooth(np.arange(1098, 1208, 5))
        pair = read_pair(*(spectra.assign(fat=[3.5, 4.1, 3.9, 4.4, 3.2]) for spectra in (known, new)))
        assert pair.features == ("fat", *(str(x) for x in range(1103, 1203, 5)))
        np.testing.assert_array_equal(pair.recovered.X[:, 1:], new.loc[:, "1103":"1198"])
        np.testing.assert_allclose(pair.control.X[:, 1:], new.loc[:, "1103":"1198"], atol=1e-3)
        (note,) = [note for note in pair.notes if note.code == "coarser"]
        assert "at 22 positions from 1098 to 1203, farther apart than those of the known spectra" in note.message
        (block,) = read_chunks(new, list(known.columns), gaps=True)
        assert block.features == pair.features[1:]
        with pytest.raises(TableError, match="the positions are 5 apart, those needed 2"):
            list(read_chunks(new, list(known.columns)))

    def test_known_spectra_are_not_invented_in_a_gap(self):
        known, new = self.smooth(np.arange(1100, 1200, 2)), self.smooth(np.arange(1098, 1208, 5))
        known = known.drop(columns=[str(x) for x in range(1140, 1160, 2)])
        expected = [str(x) for x in range(1103, 1203, 5) if not 1138 < x < 1160]
        pair = read_pair(known, new)
        assert list(pair.features) == expected
        np.testing.assert_allclose(pair.control.X, pair.recovered.X, atol=1e-3)
        assert "(1098, 1143 to 1158, 1203)" in str([note.message for note in pair.notes])
        (block,) = read_chunks(new, list(known.columns), gaps=True)
        assert list(block.features) == expected

    def test_the_noise_of_known_spectra_between_their_positions_is_that_of_a_measurement(self):
        """A spline has a quarter less variance, so that new spectra, measured there, would be rejected too often."""
        noise = np.random.default_rng(0).normal(size=(200, 50))
        known = pd.DataFrame(noise, columns=[str(x) for x in range(1100, 1200, 2)])
        found = read_pair(known, self.smooth(np.arange(1101, 1199, 4))).control.X[:, 3:-3]
        assert found.var() == pytest.approx(noise.var(), rel=0.04)
        assert abs(np.mean(found[:, 1:] * found[:, :-1])) < 0.2

    def test_a_grid_shifted_beyond_the_ends_lacks_these(self):
        known, new = self.smooth(np.arange(1100, 1200, 2)), self.smooth(np.arange(1101, 1199, 2))
        pair = read_pair(known, new)
        assert pair.features == tuple(known.columns[1:-1])
        assert "2 of 50 positions are missing (1100, 1198)" in str([note.message for note in pair.notes])
        (block,) = read_chunks(new, list(known.columns), gaps=True)
        np.testing.assert_array_equal(block.X, pair.recovered.X)

    def test_a_range_outside_is_refused_in_one_line(self):
        known, new = self.smooth(np.arange(1100, 1200, 2)), self.smooth(np.arange(1151, 1301, 2))
        (found,) = problems(known, new, names=("c", "r"))
        assert found.startswith("r: the positions go from 1151 to 1299, those needed from 1100 to 1198")
        with pytest.raises(TableError, match="positions between 1138 and 1160 are missing, in a gap"):
            list(read_chunks(known.drop(columns=[str(x) for x in range(1140, 1160, 2)]), list(known.columns)))

    @pytest.mark.parametrize("shift", [0, 1])
    @pytest.mark.parametrize(("here", "there"), [("{} nm", "{} cm-1"), ("{} (nm)", "{} (cm-1)"), ("{} nm", "{} cm⁻¹")])
    def test_positions_in_another_unit_are_refused(self, here, there, shift):
        known, new = self.smooth(np.arange(1100, 1200, 2)), self.smooth(np.arange(1102, 1198, 2) + shift)
        known, new = (frame.rename(columns=how.format) for frame, how in ((known, here), (new, there)))
        refusal = "the positions of the spectra are in cm-1, those needed in nm; convert them"
        assert problems(known, new, names=("c", "r")) == [f"r: {refusal}"]
        with pytest.raises(TableError, match=refusal):
            list(read_chunks(new, list(known.columns)))

    @pytest.mark.parametrize("name", ["{} cm⁻¹", "{} (cm^-1)", "{} [CM-1]", "{}"])
    def test_spellings_of_a_unit_are_one(self, name):
        known = self.smooth(np.arange(1100, 1200, 2))
        known, new = (known.rename(columns=how.format) for how in ("{} cm-1", name))
        assert len(read_pair(known, new).features) == 50

    def test_a_band_that_one_table_lacks_is_not_compared(self):
        known = self.smooth(np.arange(1100, 1200, 2))
        lacking = known.drop(columns=[str(x) for x in range(1140, 1160, 2)])
        assert len(read_pair(known, lacking).features) == len(read_pair(lacking, known).features) == 40
