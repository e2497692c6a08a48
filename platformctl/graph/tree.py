"""The tree of a recording: the unit that each resource belongs to, and what comes after what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from platformctl.graph.household import noun
from platformctl.render.recorder import Recording, Registration

COMPONENT = "home:platform:"


@dataclass(frozen=True, kw_only=True)
class Unit:
    """What a change is counted for: a service or machine of the household, else a component of the program."""

    name: str
    type: str

    @property
    def noun(self) -> str:
        """`service`, `machine` or `component`."""
        return noun(self.type) or "component"

    @property
    def of_household(self) -> bool:
        """Whether it is a thing of the household."""
        return noun(self.type) is not None


class Tree:
    """Look-ups over one recording."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self._by_urn: Mapping[str, Registration] = {found.urn: found for found in recording.registrations}

    def unit(self, registration: Registration) -> Unit | None:
        """The innermost service or machine around a resource, else the outermost component; None for a provider."""
        around = [found for found in self._ancestors(registration) if found.type.startswith(COMPONENT)]
        household = next((found for found in around if noun(found.type)), None)
        chosen = household or (around[-1] if around else None)
        return Unit(name=chosen.name, type=chosen.type) if chosen else None

    def downstream(self, changed: Iterable[str]) -> set[str]:
        """URNs of everything that the engine orders after the `changed` ones, without these."""
        start = set(changed)
        reached = set(start)
        for found in self.recording.registrations:
            if found.dependencies & reached:
                reached.add(found.urn)
        return reached - start

    @cached_property
    def units(self) -> list[Unit]:
        """Every unit with an object of its own, in the order in which they are declared."""
        found = (self.unit(each) for each in self.recording.registrations if each.custom)
        return list(dict.fromkeys(unit for unit in found if unit))

    @cached_property
    def waits_for(self) -> Mapping[Unit, frozenset[Unit]]:
        """For each unit those whose objects one of its own objects waits for."""
        edges: dict[Unit, set[Unit]] = {unit: set() for unit in self.units}
        for each in self.recording.registrations:
            unit = self.unit(each)
            if unit in edges:
                edges[unit] |= {other for other in map(self._unit_of, each.dependencies) if other and other != unit}
        return {unit: frozenset(others) & edges.keys() for unit, others in edges.items()}

    def _unit_of(self, urn: str) -> Unit | None:
        return self.unit(self._by_urn[urn]) if urn in self._by_urn else None

    def _ancestors(self, registration: Registration) -> list[Registration]:
        """The resource itself and what is around it, from the inside out."""
        found: list[Registration] = []
        here: Registration | None = registration
        while here:
            found.append(here)
            here = self._by_urn.get(here.parent)
        return found


def reduced(edges: Mapping[Unit, frozenset[Unit]]) -> dict[Unit, frozenset[Unit]]:
    """Without the edges that others imply. Raises ValueError for a cycle, which no program can declare."""
    above: dict[Unit, frozenset[Unit]] = {}

    def reach(unit: Unit, path: tuple[Unit, ...] = ()) -> frozenset[Unit]:
        if unit in path:
            raise ValueError(f"{unit.name} waits for itself")
        if unit not in above:
            inner = [reach(other, (*path, unit)) for other in edges[unit]]
            above[unit] = edges[unit].union(*inner)
        return above[unit]

    for unit in edges:
        reach(unit)
    return {
        unit: direct - frozenset[Unit]().union(*(above[other] for other in direct)) for unit, direct in edges.items()
    }
