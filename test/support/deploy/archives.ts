/**
 * Single files out of tar and zip archives.
 * @module
 */
import { inflateRawSync } from "node:zlib";

const TAR_BLOCK = 512;
const ZIP_END = 0x06054b50;
const ZIP_END_SIZE = 22;
const ZIP_ENTRY_SIZE = 46;
const ZIP_LOCAL_SIZE = 30;

/** The content of a file in a tar archive. @throws Error when it is not there */
export function extractTarEntry(tar: Buffer, path: string): Buffer {
  let offset = 0;
  while (offset + TAR_BLOCK <= tar.length) {
    const name = textOf(tar.subarray(offset, offset + 100));
    const size = Number.parseInt(textOf(tar.subarray(offset + 124, offset + 136)), 8) || 0;
    const start = offset + TAR_BLOCK;
    if (name === path) return tar.subarray(start, start + size);
    offset = start + Math.ceil(size / TAR_BLOCK) * TAR_BLOCK;
  }
  throw new Error(`Cannot find "${path}" in the tar archive`);
}

function textOf(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString("utf8", 0, end === -1 ? bytes.length : end).trim();
}

/** The content of a file in a zip archive, stored or deflated. @throws Error when it is not there */
export function extractZipEntry(zip: Buffer, path: string): Buffer {
  let end = zip.length - ZIP_END_SIZE;
  while (end >= 0 && zip.readUInt32LE(end) !== ZIP_END) end -= 1;
  if (end < 0) throw new Error("Cannot read the zip archive: it has no directory");
  const count = zip.readUInt16LE(end + 10);
  let offset = zip.readUInt32LE(end + 16);
  for (let index = 0; index < count; index += 1) {
    const nameLength = zip.readUInt16LE(offset + 28);
    const start = offset + ZIP_ENTRY_SIZE;
    if (zip.toString("utf8", start, start + nameLength) === path) return read(zip, offset);
    const extras = zip.readUInt16LE(offset + 30) + zip.readUInt16LE(offset + 32);
    offset = start + nameLength + extras;
  }
  throw new Error(`Cannot find "${path}" in the zip archive`);
}

function read(zip: Buffer, entry: number): Buffer {
  const method = zip.readUInt16LE(entry + 10);
  const size = zip.readUInt32LE(entry + 20);
  const local = zip.readUInt32LE(entry + 42);
  const names = zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
  const start = local + ZIP_LOCAL_SIZE + names;
  const data = zip.subarray(start, start + size);
  return method === 0 ? data : inflateRawSync(data);
}
