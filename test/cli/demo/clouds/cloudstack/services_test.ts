import { expect, test } from "bun:test";
import { toServiceSteps } from "../../../../../lib/cli/demo/clouds/cloudstack/services.ts";
import type { Step } from "../../../../../lib/cli/demo/story/stage.ts";
import { createDemoWorld } from "../../../../../lib/simulator/cloudstack/mod.ts";
import { free } from "../../../../../lib/simulator/cloudstack/world/addresses.ts";
import { CloudStackState } from "../../../../../lib/simulator/cloudstack/world/state.ts";
import { addBalancer, type WebCloudOptions } from "../../../../support/cloud/web_cloud.ts";
import { type EmptyStage, setStage } from "../../../../support/page/demo_stage.ts";

const NEVER = new AbortController().signal;
const NODES = [
  "worker-3",
  "worker-4",
  "worker-upper",
  "worker-fqdn.k8s.example",
  "worker-late",
] as const;
const ASKED: WebCloudOptions = { ports: [80], nodes: NODES, source: "0.0.0.0/0" };
const CHANGED: WebCloudOptions = { ports: [80, 443], nodes: NODES };

interface Rig extends AsyncDisposable {
  readonly state: CloudStackState;
  readonly set: EmptyStage;
  /** The address that the status of the Service shows. */
  show(ip: string): void;
  play(title: string): Promise<boolean>;
}

async function createRig(): Promise<Rig> {
  const { world, late } = createDemoWorld();
  const state = new CloudStackState(world);
  state.addVm(late.options);
  const steps: readonly Step[] = toServiceSteps(state);
  const set = await setStage({ on: "cloudstack", stepMsMax: 60 });
  let version = 0;
  return {
    state,
    set,
    show: (ip) => {
      version += 1;
      const metadata = { name: "web", namespace: "default", resourceVersion: `${version}` };
      const service = { metadata, status: { loadBalancer: { ingress: [{ ip }] } } };
      set.stage.view.services.replace([service], `${version}`);
    },
    play: async (title) => {
      const step = steps.find((one) => one.title.includes(title));
      if (step === undefined) throw new Error(`no step has "${title}"`);
      return await step.play(set.stage, NEVER);
    },
    [Symbol.asyncDispose]: () => set[Symbol.asyncDispose](),
  };
}

test.each<[string, Partial<WebCloudOptions>, string, boolean]>([
  ["CloudStack has what it asks for", {}, "198.51.100.10", true],
  ["its status shows another address", {}, "198.51.100.11", false],
  ["a Node is missing", { nodes: NODES.slice(1) }, "198.51.100.10", false],
  ["not everyone may come in", { source: "203.0.113.0/24" }, "198.51.100.10", false],
  ["there is another port", { ports: [80, 81] }, "198.51.100.10", false],
])("the first step of toServiceSteps() when %s", async (_what, change, ip, expected) => {
  await using rig = await createRig();
  addBalancer(rig.state, { ...ASKED, ...change });
  rig.show(ip);
  expect(await rig.play("gets an address")).toBe(expected);
});

test("the steps of toServiceSteps() want one address for the Service, always the same", async () => {
  await using rig = await createRig();
  const first = addBalancer(rig.state, ASKED);
  rig.show("198.51.100.10");
  expect(await rig.play("gets an address")).toBe(true);
  addBalancer(rig.state, { ...CHANGED, address: "198.51.100.11" });
  expect(await rig.play("gets a second port")).toBe(false);
  free(rig.state, first.ip);
  rig.show("198.51.100.11");
  expect(await rig.play("gets a second port")).toBe(false);
});

test("toServiceSteps() wants what was changed by hand to be as before", async () => {
  await using rig = await createRig();
  const { ip } = addBalancer(rig.state, CHANGED);
  rig.show("198.51.100.10");
  const damaging = rig.play("by hand");
  expect([...rig.state.loadBalancerRules.values()].map(({ publicPort }) => publicPort)).toEqual([
    80,
  ]);
  expect([...rig.state.firewallRules.values()].map(({ cidrs }) => cidrs)).toContainEqual([
    "0.0.0.0/0",
  ]);
  free(rig.state, ip);
  addBalancer(rig.state, CHANGED);
  expect(await damaging).toBe(true);
  expect(await rig.play("by hand")).toBe(false);
});

test("toServiceSteps() wants the deleted Service to leave nothing in CloudStack", async () => {
  for (const isLeft of [true, false]) {
    await using rig = await createRig();
    const { ip } = addBalancer(rig.state, CHANGED);
    const { objects } = rig.set.stage.kubernetes;
    objects.create("services", {
      metadata: { name: "web", namespace: "default" },
      spec: { type: "LoadBalancer", ports: [{ port: 80 }] },
    });
    const deleting = rig.play("is deleted");
    free(rig.state, ip);
    // It keeps the address that was given back, since nobody else made it.
    rig.state.publicIps.delete(ip.id);
    if (isLeft) addBalancer(rig.state, { ports: [], nodes: [] });
    expect(await deleting).toBe(!isLeft);
  }
});

test("toServiceSteps() labels the Node that leaves, and removes the label again", async () => {
  await using rig = await createRig();
  const { objects } = rig.set.stage.kubernetes;
  const labelsOf = (): string =>
    JSON.stringify(objects.getNode("worker-4")?.metadata["labels"] ?? {});
  objects.createNode({ metadata: { name: "worker-4" } });
  const { ip } = addBalancer(rig.state, {
    ...CHANGED,
    nodes: NODES.slice(0, 1).concat(NODES.slice(2)),
  });
  rig.show("198.51.100.10");
  const leaving = rig.play("gets no traffic");
  expect(labelsOf()).toContain("exclude-from-external-load-balancers");
  while (labelsOf().includes("exclude")) await Bun.sleep(1);
  free(rig.state, ip);
  addBalancer(rig.state, CHANGED);
  expect(await leaving).toBe(true);
});
