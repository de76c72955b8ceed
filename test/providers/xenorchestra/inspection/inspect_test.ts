import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Inspection } from "../../../../lib/cloud/inspection.ts";
import { systemClock } from "../../../../lib/core/clock.ts";
import { xenOrchestra } from "../../../../lib/providers/xenorchestra/mod.ts";
import {
  createDemoWorld,
  startXenOrchestraSimulator,
  type XenOrchestraSimulator,
} from "../../../../lib/simulator/xenorchestra/mod.ts";
import { readTls, tlsPath } from "../../../support/net/tls_fixtures.ts";
import { toDeps, toSettings } from "../fake_server.ts";

const signal = new AbortController().signal;
const PASSWORD = { token: null, username: "admin@admin.net", password: "admin" };

let cloud: XenOrchestraSimulator;

beforeEach(async () => {
  const { world } = createDemoWorld();
  cloud = await startXenOrchestraSimulator({ clock: systemClock, world });
});
afterEach(() => cloud.stop());

async function inspect(more: object = {}, isTransient = true): Promise<Inspection> {
  const settings = toSettings(cloud.url, { token: cloud.token, ...more });
  const provider = xenOrchestra.create(settings, toDeps({ isTransient }));
  const found = await provider.inspect?.(signal);
  if (found === undefined) throw new Error("no inspection");
  return found;
}

function codes({ findings }: Inspection): string[] {
  return findings
    .filter(({ level }) => level !== "ok")
    .map(({ level, code }) => `${level} ${code}`);
}

