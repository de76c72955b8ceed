/**
 * What `check` says about Services of type LoadBalancer.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { checkServices } from "../../../../lib/cli/check/controllers/services.ts";
import { KubeError } from "../../../../lib/kube/api/errors.ts";
import { ManualClock } from "../../../support/manual_clock.ts";
import { ScriptedKubeClient, type ScriptStep } from "../../../support/kube/scripted_kube_client.ts";

const { signal } = new AbortController();
const NOW_MS = Date.parse("2026-01-01T12:00:00Z");
const CLEANUP = "service.kubernetes.io/load-balancer-cleanup";
const INSTALL = { other: "other program", serviceLease: "other" };
const SERVING = [{ name: "cloud-node" }, { name: "service" }];
const HELD = {
  metadata: { name: "other" },
  spec: {
    holderIdentity: "apache_1",
    leaseDurationSeconds: 15,
    renewTime: "2026-01-01T11:59:50.000000Z",
  },
};

type Balanced = readonly [name: string, more?: object];

/** A page of Services of type LoadBalancer; `ip` gives one an address. */
function toPage(services: readonly Balanced[]): ScriptStep {
  const items = services.map(([name, more = {}]) => ({
    metadata: { name, namespace: "web", finalizers: [CLEANUP] },
    spec: { type: "LoadBalancer" },
    ...more,
  }));
  return { page: { items, resourceVersion: "1" } };
}

const READY = { status: { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } } };

async function check(
  step: ScriptStep,
  over: Partial<Parameters<typeof checkServices>[0]> & { readonly lease?: object } = {},
): Promise<readonly string[]> {
  const client = new ScriptedKubeClient(new ManualClock(), [step]);
  client.answerRead = ({ namespace, name }) => {
    if (namespace !== "kube-system" || name !== "other" || over.lease === undefined) {
      throw new KubeError("notFound", "none");
    }
    return over.lease;
  };
  const { findings } = await checkServices(
    {
      client,
      chosen: SERVING,
      install: INSTALL,
      flags: {},
      namespace: "kube-system",
      nowMs: NOW_MS,
      ...over,
    },
    signal,
  );
  return findings.map(({ level, code, message }) => `${level} ${code}: ${message}`);
}

describe("checkServices() with the controller service", () => {
  test.each<[string, ScriptStep, string]>([
    ["no Service asks for one", toPage([]), "ok services: no Service asks"],
    [
      "every Service has an address",
      toPage([["a", READY]]),
      "ok services: 1 Service of type LoadBalancer, each with an address",
    ],
    [
      "a Service waits",
      toPage([["a", READY], ["b"]]),
      "1 of 2 Services of type LoadBalancer have no address yet, or another one than they ask for: web/b",
    ],
    [
      "a Service has another address than it asks for",
      toPage([
        ["a", READY],
        ["b", { ...READY, spec: { type: "LoadBalancer", loadBalancerIP: "192.0.2.99" } }],
      ]),
      "1 of 2 Services of type LoadBalancer have no address yet, or another one than they ask for: web/b",
    ],
    [
      "a Service asks for something that is no address",
      toPage([
        ["a", READY],
        ["b", { ...READY, spec: { type: "LoadBalancer", loadBalancerIP: "192.0.2.4x" } }],
      ]),
      "1 of 2 Services of type LoadBalancer have no address yet, or another one than they ask for: web/b",
    ],
    [
      "many wait",
      toPage([["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]),
      "web/a, web/b, web/c, web/d, web/e, …",
    ],
    [
      "others are of another class",
      toPage([["a", { spec: { type: "LoadBalancer", loadBalancerClass: "example.com/b" } }]]),
      "ok services: no Service asks",
    ],
    [
      "Services cannot be listed",
      { fail: new KubeError("forbidden", "no") },
      "warning services: cannot list Services",
    ],
  ])("says if %s", async (_what, step, expected) => {
    const found = await check(step);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(expected);
  });

  test("serves the class of the flag", async () => {
    const spec = { type: "LoadBalancer", loadBalancerClass: "example.com/b" };
    const flags = { "load-balancer-class": "example.com/b" };
    expect(await check(toPage([["a", { ...READY, spec }]]), { flags })).toEqual([
      "ok services: 1 Service of type LoadBalancer, each with an address",
    ]);
  });

  test("names Services without a class that the flag for a class leaves out", async () => {
    const flags = { "load-balancer-class": "example.com/b" };
    const [, left = ""] = await check(toPage([["a", READY]]), { flags });
    expect(left).toBe("warning services: Landfall does not serve 1 Service without a class: web/a");
  });

  test("fails while another program holds the Lease for Services", async () => {
    const [first = ""] = await check(toPage([["a", READY]]), { lease: HELD });
    expect(first).toStartWith("failure serviceController: the holder of Lease kube-system/other");
    expect(first).toContain("apache_1");
  });

  test("asks also on a cloud for which there never was another program", async () => {
    expect(await check(toPage([["a"]]), { install: undefined })).toHaveLength(1);
  });
});

describe("checkServices() without the controller service", () => {
  const chosen = [{ name: "cloud-node" }];
  const withLease = (spec: object): object => ({ ...HELD, spec: { ...HELD.spec, ...spec } });

  test.each<[string, object | undefined, string]>([
    ["no program holds the Lease", undefined, "failure"],
    ["a program renews the Lease", HELD, "ok"],
    ["its clock is ahead", withLease({ renewTime: "2026-01-01T12:00:30.000000Z" }), "ok"],
    ["the program stopped", withLease({ renewTime: "2026-01-01T11:50:00.000000Z" }), "failure"],
    ["it never renewed", withLease({ renewTime: undefined }), "failure"],
    ["it gave the Lease back", { metadata: { name: "other" }, spec: {} }, "failure"],
  ])("if Services have a load balancer and %s", async (_what, lease, level) => {
    const found = await check(toPage([["a"]]), { chosen, ...(lease && { lease }) });
    expect(found).toHaveLength(1);
    expect(found[0]).toStartWith(`${level} serviceController: 1 Service has a load balancer`);
  });

  test("says nothing of Services that no cloud controller manager took up", async () => {
    const metadata = { name: "a", namespace: "web" };
    expect(await check(toPage([["a", { metadata }]]), { chosen })).toEqual([]);
  });

  test("asks nothing on a cloud for which there never was another program", async () => {
    const client = new ScriptedKubeClient(new ManualClock(), []);
    expect(await check(toPage([]), { chosen, install: undefined, client })).toEqual([]);
    expect(client.requests).toEqual([]);
  });
});

test("checkServices() fails with what is no answer of the API server", async () => {
  await expect(check({ fail: new TypeError("a bug") })).rejects.toThrow("a bug");
});
