/**
 * The entries of directories on FAT volumes, with long names.
 * @module
 */
import { toShortName } from "./names.ts";

/** A file or a directory in its directory. */
export interface Entry {
  readonly name: string;
  readonly isDirectory: boolean;
  /** 0: an empty file, or the root. */
  readonly firstCluster: number;
  /** In bytes; of directories 0. */
  readonly size: number;
}

/** Size of one entry, in bytes. A long name takes several. */
export const ENTRY_BYTES = 32;

const LABEL_LENGTH = 11;
/** UTF-16 units of a name in one entry, and where they are. */
const UNITS = [1, 3, 5, 7, 9, 14, 16, 18, 20, 22, 24, 28, 30] as const;
const ATTRIBUTE = { volumeLabel: 0x08, directory: 0x10, file: 0x20, longName: 0x0f } as const;
const LAST_PART = 0x40;
/** 1980-01-01, the first date that there is: equal contents give equal bytes. */
const DATE = 0x0021;

/** Counts the entries that a name takes: those of the long name, and the short one. */
export function countEntries(name: string): number {
  return Math.ceil(name.length / UNITS.length) + 1;
}

/** The entries of files and directories, each before the next. @param dots The first cluster of `.` and of `..` */
export function formatDirectory(
  entries: readonly Entry[],
  dots?: { readonly own: number; readonly parent: number },
): Uint8Array {
  const parts: Uint8Array[] = [];
  if (dots !== undefined) {
    const isDirectory = true;
    const size = 0;
    for (const [name, firstCluster] of [
      [".", dots.own],
      ["..", dots.parent],
    ] as const) {
      const entry = { name, isDirectory, firstCluster, size };
      parts.push(formatShort(entry, name.padEnd(LABEL_LENGTH)));
    }
  }
  const taken = new Set<string>();
  for (const entry of entries) {
    const short = toShortName(entry.name, taken);
    taken.add(short);
    parts.push(formatLong(entry.name, short), formatShort(entry, short));
  }
  return Buffer.concat(parts);
}

/** The entry of the root that holds the label of the volume. @param label At most 11 characters of ASCII */
export function formatLabel(label: string): Uint8Array {
  const bytes = new Uint8Array(ENTRY_BYTES);
  bytes.set(toAscii(label.padEnd(LABEL_LENGTH)));
  const view = new DataView(bytes.buffer);
  view.setUint8(11, ATTRIBUTE.volumeLabel);
  view.setUint16(24, DATE, true);
  return bytes;
}

function formatShort({ isDirectory, firstCluster, size }: Entry, short: string): Uint8Array {
  const bytes = new Uint8Array(ENTRY_BYTES);
  bytes.set(toAscii(short));
  const view = new DataView(bytes.buffer);
  view.setUint8(11, isDirectory ? ATTRIBUTE.directory : ATTRIBUTE.file);
  view.setUint16(16, DATE, true);
  view.setUint16(18, DATE, true);
  view.setUint16(24, DATE, true);
  view.setUint16(26, firstCluster, true);
  view.setUint32(28, size, true);
  return bytes;
}

/** The parts of a long name, the last one first. Each has a checksum of the short name that follows. */
function formatLong(name: string, short: string): Uint8Array {
  const count = countEntries(name) - 1;
  const bytes = new Uint8Array(count * ENTRY_BYTES);
  const view = new DataView(bytes.buffer);
  for (let part = 0; part < count; part++) {
    const offset = (count - 1 - part) * ENTRY_BYTES;
    view.setUint8(offset, (part + 1) | (part === count - 1 ? LAST_PART : 0));
    view.setUint8(offset + 11, ATTRIBUTE.longName);
    view.setUint8(offset + 13, toChecksum(short));
    for (const [at, place] of UNITS.entries()) {
      view.setUint16(offset + place, toUnit(name, part * UNITS.length + at), true);
    }
  }
  return bytes;
}

/** A unit of a name; a zero ends it, and ones fill the rest. */
function toUnit(name: string, at: number): number {
  if (at === name.length) return 0;
  return at < name.length ? name.charCodeAt(at) : 0xffff;
}

function toChecksum(short: string): number {
  return toAscii(short).reduce((sum, byte) => (((sum & 1) << 7) + (sum >> 1) + byte) & 0xff, 0);
}

/** Bytes of a text that has only ASCII. */
export function toAscii(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
