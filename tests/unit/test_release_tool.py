"""tools/release.py: what it refuses, what becomes of CHANGELOG.md, and that a step that fails changes nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from types import ModuleType

import pytest

import pocketgpu

ROOT = Path(__file__).resolve().parents[2]
DAY = date(2027, 1, 31)
CHANGES = """# Changes

## Unreleased

- One thing.
- Another thing, in
  two lines.

### For builders

- A third.

## 0.1.0

The first release.
"""
RELEASED = CHANGES.replace("## Unreleased\n", "## Unreleased\n\n## 0.2.0 (2027-01-31)\n")


@pytest.fixture(scope="module")
def tool() -> Iterator[ModuleType]:
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import release

        yield release
    finally:
        sys.path.remove(str(ROOT / "tools"))


def git(root: Path, *words: str) -> None:
    """Run git in a repository of the test, even where a hook of git runs the tests."""
    names = ["-c", "user.name=tests", "-c", "user.email=tests@example.org", "-c", "commit.gpgsign=false"]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    subprocess.run(["git", *names, *words], cwd=root, env=clean, check=True, capture_output=True)


def commit(root: Path) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-m", "all")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A committed source tree of version 0.2.0."""
    root = tmp_path / "project"
    package = root / "src" / "pocketgpu"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('"""A package."""\n\n__version__ = "0.2.0"\n', encoding="utf-8")
    (root / "CHANGELOG.md").write_text(CHANGES, encoding="utf-8")
    git(root, "init")
    commit(root)
    return root


def test_what_is_unreleased_becomes_a_section(tool: ModuleType, project: Path) -> None:
    assert tool.prepared(project, DAY) == ("0.2.0", RELEASED)
    assert tool.released("## Unreleased\n\n- A.\n", "1.0", DAY) == "## Unreleased\n\n## 1.0 (2027-01-31)\n\n- A.\n"


def test_this_project_has_one_version(tool: ModuleType) -> None:
    assert tool.version_of(ROOT) == pocketgpu.__version__


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (RELEASED.replace("0.2.0 (2027-01-31)", "0.1.9"), 'nothing stands under "## Unreleased"'),
        (RELEASED, "has a section of 0.2.0"),
        (CHANGES.replace("## Unreleased", "## Next"), 'no one line "## Unreleased"'),
        ("# Changes\n\n## Unreleased\n", 'nothing stands under "## Unreleased"'),
    ],
)
def test_a_changelog_without_news_is_refused(tool: ModuleType, project: Path, changes: str, why: str) -> None:
    (project / "CHANGELOG.md").write_text(changes, encoding="utf-8")
    commit(project)
    with pytest.raises(tool.Refused, match=why):
        tool.prepared(project, DAY)


def test_another_version_with_the_same_beginning_is_another(tool: ModuleType) -> None:
    assert "## 0.1 (2027-01-31)" in tool.released(CHANGES, "0.1", DAY)
    with pytest.raises(tool.Refused, match="has a section"):
        tool.released(CHANGES, "0.1.0", DAY)


def test_a_version_with_a_tag_is_refused(tool: ModuleType, project: Path) -> None:
    git(project, "tag", "v0.2.0.1")
    assert tool.prepared(project, DAY)
    git(project, "tag", "v0.2.0")
    with pytest.raises(tool.Refused, match=r"there is a tag v0\.2\.0:"):
        tool.prepared(project, DAY)


def test_a_tree_that_is_not_committed_is_refused(
    tool: ModuleType, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    (project / "new.py").write_text("", encoding="utf-8")
    with pytest.raises(tool.Refused, match=r"not committed: new\.py"):
        tool.prepared(project, DAY)
    commit(project)
    assert tool.prepared(project, DAY)
    (project / "CHANGELOG.md").write_text(CHANGES + "\n", encoding="utf-8")
    with pytest.raises(tool.Refused, match=r"not committed: CHANGELOG\.md"):
        tool.prepared(project, DAY)
    # The temporary folder may lie in a repository.
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(project.parents[1]))
    with pytest.raises(tool.Refused, match="git cannot say"):
        tool.uncommitted(project.parent)


