"""What the program may not do with files and the network, by looking at all of its sources and by watching a journey."""

from __future__ import annotations

import ast
import csv
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "phexplore"
MODULES = sorted(PACKAGE.rglob("*.py"))
RUNNING = {
    "pickle",
    "marshal",
    "shelve",
    "dill",
    "cloudpickle",
    "joblib",
    "yaml",
    "code",
    "codeop",
    "runpy",
    "imp",
    "jsonpickle",
}
"""Modules that run code found in data."""
OWN_PIPE = {
    "phexplore/gui/binding/frames.py": "pickle",
    "phexplore/runs/cluster.py": "pickle",
    "phexplore/compiled.py": "pickle",
    "phexplore/published/deployments.py": "yaml",
}
"""The window and its own reader of results, and a run that sends pieces to the cluster its user named, talk in pickles: nothing comes from a file.

Machine code comes from beside the program or from a folder that only its user can write, as the program itself does. Records in YAML are read
by its safe loader alone, which makes plain values.
"""
FIXED_NAMES = {"phexplore/gui/main/warmup.py": "importlib.import_module"}
"""Imports modules by names that stand in the source."""
LOCAL_SCREEN = {"phexplore/gui/main/display.py": {"socket"}, "phexplore/gui/main/start.py": {"socket"}}
"""Asks the screen server that the environment names whether it is there; a pair of sockets inside the process hears Ctrl+C."""
NETWORK = {
    "socket", "ssl", "http", "urllib", "urllib3", "requests", "httpx", "aiohttp", "ftplib", "smtplib", "poplib", "imaplib", "telnetlib",
    "xmlrpc", "webbrowser", "socketserver", "asyncio", "grpc", "websocket", "websockets", "boto3", "PySide6.QtNetwork",
    "PySide6.QtWebEngineCore", "PySide6.QtWebSockets",
}  # fmt: skip
CLUSTER = {"dask", "distributed", "tornado"}
"""Reach the network only where the user gives the address of a scheduler."""
GREETING = {"phexplore/runs/cluster.py": {"asyncio", "socket"}}
"""Listens to the first bytes of the same scheduler, before Dask believes them; asks for results on the loop Dask already runs."""
CLUSTER_MODULES = {"phexplore/runs/cluster.py"}
KINDS = (ast.Import, ast.ImportFrom, ast.Call)
CSV_WRITERS = {
    "phexplore/report/run_report.py",  # adds a column to tables that the guarded writer wrote
    "phexplore/files/spreadsheet.py",
    "phexplore/systems/topdown/ini_strategy.py",  # names of levels and queries of production, read back by production
    "phexplore/systems/phsafe/publishing.py",  # codes of the published tables, in production's quoting
}


def imports(nodes: list[ast.AST]) -> set[str]:
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def roots(names: set[str], wanted: set[str]) -> set[str]:
    return {name for name in names if any(name == each or name.startswith(each + ".") for each in wanted)}


def calls(nodes: list[ast.AST]) -> list[tuple[str, ast.Call]]:
    found = []
    for node in nodes:
        if isinstance(node, ast.Call):
            words, target = [], node.func
            while isinstance(target, ast.Attribute):
                words.insert(0, target.attr)
                target = target.value
            if isinstance(target, ast.Name):
                words.insert(0, target.id)
            found.append((".".join(words), node))
    return found


@pytest.fixture(scope="module")
def trees():
    """Imports and calls of every module."""
    found = {}
    for module in MODULES:
        nodes = [n for n in ast.walk(ast.parse(module.read_text(encoding="utf-8"))) if isinstance(n, KINDS)]
        found[module.relative_to(PACKAGE.parent).as_posix()] = nodes
    assert len(found) > 300
    return found


def test_that_nothing_can_run_code_from_a_file(trees):
    wrong = [
        f"{name}: {each}"
        for name, tree in trees.items()
        for each in roots(imports(tree), RUNNING)
        if OWN_PIPE.get(name) != each
    ]
    for name, tree in trees.items():
        for called, node in calls(tree):
            if (
                called in {"eval", "exec", "compile", "__import__", "os.system", "os.popen", "importlib.import_module"}
                and FIXED_NAMES.get(name) != called
            ):
                wrong.append(f"{name}:{node.lineno}: {called}")
            named = {keyword.arg: keyword.value for keyword in node.keywords}
            if called in {"np.load", "numpy.load", "np.savez_compressed"}:
                allowed = named.get("allow_pickle")
                if not (isinstance(allowed, ast.Constant) and allowed.value is False):
                    wrong.append(f"{name}:{node.lineno}: {called} without allow_pickle=False")
            if (
                called.startswith("yaml.")
                and called.endswith(("load", "scan", "parse", "compose"))
                and called != "yaml.safe_load"
            ):
                loader = named.get("Loader")
                if not (isinstance(loader, ast.Attribute) and loader.attr == "SafeLoader"):
                    wrong.append(f"{name}:{node.lineno}: {called} without the safe loader")
            shell = named.get("shell")
            if shell is not None and not (isinstance(shell, ast.Constant) and shell.value is False):
                wrong.append(f"{name}:{node.lineno}: {called} through a shell")
            if called.endswith(("read_pickle", "to_pickle", "read_sql", "literal_eval")):
                wrong.append(f"{name}:{node.lineno}: {called}")
    assert wrong == []


