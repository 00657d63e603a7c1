"""What a wheel holds beside the code: the manual; and machine code of the kernels, which makes it one for this kind of machine."""

from __future__ import annotations

import os
import re
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


def manual_files(root: Path) -> set[Path]:
    """Return the pages of the manual and every file of the project that they link to, pictures too."""
    pages = set((root / "docs").glob("*.md"))
    linked = {
        (page.parent / target).resolve()
        for page in pages
        for target in re.findall(r"\]\(([^)\s#]+)", page.read_text(encoding="utf-8"))
        if "://" not in target
    }
    return pages | {path for path in linked if path.is_file() and path.is_relative_to(root.resolve())}


class MachineCodeHook(BuildHookInterface):
    """Adds the manual, and the folder that packaging/package.sh names; no machine code where none is named."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        for file in manual_files(root) if version != "editable" else ():
            build_data["force_include"][str(file)] = f"phexplore/_manual/{file.resolve().relative_to(root.resolve())}"
        folder = os.environ.get("PHEXPLORE_MACHINE_CODE")
        if not folder:
            return
        for file in Path(folder).glob("*.bin"):
            build_data["force_include"][str(file)] = f"phexplore/_machine_code/{file.name}"
        python = "cp" + sysconfig.get_config_var("py_version_nodot")
        system = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"{python}-{python}-{system.replace('linux', 'manylinux_2_28')}"
