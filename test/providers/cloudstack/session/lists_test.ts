/**
 * Lists and their pages: what counts as the same list, and what is read in full.
 * @module
 */
import { describe, expect, test } from "bun:test";
import type { CloudError } from "../../../../lib/cloud/errors.ts";
import {
  type ListVersion,
  type Page,
  type PagedList,
  PageReader,
  readList,
  type VersionedList,
} from "../../../../lib/providers/cloudstack/session/lists.ts";
import { type Body, parseBody } from "../../../../lib/providers/cloudstack/session/reply.ts";
import { type Project, SCHEMAS } from "../../../../lib/providers/cloudstack/wire/schema.ts";
import { ApiError } from "../../../../lib/providers/cloudstack/session/errors.ts";
import { Facts, parseVersion } from "../../../../lib/providers/cloudstack/session/facts.ts";
import { CloudStackSession } from "../../../../lib/providers/cloudstack/session/session.ts";
import { useCloudStack } from "../../../support/cloud/cloudstack_rig.ts";
import { FakeCloudStack, reply, toDeps, toSettings } from "../fake_server.ts";

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
    const odd = [{ name: "Odd" }, { id: toId(2), name: 7 }, null, "text"];
    const read = { id: toId(1).toUpperCase(), name: "readable" };
    const zones = JSON.stringify({ r: { count: 5, zone: [read, ...odd] } });
    const listed = await readTexts(() => zones);
    if (listed === "unchanged") throw new Error("nothing was known");
    const { objects, undecodable, unreadable } = listed.list;
    expect(objects).toEqual([{ ...read, id: toId(1) }]);
    expect([...undecodable.keys()]).toEqual(["#1", toId(2), "#3", "#4"]);
    expect(unreadable).toEqual([{ name: "Odd" }, { id: toId(2), name: 7 }, {}, {}]);
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

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, at) => from + at);
}

interface NumberPage extends Page {
  readonly objects: readonly number[];
}

function toPage(objects: readonly number[], count?: number): Promise<NumberPage> {
  return Promise.resolve({
    objects,
    length: objects.length,
    ...(count !== undefined && { count }),
  });
}

function listObjects({ pages }: PagedList<NumberPage>): number[] {
  return pages.flatMap(({ objects }) => objects);
}

/** A server with so many objects. */
function createList(total: number, asked: string[] = []) {
  return (page: number, size: number): Promise<NumberPage> => {
    asked.push(`${page}/${size}`);
    const from = Math.min((page - 1) * size, total);
    return toPage(range(from, Math.min(from + size, total)), total);
  };
}

function refuseSize(): Promise<never> {
  const text = "Page size can not exceed max allowed page size value: 100";
  return Promise.reject(new ApiError({ code: 431, text }, { command: "listX", secrets: [] }));
}

describe("PageReader", () => {
  test.each([
    [0, ["1/500"]],
    [1, ["1/500"]],
    [499, ["1/500"]],
    [500, ["1/500"]],
    [501, ["1/500", "2/500"]],
    [1_000, ["1/500", "2/500"]],
    [1_001, ["1/500", "2/500", "3/500"]],
  ])("reads %i objects by the fewest pages", async (total, pages) => {
    const asked: string[] = [];
    const list = await new PageReader().readAll(createList(total, asked));
    expect([listObjects(list), list.gap]).toEqual([range(0, total), undefined]);
    expect(asked).toEqual(pages);
  });

  test("a list without a count is whole when its last page is not full", async () => {
    const pages = [range(0, 500), range(500, 700)];
    const list = await new PageReader().readAll((page) => toPage(pages[page - 1] ?? []));
    expect([listObjects(list), list.gap]).toEqual([range(0, 700), undefined]);
  });

  test("a list that never ends is cut", async () => {
    let asked = 0;
    const list = await new PageReader().readAll(() => {
      asked += 1;
      return toPage([1, 2, 3, ...range(3, 500)], 10 ** 9);
    });
    expect([asked, list.gap]).toEqual([200, "the list has more than 200 pages"]);
  });

  test("a size that the server refuses shrinks, and the server is not asked for it again", async () => {
    const asked: string[] = [];
    const reader = new PageReader();
    const readPage = (page: number, size: number): Promise<NumberPage> => {
      if (size <= 100) return createList(150, asked)(page, size);
      asked.push(`${page}/${size}`);
      return refuseSize();
    };
    expect(listObjects(await reader.readAll(readPage))).toHaveLength(150);
    expect(asked).toEqual(["1/500", "1/200", "1/100", "2/100"]);
    await reader.readAll(readPage);
    expect(asked.slice(4)).toEqual(["1/100", "2/100"]);
  });

  test("a server that refuses every size, or refuses for another reason, is believed", async () => {
    await expect(new PageReader().readAll(refuseSize)).rejects.toThrow("Page size");
    let asked = 0;
    const other = new ApiError({ code: 431, text: "zoneid" }, { command: "x", secrets: [] });
    const refuse = (): Promise<never> => {
      asked += 1;
      return Promise.reject(other);
    };
    await expect(new PageReader().readAll(refuse)).rejects.toBe(other);
    expect(asked).toBe(1);
  });
});

const signal = new AbortController().signal;
const rig = useCloudStack();

function open(more: object = {}): Facts {
  const { url, apiKey, secretKey } = rig.simulator;
  const settings = toSettings(url, { apiKey, secretKey, ...more });
  const session = new CloudStackSession(settings, { ...toDeps(), clock: rig.clock });
  return new Facts(session, settings);
}

