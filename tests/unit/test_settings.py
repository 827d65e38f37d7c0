"""Configuration files: which one counts, what it may say, and how the command line wins over it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from auditor.cli import main
from auditor.config import AuditOptions, KernelOptions
from auditor.config_keys import KEYS, ConfigError, Invalid, read_table
from auditor.globs import matches
from auditor.settings import Configuration, parse_toml, read_settings

SCHEMA = Path(__file__).parents[2] / "docs" / "config.schema.json"

FULL = """\
select = ["BW1", "bw2"]
ignore = ["BW206"]
strict = true
fail-on = "error"
exclude = ["third_party"]
baseline = "known.json"
jobs = 2
arch = ["sm_90a", "100a"]
include = ["inc"]
define = ["N=4"]
std = "c++17"
cuda-path = "cuda"
instantiate = ["ring<4>"]
budget = 3
block = 128
grid = [4, 2]
cluster = [2, 1, 1]
smem = 0
set = { k = 16, fast = true, eps = 1e-5 }

[levels]
BW206 = "error"

[per-file-ignores]
"tests/**" = ["BW2"]

[kernels.ring]
set = { k = 3 }
block = 256
"""


def write(folder: Path, text: str, name: str = "bw-audit.toml") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def options(file: Path, **given: Any) -> AuditOptions:
    return Configuration().of_file(str(file)).options(str(file), given)


def test_every_key(tmp_path: Path) -> None:
    write(tmp_path, FULL)
    document = parse_toml(FULL)
    assert set(document) == {key.name for key in KEYS}
    found = Configuration().of_file(str(tmp_path / "a.cu"))
    assert (found.fail_on, found.jobs, found.baseline) == ("error", 2, tmp_path / "known.json")
    assert found.options(str(tmp_path / "a.cu"), {}) == AuditOptions(
        arches=("sm_90a", "sm_100a"),
        includes=(str(tmp_path / "inc"),),
        defines=("N=4",),
        std="c++17",
        cuda_path=str(tmp_path / "cuda"),
        instantiate=("ring<4>",),
        values=(("k", 16), ("fast", 1), ("eps", 1e-5)),
        block=(128, 1, 1),
        grid=(4, 2, 1),
        cluster=(2, 1, 1),
        smem=0,
        budget=3.0,
        select=("BW1", "BW2"),
        ignore=("BW206",),
        strict=True,
        kernels=(KernelOptions("ring", (("k", 3),), (256, 1, 1)),),
        levels=(("BW206", "error"),),
    )


def test_command_line_wins(tmp_path: Path) -> None:
    write(tmp_path, FULL)
    got = options(
        tmp_path / "a.cu",
        select=("BW3",),
        includes=("mine",),
        defines=("N=5",),
        values=(("k", 7),),
        block=(32, 1, 1),
    )
    assert got.select == ("BW3",)
    assert got.includes == ("mine", str(tmp_path / "inc"))
    assert got.defines == ("N=4", "N=5")  # the compiler takes the last one
    assert dict(got.values)["k"] == 7
    ring = got.for_kernel("ring", "ring<4>")
    assert (ring.block, dict(ring.values)["k"]) == ((32, 1, 1), 7)


def test_kernel_settings_reach_that_kernel_only(tmp_path: Path) -> None:
    write(tmp_path, FULL)
    got = options(tmp_path / "a.cu")
    ring, other = got.for_kernel("ring", "ring<4>"), got.for_kernel("other", "other")
    assert (ring.block, dict(ring.values)["k"], dict(ring.values)["fast"], ring.grid) == ((256, 1, 1), 3, 1, (4, 2, 1))
    assert (other.block, dict(other.values)["k"]) == ((128, 1, 1), 16)


def test_nearest_file_wins_and_stands_alone(tmp_path: Path) -> None:
    write(tmp_path, 'std = "c++17"\nstrict = true\n')
    write(tmp_path / "a" / "b", '[tool.bw-audit]\nstd = "c++14"\n', "pyproject.toml")
    write(tmp_path / "a" / "b" / "c", "[project]\n", "pyproject.toml")  # says nothing about us
    assert options(tmp_path / "a" / "x.cu").std == "c++17"
    assert options(tmp_path / "a" / "b" / "c" / "x.cu") == AuditOptions(std="c++14")


def test_order_within_a_folder(tmp_path: Path) -> None:
    write(tmp_path, '[tool.bw-audit]\nstd = "c++14"\n', "pyproject.toml")
    write(tmp_path, 'std = "c++17"\n', ".bw-audit.toml")
    assert options(tmp_path / "x.cu").std == "c++17"
    write(tmp_path, 'std = "c++23"\n')
    assert options(tmp_path / "x.cu").std == "c++23"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("selct = []", "unknown key 'selct'; did you mean 'select'?"),
        ("fail_on = 'error'", "unknown key 'fail_on'; did you mean 'fail-on'?"),
        ("xyzzy = 1", "unknown key 'xyzzy'; known are select, "),
        ("[kernels.ring]\nblok = 3", "kernels: ring: unknown key 'blok'; did you mean 'block'?"),
        ("select = 'BW2'", "select: 'BW2' is not a list"),
        ("select = ['BW9']", "select: no rule has a code that begins with 'BW9'"),
        ("strict = 1", "strict: 1 is neither true nor false"),
        ("fail-on = 'fatal'", "fail-on: 'fatal' is not one of error, warning, note, never"),
        ("block = 0", "block: 0 is not a whole number of at least 1"),
        ("block = [1, 2, 3, 4]", "block: [1, 2, 3, 4] is not one to three positive numbers"),
        ("set = { k = 'many' }", "set: k: 'many' is not a number"),
        ("budget = 0", "budget: 0 is not a positive number"),
        ("budget = inf", "budget: inf is not a positive number"),
        ("levels = { BW206 = 'off' }", "levels: BW206: 'off' is not one of error, warning, note"),
        ("levels = { BW200 = 'error' }", "levels: BW200: is not the code of a rule; did you mean "),
        ("arch = ['hopper']", "arch: 'hopper' is not an architecture"),
        ("smem = true", "smem: True is not a whole number"),
        ("select = [", "not TOML: "),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    file = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        read_settings(file)
    assert str(caught.value).startswith(f"{file}: {message}")
    assert "\n" not in str(caught.value)


def test_no_key_can_run_a_program_or_choose_an_output() -> None:
    names = {key.name for key in KEYS}
    assert names.isdisjoint({"flags", "extra", "output", "sarif-file", "cache-dir", "format", "add-ignores"})


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.cu", "a/b.cu", True),
        ("third_party", "x/third_party/y.cu", True),
        ("src/*.cu", "src/a.cu", True),
        ("src/*.cu", "src/deep/a.cu", False),
        ("src/**/*.cu", "src/deep/er/a.cu", True),
        ("src/**/*.cu", "src/a.cu", True),
        ("tests/**", "tests/x/a.cu", True),
        ("src/deep", "src/deep/a.cu", True),
        ("./src/deep/", "src/deep/a.cu", True),
        ("eep/a.cu", "src/deep/a.cu", False),
        ("a?c.cu", "abc.cu", True),
        ("a.cu", "abcu", False),
    ],
)
def test_patterns(pattern: str, path: str, expected: bool) -> None:
    assert matches(pattern, path) is expected


def test_per_file_ignores_are_relative_to_the_file(tmp_path: Path) -> None:
    write(tmp_path, FULL)
    assert options(tmp_path / "tests" / "x.cu").ignore == ("BW206", "BW2")
    assert options(tmp_path / "src" / "tests.cu").ignore == ("BW206",)


def test_schema_agrees_with_the_reader() -> None:
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(parse_toml(FULL), schema)
    wrong_ones: list[dict[str, Any]] = [{"selct": []}, {"block": 0}, {"levels": {"BW206": "off"}}]
    for wrong in [*wrong_ones, {"kernels": {"ring": {"blok": 1}}}]:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema)


def test_command_line_errors(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(repository, "selct = []")
    assert main(["src/ring.cu"]) == 2
    assert "did you mean 'select'?" in capsys.readouterr().err
    assert main(["src/ring.cu", "--config", "no.toml"]) == 2
    assert "no.toml: No such file or directory" in capsys.readouterr().err
    assert main(["src/ring.cu", "--config", "bw-audit.toml", "--isolated"]) == 2


def test_show_settings_and_isolated(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(repository / "src", 'std = "c++17"\nexclude = ["old.cu"]\n')
    write(repository / "src", "", "old.cu")
    assert main(["src", "--show-settings"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"src/ring.cu: settings from {file}\n")
    assert "  std = 'c++17'\n" in out
    assert "old.cu:" not in out
    assert main(["src", "--show-settings", "--isolated"]) == 0
    out = capsys.readouterr().out
    assert "settings from no configuration file" in out
    assert "src/old.cu:" in out
    assert main(["src/ring.cu", "--show-settings", "--config", str(file), "--std", "c++14"]) == 0
    assert "  std = 'c++14'\n" in capsys.readouterr().out


ATOMS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text("aB2.=<-", max_size=6)
    | st.sampled_from(["BW2", "ring", "set"])
)
VALUES = st.recursive(
    ATOMS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("aB2", max_size=4), inner), max_leaves=8
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.sampled_from([key.name for key in KEYS]), VALUES, max_size=3))
def test_any_value_is_read_or_refused(table: dict[str, Any]) -> None:
    try:
        read_table(table, KEYS)
    except Invalid as error:
        assert str(error)
        return
    jsonschema.validate(table, json.loads(SCHEMA.read_text()))  # the schema refuses nothing that is read
