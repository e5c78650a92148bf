"""builds: the libraries whose machine code is looked at, the table of offsets that the same compiler prints, and the check of one function."""
import os
import subprocess

from z3 import BitVec

import functions
from explore import Explorer
from image import Image
from machine import Refused
from memory import Layout
from texts import ROOT
from trace import Trace

BUILDS = [(cc, level) for cc in ("gcc", "clang") for level in ("-O2", "-O3")]


class Build:
    def __init__(self, folder, cc, level):
        self.name, self.folder = f"{cc} {level}", folder / f"{cc}{level}"
        self.library = self.folder / "libqedmalloc.so"
        environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
        subprocess.run(["make", "-s", "-C", ROOT, f"CC={cc}", f"CFLAGS={level} -g", "CONFIG=", f"BUILD={self.folder}", self.library],
                       check=True, stdout=subprocess.DEVNULL, env=environment)
        table = self.folder / "layout"
        subprocess.run([cc, level, "-std=gnu11", "-D_GNU_SOURCE", "-Isrc", "-Ispec", "-Isrc/include", "-Wall", "-Wextra", "-Werror",
                        "-Wno-unknown-pragmas", "proofs/binary/layout.c", "-o", table], check=True, cwd=ROOT)
        self.layout = Layout(subprocess.run([table], check=True, capture_output=True, text=True).stdout)
        self.image = Image(self.library)

    def check(self, function, image=None):
        """Proves a function. Returns the number of its paths, of what was proven, and its instructions; raises Refused."""
        image = image or self.image
        explorer, paths, proven = Explorer(image, self.layout), 0, 0
        pointer = BitVec("rdi", 64) if function == "qed_posix_memalign" else None
        for path in explorer.paths(image.functions[function], pointer):
            paths += 1
            todo = [()]
            while todo:
                trace = Trace(path, image, todo.pop())
                try:
                    functions.FUNCTIONS[function](trace)
                    trace.is_possible()
                except Refused as e:
                    raise Refused(f"on a path that ends at {path.trace[-1].address:#x} with {path.end}: {e}") from None
                todo += trace.open
                proven += trace.proven
        return paths, proven, explorer.met
