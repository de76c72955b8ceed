/**
 * Lists that are read again: what counts as the same list, and what is read in full.
 * @module
 */
import { describe, expect, test } from "bun:test";
import type { CloudError } from "../../../../lib/cloud/errors.ts";
import {
  type ListVersion,
  readList,
  type VersionedList,
} from "../../../../lib/providers/cloudstack/session/lists.ts";
import { PageReader } from "../../../../lib/providers/cloudstack/session/pages.ts";
import { type Body, parseBody } from "../../../../lib/providers/cloudstack/session/reply.ts";
import { type Project, SCHEMAS } from "../../../../lib/providers/cloudstack/wire/schema.ts";

const QUERY = { command: "listZones", key: "zone", schema: SCHEMAS.project };
const SIZE = 500;

function toId(number: number): string {
  return `aaaaaaaa-1111-4111-8111-${String(number).padStart(12, "0")}`;
}

/** Zones with names of one letter, and a few others by their number. */
function toZones(total: number, others: Readonly<Record<number, string>> = {}): Project[] {
  return Array.from({ length: total }, (_, at) => ({ id: toId(at), name: others[at] ?? "z" }));
}

type Listed = VersionedList<Project> | "unchanged";

/** Reads a list of zones. @param count What the server says instead of how many there are */
function read(zones: readonly Project[], known?: ListVersion, count?: number): Promise<Listed> {
  return readTexts((page) => {
    const zone = zones.slice((page - 1) * SIZE, page * SIZE);
    return JSON.stringify({ listzonesresponse: { count: count ?? zones.length, zone } });
  }, known);
}

function readTexts(toText: (page: number) => string, known?: ListVersion): Promise<Listed> {
  return readList(QUERY, {
    pages: new PageReader(),
    known,
    ask: ({ page }, isKnown): Promise<Body | undefined> => {
      const text = toText(Number(page));
      return Promise.resolve(isKnown(text) ? undefined : parseBody(text));
    },
  });
}

async function readVersion(zones: readonly Project[]): Promise<ListVersion> {
  const listed = await read(zones);
  if (listed === "unchanged" || listed.version === undefined) throw new Error("no version");
  return listed.version;
}

describe("readList()", () => {
  test.each([0, 1, 500, 501, 1_200])("finds %i objects unchanged", async (total) => {
    const version = await readVersion(toZones(total));
    expect(await read(toZones(total), version)).toBe("unchanged");
    expect(await read(toZones(total), version)).toBe("unchanged");
  });

  test.each<[what: string, after: readonly Project[]]>([
    ["an object of the first page", toZones(1_200, { 0: "new" })],
    ["an object of a page between", toZones(1_200, { 700: "new" })],
    ["an object of the last page", toZones(1_200, { 1_199: "new" })],
    ["an object on each page", toZones(1_200, { 0: "new", 700: "new", 1_199: "new" })],
    ["the number of objects, upwards", toZones(1_201)],
    ["the number of objects, by a page less", toZones(1_000)],
    ["everything", []],
  ])("reads all of a list in full when it differs in %s", async (_what, after) => {
    const version = await readVersion(toZones(1_200));
    const listed = await read(after, version);
    const fresh = await read(after);
    expect(listed).toEqual(fresh);
    expect(listed === "unchanged" ? [] : listed.list.objects).toEqual([...after]);
    // What was read now is what counts from now on.
    expect(await read(after, await readVersion(after))).toBe("unchanged");
  });

  test("takes pages of which one became a copy of another for a list that changed", async () => {
    const version = await readVersion(toZones(1_000));
    const first = toZones(1_000).slice(0, SIZE);
    const text = JSON.stringify({ listzonesresponse: { count: 1_000, zone: first } });
    const listed = await readTexts(() => text, version);
    expect(listed).not.toBe("unchanged");
  });

  test("never finds a list unchanged that may lack objects, and has no version of it", async () => {
    const short = await read(toZones(3), undefined, 4);
    expect(short).toMatchObject({ list: { gap: expect.stringContaining("counts 4") } });
    expect(short).not.toHaveProperty("version");
    // The pages are known, but the list ends too early now.
    const version = await readVersion(toZones(1_000));
    const cut = await readTexts((page) => {
      const zone = page === 1 ? toZones(1_000).slice(0, SIZE) : [];
      return JSON.stringify({ listzonesresponse: { count: 1_000, zone } });
    }, version);
    expect(cut).toMatchObject({ list: { gap: expect.stringContaining("500 objects") } });
    expect(cut === "unchanged" ? 0 : cut.list.objects.length).toBe(SIZE);
  });

  test("keeps what cannot be read out of a list, and the list unchanged", async () => {
    const zones = JSON.stringify({ r: { count: 2, zone: [{ id: toId(1) }, { name: "Odd" }] } });
    const listed = await readTexts(() => zones);
    if (listed === "unchanged") throw new Error("nothing was known");
    expect([...listed.list.undecodable.keys()]).toEqual(["#1"]);
    expect(listed.list.unreadableNames).toEqual(new Set(["odd"]));
    expect(await readTexts(() => zones, listed.version)).toBe("unchanged");
  });

  test.each([{ zone: {} }, { zone: "a" }, { zone: null }, { zones: [] }, { allowed: true }])(
    "refuses %j instead of a list",
    async (body) => {
      const failure = await readTexts(() => JSON.stringify({ r: body })).catch((error) => error);
      expect(failure).toMatchObject({ kind: "protocol" } satisfies Partial<CloudError>);
    },
  );

  test("an error of a page is the error of the list", async () => {
    const version = await readVersion(toZones(700));
    const failing = readTexts((page) => {
      if (page === 2) throw new Error("no page 2");
      return JSON.stringify({ r: { count: 700, zone: toZones(700).slice(0, SIZE) } });
    }, version);
    await expect(failing).rejects.toThrow("no page 2");
  });
});
