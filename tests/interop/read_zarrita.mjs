// Reads every array of a list with zarrita and writes what it found to files, for Python to compare.
//
//     node read_zarrita.mjs LIST     where LIST is JSON: [{name, store, path, output}, ...]
//
// Prints one line of JSON for each: {name, shape, dtype, attributes} or {name, error}.
import { readFileSync, writeFileSync } from "node:fs";
import FileSystemStore from "@zarrita/storage/fs";
import * as zarr from "zarrita";

function bytesOf(chunk) {
  const data = chunk.data;
  if (data instanceof zarr.BoolArray) return Uint8Array.from(data, (value) => (value ? 1 : 0));
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

function cStrides(shape) {
  return shape.map((_, d) => shape.slice(d + 1).reduce((product, length) => product * length, 1));
}

// get() gives a scalar for a selection without dimensions, so a scalar array is read by its only chunk.
async function readWhole(array) {
  return array.shape.length === 0 ? await array.getChunk([]) : await zarr.get(array);
}

// The store is the group, opened the way a browser would: with its consolidated metadata.
async function readCase(item) {
  const store = await zarr.withConsolidatedMetadata(new FileSystemStore(item.store), { format: "v3" });
  const root = zarr.root(store);
  const array = await zarr.open(root.resolve(item.path), { kind: "array" });
  const whole = await readWhole(array);
  if (JSON.stringify(whole.stride) !== JSON.stringify(cStrides(whole.shape))) throw new Error("not in C order");
  writeFileSync(item.output, bytesOf(whole));
  return { shape: whole.shape, dtype: array.dtype, attributes: array.attrs };
}

for (const item of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  let result;
  try {
    result = await readCase(item);
  } catch (error) {
    result = { error: `${error.name}: ${error.message}` };
  }
  console.log(JSON.stringify({ name: item.name, ...result }));
}
