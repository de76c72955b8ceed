/**
 * The frame of a FAT12 volume: its sizes, its boot sector and its table of clusters.
 *
 * FAT12 is the form for the smallest volumes. Linux, Windows and mtools read it on any disk. All sizes here have the
 * same table, because a cluster grows with the volume.
 * @module
 */
import { ENTRY_BYTES, toAscii } from "./directory.ts";

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
const LABEL_LENGTH = 11;
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
