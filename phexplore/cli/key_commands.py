"""The small store of public keys somebody trusts, with whose they are."""

from __future__ import annotations

from pathlib import Path

import typer

from phexplore.systems.arguments import JSON


def register(app: typer.Typer) -> None:
    """Add the group to the program."""
    keys = typer.Typer(help="Public keys you know, with whose they are; verify shows signatures by them as known.")
    keys.command("add")(add)
    keys.command("list")(list_keys)
    keys.command("remove")(remove)
    app.add_typer(keys, name="keys")


def add(
    key: Path = typer.Argument(help="A public key (.pub of OpenSSH, or .pem)."),
    name: str = typer.Option(..., "--name", help="Whose it is, after you have checked it with them."),
) -> None:
    """Add a public key to your store. Compare the fingerprint with its owner by telephone first.

    Example: phexplore keys add ada.pub --name "Ada Lovelace"
    """
    from phexplore.decide.signing import load_public_key
    from phexplore.decide.trusted_keys import trust_key
    from phexplore.report.terminal import tell

    added = trust_key(name, load_public_key(key))
    tell(f"{added.fingerprint}  {added.name}")


def list_keys(as_json: bool = JSON) -> None:
    """List the keys of your store with their full fingerprints (SHA-256 of the 32 bytes of the key).

    Example: phexplore keys list
    """
    from phexplore.decide.trusted_keys import store_path, trusted_keys
    from phexplore.report.terminal import print_json, print_table, say

    found = trusted_keys()
    if as_json:
        print_json([{"fingerprint": key.fingerprint, "name": key.name} for key in found])
    elif found:
        print_table(("fingerprint", "whose"), [(key.fingerprint, key.name) for key in found])
    else:
        say(f"No key is in the store {store_path()}.")


def remove(fingerprint: str = typer.Argument(help="All 64 digits, as phexplore keys list prints them.")) -> None:
    """Remove a key from your store.

    Example: phexplore keys remove 904ce312eed95827eccbee0bbd939095fadc9b9442d19b96af8449128a86f79d
    """
    from phexplore.decide.trusted_keys import forget_key
    from phexplore.report.terminal import tell

    removed = forget_key(fingerprint)
    tell(f"Removed {removed.fingerprint}  {removed.name}")
