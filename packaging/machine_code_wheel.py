"""A wheel with the machine code of the kernels is one for this kind of machine; without it, one for all."""

from __future__ import annotations

import os
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class MachineCodeHook(BuildHookInterface):
    """Takes the folder that packaging/package.sh names; nothing where none is named."""

    def initialize(self, _version: str, build_data: dict[str, Any]) -> None:
        folder = os.environ.get("PHEXPLORE_MACHINE_CODE")
        if not folder:
            return
        for file in Path(folder).glob("*.bin"):
            build_data["force_include"][str(file)] = f"phexplore/_machine_code/{file.name}"
        python = "cp" + sysconfig.get_config_var("py_version_nodot")
        system = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"{python}-{python}-{system.replace('linux', 'manylinux_2_28')}"
