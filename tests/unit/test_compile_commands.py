"""Compile databases: found, read, translated, and what is wrong with them said in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from auditor.compile_commands import CompileCommands
from auditor.config import AuditOptions
from auditor.config_keys import ConfigError
from auditor.settings import Configuration

COMMAND = (
    "nvcc -Iinc -I /abs -isystem sys -DN=4 -std=c++17 -O3 -gencode arch=compute_100a,code=sm_100a -c src/k.cu -o k.o"
)


def project(folder: Path, *entries: dict[str, Any], build: str = "") -> Path:
    """A source, and a database that describes it."""
    (folder / "src").mkdir(parents=True, exist_ok=True)
    (folder / "src" / "k.cu").write_text("__global__ void k() {}\n")
    file = folder / build / "compile_commands.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(list(entries)))
    return folder / "src" / "k.cu"


def entry(folder: Path, command: str = COMMAND, name: str = "src/k.cu") -> dict[str, Any]:
    return {"directory": str(folder), "command": command, "file": name}


def options(source: Path, *, decided: tuple[str, ...] = (), **fields: Any) -> AuditOptions:
    return CompileCommands().options(str(source), AuditOptions(**fields), decided)


@pytest.mark.parametrize("build", ["", "build", "cmake-build-release"])
def test_what_a_command_says_completes_the_options(tmp_path: Path, build: str) -> None:
    found = options(project(tmp_path, entry(tmp_path), build=build), includes=("mine",), defines=("M",))
    assert found == AuditOptions(
        arches=("sm_100a",),
        includes=("mine", str(tmp_path / "inc"), "/abs"),
        defines=("N=4", "M"),
        std="c++17",
        extra=("-isystem", str(tmp_path / "sys")),
    )


def test_what_the_user_decided_stays(tmp_path: Path) -> None:
    source = project(tmp_path, entry(tmp_path))
    found = options(source, decided=("arches", "std"), arches=("sm_90a",), std="c++20")
    assert (found.arches, found.std) == (("sm_90a",), "c++20")


def test_architectures_without_mbarriers_do_not_count(tmp_path: Path) -> None:
    command = "nvcc -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90a,code=sm_90a -c src/k.cu"
    assert options(project(tmp_path, entry(tmp_path, command))).arches == ("sm_90a",)


def test_arguments_instead_of_a_command(tmp_path: Path) -> None:
    source = project(tmp_path, {"directory": ".", "arguments": ["nvcc", "-DX=a b", "-c", "k.cu"], "file": "src/k.cu"})
    assert options(source).defines == ("X=a b",)


def test_response_files_are_read(tmp_path: Path) -> None:
    source = project(tmp_path, entry(tmp_path, "nvcc @flags.rsp --options-file more.rsp -c src/k.cu"))
    (tmp_path / "flags.rsp").write_text("-DA=1 @inner.rsp\n")
    (tmp_path / "inner.rsp").write_text("-DB=2 @inner.rsp\n")  # names itself: read a few times, not for ever
    (tmp_path / "more.rsp").write_text("-Iinc")
    found = options(source)
    assert (found.defines[:2], found.includes) == (("A=1", "B=2"), (str(tmp_path / "inc"),))


def test_a_source_without_a_command_keeps_its_options(tmp_path: Path) -> None:
    assert options(project(tmp_path, entry(tmp_path, name="src/other.cu"))) == AuditOptions()


def test_the_search_ends_at_the_root_of_the_repository(tmp_path: Path) -> None:
    project(tmp_path, entry(tmp_path, name="inner/src/k.cu"))
    source = tmp_path / "inner" / "src" / "k.cu"
    source.parent.mkdir(parents=True)
    (tmp_path / "inner" / ".git").mkdir()
    assert options(source) == AuditOptions()
    (tmp_path / "inner" / ".git").rmdir()
    assert options(source).defines == ("N=4",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not a JSON document"),
        ("{}", "not a list"),
        ("[1]", "entry 0 has no directory"),
        ('[{"directory": "/", "file": "k.cu"}]', "entry 0 has neither"),
        ("[" * 100_000, "not a JSON document"),
    ],
)
def test_a_database_that_cannot_be_used_is_one_clear_line(tmp_path: Path, text: str, message: str) -> None:
    source = project(tmp_path)
    (tmp_path / "compile_commands.json").write_text(text)
    with pytest.raises(ConfigError, match=message) as raised:
        options(source)
    assert "\n" not in str(raised.value)
    assert "compile_commands.json" in str(raised.value)


def test_the_configuration_uses_it_unless_isolated(tmp_path: Path) -> None:
    source = str(project(tmp_path, entry(tmp_path)))
    assert Configuration().options(source, {}).std == "c++17"
    assert Configuration().options(source, {"std": "c++14"}).std == "c++14"
    assert Configuration(isolated=True).options(source, {}).std == "c++20"
    assert Configuration(compile_commands="off").options(source, {}).std == "c++20"
    named = tmp_path / "named.json"
    named.write_text(json.dumps([entry(tmp_path, "nvcc -std=c++14 -c src/k.cu")]))
    assert Configuration(compile_commands=str(named)).options(source, {}).std == "c++14"
