import { EventEmitter } from "node:events";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createDemoWorld } from "../../../lib/simulator/xenorchestra/demo_world.ts";
import { EventHub } from "../../../lib/simulator/xenorchestra/events.ts";
import {
  startXenOrchestraSimulator,
  type XenOrchestraSimulator,
} from "../../../lib/simulator/xenorchestra/mod.ts";
import { XenOrchestraState } from "../../../lib/simulator/xenorchestra/state.ts";
import { ManualClock } from "../../support/manual_clock.ts";

interface Event {
  readonly event: string;
  readonly data: Record<string, unknown>;
}

const world = createDemoWorld();
const { hostIds, poolIds } = world;
const VM = [...world.machines.values()].find(({ nodeName }) => nodeName === "worker-1")?.vmId ?? "";

/** A hub, one open stream, and what came of it. */
class Bench {
  readonly clock = new ManualClock();
  readonly state = new XenOrchestraState(this.clock, world.world);
  readonly stop = new AbortController();
  readonly hub = new EventHub({ ...this, signal: this.stop.signal, periodMs: 200 });
  readonly events: Event[] = [];
  isOver = false;
  error: unknown;

  constructor(isBlind = false) {
    void this.#read(this.hub.open(isBlind));
  }

  get id(): string {
    return String(this.events[0]?.data["id"]);
  }

  subscribe(body: object | string, id = this.id): Promise<[number, unknown]> {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    return toAnswer(this.hub.subscribe(id, text));
  }

  /** What came in so many milliseconds more. */
  async follow(ms: number): Promise<Event[]> {
    const before = this.events.length;
    await this.clock.advance(ms);
    return this.events.slice(before);
  }

  async #read(response: Response): Promise<void> {
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body ?? []) {
        for (const block of decoder.decode(chunk).split("\n\n").filter(Boolean)) {
          const [, event = "", data = ""] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? [];
          this.events.push({ event, data: JSON.parse(data) });
        }
      }
    } catch (error) {
      this.error = error;
    }
    this.isOver = true;
  }
}

async function toAnswer(response: Response): Promise<[number, unknown]> {
  return [response.status, response.status === 204 ? undefined : await response.json()];
}