def test_that_no_module_knows_the_network_but_for_the_cluster_a_user_names(trees):
    found = {name: roots(imports(tree), NETWORK) for name, tree in trees.items()}
    assert {name: names for name, names in found.items() if names} == LOCAL_SCREEN | GREETING
    cluster = {name for name, tree in trees.items() if roots(imports(tree), CLUSTER)}
    assert cluster <= CLUSTER_MODULES


def test_that_every_table_for_spreadsheets_is_written_by_the_guarded_writer(trees):
    writing = {
        name
        for name, tree in trees.items()
        for called, _ in calls(tree)
        if called.endswith(("csv.writer", "csv.DictWriter", "to_csv"))
    }
    assert writing <= CSV_WRITERS


_JOURNEY = """
import socket, sys

def refuse(*arguments, **_named):
    family = getattr(arguments[0], "family", None) if arguments else None
    if family == getattr(socket, "AF_UNIX", object()):
        return REAL(*arguments)
    print("NETWORK", arguments, file=sys.stderr, flush=True)
    raise AssertionError("the program reached for the network")

REAL = socket.socket.connect
socket.socket.connect = socket.socket.connect_ex = socket.socket.sendto = socket.getaddrinfo = refuse
socket.create_connection = refuse

def audit(event, arguments):
    if event in {"socket.connect", "socket.getaddrinfo", "socket.sendto", "urllib.Request", "http.client.connect", "webbrowser.open"}:
        if event == "socket.connect" and isinstance(arguments[1], (str, bytes)):
            return  # a file of this machine
        print("NETWORK", event, arguments, file=sys.stderr, flush=True)

sys.addaudithook(audit)
from phexplore.cli.app import run
for line in sys.stdin.read().splitlines():
    status = run(line.split("|"))
    print(status, line, flush=True)
"""


SHORT = ("check", "forecast", "export", "compare")


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["short", "whole"])
def test_that_nothing_leaves_the_machine_on_a_journey(tmp_path, whole):
    """Check, forecast, simulate, report, export, compare, bundle and verify, with every door to the network watched."""
    out = str(tmp_path)
    steps = [
        "check|sdhc-2020-us",
        "forecast|sdhc-2020-us|--json",
        "synth|sdhc|--persons|2000|--seed|1|--out|{}/people",
        "run|sdhc-2020-us|--data|{}/people|--trials|1|--seed|1|--out|{}/run",
        "report|{}/run|--format|html|--out|{}/report.html",
        "report|{}/run|--format|csv|--out|{}/report",
        "export|sdhc-2020-us|--format|phsafe-config|--out|{}/config.json",
        "export|sdhc-2020-us|--format|xlsx|--out|{}/t.xlsx",
        "export|sdhc-2020-us|--format|html|--out|{}/t.html",
        "compare|sdhc-2020-us|{}/config.json",
        "bundle|sdhc-2020-us|--out|{}/a.bundle",
        "verify|{}/a.bundle",
    ]
    steps = [step for step in steps if whole or step.partition("|")[0] in SHORT]
    done = subprocess.run(
        [sys.executable, "-c", _JOURNEY], input="\n".join(steps).replace("{}", out), capture_output=True, text=True,
        check=False, env={**os.environ, "HOME": out, "PYTHONPATH": str(PACKAGE.parent)}, timeout=600,
    )  # fmt: skip
    assert "NETWORK" not in done.stderr
    statuses = [line for line in done.stdout.splitlines() if line[:2] in {"0 ", "1 ", "2 "}]
    assert len(statuses) == len(steps), done.stderr[-3000:]
    assert [line for line in statuses if not line.startswith("0 ")] == [], done.stderr[-3000:]
    for path in (tmp_path / "report").rglob("*.csv"):
        rows = csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline=""))
        assert [cell for row in rows for cell in row if cell[:1] in {"=", "+", "@"}] == []
