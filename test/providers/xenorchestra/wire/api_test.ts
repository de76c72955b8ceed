/**
 * Questions to Xen Orchestra, and which answers are a clear no.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { XenOrchestraApi } from "../../../../lib/providers/xenorchestra/wire/api.ts";
import { Session } from "../../../../lib/providers/xenorchestra/session/session.ts";
import {
  FakeXenOrchestra,
  HOST_PARIS_1,
  loadCapture,
  POOL_PARIS,
  toDeps,
  toResponse,
  toSettings,
  WORKER_1,
} from "../fake_server.ts";

const signal = new AbortController().signal;
let fake: FakeXenOrchestra;
let api: XenOrchestraApi;
let deps: ReturnType<typeof toDeps>;

beforeEach(() => {
  fake = new FakeXenOrchestra();
  deps = toDeps();
  api = new XenOrchestraApi(new Session(toSettings(fake.url), deps), deps.metrics);
});
afterEach(() => fake.stop());

describe("XenOrchestraApi", () => {
  test("lists only the fields that are used", async () => {
    await Promise.all([
      api.list("vms", signal),
      api.list("hosts", signal),
      api.list("pools", signal),
      api.list("networks", signal),
      api.list("vifs", signal),
      api.listServers(signal),
    ]);
    for (const path of fake.paths) expect(path).toMatch(/\?fields=id%2C/);
    expect(fake.paths.join()).not.toContain("*");
  });

  test("readVm(), readPool(), readHost() and readVmController() find what is there", async () => {
    const host = fake.list("hosts").find(({ id }) => id === HOST_PARIS_1);
    const replies = await Promise.all([
      api.readVm(WORKER_1, signal),
      api.readPool(POOL_PARIS, signal),
      api.readHost(HOST_PARIS_1, signal),
      api.readVmController(String(host?.["controlDomain"]), signal),
    ]);
    expect(replies.map(({ kind }) => kind)).toEqual(Array(4).fill("found"));
  });

  test("C-03 says missing only to a JSON 404 for that type and ID", async () => {
    const id = "00000000-0000-0000-0000-000000000000";
    fake.answer = () => toResponse(loadCapture("err-vm-404"));
    expect(await api.readVm(id, signal)).toEqual({ kind: "missing" });
    await expect(api.readVm(WORKER_1, signal)).rejects.toMatchObject({ kind: "protocol" });
    await expect(api.readPool(id, signal)).rejects.toMatchObject({ kind: "protocol" });
    fake.answer = () => toResponse(loadCapture("err-unknown-route"));
    await expect(api.readVm(id, signal)).rejects.toMatchObject({ kind: "protocol" });
  });

  test("calls an object undecodable that has another ID than asked for", async () => {
    fake.answer = () => toResponse(loadCapture("vm-k8s-worker-1-cf91"));
    expect((await api.readVm(POOL_PARIS, signal)).kind).toBe("undecodable");
  });

  test.each([
    ["an object", () => Response.json({})],
    ["HTML", () => new Response("<html>", { headers: { "content-type": "text/html" } })],
    [
      "JSON that breaks off",
      () => new Response("[", { headers: { "content-type": "application/json" } }),
    ],
  ])("takes %s for a list as a protocol error", async (_title, answer) => {
    fake.answer = answer;
    await expect(api.list("pools", signal)).rejects.toMatchObject({ kind: "protocol" });
  });

  /** Answers with this ETag, and 304 to every condition. */
  function name(etag: string | undefined, of304 = etag): void {
    const toHeaders = (one: string | undefined): Record<string, string> =>
      one === undefined ? {} : { etag: one };
    fake.answer = ({ headers }) =>
      headers.has("if-none-match")
        ? new Response(null, { status: 304, headers: toHeaders(of304) })
        : Response.json([], { headers: toHeaders(etag) });
  }

  test("relist() takes a 304 for unchanged, whether it names the version or not", async () => {
    for (const of304 of ['W/"1"', '"1"', undefined]) {
      name('W/"1"', of304);
      const { version: known } = await api.list("pools", signal);
      expect(await api.relist("pools", { known }, signal)).toBe("unchanged");
    }
  });

  test("relist() asks for the whole when a 304 names another version", async () => {
    name('"1"', '"2"');
    const { version: known } = await api.list("pools", signal);
    expect(await api.relist("pools", { known }, signal)).toMatchObject({ objects: [] });
    expect(fake.seen.map(({ headers }) => headers.get("if-none-match"))).toEqual([
      null,
      '"1"',
      null,
    ]);
  });

  test.each([undefined, "*", "1"])("list() has no version with %p for an ETag", async (etag) => {
    name(etag);
    expect(await api.list("pools", signal)).not.toHaveProperty("version");
  });

  test("a 304 to a question without a condition is a protocol error", async () => {
    fake.answer = () => new Response(null, { status: 304, headers: { etag: '"1"' } });
    for (const ask of [
      () => api.list("pools", signal),
      () => api.relist("pools", {}, signal),
      () => api.relist("pools", { known: { path: "/vms", etag: '"1"' } }, signal),
      () => api.listServers(signal),
      () => api.readVm(WORKER_1, signal),
    ]) {
      await expect(ask()).rejects.toMatchObject({ kind: "protocol" });
    }
  });

  test("counts what cannot be read", async () => {
    fake.change("vms", WORKER_1, { tags: "k8s" });
    const { undecodable } = await api.list("vms", signal);
    expect([...undecodable.keys()]).toEqual([WORKER_1]);
    expect(deps.metrics.render()).toContain(
      'landfall_cloud_undecodable_objects_total{collection="vms"} 1',
    );
  });
});
