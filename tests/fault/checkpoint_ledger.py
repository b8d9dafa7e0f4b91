"""What a job has noted of its checkpoints, and whether what is restored goes with it."""

import os
import re
import shutil

from kill_bed import RANKS, told

KEEP = 2
RESTORING = [1, 2, 3]


class Ledger:
    """Generations that are known: acknowledged, or seen since."""

    def __init__(self, bed):
        self.bed, self.known, self.attempted, self.read_bytes = bed, [], {}, 0
        self.notes = bed.folder / "notes"
        self.tag = 0
        self.ahead = 0  # generations that were there without having been acknowledged

    def forget(self):
        """As if the store and the notes were new."""
        self.notes.unlink(missing_ok=True)
        self.known, self.attempted, self.read_bytes = [], {}, 0

    def next_tag(self, count=1):
        tag, self.tag = self.tag + 1, self.tag + count
        return str(tag)

    def read(self):
        if not self.notes.exists():
            return
        text = self.notes.read_bytes()[self.read_bytes:]
        self.read_bytes += len(text)
        for line in text.decode().splitlines():
            word, generation, tag = line.split()
            if word == "begin":
                self.attempted[int(tag)] = int(generation)
            else:
                self.known.append((int(generation), int(tag)))

    def check_row(self, row):
        generation, tag = row["generation"], row["tag"]
        if row["status"] != "PARAPET_OK":
            return "lost", f"generation {generation} is listed, but: {row['status']}"
        if row["wrong"]:
            return "silently wrong", f"generation {generation}, state {tag}: {row['wrong']} wrong elements"
        of_number = dict(self.known)
        if generation in of_number and of_number[generation] != tag:
            return "silently wrong", f"generation {generation} has state {tag}, not {of_number[generation]}"
        if generation not in of_number:
            if generation < self.known[-1][0] or self.attempted.get(tag) != generation:
                return "silently wrong", f"nobody made generation {generation} with state {tag}"
            self.known.append((generation, tag))
            self.ahead += 1
        return None

    def check(self, rows, errors):
        """Problems: (kind, sentence)."""
        self.read()
        if not rows:
            return [("lost", f"nothing could be restored: {errors}")]
        listed = sorted((row for row in rows if row["asked"]), key=lambda row: row["generation"])
        problems = [problem for problem in map(self.check_row, listed) if problem]
        present = {row["generation"] for row in listed}
        problems += [("lost", f"generation {generation} with state {tag} is gone")
                     for generation, tag in self.known[-KEEP:] if generation not in present]
        newest = rows[0]
        if (newest["status"], newest["generation"], newest["passed_over"]) != ("PARAPET_OK", self.known[-1][0], 0):
            problems.append(("lost", f"{newest} was restored, and {self.known[-1]} is the newest"))
        return problems

    def verify(self, choose):
        out, errors = self.bed.run(choose.choice(RESTORING), "verify", str(self.bed.folder))
        return self.check(told(out), errors)

    def strays(self):
        """Runs the collector; files below the store that belong to no generation then."""
        out, errors = self.bed.run(1, "collect", str(self.bed.folder))
        if not told(out):
            return [f"collecting failed: {errors}"]
        root = self.bed.folder / "store"
        records = os.listdir(root / "run/__parapet/commits")
        groups = "|".join(re.search(r"group (\S+)", (root / "run/__parapet/commits" / name).read_text())[1]
                          for name in records)
        ours = re.compile(rf"(run/)?zarr\.json|run/__parapet/commits/\d+|run/({groups})/(?!.*\.tmp).*")
        files = (os.path.relpath(os.path.join(folder, name), root)
                 for folder, _, names in os.walk(root) for name in names)
        return [name for name in files if not ours.fullmatch(name)]


class Base:
    """A store with two generations, the second of which is the last that was acknowledged: every case begins there."""

    def __init__(self, ledger):
        self.ledger, folder = ledger, ledger.bed.folder
        self.store, self.kept = folder / "store", folder / "base"
        out, errors = ledger.bed.run(RANKS, "make", str(folder), ledger.next_tag(2), "2")
        assert out.count("PARAPET_OK") == 2, errors
        shutil.copytree(self.store, self.kept)
        ledger.read()
        self.known = list(ledger.known)

    def restore(self):
        shutil.rmtree(self.store, ignore_errors=True)
        shutil.copytree(self.kept, self.store)
        self.ledger.forget()
        self.ledger.known = list(self.known)
