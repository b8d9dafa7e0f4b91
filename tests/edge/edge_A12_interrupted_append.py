#!/usr/bin/env python3
"""Where an append was interrupted nothing is copied, as the next append or gc may undo its steps; and gc says so where it
finds, in place of what an append notes, something that no append has written."""
import os
import pathlib
import tempfile

import peers
from peers import zarr


def put_note(folder, kind):
    """A store whose group has in place of the note of an append something of this kind."""
    store = pathlib.Path(folder) / f"{kind}.zarr"
    group = zarr.open_group(store, mode="w", zarr_format=3)
    group.create_array("below/u", shape=(4,), chunks=(2,), dtype="i4")[:] = 1
    note = store / "__parapet/change"
    note.parent.mkdir()
    {"file": lambda: note.write_text("no note"), "pipe": lambda: os.mkfifo(note), "directory": note.mkdir,
     "link": lambda: note.symlink_to("/etc/hostname")}[kind]()
    return store


def main():
    with tempfile.TemporaryDirectory(prefix="parapet-edge-") as folder:
        for kind in ("file", "pipe", "directory", "link"):
            store = put_note(folder, kind)
            copies = {"array": ("below/u", "copy.zarr"), "group": ("below", "copy.zarr"), "all": ("", "copy.zarr"),
                      "array to a file": ("below/u", "npy:copy.npy"), "group to a file": ("below", "copy.nc")}
            for name, (path, target) in copies.items():
                scheme, _, file = target.rpartition(":")
                target = f"{scheme}:{folder}/{file}" if scheme else f"{folder}/{file}"
                code, text = peers.parapet("copy", "--quiet", store / path, target)
                peers.expect(f"{kind}, {name}: {code} {text}", code == 1 and ("append" in text or "__parapet/change" in text))
                peers.expect(f"{kind}, {name}: a target", not os.path.exists(f"{folder}/{file}"))
            code, text = peers.parapet("gc", store)
            peers.expect(f"{kind}, gc: {code} {text}", code == 1 and "__parapet/change" in text)
            peers.expect(f"{kind}, gc removed what is not ours", os.path.lexists(store / "__parapet/change"))


main()
raise SystemExit(1 if peers.problems else 0)