def test_the_repository_of_a_hook_is_not_meant(
    tool: ModuleType, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook of git sets variables that mean its own repository."""
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init")
    (outer / "of_the_hook.py").write_text("", encoding="utf-8")
    monkeypatch.setenv("GIT_DIR", str(outer / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(outer))
    monkeypatch.setenv("GIT_INDEX_FILE", str(outer / ".git" / "index"))
    assert tool.prepared(project, DAY)[0] == "0.2.0"
    (project / "new.py").write_text("", encoding="utf-8")
    assert tool.uncommitted(project) == ["new.py"]
    commit(project)
    assert tool.uncommitted(project) == []
    said = tool.ran(["git", "rev-parse", "--show-toplevel"], project)
    assert Path(said.strip()).resolve() == project.resolve()


@pytest.mark.parametrize("text", ["", '__version__ = "1"\n__version__ = "2"\n', '    __version__ = "1"\n'])
def test_a_version_without_its_one_place_is_refused(tool: ModuleType, project: Path, text: str) -> None:
    (project / tool.PLACE).write_text(text, encoding="utf-8")
    with pytest.raises(tool.Refused, match="no one line with __version__"):
        tool.version_of(project)


def run_main(tool: ModuleType, project: Path, patch: pytest.MonkeyPatch, *words: str, fails: bool = False) -> int:
    """The exit code of the tool on a project, whose files are not built."""

    def built(version: str) -> list[Path]:
        assert f"## {version} (" in (project / "CHANGELOG.md").read_text(encoding="utf-8"), "the sdist has the section"
        if fails:
            raise tool.Refused("the sdist builds another wheel")
        return [project / "CHANGELOG.md"]

    patch.setattr(tool, "ROOT", project)
    patch.setattr(tool, "build", built)
    patch.setattr(sys, "argv", ["release.py", *words])
    return int(tool.main())


def test_the_changelog_is_written_only_when_all_went_well(
    tool: ModuleType, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    changes = project / "CHANGELOG.md"
    assert run_main(tool, project, monkeypatch, fails=True) == 1
    assert "no release: the sdist builds another wheel" in capsys.readouterr().err
    assert changes.read_text(encoding="utf-8") == CHANGES
    assert run_main(tool, project, monkeypatch, "--dry-run") == 0
    assert "would have the section 0.2.0" in capsys.readouterr().out
    assert changes.read_text(encoding="utf-8") == CHANGES
    assert run_main(tool, project, monkeypatch) == 0
    out = capsys.readouterr().out
    assert "git tag -s v0.2.0" in out and "Nothing was uploaded" in out
    assert "## Unreleased\n\n## 0.2.0 (" in changes.read_text(encoding="utf-8")
    commit(project)
    assert run_main(tool, project, monkeypatch) == 1
    assert "has a section of 0.2.0" in capsys.readouterr().err


def test_a_program_that_fails_is_told_with_what_it_printed(tool: ModuleType, tmp_path: Path) -> None:
    assert tool.ran([sys.executable, "-c", "print('hello')"], tmp_path) == "hello\n"
    with pytest.raises(tool.Refused, match=r"exit code 3, not 0:\nbad news"):
        tool.ran([sys.executable, "-c", "print('bad news'); raise SystemExit(3)"], tmp_path)
    assert tool.ran([sys.executable, "-c", "raise SystemExit(1)"], tmp_path, expected=1) == ""


def test_only_one_wheel_is_released(tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    dist = tmp_path / "dist"
    dist.mkdir()
    with pytest.raises(tool.Refused, match=r"one wheel of 0\.2\.0, and has none"):
        tool.wheel_of("0.2.0")
    other = dist / "pocketgpu-0.2.0.1-py3-none-any.whl"
    names = ("pocketgpu-0.2.0-cp313-cp313-linux_x86_64.whl", "pocketgpu-0.2.0-py3-none-any.whl")
    for path in (other, *(dist / name for name in names), dist / "pocketgpu-0.2.0.tar.gz"):
        path.write_bytes(b"")
    with pytest.raises(tool.Refused, match=f"has {names[0]}, {names[1]}"):
        tool.wheel_of("0.2.0")
    tool.clear("0.2.0")
    assert list(dist.iterdir()) == [other]
    (dist / names[1]).write_bytes(b"")
    assert tool.wheel_of("0.2.0").name == names[1]


def test_a_wheel_is_built_from_the_files_of_the_sdist(tool: ModuleType, project: Path, tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    table = '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n\n[project]\nname = "small"\n'
    table += 'version = "1"\n\n[tool.hatch.build.targets.wheel]\npackages = ["src/pocketgpu"]\n'
    (project / "pyproject.toml").write_text(table, encoding="utf-8")
    sdist = tmp_path / "small-1.tar.gz"
    with tarfile.open(sdist, "w:gz") as archive:
        archive.add(project, "small-1", filter=lambda info: None if ".git" in info.name else info)
    (tmp_path / "one").mkdir()
    wheel = tool.wheel_of_sdist(sdist, tmp_path / "one")
    assert wheel.name.startswith("small-1-")
    other = tool.wheel_of_sdist(sdist, tmp_path / "two")
    assert tool.difference(wheel, other) == ""
