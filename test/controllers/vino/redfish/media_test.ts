/**
 * Virtual media at the door: requests of Redfish in, an image in a simulated Xen Orchestra out.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createServer } from "node:http";
import { VinoManagement } from "../../../../lib/controllers/vino/redfish/management.ts";
import {
  type MediaSettings,
  parseImageUrl,
} from "../../../../lib/controllers/vino/redfish/media.ts";
import type { ManagedMachine } from "../../../../lib/controllers/vino/redfish/credentials.ts";
import { createLogger } from "../../../../lib/core/log.ts";
import { MetricsRegistry } from "../../../../lib/core/metrics.ts";
import { createRedfishMetrics } from "../../../../lib/http/redfish/metrics.ts";
import { createRedfishService } from "../../../../lib/http/redfish/service.ts";
import { loginOf, SecretsDouble } from "../../../support/vino/management_rig.ts";
import { passUntil } from "../../../support/manual_clock.ts";
import { shorten } from "../../../support/net/short_way.ts";
import { OWNER, Rig, ROLE, USER } from "../../../providers/xenorchestra/machines/rig.ts";

const IMAGE = new Uint8Array(3 * 1024 ** 2).fill(7);
const SYSTEM = "/redfish/v1/Systems/";

let rig: Rig;
/** Where images are. */
let source: { readonly url: string; readonly way: Disposable };
/** How often each path was fetched. */
let fetched: string[];
/** Lets the slow path answer. */
let open: () => void;
let ids: string[];
let lines: string[];
let service: ReturnType<typeof createRedfishService>;
/** Takes a machine from its clients, as when its host is gone. */
let release: (id: string) => Promise<string | undefined>;
let ended: AbortController;

interface Told {
  readonly status: number;
  readonly json: Readonly<Record<string, unknown>>;
}

/** Lets time pass until some work is over. */
let pass: <T>(work: Promise<T>) => Promise<T>;

/** For work that waits for a socket, which may take a while on a busy machine. */
async function passSlowly<T>(work: Promise<T>): Promise<T> {
  const late = Symbol("late");
  work.catch(() => {});
  for (;;) {
    const first = await Promise.race([work, Bun.sleep(20).then(() => late)]);
    if (first !== late) return await work;
    await rig.clock.advance(100);
  }
}

async function ask(id: string, path: string, body?: object): Promise<Told> {
  const { username, password } = loginOf(id);
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  const request = new Request(`https://bmc${SYSTEM}${id}${path}`, {
    headers: { authorization, "content-type": "application/json" },
    ...(body && { method: path === "" ? "PATCH" : "POST", body: JSON.stringify(body) }),
  });
  const response = await pass(Promise.resolve(service.fetch(request, { address: "192.0.2.1" })));
  const text = await response.text();
  return { status: response.status, json: text === "" ? {} : JSON.parse(text) };
}

const CD = "/VirtualMedia/Cd";
const insert = (id: string, path: string, more: object = {}): Promise<Told> =>
  ask(id, `${CD}/Actions/VirtualMedia.InsertMedia`, { Image: `${source.url}${path}`, ...more });
const eject = (id: string): Promise<Told> => ask(id, `${CD}/Actions/VirtualMedia.EjectMedia`, {});
const drive = async (id: string): Promise<unknown> => (await ask(id, CD)).json;

/** The images of ours in the storage. */
function listImages(): readonly string[] {
  return [...rig.simulator.state.all("vdis").values()]
    .map((one) => String(one["name_label"]))
    .filter((name) => name.includes("-iso."));
}

