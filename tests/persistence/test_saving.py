"""Models in files: the same predictions, whatever the model; no code from a file, whatever the file."""

import io
import json
import math
import pickle
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.ensemble import IsolationForest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import transvariation
from transvariation import TOCC, CalibratedOCC, MinorComponents, ProjectionEnsemble, load, load_glass, save
from transvariation.calibration import CoverageReport
from transvariation.persistence import ModelFileError, read_about
from transvariation.persistence.allowed_classes import name_of
from transvariation.persistence.archive import read_archive, write_archive

pytestmark = pytest.mark.filterwarnings("ignore::transvariation.conformal.RejectsNothing")  # few objects, counted

FIXTURES = Path(__file__).parent
METHODS = ("predict", "score_samples", "decision_function", "p_values", "transvariation_probability", "transform")


def public_estimators() -> list[type]:
    """Every estimator that users can import: a new one is tested from the day it appears."""
    names = [getattr(transvariation, name) for name in transvariation.__all__]
    for room in map(import_module, ("transvariation.baselines", "transvariation.dask")):
        names += [getattr(room, name) for name in getattr(room, "__all__", [])]
    return [cls for cls in names if isinstance(cls, type) and issubclass(cls, BaseEstimator)]


def made(cls: type) -> BaseEstimator:
    parameters = cls._get_param_names()
    small = {"n_projections": 7, "n_candidates": 5, "random_state": 0, "n_clusters": 2}
    chosen = {name: value for name, value in small.items() if name in parameters}
    try:
        return cls(**chosen)
    except TypeError:  # it wraps another one and has none by default
        return cls(TOCC(), **chosen)


def through_file(model):
    file = io.BytesIO()
    save(model, file)
    return load(file)


@pytest.fixture(scope="module")
def glass():
    data = load_glass()
    return data.control[["K", "Mg", "Si"]], data.recovered[["K", "Mg", "Si"]]


def assert_same(one, other, X):
    compared = 0
    for name in METHODS:
        if hasattr(one, name):
            np.testing.assert_array_equal(getattr(one, name)(X), getattr(other, name)(X), err_msg=name, strict=True)
            compared += 1
    assert compared
    assert repr(one) == repr(other)
    assert vars(one).keys() == vars(other).keys()


@pytest.mark.parametrize("cls", public_estimators(), ids=name_of)
def test_every_public_estimator_predicts_the_same_to_the_last_bit(cls, glass):
    model = made(cls).fit(glass[0])
    assert_same(model, through_file(model), glass[1])


@pytest.mark.parametrize("calibration", ["resubstitution", "loo", "cv", "split"])
def test_every_calibration(calibration, glass):
    model = TOCC(calibration=calibration).fit(glass[0])
    copy = through_file(model)
    assert_same(model, copy, glass[1])
    assert_same(model.set_sensitivity(0.7), copy.set_sensitivity(0.7), glass[1])


def test_nested_models_and_pipelines(glass):
    for model in (
        make_pipeline(StandardScaler(), MinorComponents(n_components=2), TOCC()),
        CalibratedOCC(make_pipeline(StandardScaler(), TOCC())),
        ProjectionEnsemble(TOCC(ties="literal"), n_projections=5, n_candidates=3, random_state=1),
    ):
        model.fit(glass[0])
        np.testing.assert_array_equal(model.predict(glass[1]), through_file(model).predict(glass[1]))


def test_an_unfitted_model_and_its_parameters():
    copy = through_file(TOCC(sensitivity=0.75, ties="literal"))
    assert copy.get_params() == TOCC(sensitivity=0.75, ties="literal").get_params()
    with pytest.raises(Exception, match="not fitted"):
        copy.predict([[1.0]])


