"""A journey through the program in front as a screen reader hears it. The system's Python with pyatspi runs this, not the program's.

Reads the steps as JSON from standard input: what a person does, the keys (``type:`` before text; ``until:`` before a name presses Tab until
it has the focus), and what has to be heard. Writes what was heard, step by step, and the tree of what is on the screen, as JSON.
"""

import json
import queue
import subprocess
import sys
import threading
import time

import pyatspi
from gi.repository import GLib

EVENTS = (
    "object:state-changed:focused",
    "object:active-descendant-changed",
    "object:announcement",
    "object:property-change:accessible-name",
    "object:property-change:accessible-description",
    "object:property-change:accessible-value",
)
PATIENCE = 60.0
"""Seconds in which something has to be heard."""
FOCUS = "state-changed"
QUIET = 0.4
"""Seconds without news after which a step is over."""
MOST_TABS = 40


def value_of(node):
    try:
        value = node.queryValue()
    except NotImplementedError:
        return None
    return value.currentValue, value.minimumValue, value.maximumValue


def labels_of(node):
    kinds = (
        relation for relation in node.getRelationSet() if relation.getRelationType() == pyatspi.RELATION_LABELLED_BY
    )
    return [relation.getTarget(0).name for relation in kinds]


def row_of(node):
    """Return the names of the headers of a table cell's row, which a screen reader says where the row changes."""
    try:
        return [header.name for header in node.queryTableCell().rowHeaderCells]
    except NotImplementedError:
        return []


def told(node):
    return {
        "role": node.getRoleName(),
        "name": node.name,
        "description": node.description,
        "value": value_of(node),
        "labels": labels_of(node),
    }


def words(node):
    """What a screen reader says of a control: name, role, number, description."""
    value = value_of(node)
    number = "" if value is None else f", {value[0]:g}"
    label = "".join(f"{name}: " for name in [*labels_of(node), *row_of(node)])
    return f"{label}{node.name}, {node.getRoleName()}{number}" + (f". {node.description}" if node.description else "")


def walk(node):
    for index in range(min(node.childCount, 400)):
        child = node.getChildAtIndex(index)
        if child is not None and child.getState().contains(pyatspi.STATE_SHOWING):
            yield child
            yield from walk(child)


def programs():
    desktop = pyatspi.Registry.getDesktop(0)
    return [
        each for each in (desktop.getChildAtIndex(index) for index in range(desktop.childCount)) if each is not None
    ]


class Journey:
    """Does the steps in a thread of its own; the events come in the main one."""

    def __init__(self):
        self.heard = queue.Queue()

    def hear(self, event):
        try:
            kind = event.type.split(":", 1)[1]
            if kind.endswith("focused") and not event.detail1:
                return
            if kind.startswith("announcement"):
                self.heard.put(("announcement", event.any_data))
                return
            node = event.any_data if kind.startswith("active-descendant") and event.any_data else event.source
            if kind.startswith("property-change") and not node.getState().contains(pyatspi.STATE_FOCUSED):
                return
            self.heard.put((kind.split(":")[0], words(node)))
        except (GLib.Error, LookupError, AttributeError) as error:  # a control may be gone before it is asked
            self.heard.put(("gone", repr(error)))

    def said(self, is_wanted):
        """Return what is heard until something wanted is among it and nothing more comes."""
        found, end = [], time.monotonic() + PATIENCE
        while time.monotonic() < end:
            is_there = any(is_wanted(*each) for each in found)
            try:
                found.append(self.heard.get(timeout=QUIET if is_there else 0.1))
            except queue.Empty:
                if is_there:
                    break
        return found

    def press(self, keys, wanted):
        kind, _, text = keys.partition(":")
        if kind == "type":
            subprocess.run(["xdotool", "type", "--delay", "20", text], check=True)
        elif kind == "until":
            return self.tab_to(text)
        elif kind != "wait":
            subprocess.run(["xdotool", "key", *keys.split()], check=True)
        return self.said(lambda _kind, text: wanted in text)

    def tab_to(self, name):
        found = []
        for _ in range(MOST_TABS):
            subprocess.run(["xdotool", "key", "Tab"], check=True)
            found += self.said(lambda kind, _text: kind == FOCUS)
            if any(kind == FOCUS and name in text for kind, text in found):
                break
        return found

    def wait_for_focus(self):
        """Wait until something in the window takes keys."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if any(node.getState().contains(pyatspi.STATE_FOCUSED) for program in programs() for node in walk(program)):
                return
            time.sleep(QUIET)

    def go(self, steps, answer):
        try:
            self.wait_for_focus()
            for does, keys, wanted in steps:
                if keys == "tree":
                    answer.append(
                        {"does": does, "tree": [told(node) for program in programs() for node in walk(program)]}
                    )
                    continue
                said = self.press(keys, wanted)
                answer.append({"does": does, "keys": keys, "wanted": wanted, "said": said})
                if not any(wanted in text for _, text in said):
                    break
        finally:
            pyatspi.Registry.stop()


def main():
    steps, answer, journey = json.load(sys.stdin), [], Journey()
    for name in EVENTS:
        pyatspi.Registry.registerEventListener(journey.hear, name)
    threading.Thread(target=journey.go, args=(steps, answer), daemon=True).start()
    pyatspi.Registry.start()
    json.dump(answer, sys.stdout, indent=1)


main()