function lead(media: Partial<MediaSettings> = {}, others: readonly ManagedMachine[] = []): void {
  const vino = { name: OWNER.name, uid: OWNER.uid };
  const machines = ids.map((id, index): ManagedMachine => {
    const name = `vino-1b4e28ba-worker-${index}`;
    const common = { namespace: "metal", secretName: id, overrideName: `${id}-o` };
    return { id, name, vino, isInstalled: true, ...common };
  });
  const secrets = new SecretsDouble();
  for (const id of ids) secrets.set(id, loginOf(id));
  const { clock, fence } = rig;
  const write = (line: string): void => void lines.push(line);
  const log = createLogger({ format: "text", write, now: () => 0 });
  const management = new VinoManagement({
    listMachines: () => [...others, ...machines],
    power: rig.machines.power,
    client: secrets,
    fence,
    clock,
    log,
    media: { storage: "ISOs", sources: [`${source.url}ok/`, `${source.url}secret/`], ...media },
    warn: () => {},
  });
  ended = new AbortController();
  const { signal } = ended;
  release = async (id) => {
    const machine = machines.find((one) => one.id === id);
    return machine && (await pass(management.release(machine, signal)));
  };
  void management.run(signal);
  const metrics = createRedfishMetrics(new MetricsRegistry());
  service = createRedfishService({ management, metrics, clock, log, version: "1", signal });
}

function toRedirect(location: string): Response {
  return new Response("", { status: 302, headers: { location } });
}

