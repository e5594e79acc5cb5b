"""Every field of the Switch's tables has a sentence of meaning where a source has one; those without are listed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import pytest

from pocketgpu.facts.dialect.registers import Field
from pocketgpu.facts.maxwell import A140, B0B5, B1C0, B197, CLASSES, MethodBlock
from pocketgpu.facts.maxwell.classes import TABLES
from pocketgpu.facts.maxwell.headers import STRUCTURES, BitStructure

RESERVED = (r"(.*[._])?(QMD_)?RESERVED.*", r".*_RESERVED(_.*)?")
"""Reserved by their names."""
SPARE = (r"SET_SPARE\d\d\.V", r"QMD_SPARE_.", r".*\.SPARE")
"""Words that keep what is written; nobody is known to read them."""
ONLY_A_NAME = (
    r"SEND_GO_IDLE\.V", r"PM_TRIGGER(_WFI|_END)?\.V", r"PERFMON_TRANSFER\.V", r"SET_INSTRUMENTATION_METHOD_.*\.V",
    r"RUN_DS_NOW\.V", r"INVALIDATE_SHADER_CACHES\.LOCKS", r"SET_ZCULL_ROP_BYPASS\.THRESHOLD", r"ZCULL_SYNC\.V",
    r"PEER_SEMAPHORE_RELEASE\.V", r"SET_ALPHA_FRACTION\.V", r"FORCE_TRANSITION_TO_BETA\.V",
    r"FORCE_HEAVYWEIGHT_METHOD_SYNC\.V", r"SET_VPC_PERF_KNOB\..*", r"SET_TILED_CACHE_CONFIG_\d\.V",
    r"FLUSH_PENDING_WRITES\.SM_DOES_GLOBAL_STORE", r"SET_SHADER_PERFORMANCE_COUNTER_CONTROL_B\.WINDOWED",
    r"SEND_PCAS_B\.(FROM|DELTA)", r"MME_DMA_SYNC\.VALUE", r"SET_PIXELS_FROM_MEMORY_CORRAL_SIZE\.V",
)  # fmt: skip
"""No source has more than the name, and the name does not say what the number means."""
NO_SOURCE = re.compile("|".join((*RESERVED, *SPARE, *ONLY_A_NAME)))

METHODS_WITHOUT = re.compile(
    r"RESERVED_TG\d\d|SET_PIPELINE_RESERVED_.|BIND_GROUP_RESERVED_.|RUN_DS_NOW|SET_SUBTILING_PERF_KNOB_C"
)
"""Methods of which no source says anything."""

MEANINGS = {
    "902d": (237, 243), "a140": (77, 82), "b06f": (35, 35), "b0b5": (61, 63), "b197": (925, 989), "b1c0": (202, 233),
}  # fmt: skip
"""Fields with a meaning, of all fields of a class."""

Named = tuple[str, Field]


def _of_class(block: MethodBlock) -> Iterator[Named]:
    return ((f"{method.name}.{field.name}", field) for method in block for field in method.fields)


def _of_structure(structure: BitStructure) -> Iterator[Named]:
    return ((field.name, field) for field in structure)


ALL: list[Named] = [
    *(named for block in CLASSES.values() for named in _of_class(block)),
    *(named for structure in STRUCTURES for named in _of_structure(structure)),
]


@pytest.mark.parametrize("block", CLASSES.values(), ids=lambda block: block.name)
def test_fields_with_a_meaning_are_so_many(block: MethodBlock) -> None:
    fields = list(_of_class(block))
    assert (sum(bool(field.doc) for _, field in fields), len(fields)) == MEANINGS[block.name]


def test_only_listed_fields_are_without_a_meaning() -> None:
    assert {name for name, field in ALL if not field.doc} == {name for name, _ in ALL if NO_SOURCE.fullmatch(name)}
    for pattern in (*RESERVED, *SPARE, *ONLY_A_NAME):
        assert any(re.fullmatch(pattern, name) for name, _ in ALL), pattern


def test_only_listed_methods_are_without_a_meaning() -> None:
    methods = [method for block in CLASSES.values() for method in block]
    assert {one.name for one in methods if not one.doc} == {
        one.name for one in methods if METHODS_WITHOUT.fullmatch(one.name)
    }


def test_a_meaning_is_a_sentence_and_no_echo_of_the_name() -> None:
    for name, field in ALL:
        if not field.doc:
            continue
        assert field.doc[0].isupper() or field.doc[0].isdigit(), (name, field.doc)
        assert field.doc.endswith("."), (name, field.doc)
        assert "{" not in field.doc and "@" not in field.doc, (name, field.doc)
        own = set(re.findall(r"[a-z]+", field.name.lower()))
        assert set(re.findall(r"[a-z]+", field.doc.lower())) - own - {"the", "a", "of", "is", "s"}, (name, field.doc)


def test_what_classes_share_stands_once() -> None:
    """A method that two classes have alike, at whatever place, is a row of one table."""
    rows: Counter[tuple[object, ...]] = Counter()
    tables = {block.name for block in CLASSES.values()}
    for name in tables.copy():
        tables.update(entry["method"].partition("@")[2] for entry in TABLES.read(name) if "@" in entry["method"])
    for name in tables:
        for entry in TABLES.read(name):
            if "@" not in entry["method"] and "=" not in entry["marks"]:
                fields = [tuple(sorted(row.items())) for row in entry.rows]
                rows[(entry["method"], entry["array"], entry["marks"], entry["doc"], *fields)] += 1
    assert [key[0] for key, count in rows.items() if count > 1] == []


def test_what_structures_share_stands_once() -> None:
    for file in ("tic", "qmd", "sph", "gpfifo"):
        rows = Counter(
            tuple(sorted(row.items())) for entry in TABLES.read(file) for row in entry.rows if row["field"][0] != "@"
        )
        assert [dict(key)["field"] for key, count in rows.items() if count > 1] == []


def test_where_data_goes_is_said_by_each_class() -> None:
    """Three classes have methods for inline data; those of the same names in the copy class are its destination."""
    for block in (B197, B1C0, A140):
        assert [block[name].doc for name in ("OFFSET_OUT_UPPER", "OFFSET_OUT")] == [
            "Where inline data goes: upper bits of the address.",
            "Where inline data goes: lower 32 bits of the address.",
        ]
    for part, bits in (("UPPER", "Upper"), ("LOWER", "Lower")):
        assert B0B5[f"OFFSET_OUT_{part}"].doc == f"{bits} bits of the address of the destination."
