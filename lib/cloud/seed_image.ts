/**
 * The image of the small disk that a machine reads at its first start.
 * @module
 */
import type { MachineSeed } from "./capabilities/machines.ts";
import {
  CLUSTER_FIRST,
  countEntries,
  type Entry,
  ENTRY_BYTES,
  type Extent,
  formatDirectory,
  formatLabel,
  formatVolume,
  isFatName,
  listVolumes,
  ROOT_ENTRIES,
  ROOT_OFFSET,
  toOffset,
  type Volume,
  VOLUME_BYTES_MAX,
  writeTables,
} from "./fat.ts";

/** The largest image, in bytes. */
export const SEED_IMAGE_BYTES_MAX: number = VOLUME_BYTES_MAX;

/** Also in lower case: every version of cloud-init finds `cidata`, and old ones do not find `CIDATA`. */
const LABEL = /^[\w-]{1,11}$/;

interface Folder {
  readonly children: Map<string, Folder | Uint8Array>;
}

/**
 * Makes the image: a FAT volume without partitions, with long names and folders. Equal seeds give equal bytes. It is 2
 * MiB large, or 4 or 8 if the files need it.
 *
 * @throws {RangeError} if the files do not fit into the largest image, or a name or the label cannot be written
 */
export function toSeedImage({ label, files }: MachineSeed): Uint8Array<ArrayBuffer> {
  if (!LABEL.test(label)) {
    throw new RangeError(
      'Cannot make a seed image: its label must be 1 to 11 letters, digits, "-" or "_"',
    );
  }
  const root = toTree(files);
  const volume = listVolumes().find((one) => countClusters(root, one) <= one.clusters);
  if (volume === undefined || countRoot(root) > ROOT_ENTRIES) {
    const limit = `${SEED_IMAGE_BYTES_MAX / 1024 / 1024} MiB`;
    throw new RangeError(`Cannot make a seed image: the files do not fit into ${limit}`);
  }
  const image = formatVolume(volume, label);
  const writer = new Writer(image, volume);
  const entries = writer.writeChildren(root, 0);
  image.set(Buffer.concat([formatLabel(label), formatDirectory(entries)]), ROOT_OFFSET);
  writeTables(image, writer.extents);
  return image;
}

/** Writes files and folders into clusters, one after the other. */
class Writer {
  readonly extents: Extent[] = [];
  readonly #image: Uint8Array;
  readonly #volume: Volume;
  #next = CLUSTER_FIRST;

  constructor(image: Uint8Array, volume: Volume) {
    this.#image = image;
    this.#volume = volume;
  }

  /** Writes what is in a folder. @param own First cluster of the folder; 0 for the root */
  writeChildren({ children }: Folder, own: number): Entry[] {
    return Array.from(children, ([name, child]) => {
      if (child instanceof Uint8Array) {
        const firstCluster = this.#reserve(child.length);
        if (firstCluster > 0) this.#image.set(child, toOffset(this.#volume, firstCluster));
        return { name, isDirectory: false, firstCluster, size: child.length };
      }
      const firstCluster = this.#reserve(countFolderBytes(child));
      const entries = this.writeChildren(child, firstCluster);
      const bytes = formatDirectory(entries, { own: firstCluster, parent: own });
      this.#image.set(bytes, toOffset(this.#volume, firstCluster));
      return { name, isDirectory: true, firstCluster, size: 0 };
    });
  }

  /** @returns The first cluster; 0 if there are no bytes */
  #reserve(bytes: number): number {
    const count = Math.ceil(bytes / this.#volume.clusterBytes);
    if (count === 0) return 0;
    const first = this.#next;
    this.#next += count;
    this.extents.push({ first, count });
    return first;
  }
}

function toTree(files: MachineSeed["files"]): Folder {
  const root: Folder = { children: new Map() };
  const encoder = new TextEncoder();
  const sorted = Object.entries(files).toSorted(([one], [other]) => (one < other ? -1 : 1));
  for (const [path, content] of sorted) {
    const folders = path.split("/");
    const name = folders.pop() ?? "";
    let folder: Folder | undefined = root;
    for (const one of folders) folder = folder && enter(folder, one);
    const isFree = folder !== undefined && !hasName(folder, name);
    if (folder === undefined || !isFree || !isFatName(name)) {
      throw new RangeError(`Cannot make a seed image: it can have no file ${JSON.stringify(path)}`);
    }
    folder.children.set(name, encoder.encode(content));
  }
  return root;
}

/** The folder of this name, which is made if it is missing. @returns `undefined` if there can be none */
function enter(folder: Folder, name: string): Folder | undefined {
  const found = folder.children.get(name);
  if (found !== undefined) return found instanceof Uint8Array ? undefined : found;
  if (hasName(folder, name) || !isFatName(name)) return undefined;
  const made: Folder = { children: new Map() };
  folder.children.set(name, made);
  return made;
}

/** Names that differ only in case are the same name. */
function hasName({ children }: Folder, name: string): boolean {
  const lower = name.toLowerCase();
  return children.keys().some((one) => one.toLowerCase() === lower);
}

function countClusters(folder: Folder, volume: Volume): number {
  return folder.children
    .values()
    .map((child) => {
      const isFile = child instanceof Uint8Array;
      const bytes = isFile ? child.length : countFolderBytes(child);
      const own = Math.ceil(bytes / volume.clusterBytes);
      return isFile ? own : own + countClusters(child, volume);
    })
    .reduce((sum, count) => sum + count, 0);
}

/** With `.` and `..`. */
function countFolderBytes(folder: Folder): number {
  return (2 + countNames(folder)) * ENTRY_BYTES;
}

/** With the label. */
function countRoot(root: Folder): number {
  return 1 + countNames(root);
}

function countNames({ children }: Folder): number {
  return children.keys().reduce((sum, name) => sum + countEntries(name), 0);
}