describe("inspectXenOrchestra()", () => {
  test("shows pools, hosts and how many VMs may be seen", async () => {
    const found = await inspect();
    expect(codes(found)).toEqual([]);
    expect(found.counts).toEqual({ pools: 2, vms: 12, hosts: 5 });
    expect(found.endpoint).toBe(new URL(cloud.url).host);
    const kinds = found.parts.map(({ kind, name, complete }) => [kind, name, complete]);
    expect(kinds).toContainEqual(["pool", "paris", true]);
    expect(kinds).toContainEqual(["host", "xcp-lyo-2", undefined]);
    expect(found.inventory?.instances.size).toBe(12);
  });

  test("asks for hosts alone before anything else, so that a wrong password is tried once", async () => {
    const before = cloud.requests.total;
    const found = await inspect({ ...PASSWORD, password: "wrong" });
    expect(codes(found)).toEqual(["failure unauthorized"]);
    expect(cloud.requests.total - before).toBe(1);
  });

  test("leaves no token behind when it signs in with a password", async () => {
    const before = [...cloud.auth.tokens.keys()];
    expect(codes(await inspect(PASSWORD))).toEqual([]);
    expect([...cloud.auth.tokens.keys()]).toEqual(before);
    // The same provider in a running controller mints one.
    await inspect(PASSWORD, false);
    expect(cloud.auth.tokens.size).toBe(before.length + 1);
  });

  test("fails when the user may see nothing, and says which rights count", async () => {
    cloud.faults.set({ kind: "nonAdmin" });
    const found = await inspect();
    expect(codes(found)).toEqual(["failure noParts", "failure noInstances"]);
    const { advice } = found.findings.at(-1) ?? {};
    expect(advice).toContain("a role that may read vm, host, pool, network, vif and server");
    expect(advice).toContain("ACLs do not count");
  });

  test("warns of a pool that lacks its master, and of a connection that is down", async () => {
    cloud.faults.set({ kind: "json", body: [] }, { route: "GET /hosts" });
    expect(codes(await inspect())).toEqual(["warning partIncomplete", "warning partIncomplete"]);
    cloud.faults.clear();
    const server = { id: "s", label: "rack 2", enabled: true, status: "connecting" };
    cloud.faults.set({ kind: "json", body: [server] }, { route: "GET /servers" });
    const found = await inspect();
    expect(codes(found)).toEqual(["warning disconnected"]);
    expect(found.findings.at(-1)?.message).toBe('the connection "rack 2" to a pool is connecting');
  });

  test("says that there is no such pool, and which one was meant", async () => {
    const found = await inspect({ pools: ["Paris", "lyon"] });
    expect(codes(found)).toEqual(["warning unknownPool"]);
    expect(found.findings.find(({ code }) => code === "unknownPool")).toMatchObject({
      message:
        'pool "Paris" is in "pools", but no pool that the user can see has this name or UUID',
      advice: 'correct it in "pools"; did you mean paris?',
    });
    expect(found.counts).toMatchObject({ pools: 2 });
    expect(found.parts.filter(({ kind }) => kind === "pool")).toHaveLength(2);
  });

  test("says nothing of a connection that is switched off", async () => {
    const off = { id: "s", label: "old", enabled: false, status: "disconnected" };
    cloud.state.put("servers", off);
    expect(codes(await inspect())).toEqual([]);
  });

  test.each([
    ["are refused", { kind: "status", status: 403 }],
    ["are none, though pools are shown", { kind: "json", body: [] }],
    ["are not listed by this server", { kind: "html", status: 404 }],
  ] as const)("warns when the connections %s, and says what follows", async (_title, fault) => {
    cloud.faults.set(fault, { route: "GET /servers" });
    const found = await inspect();
    expect(codes(found)).toEqual(["warning connectionsUnreadable"]);
    expect(found.findings.at(-1)?.message).toContain("deletes no Node");
  });

  test("warns of a network that nobody knows", async () => {
    expect(codes(await inspect({ addresses: { network: "no such" } }))).toEqual([
      "warning noNetwork",
    ]);
  });

  test("warns that nobody checks the certificate", async () => {
    const tls = { cert: readTls("server.crt"), key: readTls("server.key") };
    const front = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      tls,
      fetch: ({ url, headers }) => {
        const { pathname, search } = new URL(url);
        return fetch(`${cloud.url}${pathname}${search}`, { headers });
      },
    });
    const url = `https://127.0.0.1:${front.port}`;
    expect(codes(await inspect({ url, insecure: true }))).toEqual(["warning insecure"]);
    expect(codes(await inspect({ url, caFile: tlsPath("ca.crt") }))).toEqual([]);
    await front.stop(true);
  });

  test("rejects with the reason of a signal that aborts", async () => {
    cloud.faults.set({ kind: "hang" });
    const stop = new AbortController();
    const settings = toSettings(cloud.url, { token: cloud.token });
    const looking = xenOrchestra.create(settings, toDeps()).inspect?.(stop.signal);
    stop.abort(new Error("stop"));
    await expect(looking).rejects.toThrow("stop");
  });
});

test("inspectXenOrchestra() names tag prefixes that no host and no VM has", async () => {
  const before = cloud.requests.count("GET /vms");
  const found = await inspect({ zoneLabelFrom: "hostTag:odd=", instanceTypeTag: "odd=" });
  expect(codes(found)).toEqual(["warning unmatchedTag", "warning unmatchedTag"]);
  // The inventory asks for them, too.
  expect(cloud.requests.count("GET /vms") - before).toBe(2);
  await inspect();
  expect(cloud.requests.count("GET /vms") - before).toBe(3);
});

test("inspectXenOrchestra() names entries of regions and zones that match nothing", async () => {
  const regions = { paris: "eu", berlin: "eu" };
  const zones = { "xcp-par-1": "a", lyon: "b", "xcp-ber-1": "c" };
  const before = cloud.requests.count("GET /pools");
  const { findings } = await inspect({ regions, zones });
  // The inventory asks for them, too.
  expect(cloud.requests.count("GET /pools") - before).toBe(2);
  const warnings = findings.filter(({ level }) => level !== "ok");
  expect(warnings.map(({ code, message }) => `${code}: ${message}`)).toEqual([
    'unmatchedEntry: the entry regions: "berlin" matches no pool that Xen Orchestra shows',
    'unmatchedEntry: the entry zones: "xcp-ber-1" matches no pool or host that Xen Orchestra shows',
  ]);
});
