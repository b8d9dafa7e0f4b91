"""Which MPI a process runs on is found among its libraries; what does not fit is one sentence."""
import subprocess
import sys
import types

import pytest

from parapet import _flavour


@pytest.mark.parametrize("name,flavour", [
    ("libmpich.so.12", "mpich"), ("libmpi.so.12", "mpich"), ("libmpi.so.12.3.1", "mpich"), ("libmpi.so.40", "openmpi"),
    ("libmpi.so.40.30.4", "openmpi"), ("libmpi_cray.so.12", "mpich"), ("libmpi_abi.so.1", "mpiabi"),
    ("libmpi_mpifh.so.40", None), ("libmpicxx.so.12", None), ("libmpi.so.120", None)])
def test_libraries_are_known_by_name(name, flavour):
    found = _flavour.find_mpi(["", "/lib/libc.so.6", f"/opt/mpi/lib/{name}"])
    assert (found[0] if found else None) == flavour


def test_libraries_of_this_process_are_seen():
    assert any("libc.so" in path for path in _flavour.loaded_libraries())


def test_without_mpi4py_it_is_serial(monkeypatch):
    monkeypatch.delitem(sys.modules, "mpi4py.MPI", raising=False)
    monkeypatch.setattr(_flavour, "loaded_libraries", lambda: ["/usr/lib/libmpi.so.40"])
    assert _flavour.choose() == "serial"


@pytest.mark.parametrize("libraries,words", [
    (["/opt/libmpi.so.40"], ["openmpi (/opt/libmpi.so.40)", "built for serial, mpich"]),
    (["/opt/libmpi_abi.so.1"], ["mpiabi", "built for serial, mpich"]),
    (["/lib/libc.so.6"], ["none of the libraries", "built for serial, mpich"])])
def test_a_mismatch_is_a_sentence_that_names_both(monkeypatch, libraries, words):
    monkeypatch.setitem(sys.modules, "mpi4py.MPI", types.ModuleType("mpi4py.MPI"))
    monkeypatch.setattr(_flavour, "loaded_libraries", lambda: libraries)
    monkeypatch.setattr(_flavour, "built_flavours", lambda: ["serial", "mpich"])
    with pytest.raises(ImportError) as caught:
        _flavour.choose()
    assert all(word in str(caught.value) for word in words) and "\n" not in str(caught.value)


def test_a_communicator_after_the_first_call_without_mpi_is_refused():
    program = ("import sys, types, parapet; parapet.version()\n"
               "mpi = sys.modules['mpi4py.MPI'] = types.ModuleType('mpi4py.MPI'); mpi.Comm = type('Comm', (), {})\n"
               "try: parapet.open('memory:x', 'a', mpi.Comm())\n"
               "except parapet.MPIError as error: print(error)\n")
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert "before mpi4py.MPI was imported" in printed


def test_something_else_is_not_a_communicator():
    import parapet
    with pytest.raises(parapet.ArgumentError, match="not a communicator"):
        parapet.open("memory:x", "a", 3)


def test_a_link_without_a_number_is_what_it_leads_to(tmp_path):
    for library, flavour in (("libmpi.so.40.30.4", "openmpi"), ("libmpich.so.12.2.2", "mpich")):
        link = tmp_path / flavour / "libmpi.so"
        link.parent.mkdir()
        (link.parent / library).touch()
        link.symlink_to(library)
        assert _flavour.find_mpi([str(link)]) == (flavour, str(link))
