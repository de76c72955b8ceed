import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { SEED_IMAGE_BYTES_MAX, toSeedImage } from "../../lib/cloud/seed_image.ts";
import { readFat } from "../support/cloud/fat_reader.ts";
import { tries } from "../support/extent.ts";

const MIB = 1024 * 1024;
const NO_CLOUD = {
  "meta-data": "instance-id: vino-1b4e28ba-worker-3\n",
  "network-config": "version: 2\n",
  "user-data": "#cloud-config\n",
};

/** Names that differ not only in case. */
const fileName = fc.stringMatching(/^[a-z0-9][a-z0-9_.~-]{0,40}[a-z0-9]$/);
const content = fc.string({ unit: "grapheme", maxLength: 3000 });
const tree = fc.dictionary(
  fc
    .tuple(fc.constantFrom("", "openstack/", "openstack/latest/", "e/f/"), fileName)
    .map((parts) => parts.join("")),
  content,
  { maxKeys: 24, noNullPrototype: true },
);

/** Without folders. */
function readFiles(image: Uint8Array): Record<string, string> {
  return Object.fromEntries(
    Object.entries(readFat(image).files).filter(([path]) => !path.endsWith("/")),
  );
}

function hasFolderAsFile(files: Readonly<Record<string, string>>): boolean {
  return Object.keys(files).some((path) =>
    Object.keys(files).some((one) => one.startsWith(`${path}/`)),
  );
}

test("toSeedImage() writes the label and the files, also in folders", () => {
  const files = { ...NO_CLOUD, "openstack/latest/network_data.json": '{"links":[]}', empty: "" };
  const content = readFat(toSeedImage({ label: "cidata", files }));
  expect(content).toEqual({
    label: "cidata",
    files: { ...files, "openstack/": "", "openstack/latest/": "" },
  });
});

test("toSeedImage() writes any files so that they are read back", () => {
  fc.assert(
    fc.property(
      tree.filter((files) => !hasFolderAsFile(files)),
      (files) => {
        expect(readFiles(toSeedImage({ label: "config-2", files }))).toEqual(files);
      },
    ),
    tries(50),
  );
});

test("toSeedImage() gives the same bytes for the same files in another order", () => {
  const image = toSeedImage({ label: "cidata", files: NO_CLOUD });
  const reversed = Object.fromEntries(Object.entries(NO_CLOUD).toReversed());
  expect(Bun.hash(toSeedImage({ label: "cidata", files: reversed }))).toBe(Bun.hash(image));
  const other = toSeedImage({ label: "cidata", files: { ...NO_CLOUD, "meta-data": "" } });
  expect(Bun.hash(other)).not.toBe(Bun.hash(image));
});

const SIZES = [
  { bytes: 0, image: 2 },
  { bytes: 1 * MIB, image: 2 },
  { bytes: 2 * MIB, image: 4 },
  { bytes: 4 * MIB, image: 8 },
  { bytes: 7.9 * MIB, image: 8 },
];
for (const { bytes, image } of SIZES) {
  test(`toSeedImage() makes ${image} MiB for a file of ${bytes / MIB} MiB`, () => {
    const files = { ...NO_CLOUD, "user-data": "ü".repeat(bytes / 2) };
    const made = toSeedImage({ label: "cidata", files });
    expect(made).toHaveLength(image * MIB);
    expect(readFiles(made)).toEqual(files);
  });
}

test("toSeedImage() uses the last cluster, and not one more", () => {
  const clusters = 4039;
  const make = (bytes: number): Uint8Array =>
    toSeedImage({ label: "x", files: { a: "y".repeat(bytes) } });
  expect(make(clusters * 512)).toHaveLength(2 * MIB);
  expect(readFiles(make(clusters * 512))).toEqual({ a: "y".repeat(clusters * 512) });
  expect(make(clusters * 512 + 1)).toHaveLength(4 * MIB);
});

test("toSeedImage() gives names that look alike different short names", () => {
  const names = Array.from({ length: 120 }, (_, at) => `network_data.${at}.json`);
  const files = Object.fromEntries(names.map((name) => [`folder/${name}`, name]));
  const image = toSeedImage({ label: "cidata", files });
  expect(readFiles(image)).toEqual(files);
  const shorts =
    Buffer.from(image)
      .toString("latin1")
      .match(/NETW[O~][R~0-9]{2}.JSO/g) ?? [];
  expect(new Set(shorts).size).toBe(names.length);
});

describe("toSeedImage() refuses", () => {
  const CASES: readonly {
    what: string;
    label?: string;
    files: Record<string, string>;
    message: string;
  }[] = [
    {
      what: "what does not fit",
      files: { big: "x".repeat(SEED_IMAGE_BYTES_MAX) },
      message: "do not fit into 8 MiB",
    },
    {
      what: "more names than the root has room for",
      files: Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`f${at}`, ""])),
      message: "do not fit into 8 MiB",
    },
    { what: "a label that is too long", label: "longer-than-11", files: {}, message: "label" },
    { what: "an empty label", label: "", files: {}, message: "label" },
    { what: "a name that differs only in case", files: { a: "", A: "" }, message: '"a"' },
    { what: "a file that is a folder, too", files: { a: "", "a/b": "" }, message: '"a/b"' },
    ...[
      "",
      "/a",
      "a/",
      "a//b",
      "../a",
      "a:b",
      'a"b',
      "a\nb",
      "ä",
      "a.",
      " a",
      "a\\b",
      "x".repeat(201),
    ].map((path) => ({
      what: `the name ${JSON.stringify(path.slice(0, 20))}`,
      files: { [path]: "secret" },
      message: JSON.stringify(path),
    })),
  ];
  for (const { what, label = "cidata", files, message } of CASES) {
    test(what, () => {
      const make = (): Uint8Array => toSeedImage({ label, files });
      expect(make).toThrow(RangeError);
      expect(make).toThrow(message);
    });
  }
});