describe("EventHub", () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = new Bench();
    await bench.clock.advance(0);
  });
  afterEach(() => bench.stop.abort(new Error("the test is over")));

  test("tells of a VM from a template only an update, and none of fields that stay", async () => {
    const id = bench.state.addVm({ name: "vino-1", poolId: poolIds.paris });
    bench.state.makeTemplate(id);
    await bench.subscribe({ collection: "VM", fields: ["id", "name_label"] });
    expect(await bench.follow(200)).toEqual([]);
    bench.state.provision(id);
    expect(await bench.follow(200)).toEqual([]);
    bench.state.setVm(id, { name_label: "vino-2" });
    expect(await bench.follow(200)).toMatchObject([{ event: "update", data: { id } }]);
    bench.state.removeVm(id);
    expect(await bench.follow(200)).toMatchObject([{ event: "remove", data: { id } }]);
  });

  test("tells of all fields of a VM from a template as an update, and keeps the template", async () => {
    const id = bench.state.addVm({ name: "vino-1", poolId: poolIds.paris });
    bench.state.makeTemplate(id);
    await bench.subscribe({ collection: "VM" });
    await bench.subscribe({ collection: "VM-template", fields: ["id"] });
    bench.state.provision(id);
    const events = await bench.follow(200);
    expect(events.map(({ event, data }) => [event, data["$subscription"]])).toEqual([
      ["update", "VM"],
    ]);
  });

  test("tells of a VM from a template as of any other after its pool was lost", async () => {
    const id = bench.state.addVm({ name: "vino-1", poolId: poolIds.paris });
    bench.state.makeTemplate(id);
    bench.state.provision(id);
    bench.state.dropPool(poolIds.paris);
    await bench.subscribe({ collection: "VM", fields: ["id"] });
    bench.state.restorePool(poolIds.paris);
    const added = (await bench.follow(200)).filter(({ data }) => data["id"] === id);
    expect(added).toMatchObject([{ event: "add" }]);
  });

  test("tells of a task only updates", async () => {
    await bench.subscribe({ collection: "task", fields: ["id", "status"] });
    bench.state.put("tasks", { id: "t", status: "pending" });
    expect(await bench.follow(200)).toMatchObject([{ event: "update", data: { id: "t" } }]);
  });

  test("tells nothing of what was there before, nor of what nobody subscribed to", async () => {
    await bench.subscribe({ collection: "host", fields: ["id", "name_label"] });
    bench.state.migrateLive(VM, hostIds["xcp-par-3"]);
    expect(await bench.follow(1_000)).toEqual([]);
  });

  test.each<[string, object]>([
    ["*", { fields: "*" }],
    ["none", {}],
  ])("sends whole objects for the fields %s", async (_title, fields) => {
    await bench.subscribe({ collection: "host", ...fields });
    const host = bench.state.read("hosts", hostIds["xcp-par-1"]);
    if (host) host["tags"] = ["new"];
    const [update] = await bench.follow(200);
    expect(update?.data).toEqual({ $subscription: "host", ...host });
  });

  test("sends one update for what changed twice, and none for what changed back", async () => {
    await bench.subscribe({ collection: "VM", fields: ["id", "current_operations"] });
    bench.state.beginMigration(VM);
    bench.state.setVm(VM, { current_operations: {} });
    expect(await bench.follow(200)).toEqual([]);
  });

  test("reports objects that come and go, with what they were last", async () => {
    await bench.subscribe({ collection: "VM", fields: ["id", "name_label"] });
    const id = bench.state.addVm({ name: "new", poolId: poolIds.paris });
    const data = { $subscription: "VM", id, name_label: "new" };
    expect(await bench.follow(200)).toEqual([{ event: "add", data }]);
    bench.state.removeVm(id);
    expect(await bench.follow(200)).toEqual([{ event: "remove", data }]);
  });

  test("removes everything of a pool that is lost, and adds it again when it is back", async () => {
    for (const collection of ["VM", "host", "pool"]) {
      await bench.subscribe({ collection, fields: ["id", "$pool"] });
    }
    const count = bench.state.list("vms").filter((vm) => vm["$pool"] === poolIds.lyon).length;
    bench.state.dropPool(poolIds.lyon, 1_000);
    const gone = await bench.follow(400);
    expect(new Set(gone.map(({ event }) => event))).toEqual(new Set(["remove"]));
    expect(gone.filter(({ data }) => data["$subscription"] === "VM")).toHaveLength(count);
    expect(gone.some(({ data }) => data["id"] === poolIds.lyon)).toBe(true);
    const back = await bench.follow(1_000);
    expect(back.map(({ event, data }) => [event, data["id"]])).toEqual(
      gone.map(({ data }) => ["add", data["id"]]),
    );
  });

  test.each<[number, object | string]>([
    [201, { collection: "VM", fields: ["id"] }],
    [201, { collection: "task" }],
    [422, { collection: "vms", fields: ["id"] }],
    [422, { collection: "server", fields: ["id"] }],
    [422, { fields: ["id"] }],
    [422, { collection: "VM", fields: "id" }],
    [422, { collection: "VM", fields: [1] }],
    [422, ""],
    [500, "{"],
  ])("answers %d to the subscription %j", async (status, body) => {
    const [answered, reply] = await bench.subscribe(body);
    expect(answered).toBe(status);
    if (status === 422) expect(reply).toEqual({ error: expect.any(Object), data: {} });
  });

  test.each([
    ["doubled", 2, true],
    ["lossy", 0, true],
    ["silent", 0, false],
  ] as const)("sends an update on a stream that is %s %d times; pings: %p", async (...row) => {
    const [mode, times, pings] = row;
    await bench.subscribe({ collection: "VM", fields: ["id", "$container"] });
    bench.hub.mode = mode;
    bench.state.migrateLive(VM, hostIds["xcp-par-3"]);
    expect(await bench.follow(1_000)).toHaveLength(times);
    expect((await bench.follow(30_000)).map(({ event }) => event)).toEqual(pings ? ["ping"] : []);
    expect(bench.isOver).toBe(false);
  });

  test.each([
    ["drop", true],
    ["end", false],
  ] as const)("%s() ends the stream; with an error: %p", async (how, hasError) => {
    bench.hub[how]();
    await bench.clock.advance(0);
    expect([bench.isOver, bench.error !== undefined, bench.hub.size]).toEqual([true, hasError, 0]);
    expect((await bench.subscribe({ collection: "VM" }))[0]).toBe(404);
  });

  test("shows nothing to a user who may see nothing", async () => {
    const blind = new Bench(true);
    await blind.clock.advance(0);
    expect((await blind.subscribe({ collection: "VM" }))[0]).toBe(201);
    blind.state.migrateLive(VM, hostIds["xcp-par-3"]);
    expect(await blind.follow(1_000)).toEqual([]);
    blind.stop.abort(new Error("the test is over"));
  });

  test("cuts a reader that lets more than 20 MiB wait", async () => {
    const { hub, state, clock } = bench;
    const slow = hub.open(false);
    const reader = slow.body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    const id = /"id":"([^"]+)"/.exec(new TextDecoder().decode(value))?.[1] ?? "";
    expect(hub.subscribe(id, '{"collection":"VM"}').status).toBe(201);
    for (let at = 0; at < 22 && hub.size === 2; at += 1) {
      state.setVm(VM, { name_description: String(at).padEnd(1024 * 1024) });
      await clock.advance(200);
    }
    expect(hub.size).toBe(1);
  });
});

