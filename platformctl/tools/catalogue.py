"""The tools, one row each: where the pin stands, which version found elsewhere fits, how it is built."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from components.errors import PlatformError

LANGUAGE_HOST = "pulumi-language-python"

Version = tuple[int, int, int]


@dataclass(frozen=True, kw_only=True)
class Fit:
    """Which versions may stand in for the pin: the first `same` numbers equal, and none below `floor`."""

    same: int
    floor: Version = (0, 0, 0)

    def admits(self, version: Version, pin: Version) -> bool:
        """Whether a tool of this version may be used where `pin` is what would be built."""
        return version[: self.same] == pin[: self.same] and version >= self.floor


@dataclass(frozen=True, kw_only=True)
class Embeds:
    """Files that the module carries and our main embeds: copied beside it before the build."""

    directory: str
    files: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Generator:
    """A program of the module that writes what the main embeds: built and run before the build."""

    package: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Tool:
    """One program. `directory` is the Go module below tools/ whose go.mod pins `module`; "" is built by nobody.

    `version_symbols` are Go variables set to the version, with "{version}", "{major}" and "{minor}" filled in.
    `expected_seconds` is a cold build on two cores, with the modules downloaded.
    """

    name: str
    directory: str = ""
    module: str = ""
    package: str = "."
    reported_version: str = ""
    version_symbols: tuple[tuple[str, str], ...] = ()
    version_arguments: tuple[str, ...] = ("--version",)
    fit: Fit = Fit(same=2)
    expected_seconds: int = 0
    embeds: Embeds | None = None
    generator: Generator | None = None
    embedded: bool = True

    @property
    def is_provider(self) -> bool:
        """Whether this is one of the engine's resource plugins."""
        return self.name.startswith("pulumi-resource-")


_KUBERNETES_VERSION = (
    ("k8s.io/component-base/version.gitVersion", "v{version}"),
    ("k8s.io/component-base/version.gitMajor", "{major}"),
    ("k8s.io/component-base/version.gitMinor", "{minor}"),
)
_RANDOM_INFO = "home.platform/tools/pulumi-resource-random/info"
_KUBERNETES_PROVIDER = "github.com/pulumi/pulumi-kubernetes/provider/v4"


def _kubernetes(name: str, expected_seconds: int, version_arguments: tuple[str, ...] = ("--version",)) -> Tool:
    return Tool(
        name=name,
        directory="kubernetes",
        module="k8s.io/kubernetes",
        package=f"k8s.io/kubernetes/cmd/{name}",
        version_symbols=_KUBERNETES_VERSION,
        version_arguments=version_arguments,
        expected_seconds=expected_seconds,
    )


TOOLS: tuple[Tool, ...] = (
    Tool(
        name="pulumi",
        directory="pulumi",
        module="github.com/pulumi/pulumi/pkg/v3",
        package="github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
        version_symbols=(("github.com/pulumi/pulumi/sdk/v3/go/common/version.Version", "v{version}"),),
        version_arguments=("version",),
        fit=Fit(same=1, floor=(3, 200, 0)),
        expected_seconds=130,
    ),
    Tool(name=LANGUAGE_HOST),
    Tool(
        name="pulumi-resource-kubernetes",
        directory="pulumi-resource-kubernetes",
        module=_KUBERNETES_PROVIDER,
        # The only version served is a pseudo-version, the state shortly before this release.
        reported_version="4.25.0",
        version_symbols=((f"{_KUBERNETES_PROVIDER}/pkg/version.Version", "{version}"),),
        fit=Fit(same=1),
        expected_seconds=280,
        embeds=Embeds(directory="cmd/pulumi-resource-kubernetes", files=("schema.json", "terraform-mapping.json")),
    ),
    Tool(
        name="pulumi-resource-random",
        directory="pulumi-resource-random",
        module="github.com/terraform-providers/terraform-provider-random",
        # Built from the Terraform provider, whose pseudo-version says nothing of the Pulumi package's version.
        reported_version="4.19.0",
        version_symbols=((f"{_RANDOM_INFO}.Version", "{version}"),),
        fit=Fit(same=1),
        expected_seconds=60,
        generator=Generator(
            package="./cmd/tfgen", arguments=("schema", "--out", ".", "--skip-docs", "--skip-examples")
        ),
    ),
    Tool(
        name="etcd",
        directory="etcd",
        module="go.etcd.io/etcd/server/v3",
        fit=Fit(same=1, floor=(3, 5, 0)),
        expected_seconds=50,
    ),
    _kubernetes("kube-apiserver", 150),
    _kubernetes("kube-controller-manager", 50),
    _kubernetes("kubectl", 20, ("version", "--client")),
    Tool(
        name="kwok",
        directory="kwok",
        module="sigs.k8s.io/kwok",
        package="sigs.k8s.io/kwok/cmd/kwok",
        expected_seconds=55,
    ),
    Tool(
        name="sops",
        directory="sops",
        module="github.com/getsops/sops/v3",
        package="github.com/getsops/sops/v3/cmd/sops",
        version_arguments=("--disable-version-check", "--version"),
        fit=Fit(same=1, floor=(3, 9, 0)),
        expected_seconds=60,
        embedded=False,
    ),
    Tool(
        name="kubeconform",
        directory="kubeconform",
        module="github.com/yannh/kubeconform",
        package="github.com/yannh/kubeconform/cmd/kubeconform",
        version_symbols=(("main.version", "v{version}"),),
        version_arguments=("-v",),
        fit=Fit(same=1, floor=(0, 6, 0)),
        expected_seconds=30,
        embedded=False,
    ),
    Tool(
        name="actionlint",
        directory="actionlint",
        module="github.com/rhysd/actionlint",
        package="github.com/rhysd/actionlint/cmd/actionlint",
        version_symbols=(("github.com/rhysd/actionlint.version", "v{version}"),),
        version_arguments=("-version",),
        fit=Fit(same=1, floor=(1, 7, 0)),
        expected_seconds=15,
        embedded=False,
    ),
    Tool(
        name="kyverno",
        directory="kyverno",
        module="github.com/kyverno/kyverno",
        package="github.com/kyverno/kyverno/cmd/cli/kubectl-kyverno",
        version_symbols=(("github.com/kyverno/kyverno/pkg/version.BuildVersion", "v{version}"),),
        version_arguments=("version",),
        fit=Fit(same=2, floor=(1, 19, 0)),
        expected_seconds=420,
        embedded=False,
    ),
    Tool(
        name="oauth2-proxy",
        directory="oauth2-proxy",
        module="github.com/oauth2-proxy/oauth2-proxy/v7",
        package="github.com/oauth2-proxy/oauth2-proxy/v7",
        version_symbols=(("github.com/oauth2-proxy/oauth2-proxy/v7/pkg/version.VERSION", "v{version}"),),
        fit=Fit(same=2),
        expected_seconds=100,
        embedded=False,
    ),
)


def select(names: Sequence[str] | None) -> list[Tool]:
    """The tools of these names in the catalogue's order; None means the embedded tier."""
    if names is None:
        return [tool for tool in TOOLS if tool.embedded]
    known = {tool.name for tool in TOOLS}
    unknown = [name for name in names if name not in known]
    if unknown:
        valid = ", ".join(sorted(known))
        raise PlatformError(*(f"{name!r} is not one of the tools: {valid}" for name in unknown))
    return [tool for tool in TOOLS if tool.name in names]
