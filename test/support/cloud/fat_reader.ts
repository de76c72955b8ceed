/**
 * Reads a FAT12 or FAT16 volume as its specification says, to see what an image holds.
 * @module
 */

/** What a volume holds. */
interface FatContent {
  readonly label: string;
  /** Contents by path; folders end with a slash, and have no content. */
  readonly files: Readonly<Record<string, string>>;
}

interface Frame {
  readonly view: DataView;
  readonly clusterBytes: number;
  readonly tableAt: number;
  readonly dataAt: number;
  readonly clusters: number;
}

/** Reads a volume. @throws Error if a chain of clusters is longer than the volume, or a checksum is wrong */
export function readFat(image: Uint8Array): FatContent {
  const view = new DataView(image.buffer, image.byteOffset, image.length);
  const sectorBytes = view.getUint16(11, true);
  const tableAt = view.getUint16(14, true) * sectorBytes;
  const rootAt = tableAt + view.getUint8(16) * view.getUint16(22, true) * sectorBytes;
  const rootBytes = view.getUint16(17, true) * 32;
  const clusterBytes = view.getUint8(13) * sectorBytes;
  const dataAt = rootAt + rootBytes;
  const total = (view.getUint16(19, true) || view.getUint32(32, true)) * sectorBytes;
  const clusters = Math.floor((total - dataAt) / clusterBytes);
  const frame = { view, clusterBytes, tableAt, dataAt, clusters };
  const files: Record<string, string> = {};
  const label = readFolder(frame, image.subarray(rootAt, dataAt), "", files);
  return { label, files };
}

/** @returns The label, if the folder has one */
function readFolder(
  frame: Frame,
  folder: Uint8Array,
  path: string,
  files: Record<string, string>,
): string {
  let label = "";
  let long = "";
  let checksum: number | undefined;
  for (let at = 0; at < folder.length; at += 32) {
    const entry = folder.subarray(at, at + 32);
    const view = new DataView(entry.buffer, entry.byteOffset, 32);
    const [first, attributes] = [view.getUint8(0), view.getUint8(11)];
    if (first === 0) break;
    if (attributes === 0x0f) {
      long = readUnits(view) + ((first & 0x40) === 0 ? long : "");
      checksum = view.getUint8(13);
      continue;
    }
    const short = String.fromCharCode(...entry.subarray(0, 11));
    if (attributes === 0x08) label = short.trimEnd();
    else if (first !== 0x2e) {
      if (checksum !== sum(entry)) throw new Error(`"${long}" has a wrong checksum`);
      const bytes = readChain(frame, view.getUint16(26, true));
      const child = `${path}${long}`;
      if (attributes === 0x10) {
        files[`${child}/`] = "";
        readFolder(frame, bytes, `${child}/`, files);
      } else files[child] = new TextDecoder().decode(bytes.subarray(0, view.getUint32(28, true)));
    }
    long = "";
    checksum = undefined;
  }
  return label;
}

function readChain(
  { view, clusterBytes, tableAt, dataAt, clusters }: Frame,
  first: number,
): Buffer {
  const parts: Uint8Array[] = [];
  const [end, bits] = clusters < 4085 ? [0xff8, 12] : [0xfff8, 16];
  for (let cluster = first; cluster >= 2 && cluster < end;) {
    if (parts.length > clusters) throw new Error("A chain of clusters has no end");
    const at = dataAt + (cluster - 2) * clusterBytes;
    parts.push(new Uint8Array(view.buffer, view.byteOffset + at, clusterBytes));
    const pair = view.getUint16(tableAt + Math.floor((cluster * bits) / 8), true);
    if (bits === 16) cluster = pair;
    else cluster = cluster % 2 === 0 ? pair & 0xfff : pair >> 4;
  }
  return Buffer.concat(parts);
}

function readUnits(view: DataView): string {
  const places = [1, 3, 5, 7, 9, 14, 16, 18, 20, 22, 24, 28, 30];
  const units = places.map((place) => view.getUint16(place, true));
  const end = units.indexOf(0);
  return String.fromCharCode(...(end === -1 ? units : units.slice(0, end)));
}

function sum(entry: Uint8Array): number {
  let value = 0;
  for (const byte of entry.subarray(0, 11)) {
    value = (((value >> 1) | ((value & 1) << 7)) + byte) & 0xff;
  }
  return value;
}
