"""bench/run panda: what many servers reach together (paper 002: Server-Directed Collective I/O in Panda).

    bench/run panda [--quick] [--build DIR] [--disk DIR] [--memory DIR] [--case NAME=VALUE,...] [--json FILE]
                    [--markdown FILE]

8 ranks, a block each of an array of float32, uncompressed; throughput in MB/s against the number of servers and the size
of the array, median over the calls and range, without launching and opening. The first call is left out.

    store  null: infinitely fast, nothing is kept, so only writing; disk: a directory, flushed, read back from the page
           cache; memory: a directory in memory
    order  natural: a shard is what a rank holds; traditional: files of whole planes that cat joins into the array
    arrays one, or a group of 4 of a quarter of the size each, in one call

Last, the overhead of a call: 4,096 elements in all, on the null store, in milliseconds.

    --case store=null,order=natural,servers=1+8,size=64+256,arrays=1     only these
"""
import json
import os
import statistics
import sys
import time

from servers import Page, Servers, middle

RANKS = 8
SHAPES = {16: (128, 128, 256), 64: (256, 256, 256), 256: (256, 512, 512), 512: (512, 512, 512)} # MiB
GROUP = 4
FULL = {"servers": [1, 2, 4, 8], "size": [16, 64, 256, 512], "calls": 6, "small_calls": 101}
QUICK = {"servers": [1, 8], "size": [16, 64], "calls": 4, "small_calls": 31}


class Panda:
    def __init__(self, options):
        self.options = options
        form = QUICK if options.quick else FULL
        self.case = {"store": ["null", "memory", "disk"], "order": ["natural", "traditional"], "arrays": [1, GROUP],
                     "servers": form["servers"], "size": form["size"]}
        self.calls, self.small_calls = form["calls"], form["small_calls"]
        for word in filter(None, (options.case or "").split(",")):
            name, _, values = word.partition("=")
            if name not in self.case:
                sys.exit(f"bench: {name}: {', '.join(self.case)}")
            self.case[name] = [int(value) if value.isdigit() else value for value in values.split("+")]
        self.memory = Servers(options, "panda")
        self.disk = Servers(options, "panda")
        self.disk.place = os.path.join(options.disk, "panda")
        self.page = Page(options)
        self.found = []

    def shape_of(self, size, arrays):
        first, *others = SHAPES[size]
        return (first // (GROUP if arrays == GROUP else 1), *others)

    def words_of(self, store, order, shape, servers, arrays):
        block = [extent // 2 for extent in shape] # of a mesh of 2 x 2 x 2
        chunk = [min(64, extent) for extent in block]
        return [f"store={'null' if store == 'null' else 'directory'}", f"order={order}", f"servers={servers}",
                f"arrays={arrays}", "shards=" + "x".join(map(str, block)), "chunks=" + "x".join(map(str, chunk))]

    def run_case(self, store, order, size, servers, arrays):
        shape = self.shape_of(size, arrays)
        where = self.disk if store == "disk" else self.memory
        run = where.run(RANKS, "x".join(map(str, shape)), f"calls={self.calls}",
                        *self.words_of(store, order, shape, servers, arrays))
        seconds = {work: run.seconds(work)[1:] for work in ("write", "read")}
        self.found.append({"store": store, "order": order, "MiB": size, "servers": servers, "arrays": arrays, **seconds})
        return {work: [size * 2 ** 20 / 1e6 / one for one in found] for work, found in seconds.items()}

    def throughput(self):
        rows = {"write": [], "read": []}
        for store in self.case["store"]:
            for order in self.case["order"]:
                for arrays in self.case["arrays"]:
                    for size in self.case["size"]:
                        rates = [self.run_case(store, order, size, servers, arrays) for servers in self.case["servers"]]
                        for work in rows:
                            if rates[0][work]:
                                rows[work].append([store, order, str(arrays), str(size)]
                                                  + [middle(rate[work], 0) for rate in rates])
        heads = ["store", "order", "arrays", "MiB"] + [f"{servers} servers" if servers > 1 else "1 server"
                                                       for servers in self.case["servers"]]
        for work, title in (("write", "Writing"), ("read", "Reading")):
            self.page.table(f"{title}: MB/s of all servers together", heads, rows[work])

    def overhead(self):
        rows = []
        for arrays in self.case["arrays"]:
            cells = [str(arrays)]
            for servers in self.case["servers"]:
                run = self.memory.run(RANKS, "16x16x16", f"calls={self.small_calls}",
                                      *self.words_of("null", "natural", (16, 16, 16), servers, arrays))
                seconds = run.seconds("write")[1:]
                self.found.append({"overhead": True, "servers": servers, "arrays": arrays, "write": seconds})
                cells.append(middle([1e3 * one for one in seconds]))
            rows.append(cells)
        heads = ["arrays"] + [f"{servers} servers" if servers > 1 else "1 server" for servers in self.case["servers"]]
        self.page.table("Overhead of a call that writes 4,096 elements of each array to the null store: ms", heads, rows)

    def run(self):
        started = time.time()
        self.throughput()
        self.overhead()
        if self.options.json:
            with open(self.options.json, "w") as out:
                json.dump({"form": "quick" if self.options.quick else "full", "runs": self.found}, out, indent=1)
        fastest = [statistics.median(one["write"]) for one in self.found if one.get("overhead")]
        self.page.text(f"\npanda: {len(self.found)} runs; a call costs {1e3 * min(fastest):.2f} ms or more "
                       f"({time.time() - started:.0f} s)")
        sys.exit(0)
