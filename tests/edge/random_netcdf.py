"""Random netCDF files: all formats, types and kinds of dimensions that its library writes."""
from peers import netCDF4, numpy

CLASSIC = ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"]
FORMATS = CLASSIC + ["NETCDF4", "NETCDF4", "NETCDF4", "NETCDF4_CLASSIC"]
TYPES = ["i1", "i2", "i4", "f4", "f8", "S1"]
WIDE_TYPES = ["u1", "u2", "u4", "u8", "i8"]
NAMES = ["a", "t2m", "gr\u00f6\u00dfe", "with blank", "x-1", "a.b", "_u", "q+w", "9lives", "V", "long_" * 20]
WORDS = ["", "K", "caf\u00e9", "a \"b\" \\ c\n\td", "\u6771\u4eac", "m s-1", "x" * 300, " ends in a blank "]


def chance(rng, part):
    return rng.random() < part


def pick(rng, values):
    return values[int(rng.integers(len(values)))]


def is_wide(kind):
    return kind in ("NETCDF4", "NETCDF3_64BIT_DATA")


def numbers(rng, dtype, shape):
    """Elements of any value, now and then the largest and the least."""
    dtype = numpy.dtype(dtype)
    if dtype.kind == "S":
        return rng.choice(numpy.array([b"a", b"Z", b"", b"\xe9", b" "], "S1"), shape)
    if dtype.kind == "f":
        values = rng.standard_normal(shape).astype(dtype)
        special = numpy.array([numpy.nan, numpy.inf, -numpy.inf, -0.0, numpy.finfo(dtype).max, numpy.finfo(dtype).tiny], dtype)
        return numpy.where(rng.random(shape) < 0.1, rng.choice(special, shape), values).astype(dtype)
    least, most = numpy.iinfo(dtype).min, numpy.iinfo(dtype).max
    values = rng.integers(0, 100, shape).astype(dtype)
    return numpy.where(rng.random(shape) < 0.1, rng.choice(numpy.array([least, most], dtype), shape), values).astype(dtype)


def attribute(rng, kind):
    """A value of an attribute."""
    how = rng.random()
    if how < 0.4:
        return pick(rng, WORDS)
    if how < 0.5 and kind == "NETCDF4":
        return [pick(rng, WORDS) for _ in range(int(rng.integers(1, 4)))]
    dtype = pick(rng, TYPES[:5] + (WIDE_TYPES if is_wide(kind) else []))
    values = numbers(rng, dtype, (int(rng.integers(1, 5)),))
    return values[0] if chance(rng, 0.5) else values


def put_attributes(rng, target, kind):
    for k in range(int(rng.integers(0, 4))):
        target.setncattr(pick(rng, ["title", "note \u00e9", "history", "range", "n"]) + str(k), attribute(rng, kind))