def test_values_of_every_kind_come_back_as_they_were():
    model = TOCC()
    model.kept_ = values = {
        "floats": (math.inf, -math.inf, 0.1, 5e-324, -0.0),
        "numbers": [1, True, None, "text\x00", 10**30],
        3: range(1, 10, 2),
        "sets": {"b", "a"},
        "scalar": np.float32(1.1),
        "frozen": frozenset({1, 2}),
    }
    model.arrays_ = arrays = [
        np.arange(6).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.array(["a", "bcd"]),
        np.array([True, False]),
        np.array([1 + 2j]),
        np.empty((0, 3)),
        np.array(5.0),
        np.array([np.nan, -np.inf]),
        np.array(["x", "y"], dtype=object),
        np.arange(3, dtype=">i2"),
    ]
    model.frame_ = pd.DataFrame({"a": [1.5, np.nan], "b": ["x", "y"]}, index=pd.Index([3, 5], name="n"))
    copy = through_file(model)
    assert copy.kept_ == values
    assert type(copy.kept_["scalar"]) is np.float32
    for one, other in zip(arrays, copy.arrays_, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)
        assert one.dtype == other.dtype
        assert one.flags.f_contiguous == other.flags.f_contiguous
    pd.testing.assert_frame_equal(model.frame_.astype({"b": object}), copy.frame_.astype({"b": object}))


def test_a_rule_that_asked_for_metadata(glass):
    with config_context(enable_metadata_routing=True):
        model = TOCC().set_fit_request(groups=True).fit(glass[0])
        copy = through_file(model)
        assert_same(model, copy.set_fit_request(groups=True), glass[1])


def test_threads_that_write_one_file_each_write_it_whole(tmp_path, glass):
    model, place = TOCC().fit(pd.concat([glass[0]] * 50)), tmp_path / "model"

    def written_and_read(_):
        save(model, place)
        return load(place).offset_

    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(written_and_read, range(100))) == {model.offset_}
    assert list(tmp_path.iterdir()) == [place]


