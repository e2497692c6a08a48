"""The names of the storage classes, for every component that claims volumes."""

from __future__ import annotations

# Made by Longhorn's manager from the chart's values, and the cluster's default; the platform never declares it.
DEFAULT = "longhorn"
# Large volumes: fewer replicas, on the disks that are meant for them, kept when the claim is deleted.
BULK = "longhorn-bulk"
# One replica: for what can be made again, such as the scratch space of image imports.
SCRATCH = "longhorn-scratch"

CLASSES = (DEFAULT, BULK, SCRATCH)

# The CSI driver behind all of them.
DRIVER = "driver.longhorn.io"