describe("virtual media", () => {
  beforeEach(async () => {
    fetched = [];
    lines = [];
    const gate = Promise.withResolvers<void>();
    open = () => gate.resolve();
    const answer = async (request: Request): Promise<Response> => {
      const { pathname, search } = new URL(request.url);
      fetched.push(`${pathname}${search}`);
      const redirect = /^\/ok\/to-(\w+)$/.exec(pathname)?.[1];
      if (redirect === "ok") return toRedirect("/ok/a.iso");
      if (redirect === "file") return toRedirect("file:///etc/passwd");
      if (redirect === "other") return toRedirect("/other/a.iso");
      if (redirect === "itself") return toRedirect("/ok/to-itself");
      if (pathname === "/ok/slow") await gate.promise;
      if (pathname === "/ok/missing") return new Response("", { status: 404 });
      if (pathname === "/ok/endless") {
        return new Response(new ReadableStream({ pull: (c) => c.enqueue(IMAGE) }));
      }
      if (pathname === "/ok/held") {
        const half = IMAGE.subarray(0, IMAGE.length / 2);
        const body = new ReadableStream({ start: (c) => c.enqueue(half) });
        return new Response(body, { headers: { "content-length": `${IMAGE.length}` } });
      }
      return new Response(IMAGE, { headers: { "content-length": `${IMAGE.length}` } });
    };
    // No program listens there once the way has ended.
    const url = "http://127.0.0.1:1/";
    const way = shorten(url, async (request) => ({
      kind: "reply",
      response: await answer(request),
      isHalf: false,
    }));
    source = { url, way };
    rig = await Rig.start(ROLE);
    pass = (work) => passUntil(rig.clock, work);
    rig.simulator.auth.setPrivileges(USER.username, ROLE, [rig.site.poolIds.paris]);
    ids = [];
    for (const index of [0, 1]) {
      const spec = rig.spec({
        index,
        template: "vino-diskless",
        disks: [],
        isStarted: false,
        interfaces: [],
      });
      await rig.make(spec);
      ids.push(rig.vm(spec).id);
    }
    lead();
  });
  afterEach(async () => {
    ended.abort();
    source.way[Symbol.dispose]();
    await rig.stop();
  });

  test("copies an image once for all machines of a Vino, and removes it when the last one ejects it", async () => {
    const [a = "", b = ""] = ids;
    expect(await drive(a)).toMatchObject({
      Inserted: false,
      Image: null,
      ConnectedVia: "NotConnected",
    });
    expect((await insert(a, "ok/a.iso")).status).toBe(204);
    expect(await drive(a)).toMatchObject({ Inserted: true, Image: `${source.url}ok/a.iso` });
    expect((await insert(b, "ok/a.iso")).status).toBe(204);
    expect((await insert(b, "ok/a.iso")).status).toBe(204);
    expect(fetched).toEqual(["/ok/a.iso"]);
    const [name = "", ...others] = listImages();
    expect(others).toEqual([]);
    expect(name).toMatch(/^vino-1b4e28ba-iso\.[0-9a-f]{16}\.iso$/);
    const image = [...rig.simulator.state.all("vdis").values()].find(
      (one) => one["name_label"] === name,
    );
    expect(rig.simulator.cloud.backend.contents.get(String(image?.id))).toEqual(IMAGE);
    expect((await eject(a)).status).toBe(204);
    expect(listImages()).toEqual([name]);
    expect((await eject(b)).status).toBe(204);
    expect(await drive(b)).toMatchObject({ Inserted: false });
    expect(listImages()).toEqual([]);
    expect((await eject(b)).status).toBe(204);
  });

  test("takes its image out of the drive of a machine whose host is gone", async () => {
    const [a = "", b = ""] = ids;
    await insert(a, "ok/a.iso");
    expect(await release(a)).toBeUndefined();
    expect(await rig.machines.power.media?.readDrive(a, rig.signal)).toBeUndefined();
    expect(listImages()).toEqual([]);
    expect((await insert(a, "ok/a.iso")).status).toBe(401);
    await insert(b, "ok/b.iso");
    for (const [, image] of rig.simulator.state.all("vdis")) {
      if (String(image["name_label"]).includes("-iso.")) image["name_label"] = "rescue.iso";
    }
    expect(await release(b)).toBeUndefined();
    expect(await rig.machines.power.media?.readDrive(b, rig.signal)).toBeDefined();
  });

  test("puts no image into the drive of a machine whose host went meanwhile", async () => {
    const [a = "", b = ""] = ids;
    const { media } = rig.machines.power;
    if (media === undefined) throw new Error("Cannot test: there are no drives");
    await insert(b, "ok/a.iso");
    const find = media.findStorage.bind(media);
    let released: Promise<unknown> | undefined;
    media.findStorage = async (...args) => {
      released ??= release(a);
      await released;
      return await find(...args);
    };
    expect((await insert(a, "ok/a.iso")).status).toBe(404);
    expect(await media.readDrive(a, rig.signal)).toBeUndefined();
    expect(await media.readDrive(b, rig.signal)).toBeDefined();
  });

  test("gives up the copy for a machine whose host went meanwhile", async () => {
    const [a = ""] = ids;
    const late = insert(a, "ok/slow");
    await pass(rig.clock.sleep(1_000, rig.signal));
    expect(await release(a)).toBeUndefined();
    expect((await late).status).toBe(503);
    open();
    await pass(rig.clock.sleep(20_000, rig.signal));
    expect(listImages()).toEqual([]);
  });

  test("touches no machine whose name in the cloud is another one since the last inventory", async () => {
    const [a = ""] = ids;
    await insert(a, "ok/a.iso");
    await rig.refresh();
    const vm = rig.simulator.state.read("vms", a);
    if (vm) vm["name_label"] = "vino-99999999-worker-0";
    expect((await ask(a, CD)).status).toBe(404);
    expect((await insert(a, "ok/b.iso")).status).toBe(404);
    expect((await eject(a)).status).toBe(404);
    expect(fetched).toEqual(["/ok/a.iso"]);
    if (vm) vm["name_label"] = "vino-1b4e28ba-worker-0";
    expect(await drive(a)).toMatchObject({ Inserted: true, Image: `${source.url}ok/a.iso` });
  });

  test("boots a machine once from the CD", async () => {
    const [a = ""] = ids;
    await insert(a, "ok/a.iso");
    const boot = { BootSourceOverrideTarget: "Cd", BootSourceOverrideEnabled: "Once" };
    expect((await ask(a, "", { Boot: boot })).status).toBe(204);
    expect(Object(rig.simulator.state.read("vms", a)?.["boot"]).order).toStartWith("d");
    expect((await ask(a, "")).json["Boot"]).toMatchObject(boot);
  });

  test("inserts another image in place of the first, which it removes", async () => {
    const [a = ""] = ids;
    await insert(a, "ok/a.iso");
    expect((await insert(a, "ok/to-ok")).status).toBe(204);
    expect(await drive(a)).toMatchObject({ Image: `${source.url}ok/to-ok` });
    await pass(rig.clock.sleep(5_000, rig.signal));
    expect(listImages()).toHaveLength(1);
  });

  test("lets a client ask again while an image is copied, and copies it once", async () => {
    const [a = ""] = ids;
    const told = await insert(a, "ok/slow");
    expect([told.status, JSON.stringify(told.json)]).toEqual([
      503,
      expect.stringContaining("ask again"),
    ]);
    const held = insert(a, "ok/slow");
    open();
    expect((await held).status).toBe(204);
    expect(fetched).toEqual(["/ok/slow"]);
  });

  test("goes on after a change of leader: what is inserted stays, and what is left over goes", async () => {
    const [a = "", b = ""] = ids;
    await insert(a, "ok/a.iso");
    await insert(b, "ok/b.iso");
    ended.abort();
    // The drive was emptied by hand, so that an image is left over.
    const emptied = rig.machines.power.media?.eject(b, rig.fence, rig.signal);
    await pass(Promise.resolve(emptied));
    lead();
    await pass(rig.clock.sleep(20_000, rig.signal));
    expect(listImages()).toHaveLength(1);
    expect(await drive(a)).toMatchObject({ Inserted: true, Image: null });
    expect((await insert(a, "ok/a.iso")).status).toBe(204);
    expect(fetched).toEqual(["/ok/a.iso", "/ok/b.iso"]);
  });

  test.each([
    ["ok/missing", 400, "status 404"],
    ["ok/endless", 400, "does not say how long"],
    ["ok/to-file", 400, "http or https"],
    ["ok/to-other", 400, "an administrator allows it"],
    ["ok/to-itself", 400, "redirects too often"],
    ["other/a.iso", 400, "an administrator allows it"],
  ])("refuses %s with %d: %s", async (path, status, message) => {
    const told = await insert(ids[0] ?? "", path);
    expect([told.status, JSON.stringify(told.json)]).toEqual([
      status,
      expect.stringContaining(message),
    ]);
    expect(listImages()).toEqual([]);
  });

  test.each([
    ["http://user:secret@127.0.0.1/ok/", "without a user and password"],
    ["ftp://127.0.0.1/ok/a.iso", "http or https"],
    ["http://a.example.org/a.iso", "an administrator allows it"],
    ["http://a.example/../secret", "an administrator allows it"],
    ["http://a.example/ok/%2e%2e/secret", "an administrator allows it"],
    ["http://a.example/ok/..%2fsecret", "without %2F"],
    ["a.iso", "http or https"],
  ])("parseImageUrl() refuses %s: %s", (text, message) => {
    expect(() => parseImageUrl(text, ["http://a.example/ok/"])).toThrow(message);
    expect(parseImageUrl("http://a.example/ok/b", ["http://a.example/ok/"]).href).toBe(
      "http://a.example/ok/b",
    );
  });

  test("puts nothing of a URL but its host into a log or an error", async () => {
    const told = await insert(ids[0] ?? "", "secret/a.iso?token=hunter2");
    expect(told.status).toBe(204);
    source.way[Symbol.dispose]();
    pass = passSlowly;
    const later = await insert(ids[1] ?? "", "secret/b.iso?token=hunter3");
    expect(later.status).toBe(400);
    expect(JSON.stringify([lines, later.json])).not.toContain("hunter");
  });

  test.each([
    { UserName: "u", Password: "p" },
    { Inserted: false },
    { WriteProtected: false },
    { Other: 1 },
  ])("refuses to insert with %j", async (more) => {
    expect((await insert(ids[0] ?? "", "ok/a.iso", more)).status).toBe(400);
    expect(fetched).toEqual([]);
  });

  test("says that an image broke off, and not that the cloud is away", async () => {
    const broken = createServer((_request, response) => {
      response.writeHead(200, { "content-length": IMAGE.length });
      response.write(IMAGE.subarray(0, 1_000_000), () => response.destroy());
    });
    await new Promise<void>((resolve) => broken.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${Object(broken.address()).port}/`;
    ended.abort();
    lead({ sources: [url] });
    pass = passSlowly;
    const told = await insert(ids[0] ?? "", "", { Image: `${url}a.iso` });
    broken.close();
    expect([told.status, told.json]).toEqual([
      400,
      expect.objectContaining({
        error: expect.objectContaining({ message: expect.stringContaining("broke off") }),
      }),
    ]);
    expect(listImages()).toEqual([]);
  });

  test("says that the storage is full", async () => {
    const storage = rig.simulator.state.read("srs", rig.site.srIds.iso);
    if (storage) storage["size"] = 1_000;
    const told = await insert(ids[0] ?? "", "ok/a.iso");
    expect([told.status, JSON.stringify(told.json)]).toEqual([
      409,
      expect.stringContaining("insufficient space"),
    ]);
  });

  test.each([
    ["ISOs", 1],
    ["none", 2],
  ])(
    "check looks for the storage %s in each pool, and misses it in %d",
    async (isoStorage, count) => {
      const { signal } = rig;
      const inspected = rig.machines.inspect?.({ isManaged: false, isoStorage }, signal);
      const found = (await pass(Promise.resolve(inspected))) ?? [];
      const own = found.filter(({ code }) => code === "machines.isoStorage");
      expect(own.map(({ level }) => level)).toEqual(Array.from({ length: count }, () => "warning"));
      expect(own.every(({ message }) => message.includes(isoStorage))).toBe(true);
    },
  );

  test("removes what is left over also after a Vino whose pool has no storage", async () => {
    const [, b = ""] = ids;
    await insert(b, "ok/b.iso");
    ended.abort();
    await pass(Promise.resolve(rig.machines.power.media?.eject(b, rig.fence, rig.signal)));
    const uid = "aaaaaaaa-2fa1-41d2-883f-0016d3cca427";
    lead({}, [
      {
        id: "gone",
        name: "vino-aaaaaaaa-worker-0",
        vino: { name: "other", uid },
        isInstalled: true,
        namespace: "metal",
        secretName: "gone",
        overrideName: "gone-o",
      },
    ]);
    await pass(rig.clock.sleep(20_000, rig.signal));
    expect(listImages()).toEqual([]);
    expect(lines.filter((line) => line.includes("no machine of a Vino has"))).toHaveLength(1);
  });

  test("copies one image at a time for a machine, and the copy of another comes in between", async () => {
    const [a = "", b = ""] = ids;
    const all = Array.from({ length: 10 }, (_one, at) => insert(a, `ok/slow?${at}`));
    const told = await Promise.all(all);
    expect(told.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 503));
    expect((await insert(b, "ok/b.iso")).status).toBe(204);
    const last = insert(a, "ok/slow?last");
    open();
    expect((await last).status).toBe(204);
    await pass(rig.clock.sleep(5_000, rig.signal));
    expect(listImages()).toHaveLength(2);
  });

  test("removes an image that a machine never took when it asks for another", async () => {
    const [a = ""] = ids;
    expect((await insert(a, "ok/slow")).status).toBe(503);
    open();
    await pass(rig.clock.sleep(5_000, rig.signal));
    expect(listImages()).toHaveLength(1);
    expect((await insert(a, "ok/a.iso")).status).toBe(204);
    await pass(rig.clock.sleep(5_000, rig.signal));
    expect(listImages()).toHaveLength(1);
    expect(await drive(a)).toMatchObject({ Image: `${source.url}ok/a.iso` });
  });

  test("says how much of an image is copied when a client has to ask again", async () => {
    const told = await insert(ids[0] ?? "", "ok/held");
    expect([told.status, JSON.stringify(told.json)]).toEqual([
      503,
      expect.stringMatching(/to the cloud: [1-9]\d? %; ask again/),
    ]);
  });

  test("gives a copy up of which nothing comes for a minute", async () => {
    const [a = ""] = ids;
    expect((await insert(a, "ok/slow")).status).toBe(503);
    await pass(rig.clock.sleep(35_000, rig.signal));
    const told = await insert(a, "ok/slow");
    expect([told.status, JSON.stringify(told.json)]).toEqual([
      400,
      expect.stringContaining("nothing more of it came for 60 seconds"),
    ]);
    open();
    expect((await insert(a, "ok/slow")).status).toBe(204);
  });

  test("says that there is no such storage", async () => {
    ended.abort();
    lead({ storage: "local" });
    const told = await insert(ids[0] ?? "", "ok/a.iso");
    expect([told.status, JSON.stringify(told.json)]).toEqual([
      501,
      expect.stringContaining("no storage for ISOs"),
    ]);
  });
});