describe("the simulated Xen Orchestra", () => {
  let cloud: XenOrchestraSimulator;
  const clock = new ManualClock();
  beforeEach(async () => {
    cloud = await startXenOrchestraSimulator({ clock, world: world.world });
  });
  afterEach(() => cloud.stop());
  const ask = (path: string, init: RequestInit = {}, token = cloud.token): Promise<Response> =>
    fetch(`${cloud.url}/rest/v0${path}`, {
      ...init,
      headers: { cookie: `authenticationToken=${token}` },
    });

  test("streams events over HTTP, and forgets a stream whose reader left", async () => {
    const response = await ask("/events");
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const reader = response.body?.getReader();
    const text = new TextDecoder().decode((await reader?.read())?.value);
    const id = /^event: init\ndata: {"id":"([^"]+)"}\n\n$/.exec(text)?.[1] ?? "";
    const body = JSON.stringify({ collection: "VM", fields: ["id", "$container"] });
    const reply = await ask(`/events/${id}/subscriptions`, { method: "POST", body });
    expect(reply.status).toBe(201);
    expect(cloud.events.subscriptions).toEqual([{ VM: ["id", "$container"] }]);
    cloud.state.migrateLive(VM, hostIds["xcp-par-3"]);
    await clock.advance(200);
    const update = new TextDecoder().decode((await reader?.read())?.value);
    expect(update).toStartWith('event: update\ndata: {"$subscription":"VM",');
    await reader?.cancel();
    while (cloud.events.size > 0) await Bun.sleep(1);
    expect(cloud.streamed.size).toBe(0);
  });

  test("waits for a slow reader as often as it must, and gathers no listeners", async () => {
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on("warning", note);
    const reader = (await ask("/events")).body?.getReader();
    const text = new TextDecoder().decode((await reader?.read())?.value);
    const id = /"id":"([^"]+)"/.exec(text)?.[1] ?? "";
    const body = JSON.stringify({ collection: "VM", fields: ["name_label"] });
    await ask(`/events/${id}/subscriptions`, { method: "POST", body });
    for (let change = 0; change < 2 * EventEmitter.defaultMaxListeners; change += 1) {
      cloud.state.setVm(VM, { name_label: `${change}`.padEnd(100_000) });
      await clock.advance(200);
      for (let bytes = 0; bytes < 100_000;) bytes += (await reader?.read())?.value?.length ?? 1;
    }
    await reader?.cancel();
    process.off("warning", note);
    expect(warnings).toEqual([]);
  });

  test.each([
    ["GET", "/events"],
    ["POST", "/events/x/subscriptions"],
  ])("answers 401 to %s %s with a token that is not valid, or none", async (method, path) => {
    expect((await ask(path, { method }, "wrong")).status).toBe(401);
    const { status } = await fetch(`${cloud.url}/rest/v0${path}`, { method });
    expect(status).toBe(401);
  });
});
