/**
 * FAT volumes in the format that firmware and guests read: names, directories, and the tables before them.
 * @module
 */

/** What Windows and Linux accept in a path on a FAT volume, for plain ASCII. */
const LONG_NAME = /^(?![ .])[\w !#$%&'()+,.;=@^`{}~-]{1,200}(?<![ .])$/;
const SHORT_NAME = /^[A-Z0-9!#$%&'()@^_`{}~-]{1,8}(\.[A-Z0-9!#$%&'()@^_`{}~-]{1,3})?$/;
const BASE_LENGTH = 8;
const EXTENSION_LENGTH = 3;

/** Whether a file can have this name: ASCII without the characters that Windows reserves. */
export function isFatName(name: string): boolean {
  return LONG_NAME.test(name);
}

/**
 * The short name of a file as a directory holds it: eleven characters in upper case, filled with blanks. Programs that
 * know long names never show it.
 *
 * @param taken Short names in the same directory
 */
export function toShortName(name: string, taken: ReadonlySet<string>): string {
  const upper = name.toUpperCase();
  const whole = pad(...split(upper));
  if (SHORT_NAME.test(upper) && !taken.has(whole)) return whole;
  const [base, extension] = split(upper).map((part) => part.replaceAll(/[^A-Z0-9_-]/g, ""));
  for (let number = 1; ; number++) {
    const tail = `~${number}`;
    const short = pad(`${base?.slice(0, BASE_LENGTH - tail.length)}${tail}`, extension);
    if (!taken.has(short)) return short;
  }
}

function split(name: string): [base: string, extension: string] {
  const dot = name.lastIndexOf(".");
  return dot === -1 ? [name, ""] : [name.slice(0, dot), name.slice(dot + 1)];
}

function pad(base: string, extension = ""): string {
  const end = extension.slice(0, EXTENSION_LENGTH).padEnd(EXTENSION_LENGTH);
  return `${base.slice(0, BASE_LENGTH).padEnd(BASE_LENGTH)}${end}`;
}

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
function toAscii(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** The sizes of a volume. */
export interface Volume {
  readonly bytes: number;
  readonly clusterBytes: number;
  /** How many clusters there are for files and directories. The first one has the number {@linkcode CLUSTER_FIRST}. */
  readonly clusters: number;
}

/** Consecutive clusters of a file or a directory. */
export interface Extent {
  readonly first: number;
  readonly count: number;
}

/** The number of the first cluster. */
export const CLUSTER_FIRST = 2;
/** How many entries the root has room for. */
export const ROOT_ENTRIES = 512;

const SECTOR_BYTES = 512;
const RESERVED_SECTORS = 1;
const TABLES = 2;
/** Room for 4,096 clusters: with more than 4,084 it would not be FAT12. */
const TABLE_SECTORS = 12;
const ROOT_SECTORS = (ROOT_ENTRIES * ENTRY_BYTES) / SECTOR_BYTES;
const ROOT_SECTOR = RESERVED_SECTORS + TABLES * TABLE_SECTORS;
const DATA_SECTOR = ROOT_SECTOR + ROOT_SECTORS;
/** mtools wants whole tracks. */
const SECTORS_PER_TRACK = 32;
const HEADS = 2;
const HARD_DISK = 0xf8;
/** Any number: programs show it as the ID of the volume. */
const SERIAL = 0x1cda7a00;
/** For a BIOS that starts this disk: try the next one, then wait. */
const BOOT_CODE = [0xcd, 0x18, 0xf4, 0xeb, 0xfd] as const;
const JUMP = [0xeb, 0x3c, 0x90] as const;
const BOOT_CODE_AT = 0x3e;
const END_OF_CHAIN = 0xfff;

const MIB = 1024 * 1024;
/** Virtual disks of XCP-ng grow by 2 MiB. */
const SMALLEST_BYTES = 2 * MIB;
/** The largest volume, in bytes. */
export const VOLUME_BYTES_MAX: number = 8 * MIB;

/** All sizes of volumes, the smallest first. */
export function listVolumes(): Volume[] {
  const volumes: Volume[] = [];
  for (let bytes = SMALLEST_BYTES; bytes <= VOLUME_BYTES_MAX; bytes *= 2) {
    const clusterBytes = (bytes / SMALLEST_BYTES) * SECTOR_BYTES;
    const clusters = Math.floor((bytes - DATA_SECTOR * SECTOR_BYTES) / clusterBytes);
    volumes.push({ bytes, clusterBytes, clusters });
  }
  return volumes;
}

/** Where the directory of the root begins, in bytes. */
export const ROOT_OFFSET: number = ROOT_SECTOR * SECTOR_BYTES;

/** Where a cluster begins, in bytes. */
export function toOffset({ clusterBytes }: Volume, cluster: number): number {
  return DATA_SECTOR * SECTOR_BYTES + (cluster - CLUSTER_FIRST) * clusterBytes;
}

/** A volume without files. @param label At most 11 characters of ASCII */
export function formatVolume(volume: Volume, label: string): Uint8Array<ArrayBuffer> {
  const image = new Uint8Array(volume.bytes);
  image.set(JUMP);
  image.set(toAscii("LANDFALL"), 3);
  const view = new DataView(image.buffer);
  view.setUint16(11, SECTOR_BYTES, true);
  view.setUint8(13, volume.clusterBytes / SECTOR_BYTES);
  view.setUint16(14, RESERVED_SECTORS, true);
  view.setUint8(16, TABLES);
  view.setUint16(17, ROOT_ENTRIES, true);
  view.setUint16(19, volume.bytes / SECTOR_BYTES, true);
  view.setUint8(21, HARD_DISK);
  view.setUint16(22, TABLE_SECTORS, true);
  view.setUint16(24, SECTORS_PER_TRACK, true);
  view.setUint16(26, HEADS, true);
  view.setUint8(36, 0x80);
  view.setUint8(38, 0x29);
  view.setUint32(39, SERIAL, true);
  image.set(toAscii(label.padEnd(LABEL_LENGTH)), 43);
  image.set(toAscii("FAT12   "), 54);
  image.set(BOOT_CODE, BOOT_CODE_AT);
  view.setUint16(510, 0xaa55, true);
  return image;
}

/** Writes both tables of clusters. */
export function writeTables(image: Uint8Array, extents: readonly Extent[]): void {
  const table = new Uint8Array(TABLE_SECTORS * SECTOR_BYTES);
  setLink(table, 0, 0xf00 | HARD_DISK);
  setLink(table, 1, END_OF_CHAIN);
  for (const { first, count } of extents) {
    for (let at = 0; at < count; at++) {
      setLink(table, first + at, at === count - 1 ? END_OF_CHAIN : first + at + 1);
    }
  }
  for (let at = 0; at < TABLES; at++) {
    image.set(table, (RESERVED_SECTORS + at * TABLE_SECTORS) * SECTOR_BYTES);
  }
}

/** A link has twelve bits: two of them share three bytes. */
function setLink(table: Uint8Array, cluster: number, next: number): void {
  const at = cluster + (cluster >> 1);
  const [low = 0, high = 0] = [table[at], table[at + 1]];
  if (cluster % 2 === 0) {
    table[at] = next & 0xff;
    table[at + 1] = (high & 0xf0) | (next >> 8);
  } else {
    table[at] = (low & 0x0f) | ((next & 0x0f) << 4);
    table[at + 1] = next >> 4;
  }
}
