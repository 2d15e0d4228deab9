"""The parts of a model file: what a stranger may change is noticed, refused or harmless."""

import contextlib
import copy
import io
import json
import pickle
import struct
import zipfile

import numpy as np
import pytest
import skops.io
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator

from transvariation import (
    PAMTOCC,
    TOCC,
    CalibratedOCC,
    DensityTOCC,
    MinorComponents,
    NeighborTOCC,
    load,
    load_glass,
    save,
)
from transvariation.baselines import DDSIMCA, SVDD, GaussianOCC
from transvariation.model_archive import HEADER, SCHEMA, ModelFileError, fingerprint, schema_nodes
from transvariation.persistence import read_about

pytestmark = pytest.mark.filterwarnings("ignore::transvariation.exceptions.RejectsNothing")


@pytest.fixture(scope="module")
def glass():
    data = load_glass()
    return data.control[["K", "Mg", "Si"]], data.recovered[["K", "Mg", "Si"]]


@pytest.fixture(scope="module")
def content(glass) -> bytes:
    file = io.BytesIO()
    save(TOCC().fit(glass[0]), file, about={"units": {"K": "wt%"}})
    return file.getvalue()


@pytest.fixture(scope="module")
def contents(glass) -> list[bytes]:
    files = [io.BytesIO() for _ in range(3)]
    for model, file in zip((TOCC(), PAMTOCC(n_clusters=2), CalibratedOCC(TOCC())), files, strict=True):
        save(model.fit(glass[0]), file)
    return [file.getvalue() for file in files]


