import { expect, test } from "bun:test";
import {
  CLUSTER_FIRST,
  formatVolume,
  listVolumes,
  toOffset,
  toShortName,
  writeTables,
} from "../../lib/cloud/fat.ts";

const SHORT_NAMES: readonly [name: string, short: string, ...taken: string[]][] = [
  ["README.TXT", "README  TXT"],
  ["latest", "LATEST     "],
  ["user-data", "USER-D~1   "],
  ["user-data", "USER-D~2   ", "USER-D~1   "],
  ["network_data.json", "NETWOR~1JSO"],
  ["a.b.c", "AB~1    C  "],
  ["a b", "AB~1       "],
  ["latest", "LATEST~1   ", "LATEST     "],
  ["++", "~1         "],
];
for (const [name, short, ...taken] of SHORT_NAMES) {
  test(`toShortName() makes "${short}" of "${name}" beside ${taken.length} others`, () => {
    expect(toShortName(name, new Set(taken))).toBe(short);
  });
}

test("toShortName() makes room for numbers of several digits", () => {
  const taken = new Set(Array.from({ length: 9 }, (_, at) => `USER-D~${at + 1}   `));
  expect(toShortName("user-data", taken)).toBe("USER-~10   ");
});

/** With more clusters, programs take a volume for FAT16. */
const CLUSTERS_MAX = 4084;

for (const volume of listVolumes()) {
  const { bytes, clusterBytes, clusters } = volume;
  test(`a volume of ${bytes} bytes is FAT12, and has room for all its clusters`, () => {
    expect(clusters).toBeLessThanOrEqual(CLUSTERS_MAX);
    const end = toOffset(volume, CLUSTER_FIRST + clusters);
    expect(end).toBeLessThanOrEqual(bytes);
    expect(end + clusterBytes).toBeGreaterThan(bytes);
  });
}

test("formatVolume() writes the label where boot loaders read it", () => {
  const [volume] = listVolumes();
  const image = volume && Buffer.from(formatVolume(volume, "cidata"));
  expect(image?.toString("latin1", 43, 62)).toBe("cidata     FAT12   ");
});

test("writeTables() links the clusters of each file, in both tables", () => {
  const image = new Uint8Array(16 * 1024);
  writeTables(image, [
    { first: 2, count: 3 },
    { first: 5, count: 1 },
  ]);
  const links = [0xf8, 0xff, 0xff, 0x03, 0x40, 0x00, 0xff, 0xff, 0xff];
  expect(Array.from(image.subarray(512, 512 + links.length))).toEqual(links);
  expect(image.subarray(512 + 12 * 512, 512 + 24 * 512)).toEqual(
    image.subarray(512, 512 + 12 * 512),
  );
});
