import { expect, test } from "bun:test";
import { POOL_STEPS } from "../../../../../lib/cli/demo/clouds/xenorchestra/address_pools.ts";
import type { Stage } from "../../../../../lib/cli/demo/story/stage.ts";
import { setStage } from "../../../../support/page/demo_stage.ts";

const NEVER = new AbortController().signal;
const ADDRESS = "192.0.2.20";
let version = 0;

/** Has the statuses of Services show these addresses. */
function show({ view }: Stage, addresses: Readonly<Record<string, string>>): void {
  version += 1;
  const resourceVersion = `${version}`;
  const services = Object.entries(addresses).map(([name, ip]) => ({
    metadata: { name, namespace: "default", resourceVersion },
    status: { loadBalancer: { ingress: [{ ip }] } },
  }));
  view.services.replace(services, resourceVersion);
}

/** Says that the wanted address is not available. */
function refuse({ view }: Stage): void {
  const event = {
    metadata: { name: "shop.1", namespace: "default", resourceVersion: "1" },
    involvedObject: { kind: "Service", name: "shop" },
    reason: "AddressNotAvailable",
  };
  view.events.replace([event], "1");
}

test.each<[string, Readonly<Record<string, string>>, boolean]>([
  ["shows an address of the first pool", { web: ADDRESS }, true],
  ["shows one of another pool", { web: "203.0.113.7" }, false],
  ["shows none", {}, false],
])("the first of POOL_STEPS when the Service %s", async (_what, addresses, expected) => {
  await using set = await setStage();
  show(set.stage, addresses);
  expect(await POOL_STEPS[0]?.play(set.stage, NEVER)).toBe(expected);
});

test.each<[string, boolean, Readonly<Record<string, string>>, boolean]>([
  ["waits with an Event", true, { web: ADDRESS }, true],
  ["has no Event", false, { web: ADDRESS }, false],
  ["has the address, too", true, { web: ADDRESS, shop: ADDRESS }, false],
])(
  "the second of POOL_STEPS when the other Service %s",
  async (_what, isTold, addresses, expected) => {
    await using set = await setStage();
    const { kubernetes } = set.stage;
    show(set.stage, { web: ADDRESS });
    await POOL_STEPS[0]?.play(set.stage, NEVER);
    show(set.stage, addresses);
    if (isTold) refuse(set.stage);
    const playing = POOL_STEPS[1]?.play({ ...set.stage, stepMsMax: 100 }, NEVER);
    while (kubernetes.objects.get("services", { name: "web" }) !== undefined) await Bun.sleep(1);
    show(set.stage, { shop: ADDRESS });
    expect(await playing).toBe(expected);
    expect(kubernetes.objects.get("services", { name: "shop" })).toBeUndefined();
  },
);