def unpacked(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(members: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> io.BytesIO:
    """Write an archive with the SHA-256 of its content, as a stranger can."""
    file = io.BytesIO()
    header = members.get(HEADER, b"")
    if header.startswith(b"{"):
        values = json.loads(header)
        values["sha256"] = fingerprint(values, members, members.__getitem__)
        members = members | {HEADER: json.dumps(values).encode()}
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file


def changed(content: bytes, change, member: str = SCHEMA) -> io.BytesIO:
    """Change the schema or the header of a file, as a stranger who knows the format can; drop arrays without use."""
    members = unpacked(content)
    value = json.loads(members[member])
    change(value)
    members[member] = json.dumps(value).encode()
    used = {node.get("file") for node in schema_nodes(json.loads(members[SCHEMA]))} | {SCHEMA, HEADER}
    return packed({name: data for name, data in members.items() if name in used})


def learned(schema) -> dict:
    """The attributes of the model in a schema."""
    return schema["content"]["content"]


def add(schema, name: str, node: dict) -> None:
    """Set a further attribute of the model."""
    schema["content"]["content"][name] = node
    key_types = schema["content"]["key_types"]["content"]
    key_types.append(key_types[0])


def _remove(schema, name: str) -> None:
    """Remove an attribute of the model, with the arrays in it."""
    content, key_types = schema["content"]["content"], schema["content"]["key_types"]["content"]
    del key_types[list(content).index(name)]
    del content[name]


def constructed(module: str, name: str, *arguments, loader: str = "ConstructorFromReduceNode") -> dict:
    content = [{"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode", "content": json.dumps(a)}
               for a in arguments]  # fmt: skip
    items = {"__class__": "tuple", "__module__": "builtins", "__loader__": "TupleNode", "content": content}
    return {"__class__": name, "__module__": module, "__loader__": loader, "content": items}


def disguised_range() -> dict:
    """A range whose end is an array, and only seems to be the number 3."""
    node = constructed("builtins", "range", 3)
    end = {"__class__": "int64", "__module__": "numpy", "__loader__": "NdArrayNode", "type": "numpy", "file": "0.npy"}
    node["content"]["content"][0] = {**end, "content": "3"}
    return node


def nested(depth: int) -> dict:
    node = constructed("builtins", "tuple", 1)["content"]
    for _ in range(depth):
        node = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode", "content": [node]}
    return node


def doubling(depth: int) -> dict:
    """A list of two references to a list of two references and so on: 2**depth visits from a few kilobytes."""
    node = constructed("builtins", "tuple", 1)["content"]
    for number in range(1, depth):
        again = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode", "content": []}
        node = {**again, "content": [{**node, "__id__": number}, {**again, "__id__": number}]}
    return node


def npy(header: str, data: bytes = b"") -> bytes:
    text = header.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def test_about_reads_the_header_only(content):
    members = unpacked(content)
    members[SCHEMA] = b"no JSON at all"
    assert read_about(packed(members))["about"] == {"units": {"K": "wt%"}}


class TestStrangersFiles:
    def test_a_changed_number_is_noticed_by_the_hash_and_a_forged_hash_shows(self, content, tmp_path):
        members = unpacked(content)
        array = bytearray(members["0.npy"])
        array[-3] ^= 1
        members["0.npy"] = bytes(array)
        with zipfile.ZipFile(tmp_path / "changed", "w") as archive:
            for name, data in members.items():
                archive.writestr(name, data)
        with pytest.raises(ModelFileError, match="the SHA-256 in the file is that of another"):
            load(tmp_path / "changed")
        forged = packed(members)
        load(forged)
        assert read_about(forged)["sha256"] != read_about(io.BytesIO(content))["sha256"]

    @pytest.mark.parametrize(
        "model",
        [TOCC(), PAMTOCC(3), NeighborTOCC(), DensityTOCC(density="kde"), GaussianOCC(), DDSIMCA(2), SVDD()],
        ids=lambda model: type(model).__name__,
    )
    @pytest.mark.filterwarnings("ignore")
    def test_no_result_is_other_than_a_number_whatever_the_arrays_hold(self, model, glass):
        content, new = io.BytesIO(), glass[1].iloc[:10]
        save(model.fit(glass[0]), content)
        members = unpacked(content.getvalue())
        for name in [name for name in members if name.endswith(".npy")]:
            array = np.load(io.BytesIO(members[name]), allow_pickle=False)
            if array.dtype != np.float64:
                continue
            for value in (np.nan, np.inf, -np.inf):
                file, damaged = io.BytesIO(), np.full_like(array, value)
                np.save(file, damaged)
                with contextlib.suppress(ValueError):  # ModelFileError is one
                    loaded = load(packed(members | {name: file.getvalue()}))
                    assert set(loaded.predict(new)) <= {-1, 1}
                    assert np.isfinite(loaded.p_values(new)).all()
                    assert not np.isnan(loaded.score_samples(new)).any()

    def test_a_missing_file_raises_the_usual_error(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            load(tmp_path / "none")

    def test_files_of_another_kind_are_explained(self, tmp_path):
        skops.io.dump(TOCC(), tmp_path / "skops")
        (tmp_path / "pickle").write_bytes(pickle.dumps(TOCC()))
        (tmp_path / "text").write_text("a,b\n1,2\n")
        (tmp_path / "zip").write_bytes(packed({"a": b"b"}).getvalue())
        for name, message in {
            "skops": "written by skops, not by transvariation.save",
            "pickle": "a pickle, which could run code",
            "text": "not a model file, or truncated",
            "zip": "a ZIP archive, but not a model file",
        }.items():
            for read in (load, read_about):
                with pytest.raises(ModelFileError, match=message):
                    read(tmp_path / name)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda h: h.update(version=99), "format version 99 is unknown"),
            (lambda h: h.update(format="other"), "not that of a model file"),
            (lambda h: h.update(about=[]), "lacks 'about'"),
            (lambda h: h.pop("attributes"), "lacks 'attributes'"),
            (lambda h: h.update({"class": "transvariation.tocc.Other"}), "not the one that was saved"),
        ],
    )
    def test_a_forged_header_is_refused(self, content, change, message):
        with pytest.raises(ModelFileError, match=message):
            load(changed(content, change, HEADER))

    @pytest.mark.parametrize(
        ("module", "name"),
        [("os", "system"), ("builtins", "eval"), ("subprocess", "Popen"), ("pickle", "Unpickler"), ("builtins", "map")]
        + [
            ("transvariation.cli", "main"),
            ("transvariation.__main__", "main"),
            ("transvariation.atomic_write", "os"),
        ]
        + [("transvariation.tocc", "np"), ("numpy", "void"), ("numpy", "dtype"), ("numpy", "load"), ("", "")],
    )
    @pytest.mark.parametrize(
        "loader",
        ["ObjectNode", "ConstructorFromReduceNode", "FunctionNode", "TypeNode", "TupleNode", "ListNode", "DictNode"]
        + ["PartialNode", "MethodNode", "OperatorFuncNode", "LossNode", "TreeNode", "ReduceNode"],
    )
    def test_no_type_outside_the_allowed_ones_is_built(self, content, module, name, loader):
        node = constructed(module, name, "echo", loader=loader)
        with pytest.raises(ModelFileError, match=r"not trusted|cannot be kept|was changed"):
            load(changed(content, lambda schema: add(schema, "extra_", node)))

    @pytest.mark.parametrize(
        ("node", "message"),
        [
            (constructed("builtins", "range", 0, 10**12), "a range has more than 10000 values"),
            (constructed("builtins", "range", 0, 10**30), "damaged or was changed"),
            (constructed("builtins", "range", "a"), "damaged or was changed"),
            (disguised_range(), "damaged or was changed"),
            (constructed("numpy", "void", 10**12), "'numpy.void' cannot be kept"),
            (nested(150), "more than 200 levels deep"),
            (doubling(60), "one object from several places"),
        ],
    )
    def test_nothing_is_built_beyond_what_the_file_holds(self, content, node, message):
        for attribute in ("feature_names_in_", "extra_"):
            with pytest.raises(ModelFileError, match=message):
                load(changed(content, lambda schema, name=attribute: add(schema, name, node)))

    @pytest.mark.parametrize("n", [10**12, -3, 0, "3", 2.5, None, True])
    def test_an_impossible_number_of_features_is_refused(self, content, n):
        node = constructed("builtins", "tuple", n)["content"]["content"][0]
        with pytest.raises(ModelFileError, match=r"not possible in a file|does not name|incomplete"):
            load(changed(content, lambda schema: learned(schema).update(n_features_in_=node)))

    def test_a_learned_number_larger_than_the_file_is_refused(self, content):
        def enlarge(schema):
            calibration = learned(learned(schema)["_calibration"])
            calibration["n_strata"]["content"] = str(10**9)

        with pytest.raises(ModelFileError, match="n_strata=1000000000 is not possible in a file of"):
            load(changed(content, enlarge))

    @pytest.mark.parametrize("protocol", [0, 1, None, "2"])
    def test_early_protocols_of_skops_are_refused(self, content, protocol):
        """Their nodes name functions where the check of the types does not look."""
        with pytest.raises(ModelFileError, match=r"protocol|damaged"):
            load(changed(content, lambda schema: schema.update(protocol=protocol)))

    def test_arrays_that_are_not_what_they_claim_are_refused(self, content):
        pickled = io.BytesIO()
        np.save(pickled, np.array([print], dtype=object), allow_pickle=True)
        header = "{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}"
        forged = [
            npy(header.format("<f8", (10**12,)), bytes(8)),
            npy(header.format("<U0", (10**12,))),
            npy(header.format("<f8", (10**12, 0))),
            npy(header.format("<f8", (-1, -1)), bytes(8)),
            npy(header.format("<f8", (True,)), bytes(8)),
            npy("__import__('os').system('true')"),
            npy("{'descr': ((("),
            npy("-" * 9_000 + "1"),
            pickled.getvalue(),
            b"",
        ]
        members = unpacked(content)
        for array in forged:
            with pytest.raises(ModelFileError, match=r"not what its header says|damaged or was changed"):
                load(packed({**members, "0.npy": array}))

    def test_archives_that_save_does_not_write_are_refused(self, content):
        members = unpacked(content)
        with pytest.raises(ModelFileError, match="is compressed"):
            load(packed({**members, HEADER: b" " * 10**6}, zipfile.ZIP_DEFLATED))
        with pytest.raises(ModelFileError, match="'extra' belongs to nothing"):
            load(packed({**members, "extra": b""}))
        with pytest.raises(ModelFileError, match=r"'0.npy' is missing"):
            load(packed({name: data for name, data in members.items() if name != "0.npy"}))
        file = packed(members)
        with zipfile.ZipFile(file, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr(HEADER, members[HEADER])
        with pytest.raises(ModelFileError, match="occurs twice"):
            load(file)

        def twice(schema):
            arrays = [node for node in schema_nodes(schema) if "file" in node]
            arrays[1]["file"] = arrays[0]["file"]

        with pytest.raises(ModelFileError, match="used twice"):
            load(changed(content, twice))

    def test_members_that_overlap_are_refused(self):
        inner, outer = packed({"b": bytes(100)}), io.BytesIO()
        with zipfile.ZipFile(inner) as archive:
            (info,), record = archive.infolist(), inner.getvalue()[: archive.start_dir]
        with zipfile.ZipFile(outer, "w") as archive:
            archive.writestr("a", record)
            info.header_offset = outer.getvalue().index(record)
            archive.filelist.append(info)
        with pytest.raises(ModelFileError, match="overlap"):
            load(outer)

    @pytest.mark.parametrize(
        "model",
        [
            TOCC(calibration="split"),
            PAMTOCC(2),
            NeighborTOCC(),
            DensityTOCC(),
            CalibratedOCC(TOCC()),
            MinorComponents(),
        ],
        ids=lambda model: type(model).__name__,
    )
    def test_a_file_without_one_of_the_learned_attributes_is_refused(self, model, glass):
        save(model.fit(glass[0]), file := io.BytesIO())
        names = list(learned(json.loads(unpacked(file.getvalue())[SCHEMA])))
        assert {"n_features_in_", "feature_names_in_"} < set(names)
        without_check = changed(file.getvalue(), lambda header: header.update(scores_zeros=False), HEADER).getvalue()
        for name in names:
            with pytest.raises(ModelFileError, match=r"attributes were removed or added|lacks its parameter"):
                load(changed(without_check, lambda schema, name=name: _remove(schema, name)))

    def test_an_estimator_inside_another_without_a_parameter_is_refused(self, glass):
        save(CalibratedOCC(TOCC(), calibration="split").fit(glass[0]), file := io.BytesIO())
        for inner in (
            lambda schema: learned(schema)["estimator"],
            lambda schema: learned(learned(schema)["description_"])["estimator_"],
        ):
            with pytest.raises(ModelFileError, match="TOCC lacks its parameter 'calibration'"):
                load(changed(file.getvalue(), lambda schema, inner=inner: _remove(inner(schema), "calibration")))

    @pytest.mark.parametrize("model", [TOCC(), PAMTOCC(2), CalibratedOCC(TOCC())], ids=lambda m: type(m).__name__)
    def test_a_header_that_hides_a_removed_attribute_does_not_help(self, model, glass):
        save(model.fit(glass[0]), file := io.BytesIO())
        for name in ("offset_", "_calibration", "_sensitivity"):
            forged = changed(file.getvalue(), lambda header, name=name: header["attributes"].remove(name), HEADER)
            forged = changed(forged.getvalue(), lambda schema, name=name: _remove(schema, name))
            with pytest.raises(ModelFileError, match=r"the model is incomplete: .*(attribute|fitted)"):
                load(forged)

    def test_control_characters_of_a_file_are_not_printed(self, content, tmp_path):
        for text in ("\x1b]0;owned\x07", "\x9b31m", "a\nb", "\u202egnp"):
            file = changed(content, lambda header, text=text: header.update(version=text), HEADER)
            with pytest.raises(ModelFileError, match="is unknown") as refused:
                load(file)
            assert str(refused.value).isprintable()
            node = constructed(f"os{text}", f"system{text}", loader="ObjectNode")
            with pytest.raises(ModelFileError, match="not trusted") as refused:
                load(changed(content, lambda schema, node=node: add(schema, "extra_", node)))
            assert str(refused.value).isprintable()
        path = tmp_path / "a\x1b]0;owned\x07"
        path.write_bytes(b"")
        with pytest.raises(ModelFileError) as refused:
            load(path)
        assert str(refused.value).isprintable()

    def test_trusted_must_be_a_list_of_types(self, content):
        for trusted in ("os.system", [1], [None]):
            with pytest.raises(TypeError, match="must be a list of types"):
                load(io.BytesIO(content), trusted=trusted)


def attempt(file: io.BytesIO) -> BaseEstimator | None:
    """Load a file that may be refused; anything but a printable ModelFileError is a defect."""
    try:
        return load(file)
    except ModelFileError as error:
        refusal = str(error)
    assert refusal
    assert refusal.isprintable()
    return None


class TestFuzz:
    """`make fuzz` runs these with five thousand examples each."""

    @given(st.data())
    def test_flipped_bits_are_noticed_or_harmless(self, content, glass, data):
        flipped = bytearray(content)
        for at in data.draw(st.lists(st.integers(0, 8 * len(content) - 1), min_size=1, max_size=4)):
            flipped[at // 8] ^= 1 << at % 8
        if loaded := attempt(io.BytesIO(bytes(flipped))):
            np.testing.assert_array_equal(load(io.BytesIO(content)).predict(glass[1]), loaded.predict(glass[1]))

    @given(st.data())
    def test_spliced_files_are_refused(self, content, data):
        start, stop = sorted(data.draw(st.tuples(*[st.integers(0, len(content))] * 2)))
        attempt(io.BytesIO(content[:start] + data.draw(st.binary(max_size=40)) + content[stop:]))

    @given(st.data())
    def test_crafted_schemas_load_or_are_refused(self, content, data):
        schema = json.loads(unpacked(content)[SCHEMA])
        for _ in range(data.draw(st.integers(1, 3))):
            nodes = [node for node in schema_nodes(schema) if node]
            node, other = (nodes[data.draw(st.integers(0, len(nodes) - 1))] for _ in range(2))
            key = data.draw(st.sampled_from(sorted(node)))
            change = data.draw(st.sampled_from(["remove", "graft", "replace", "insert"]))
            if change == "remove":
                del node[key]
            elif change == "graft":
                node[key] = copy.deepcopy(other.get(key, other))
            else:
                node[key if change == "replace" else data.draw(KEYS)] = data.draw(VALUES)
        attempt(packed({**unpacked(content), SCHEMA: json.dumps(schema).encode()}))

    @given(st.data())
    def test_crafted_arrays_load_or_are_refused(self, contents, data):
        members = unpacked(contents[data.draw(st.integers(0, len(contents) - 1))])
        for name in data.draw(st.lists(st.sampled_from(sorted(name for name in members if "npy" in name)), max_size=3)):
            shape = data.draw(st.lists(st.integers(0, 4), max_size=3))
            array = np.full(shape, data.draw(NUMBERS)).astype(data.draw(st.sampled_from(["f8", "i8", "?", "U3"])))
            np.save(file := io.BytesIO(), array)
            members[name] = file.getvalue()
        attempt(packed(members))


NUMBERS = st.sampled_from([0.0, 1.0, -1.0, 3.0, 200.0, 1e12, -1e18])
KEYS = st.sampled_from(
    ["__id__", "__loader__", "__class__", "__module__", "content", "type", "file", "shape", "protocol"]
)
VALUES = st.one_of(
    st.none(),
    st.integers(-(10**12), 10**12),
    st.sampled_from(["ObjectNode", "ListNode", "FunctionNode", "NdArrayNode", "1.npy", "numpy", "json", "builtins"]),
    st.sampled_from(["eval", "[" * 10_000, "1e999", "\x1b[2J", '"text"', "sklearn.pipeline", "Pipeline"]),
    st.sampled_from(["null", "[]", "{}", "-1", "1000000000000", "NaN"]),
    st.lists(st.integers(0, 3), max_size=3),
    st.dictionaries(KEYS, st.integers(0, 3), max_size=3),
)