class Maker:
    """One file on its way."""

    def __init__(self, rng, path):
        self.rng, self.kind = rng, pick(rng, FORMATS)
        self.file = netCDF4.Dataset(path, "w", format=self.kind)
        self.is_hdf5 = self.kind.startswith("NETCDF4")
        self.is_new = self.kind == "NETCDF4"
        self.fills = chance(rng, 0.8)
        if not self.fills:
            self.file.set_fill_off()
        self.lengths, self.unlimited = {}, []
        self.records = int(rng.integers(0, 6))

    def make(self):
        self.make_dimensions(self.file, "")
        put_attributes(self.rng, self.file, self.kind)
        self.make_variables(self.file, dict(self.lengths))
        if self.is_new and chance(self.rng, 0.3):
            below = self.file.createGroup("below")
            put_attributes(self.rng, below, self.kind)
            inherited = dict(self.lengths)
            self.make_dimensions(below, "b")
            self.make_variables(below, inherited | self.lengths)
        self.file.close()

    def make_dimensions(self, group, prefix):
        rng = self.rng
        for name in (["time"] + (["ens"] if self.is_new else [])) if not prefix else (["bt"] if self.is_new else []):
            if chance(rng, 0.8 if name == "time" else 0.4):
                group.createDimension(name, None)
                self.lengths[name] = self.records if name == "time" else int(rng.integers(0, 4))
                self.unlimited.append(name)
        for k in range(int(rng.integers(1, 4))):
            self.lengths[f"{prefix}d{k}"] = int(rng.integers(1, 7))
            group.createDimension(f"{prefix}d{k}", self.lengths[f"{prefix}d{k}"])

    def make_variables(self, group, lengths):
        rng = self.rng
        for name in [each for each in lengths if chance(rng, 0.4) and each in group.dimensions]:
            self.make_coordinate(group, name, lengths)
        for k in range(int(rng.integers(0 if len(group.variables) else 1, 5))):
            name = pick(rng, NAMES) + (str(k) if chance(rng, 0.9) else f"{k}z")
            self.make_variable(group, name, self.choose_dimensions(lengths), lengths)

    def make_coordinate(self, group, name, lengths):
        variable = self.create(group, name, [name], pick(self.rng, ["i4", "f8", "i2"]), lengths)
        if name == "time" and chance(self.rng, 0.7):
            variable.setncatts({"units": "days since 2000-01-01", "calendar": pick(self.rng, ["standard", "noleap"])})
        count = self.written_length(name, lengths)
        if count:
            variable[0:count] = numpy.arange(count)

    def choose_dimensions(self, lengths):
        fixed = [name for name in lengths if name not in self.unlimited]
        growing = [name for name in lengths if name in self.unlimited]
        chosen = [fixed[int(i)] for i in self.rng.permutation(len(fixed))[:int(self.rng.integers(0, 3))]]
        if not self.is_new:
            return (growing if chance(self.rng, 0.6) else []) + chosen
        chosen += [name for name in growing if chance(self.rng, 0.5)]
        first = "time" in chosen and chance(self.rng, 0.6)  # as most are
        order = [chosen[int(i)] for i in self.rng.permutation(len(chosen))]
        return (["time"] + [name for name in order if name != "time"]) if first else order

    def written_length(self, name, lengths):
        if name in self.unlimited and self.is_hdf5 and chance(self.rng, 0.3):
            return int(self.rng.integers(0, lengths[name] + 1))
        return lengths[name]

    def create(self, group, name, dimensions, dtype, lengths):
        rng, options = self.rng, {}
        is_text = dtype in (str, "S1")
        if self.is_hdf5 and dimensions:
            if not is_text:
                options = {"zlib": chance(rng, 0.4), "shuffle": chance(rng, 0.5), "fletcher32": chance(rng, 0.3),
                           "endian": pick(rng, ["native", "little", "big"])}
            if chance(rng, 0.5) and dtype is not str:
                options["chunksizes"] = [max(1, int(rng.integers(1, max(2, lengths[d] + (2 if d in self.unlimited else 1)))))
                                         for d in dimensions]
            elif not set(dimensions) & set(self.unlimited) and chance(rng, 0.3) and dtype is not str:
                options = {"contiguous": True}
        if dtype is str:
            fill = {"fill_value": pick(rng, ["gone", ""])} if chance(rng, 0.2) else {}
        elif chance(rng, 0.4):
            fill = {"fill_value": numbers(rng, dtype, ())[()] if chance(rng, 0.7) or dtype == "S1" else
                    (numpy.nan if dtype in ("f4", "f8") else 99)}
        else:
            fill = {"fill_value": False} if chance(rng, 0.15) else {}
        return group.createVariable(name, dtype, dimensions, **options, **fill)

    def make_variable(self, group, name, dimensions, lengths):
        rng = self.rng
        dtype = pick(rng, TYPES + (WIDE_TYPES if is_wide(self.kind) else []))
        if self.is_new and chance(rng, 0.1):
            dtype = str
        variable = self.create(group, name, dimensions, dtype, lengths)
        variable.set_auto_maskandscale(False)
        variable.set_auto_chartostring(False)
        self.fill_in(variable, dtype, dimensions, lengths)
        put_attributes(rng, variable, self.kind)
        if dtype in ("i1", "i2", "i4") and chance(rng, 0.3):
            variable.setncatts({"scale_factor": rng.choice([0.5, 0.01, 3.0]), "add_offset": float(rng.integers(-5, 5))})
            if chance(rng, 0.3):
                variable.scale_factor = numpy.float32(variable.scale_factor)
                variable.add_offset = numpy.float32(variable.add_offset)
        if dtype not in (str, "S1") and chance(rng, 0.2):
            missing = numbers(rng, dtype, ())[()]  # JSON has no infinity, and xarray takes none from a text
            variable.missing_value = missing if numpy.isfinite(missing) else numpy.nan
        if dtype not in (str, "S1") and chance(rng, 0.1):
            variable.valid_range = numpy.sort(numbers(rng, dtype, (2,)))

    def fill_in(self, variable, dtype, dimensions, lengths):
        """All of it, its beginning, one record, or nothing: but all where nothing else is put there."""
        rng = self.rng
        has_fill = self.fills and variable.get_fill_value() is not None
        shape = [self.written_length(d, lengths) for d in dimensions]
        if 0 in shape:
            return
        if has_fill and shape and chance(rng, 0.2):
            place = tuple(int(rng.integers(extent)) for extent in shape)
            variable[place] = pick(rng, WORDS) if dtype is str else numbers(rng, dtype, ())[()]
        elif not has_fill or chance(rng, 0.85):
            place = tuple(slice(0, extent) for extent in shape)
            values = rng.choice(numpy.array(WORDS, object), shape) if dtype is str else numbers(rng, dtype, tuple(shape))
            variable[place if shape else ...] = values


def make(rng, path):
    """Writes a file; returns what it is, for a message."""
    maker = Maker(rng, path)
    maker.make()
    return maker.kind
