"""The kubeconfig's context comes from the stack file."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.errors import PlatformError
from platformctl.local.stack import cluster_context


def test_the_context_is_the_stacks(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.dev.yaml").write_text("config:\n  home:cluster:\n    context: my-cluster\n")
    assert cluster_context("dev", "other-name", tmp_path) == "my-cluster"


def test_without_a_stack_file_the_name_decides(tmp_path: Path) -> None:
    assert cluster_context("dev", "scratch", tmp_path) == "home-scratch"


@pytest.mark.parametrize(
    "content", ["", "config: {}", "config:\n  home:cluster: text", "config:\n  home:cluster: {context: 7}"]
)
def test_a_stack_file_without_a_context_is_an_error(tmp_path: Path, content: str) -> None:
    (tmp_path / "Pulumi.dev.yaml").write_text(content)
    with pytest.raises(PlatformError, match=r"Pulumi\.dev\.yaml: config\.home:cluster\.context is"):
        cluster_context("dev", "dev", tmp_path)


def test_broken_yaml_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.dev.yaml").write_text("config: [")
    with pytest.raises(PlatformError, match=r"Pulumi\.dev\.yaml: this is not valid YAML"):
        cluster_context("dev", "dev", tmp_path)