function findProjectName(): string {
  const project = rig.simulator.state.projects.get(rig.story.projectId);
  if (project === undefined) throw new Error("the world has no project");
  return project.name;
}

describe("parseVersion()", () => {
  test.each([
    ["4.22.0.0", { major: 4, minor: 22, patch: 0 }],
    ["4.17.1.0-SNAPSHOT", { major: 4, minor: 17, patch: 1 }],
    ["4.18", { major: 4, minor: 18, patch: 0 }],
    ["", undefined],
    ["main", undefined],
    ["4", undefined],
  ])("reads %j", (text, version) => expect(parseVersion(text)).toEqual(version));
});

describe("readProjectId()", () => {
  test("asks for nothing without a project, or with a UUID", async () => {
    expect(await open().readProjectId(signal)).toBeUndefined();
    const id = "AAAAAAAA-1111-4111-8111-AAAAAAAAAAAA";
    expect(await open({ projectId: id }).readProjectId(signal)).toBe(id.toLowerCase());
    expect(rig.simulator.requests.entries).toHaveLength(0);
  });

  test("finds a project by its name in any case, and asks once", async () => {
    const facts = open({ projectId: findProjectName().toUpperCase() });
    expect(await facts.readProjectId(signal)).toBe(rig.story.projectId);
    expect(await facts.readProjectId(signal)).toBe(rig.story.projectId);
    expect(rig.simulator.requests.count("listProjects")).toBe(1);
  });

  test("says what to do when there is none, and asks again", async () => {
    const facts = open({ projectId: "nowhere" });
    for (let tries = 0; tries < 2; tries += 1) {
      await expect(facts.readProjectId(signal)).rejects.toThrow(
        'no project with the name "nowhere"; check project-id',
      );
    }
    expect(rig.simulator.requests.count("listProjects")).toBe(2);
  });

  test("does not take a part of a name for the name, nor one of several", async () => {
    const fake = new FakeCloudStack();
    // Without a name, a project cannot be read.
    const find = async (...names: (string | undefined)[]): Promise<string | undefined> => {
      const project = names.map((name, at) => ({ id: toId(at), name: name ?? 7 }));
      fake.answer = ({ command }) => reply(command, { count: names.length, project });
      const settings = toSettings(fake.url, { projectId: "kube" });
      const session = new CloudStackSession(settings, toDeps());
      return await new Facts(session, settings).readProjectId(signal);
    };
    await expect(find("kube-2")).rejects.toThrow("no project");
    await expect(find("kube", "kube-2", undefined)).rejects.toThrow("not whole");
    await expect(find("kube", "Kube")).rejects.toThrow("2 projects");
    expect(await find("kube-2", "KUBE")).toBe(toId(1));
    await fake.stop();
  });

  test("takes no project from a list that is not whole: another one may have the name", async () => {
    const facts = open({ projectId: findProjectName() });
    const end = rig.simulator.faults.set({ kind: "json", body: shortList() });
    await expect(facts.readProjectId(signal)).rejects.toThrow("not whole");
    end();
    expect(await facts.readProjectId(signal)).toBe(rig.story.projectId);
  });
});

/** One project of two. */
function shortList(): object {
  const project = [{ id: rig.story.projectId, name: findProjectName() }];
  return { listprojectsresponse: { count: 2, project } };
}

describe("inProject()", () => {
  test("finds a project again that was deleted and created again under its name", async () => {
    const facts = open({ projectId: findProjectName() });
    const ask = (id: string | undefined): Promise<string | undefined> => Promise.resolve(id);
    expect(await facts.inProject(ask, signal)).toBe(rig.story.projectId);
    const gone = (id = ""): Promise<never> => Promise.reject(toUnknownProject(id));
    await expect(facts.inProject(gone, signal)).rejects.toThrow("431");
    await facts.inProject(ask, signal);
    expect(rig.simulator.requests.count("listProjects")).toBe(2);
  });

  test("keeps the project after any other failure", async () => {
    const facts = open({ projectId: findProjectName() });
    const other = (): Promise<never> => Promise.reject(toUnknownProject(toId(9)));
    await expect(facts.inProject(other, signal)).rejects.toThrow("431");
    await facts.readProjectId(signal);
    expect(rig.simulator.requests.count("listProjects")).toBe(1);
  });
});

function toUnknownProject(id: string): ApiError {
  const text = `Invalid parameter projectid value=${id} due to incorrect long value format, or entity does not exist`;
  return new ApiError({ code: 431, text }, { command: "listVirtualMachines", secrets: [] });
}

describe("readVersion()", () => {
  test("believes the settings, and asks for nothing", async () => {
    const facts = open({ version: "4.19.1.0" });
    expect(await facts.readVersion(signal)).toEqual({ major: 4, minor: 19, patch: 1 });
    expect(rig.simulator.requests.entries).toHaveLength(0);
  });

  test("asks the server once, when it is needed", async () => {
    const facts = open();
    expect(await facts.readVersion(signal)).toEqual({ major: 4, minor: 22, patch: 0 });
    expect(await facts.readVersion(signal)).toEqual({ major: 4, minor: 22, patch: 0 });
    expect(rig.simulator.requests.count("listCapabilities")).toBe(1);
  });

  test("a version that cannot be read is none", async () => {
    rig.simulator.settings.version = "main";
    expect(await open().readVersion(signal)).toBeUndefined();
  });
});