def test_the_same_model_gives_the_same_bytes(tmp_path, glass):
    for name in ("a", "b"):
        save(TOCC().fit(glass[0]), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_numpy_itself_can_open_the_arrays(tmp_path, glass):
    save(TOCC().fit(glass[0]), tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz", allow_pickle=False) as file:
        assert any(np.array_equal(file[name], glass[0]) for name in file.files if name.startswith("arrays"))


@pytest.mark.parametrize(
    ("model", "where"),
    [
        (
            CalibratedOCC(IsolationForest()),
            "CalibratedOCC.estimator is of type sklearn.ensemble._iforest.IsolationForest",
        ),
        (ProjectionEnsemble(TOCC(), random_state=np.random.default_rng(0)), "ProjectionEnsemble.random_state"),
        (TOCC(ties=len), "TOCC.ties"),
        (
            CoverageReport("resubstitution", 0.9, *[None] * (len(fields(CoverageReport)) - 2)),
            "only estimators can be saved",
        ),
        (TOCC(ties=np.array([object()])), "TOCC.ties is an array of object"),
        ([1, 2], "only estimators can be saved"),
        ("text", "only estimators can be saved"),
    ],
)
def test_what_cannot_be_saved_is_refused_and_nothing_is_written(model, where, tmp_path):
    with pytest.raises(TypeError, match=where):
        save(model, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_remarks_are_kept_and_must_be_json(tmp_path):
    remarks = {"features": ["Na"], "filling": {"Na": {"median": 1.5}}, "sha256": None}
    save(TOCC(), tmp_path / "model", about=remarks)
    assert read_about(tmp_path / "model")["about"] == remarks
    with pytest.raises(TypeError, match="not JSON serializable"):
        save(TOCC(), tmp_path / "other", about={"x": {1, 2}})
    with pytest.raises(ValueError, match="not JSON compliant"):
        save(TOCC(), tmp_path / "other", about={"x": math.nan})
    assert not (tmp_path / "other").exists()


def test_results_of_ours_that_a_model_keeps(glass):
    from transvariation.decomposition.projections import Projections
    from transvariation.tables.cells import Cells

    model = TOCC(calibration="loo").fit(glass[0])
    model.report_ = model.coverage_report()
    assert through_file(model).report_ == model.report_
    model.report_ = Projections(*(np.arange(3.0) + i for i, _ in enumerate(Projections._fields)))
    copy = through_file(model).report_
    assert type(copy) is Projections
    np.testing.assert_array_equal(copy, model.report_)
    model.report_ = Cells(np.zeros(1), {}, {})  # from a room that holds no models
    with pytest.raises(TypeError, match=r"TOCC.report_ is of type transvariation.tables.cells.Cells"):
        through_file(model)


REPORT = {"object": "calibration.CoverageReport", "learned": {}}
REPORT["given"] = dict.fromkeys(field.name for field in fields(CoverageReport))
A, B = {"names": ["a"], "shape": [1]}, {"names": ["a", "b"], "shape": [2]}
CLAIMS = [
    ({"index": {"range": [0, 10**8, 1]}, "data": {"dict": [["0", 1]]}}, "malformed"),
    ({"index": {"range": [0, 10**12, 1]}, "data": {"dict": []}, "columns": {"list": []}}, "malformed"),
    ({"data": {"dict": [["0", B]]}}, "claims more"),
    ({"columns": {"range": [0, 10**30, 1]}}, "malformed"),
    ({"columns": {"range": [0, 10**12, 1]}}, "claims more"),
    ({"columns": {"list": [{"tuple": [1]}, {"tuple": [1, 2]}]}, "data": {"dict": [["0", A], ["1", A]]}}, "claims more"),
]


def frame(**parts) -> dict:
    whole = {"columns": {"list": ["x"]}, "names": {"list": [None, None]}, "index": A, "data": {"dict": [["0", A]]}}
    return {"frame": {**whole, **parts}}


class TestHostile:
    """Files from a stranger."""

    @pytest.fixture
    def content(self, glass) -> bytes:
        file = io.BytesIO()
        save(TOCC().fit(glass[0]), file)
        return file.getvalue()

    @staticmethod
    def changed(content: bytes, change) -> io.BytesIO:
        """Change the manifest and give it the right checksum: what a stranger who knows the format can do."""
        manifest, arrays = read_archive(io.BytesIO(content))
        change(manifest)
        file = io.BytesIO()
        write_archive(file, manifest, arrays)
        return file

    def test_truncated(self, content):
        for keep in (0, 1, 10, 100, len(content) // 2, len(content) - 1):
            with pytest.raises(ModelFileError, match=r"truncated|no model file"):
                load(io.BytesIO(content[:keep]))

    def test_every_changed_byte_is_noticed_or_harmless(self, content, glass):
        original = load(io.BytesIO(content))
        rng = np.random.default_rng(0)
        noticed = 0
        for at in rng.choice(len(content), 300, replace=False):
            changed = bytearray(content)
            changed[at] ^= 0x11
            try:
                copy = load(io.BytesIO(bytes(changed)))
            except ModelFileError:
                noticed += 1
                continue
            assert_same(original, copy, glass[1])  # a date in the directory of the archive, and the like
        assert noticed > 250

    def test_a_number_changed_by_hand(self, content):
        raw = content.replace(b'"version": 2', b'"version": 9')
        assert raw != content
        with pytest.raises(ModelFileError, match=r"damaged: Bad CRC-32 for file 'manifest.json'"):
            load(io.BytesIO(raw))
        members = self.members(content)
        members["manifest.json"] = members["manifest.json"].replace(b'"version": 2', b'"version": 1')
        with pytest.raises(ModelFileError, match="manifest does not match its checksum"):
            load(self.archive(members))
        members = self.members(content)
        members["arrays/0.npy"] = members["arrays/0.npy"][:-1] + b"x"
        with pytest.raises(ModelFileError, match=r"'arrays/0.npy' does not match its checksum"):
            load(self.archive(members))

    @pytest.mark.parametrize(
        "name",
        ["os.system", "builtins.eval", "classifiers.os.system", "subprocess.Popen", "typicality.np.load", "cli.main"]
        + ["", "TOCC", "classifiers.base.np", "classifiers..TOCC", "classifiers.NoSuch", "classifiers.no_such.Room"]
        + ["sklearn.pipeline.make_pipeline", "pickle.Unpickler", "datasets.load_glass", "classifiers.TOCC\n"]
        + ["classifiers.TOCC.__subclasses__", "typicality.spatial_median", "classifiers.base.ABCMeta"],
    )
    def test_only_our_classes_can_be_named(self, content, name):
        file = self.changed(content, lambda manifest: manifest["model"].update(object=name))
        with pytest.raises(ModelFileError, match="no class of transvariation: refused"):
            load(file)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda m: m.update(version=99), "format version 99 is unknown"),
            (lambda m: m.update(version="1"), "format version '1' is unknown"),
            (lambda m: m.update(version=True), "format version True is unknown"),
            (lambda m: m.update(about=[]), "no estimator"),
            (lambda m: m.update(format="other"), "not that of a transvariation model"),
            (lambda m: m.pop("model"), "no estimator"),
            (lambda m: m.update(model={"list": []}), "no estimator"),
            (lambda m: m["model"]["given"].update(surprise=1), "has no parameter 'surprise'"),
            (lambda m: m["model"]["learned"].update(predict=1), "'predict' cannot be an attribute"),
            (lambda m: m["model"]["learned"].update(__class__=1), "'__class__' cannot be an attribute"),
            (lambda m: m["model"]["learned"].update({"a b": 1}), "'a b' cannot be an attribute"),
            (lambda m: m["model"]["learned"].update(center_={"array": 999}), "malformed"),
            (lambda m: m["model"]["learned"].update(center_={"array": -1}), "refers to array -1"),
            (lambda m: m["model"]["learned"].update(center_={"eval": "1"}), "unknown kind 'eval'"),
            (lambda m: m["model"]["learned"].update(center_={"value": "1"}), "unknown kind 'value'"),
            (lambda m: m["model"]["learned"].update(center_={"list": [], "array": 0}), "unknown kind 'list'"),
            (lambda m: m["model"]["learned"].update(center_=[1]), "no known kind"),
            (lambda m: m["model"]["learned"].update(center_={"range": ["a"]}), "malformed"),
            (lambda m: m["model"]["learned"].update(center_={"names": [1], "shape": [1]}), "not all text"),
            (lambda m: m["model"]["learned"].update(center_={"set": [{"list": []}]}), "malformed"),
            (lambda m: m["model"].pop("given"), "malformed"),
            (lambda m: m.update(model={**REPORT, "given": {}}), "CoverageReport lacks its 'calibration'"),
            (lambda m: m.update(model=REPORT), "no estimator but a CoverageReport"),
            (lambda m: m["model"]["learned"].update(center_={"list": [{"array": 0}] * 2}), "malformed"),
            *((lambda m, k=k: m["model"]["learned"].update(x_=frame(**k)), message) for k, message in CLAIMS),
        ],
    )
    def test_a_forged_manifest_is_refused(self, content, change, message):
        with pytest.raises(ModelFileError, match=message):
            load(self.changed(content, change))

    def test_endless_nesting(self, content):
        def nest(manifest):
            node = 1
            for _ in range(200):
                node = {"list": [node]}
            manifest["model"]["learned"]["center_"] = node

        with pytest.raises(ModelFileError, match="nests more than 100 levels"):
            load(self.changed(content, nest))

    @staticmethod
    def archive(members: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> io.BytesIO:
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", compression) as archive:
            for name, data in members.items():
                archive.writestr(name, data)
        return file

    @staticmethod
    def members(content: bytes) -> dict[str, bytes]:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return {name: archive.read(name) for name in archive.namelist()}

    def test_archives_of_another_kind(self, content):
        with pytest.raises(ModelFileError, match="no manifest"):
            load(self.archive({"a": b"b"}))
        with pytest.raises(ModelFileError, match="compressed or doubled"):
            load(self.archive({"manifest.json": b" " * 10**6}, zipfile.ZIP_DEFLATED))
        with pytest.raises(ModelFileError, match="'extra', which its manifest does not list"):
            load(self.archive({**self.members(content), "extra": b""}))
        members = self.members(content)
        del members["arrays/0.npy"]
        with pytest.raises(ModelFileError, match="missing: the file is incomplete"):
            load(self.archive(members))
        with pytest.raises(ModelFileError, match="no model file"):
            load(io.BytesIO(pickle.dumps(TOCC())))

    def test_members_within_members(self):
        """Stored but overlapping, an archive would unpack to more than it weighs."""
        inner, outer = self.archive({"b": bytes(100)}), io.BytesIO()
        with zipfile.ZipFile(inner) as archive:
            (info,), record = archive.infolist(), inner.getvalue()[: archive.start_dir]
        with zipfile.ZipFile(outer, "w") as archive:
            archive.writestr("a", record)
            info.header_offset = outer.getvalue().index(record)
            archive.filelist.append(info)
        with pytest.raises(ModelFileError, match="members overlap"):
            load(outer)

    def test_a_directory_that_points_before_the_file(self, content, tmp_path):
        at = content.rindex(b"PK\x05\x06") + 16  # where the directory begins, as the archive's last record has it
        (tmp_path / "model").write_bytes(content[:at] + (2**31 - 1).to_bytes(4, "little") + content[at + 4 :])
        with pytest.raises(ModelFileError, match="no model file"):
            load(tmp_path / "model")

    def swapped(self, content: bytes, array: bytes, **claimed) -> io.BytesIO:
        """Put another first array in and correct all checksums."""
        import hashlib

        members = self.members(content)
        manifest = json.loads(members["manifest.json"])
        manifest["arrays"][0].update(sha256=hashlib.sha256(array).hexdigest(), **claimed)
        text = json.dumps(manifest).encode()
        digest = hashlib.sha256(text).hexdigest().encode()
        return self.archive({**members, "manifest.json": text, "manifest.sha256": digest, "arrays/0.npy": array})

    def test_arrays_that_lie_about_themselves(self, content):
        def npy(header: str, data: bytes = b"") -> bytes:
            text = header.encode() + b"\n"
            return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data

        huge = npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }", bytes(8))
        with pytest.raises(ModelFileError, match="not what its header says"):
            load(self.swapped(content, huge))
        runs = io.BytesIO()
        np.save(runs, np.array([print], dtype=object), allow_pickle=True)
        with pytest.raises(ModelFileError, match="not what its header says"):
            load(self.swapped(content, runs.getvalue()))
        code = npy("__import__('os').system('true')")
        with pytest.raises(ModelFileError, match="cannot be read"):
            load(self.swapped(content, code))
        small = io.BytesIO()
        np.save(small, np.zeros(3, dtype=np.int8))
        with pytest.raises(ModelFileError, match="not what the manifest says"):
            load(self.swapped(content, small.getvalue()))
        for dtype, shape in (("<U0", (10**12,)), ("<f8", (-1, -1)), ("<f8", (True,)), ("<f8", (2**62, 2**62, 0))):
            size = 8 * abs(math.prod(shape)) if dtype == "<f8" else 0
            array = npy(f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}", bytes(size))
            with pytest.raises(ModelFileError, match=r"not what its header says|damaged"):
                load(self.swapped(content, array, dtype=dtype, shape=list(shape)))
        for header in ("{'descr': (((", "  a\n b\n(", "-" * 9_000 + "1"):
            with pytest.raises(ModelFileError, match="cannot be read"):
                load(self.swapped(content, npy(header)))

    def test_a_missing_file_is_the_usual_error(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            load(tmp_path / "none")
