from __future__ import annotations

import argparse
from pathlib import Path

from platformctl.local.api import KubeApi
from platformctl.local.simulation.binder import Binder
from platformctl.local.simulation.delays import Delays
from platformctl.local.simulation.flux import FluxOperator
from platformctl.local.simulation.helm import HelmController
from platformctl.local.simulation.kustomize import KustomizeController
from platformctl.local.simulation.loop import Loop, Task
from platformctl.local.simulation.stages import StageKeeper, stages
from platformctl.local.simulation.virtualization import CdiOperator, VirtOperator
from platformctl.paths import CHECKOUT


def main() -> None:
    """Runs until SIGTERM or SIGINT."""
    options = _options()
    with KubeApi(options.kubeconfig) as api:
        loop = Loop(_tasks(api, options))
        loop.stop_on_signals()
        loop.run()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="platformctl.local.simulation", description=main.__doc__)
    parser.add_argument("--kubeconfig", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0, help="shuffles the delays")
    parser.add_argument("--min-delay", type=float, default=0.3, help="seconds")
    parser.add_argument("--max-delay", type=float, default=1.5, help="seconds")
    parser.add_argument("--checkout", type=Path, default=CHECKOUT, help="where Kustomizations find their paths")
    return parser.parse_args()


def _tasks(api: KubeApi, options: argparse.Namespace) -> list[Task]:
    delays = Delays(seed=options.seed, shortest=options.min_delay, longest=options.max_delay)
    keeper = StageKeeper(api, stages(options.seed, options.min_delay, options.max_delay))
    operator = FluxOperator(api, delays)
    helm = HelmController(api, delays)
    kustomize = KustomizeController(api, delays, options.checkout)
    machines = (VirtOperator(api, delays), CdiOperator(api, delays))

    def controllers() -> None:
        operator.sweep()
        for virtualization in machines:
            virtualization.sweep()
        if not operator.uninstalling:
            kustomize.sweep()
            helm.sweep()

    return [
        Task(name="stages", sweep=keeper.sweep, every=1.0),
        Task(name="controllers", sweep=controllers, every=0.25),
        Task(name="binder", sweep=Binder(api).sweep, every=0.25),
    ]


if __name__ == "__main__":
    main()
