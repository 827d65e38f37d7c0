"""Trees and command lines that mean harm, or look as if they did: one line for each, and nothing is run or written."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from auditor.cli import main
from auditor.engine import MAX_FILE
from tests.unit.stand_in_pipeline import RING, Pipeline

pytestmark = [
    pytest.mark.usefixtures("stand_in_rules"),
    pytest.mark.skipif(sys.platform == "win32", reason="links, pipes and names of POSIX"),
]
KERNEL = "__global__ void k() {}\n"


def audited(pipeline: Pipeline) -> list[str]:
    return [path for path, _, _ in pipeline.calls]


def test_links(pipeline: Pipeline, repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "src" / "round").symlink_to(repository / "src", target_is_directory=True)  # not followed
    (repository / "src" / "gone.cu").symlink_to("missing.cu")
    (repository / "src" / "self.cu").symlink_to("self.cu")
    (repository / "src" / "outside.cu").symlink_to("/dev/zero")
    assert main(["src", "-q"]) == 0
    assert audited(pipeline) == [RING]
    told = capsys.readouterr().err
    assert "src/gone.cu: No such file or directory" in told
    assert "src/self.cu: Too many levels of symbolic links" in told
    assert "src/outside.cu: not a regular file" in told


def test_pipes_and_devices_are_not_read(pipeline: Pipeline, repository: Path) -> None:
    os.mkfifo(repository / "src" / "pipe.cu")
    os.mkfifo(repository / "src" / "pipe.py")
    assert main(["src", "/dev/zero", "-q"]) == 0
    assert audited(pipeline) == [RING]


def test_a_huge_file_is_not_read(pipeline: Pipeline, repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (repository / "src" / "huge.cu").open("wb") as stream:
        stream.truncate(MAX_FILE + 1)
    assert main(["src", "-q"]) == 0
    assert "src/huge.cu: file is 33,554,433 bytes long" in capsys.readouterr().err


def test_deep_folders(pipeline: Pipeline, repository: Path) -> None:
    depth = 1500  # more than Python recurses, and than a path may be long
    for _ in range(depth):
        Path("deeper").mkdir()
        os.chdir("deeper")
    Path("k.cu").write_text(KERNEL)
    os.chdir(repository)
    try:
        assert main(["src", "deeper", "-q"]) == 0
        assert audited(pipeline) == [RING]
    finally:  # what removes temporary folders cannot walk so deep
        for _ in range(depth):
            os.chdir("deeper")
        Path("k.cu").unlink()
        for _ in range(depth):
            os.chdir("..")
            Path("deeper").rmdir()


def test_names_and_texts_that_are_not_utf_8(
    pipeline: Pipeline, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        Path(os.fsdecode(b"src/\xff.cu")).write_text(KERNEL)
    except OSError:
        pytest.skip("this file system wants names in UTF-8")
    (repository / "src" / "latin.cu").write_bytes(b"// Gr\xf6\xdfe\n" + KERNEL.encode())
    (repository / "src" / "new\nline.cu").write_text(KERNEL)
    assert main(["src", "-q", "--format", "json:out.json", "--format", "sarif:out.sarif"]) == 0
    assert "its name is not UTF-8" in capsys.readouterr().err
    assert audited(pipeline) == ["src/latin.cu", "src/new\nline.cu", RING]


def test_a_compile_command_is_read_and_not_run(pipeline: Pipeline, repository: Path) -> None:
    command = [
        "/bin/sh",
        "-c",
        "touch evil",
        "-ccbin",
        "touch",
        "-o",
        "victim",
        "-MF",
        "deps",
        "-Xcompiler",
        "-fplugin=x",
        "-c",
    ]
    before = set(repository.iterdir())
    main([RING, "--", "nvcc", *command, RING])
    main([RING, "-q", "--", "nvcc", "-dryrun", "-o", "victim", "--run", "$(touch evil)", RING])
    assert set(repository.iterdir()) == before


def test_a_configuration_writes_nothing(pipeline: Pipeline, repository: Path) -> None:
    (repository / "bw-audit.toml").write_text(
        'baseline = "../victim"\ninclude = ["$(touch evil)", "/dev/zero"]\n'
        'cuda-path = "`touch evil`"\ndefine = ["A=$(touch evil)"]\n'
    )
    before = set(repository.iterdir())
    main([RING, "-q"])
    assert set(repository.iterdir()) == before
    assert not (repository.parent / "victim").exists()
