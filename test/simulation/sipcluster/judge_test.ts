import { expect } from "bun:test";
import type { ApiObject } from "../../../lib/simulator/kubernetes/mod.ts";
import { pathOf } from "../../../lib/simulator/metal3/host_state.ts";
import { breakHost, changeNetworks, OAM_NETWORK } from "../../../lib/simulator/metal3/hosts.ts";
import { clusterOf, isFree, LABELS, labelOf, type Role } from "./hosts.ts";
import { ERROR_GRACE_MS, keyOf } from "./judge.ts";
import { listUntrue } from "./truth.ts";
import { SipWorld, TENANTS } from "./world.ts";
import { longTest } from "../../support/long_tests.ts";

const RED = "red";
const HOSTS = "/apis/metal3.io/v1alpha1/namespaces/metal3/baremetalhosts";
const NO_LABELS = {
  [LABELS.namespace]: null,
  [LABELS.name]: null,
  [LABELS.role]: null,
  [LABELS.standby]: null,
} as const;

interface Scene extends AsyncDisposable {
  readonly world: SipWorld;
  /** A host, and whether a process or people gave it its labels. */
  readonly host: ApiObject;
}

/**
 * A cluster at rest in two racks, whose process has ended.
 *
 * @param controlPlanes Of three it gets none: each needs a rack of its own
 */
async function start(controlPlanes: number, role: Role = "ControlPlane"): Promise<Scene> {
  const world = new SipWorld(1, 1);
  world.build(2);
  world.order(RED, { controlPlanes, workers: 1, standby: 0, spreadsWorkers: false });
  const [replica] = world.replicas;
  replica?.start({ rate: 1, skewMs: 0 });
  await world.timeline.advance(10_000);
  replica?.kill();
  const isIts = (one: ApiObject): boolean =>
    clusterOf(one) === `${TENANTS}/${RED}` && labelOf(one, LABELS.role) === role;
  const host = world.hosts.find(isIts) ?? world.hosts[0];
  if (host === undefined) throw new Error("There are no hosts");
  return { world, host, [Symbol.asyncDispose]: () => world.leave() };
}

/** Removes the labels of a host as a process does. */
async function giveBack({ server }: SipWorld, { metadata: { name } }: ApiObject): Promise<void> {
  const body = JSON.stringify({ metadata: { labels: NO_LABELS } });
  const headers = { "content-type": "application/merge-patch+json" };
  await server.answer(
    "a1",
    new Request(`http://a1.memory${HOSTS}/${name}`, { method: "PATCH", headers, body }),
  );
}

longTest.each([
  { what: "a host that broke just now is replaced", controlPlanes: 2, brokenMs: 1, isTold: true },
  { what: "another host came for it", controlPlanes: 2, hasOther: true, brokenMs: 1, isTold: true },
  { what: "it is in error for long", controlPlanes: 2, brokenMs: ERROR_GRACE_MS, isTold: false },
  { what: "people labelled it", controlPlanes: 3, brokenMs: 1, isTold: false },
])(
  "judges say that a broken host is replaced too early: $isTold if $what",
  async ({ controlPlanes, hasOther = false, brokenMs, isTold }) => {
    await using scene = await start(controlPlanes);
    const { world, host } = scene;
    const labels = {
      [LABELS.namespace]: TENANTS,
      [LABELS.name]: RED,
      [LABELS.role]: "ControlPlane",
    };
    world.objects.patch("baremetalhosts", pathOf(host), { metadata: { labels } });
    const other = world.hosts.find(isFree);
    if (hasOther && other)
      world.objects.patch("baremetalhosts", pathOf(other), { metadata: { labels } });
    breakHost(world.objects, pathOf(host), "the fan is broken");
    await world.timeline.advance(brokenMs);
    await giveBack(world, host);

    const told = `a1 replaces ${keyOf(host)} of ${TENANTS}/${RED}, in error for ${brokenMs} ms`;
    expect(world.violations).toEqual(isTold ? [told] : []);
  },
);

longTest("judges see that the status shows the address of before of a host", async () => {
  await using scene = await start(2, "Worker");
  const { world, host } = scene;
  expect(listUntrue(world)).toEqual([]);
  changeNetworks(world.objects, pathOf(host), [{ id: OAM_NETWORK, address: "10.24.0.1" }]);
  expect(listUntrue(world).join()).toMatch(
    new RegExp(`^${keyOf(host)} is shown at 10\\.23\\.\\S+ and not at 10\\.24\\.0\\.1$`),
  );
});
