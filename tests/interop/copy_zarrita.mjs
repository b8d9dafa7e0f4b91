// Reads every array of a list with zarrita and writes what it found to files, for Python to compare.
//
//     node copy_zarrita.mjs LIST     where LIST is JSON: [{name, array, output}, ...]
//
// Prints one line of JSON for each: {name, shape, stride, dtype, attributes} or {name, error}.
import { readFileSync, writeFileSync } from "node:fs";
import FileSystemStore from "@zarrita/storage/fs";
import * as zarr from "zarrita";

async function readArray(item) {
  const array = await zarr.open.v3(new FileSystemStore(item.array), { kind: "array" });
  const whole = array.shape.length === 0 ? await array.getChunk([]) : await zarr.get(array);
  const isBool = whole.data instanceof zarr.BoolArray;
  const data = isBool ? Uint8Array.from(whole.data, (value) => (value ? 1 : 0)) : whole.data;
  writeFileSync(item.output, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  return { shape: whole.shape, stride: whole.stride, dtype: array.dtype, attributes: array.attrs };
}

for (const item of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  let result;
  try {
    result = await readArray(item);
  } catch (error) {
    result = { error: `${error.name}: ${error.message}` };
  }
  console.log(JSON.stringify({ name: item.name, ...result }));
}
