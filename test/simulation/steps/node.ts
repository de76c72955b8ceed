/**
 * What kubelets and people do to Nodes.
 * @module
 */
import type { JsonObject } from "../../../lib/simulator/kubernetes/mod.ts";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import type { World } from "../world/mod.ts";
import { type Step, toStep, toStepOf } from "./mod.ts";

const FOREIGN = "foreign";
const THEIR_TAINT = "example.com/maintenance";

/** Everything that may happen to a Node. */
export const NODE_STEPS: readonly Step[] = [
  // A kubelet registers: for the first time, or because somebody deleted its Node.
  toStep("Node joins", 5, (world) => {
    const { random, settings, truth } = world;
    const name = `n${random.between(1, settings.nodes)}`;
    if (world.findNode(name)) return undefined;
    const vmId = world.machines.get(name);
    if (vmId === undefined || !truth.has(vmId)) world.addMachine(name);
    else if (!truth.isRunning(vmId)) return undefined;
    world.join(name);
    return name;
  }),
  // A machine that was cloned below the cloud: its Node claims the machine of another.
  step("Node claims the machine of another", 0.5, (world, { metadata: { name } }) => {
    const vmId = world.machines.get(name);
    const twinName = world.cloud.toTwin(name);
    if (vmId === undefined || world.machines.has(twinName)) return undefined;
    world.machines.set(twinName, vmId);
    world.join(twinName);
    return twinName;
  }),
  toStep("Node of another cloud joins", 0.5, (world) => {
    if (world.findNode(FOREIGN)) return undefined;
    world.joinForeign(FOREIGN);
    return FOREIGN;
  }),
  step("Node deleted by a person", 1, (world, { metadata }) => {
    world.server.objects.deleteNode(metadata.name);
    return metadata.name;
  }),
  // A machine is made again, and its Node joins under the old name.
  step("Node rebuilt", 1, (world, { metadata: { name } }) => {
    const { machines, truth, cloud, server } = world;
    if (world.isForeign(name)) return undefined;
    const vmId = machines.get(name) ?? "";
    if (truth.has(vmId)) cloud.removeVm(vmId);
    server.objects.deleteNode(name);
    world.addMachine(name);
    world.join(name);
    return name;
  }),
  step("Node not Ready", 3, (world, { metadata: { name } }) => {
    world.setReady(name, false);
    return name;
  }),
  step("Node Ready", 3, (world, { metadata: { name } }) => {
    if (!world.isRunning(name)) return undefined;
    world.setReady(name, true);
    return name;
  }),
  // What kubelets write all the time.
  step("heartbeat", 3, (world, { metadata: { name } }) => {
    const isReady = isReadyNode(world.findNode(name));
    if (!isReady) return undefined;
    world.setReady(name, true);
    return name;
  }),
  step("label of ours edited", 3, ({ random, server, cloud }, { metadata }) => {
    const { name } = metadata;
    const key = random.pick(cloud.labels.edited);
    const value = random.chance(0.3) ? null : `edited-${random.between(1, 1e6)}`;
    server.objects.patchNode(name, { metadata: { labels: { [key]: value } } });
    return `${name} ${key}=${value}`;
  }),
  // A label, an annotation, cordon, or a field that Landfall has never heard of.
  step("Node edited", 3, ({ random, server }, { metadata: { name } }) => {
    const value = `v${random.between(1, 1e6)}`;
    const edit = random.pick<JsonObject>([
      { metadata: { labels: { "example.com/theirs": value } } },
      { metadata: { annotations: { "example.com/note": value } } },
      { spec: { unschedulable: random.chance(0.5) } },
      { spec: { fieldOfTomorrow: { value, list: [value] } } },
      { status: { fieldOfTomorrow: value } },
      { metadata: { finalizers: null, labels: { [`example.com/${value}`]: "" } } },
    ]);
    server.objects.patchNode(name, edit);
    return `${name} ${JSON.stringify(edit)}`;
  }),
  step("taint edited", 2, ({ random, server }, { metadata: { name }, spec }) => {
    const others = (spec?.taints ?? []).filter(({ key }) => key !== THEIR_TAINT);
    const mine = { key: THEIR_TAINT, effect: "NoExecute", value: `v${random.between(1, 99)}` };
    const taints = random.chance(0.5) ? [...others, mine] : others;
    server.objects.patchNode(name, { spec: { taints: taints.map((one) => toJson(one)) } });
    return `${name} to ${taints.length} taints`;
  }),
];

function step(
  name: string,
  weight: number,
  act: (world: World, node: Node) => string | undefined,
): Step {
  return toStepOf(name, weight, ({ server }) => server.nodes, act);
}

function isReadyNode(node: Node | undefined): boolean {
  return (
    node?.status?.conditions?.some((one) => one.type === "Ready" && one.status === "True") ?? false
  );
}

function toJson(value: object): Record<string, string> {
  return JSON.parse(JSON.stringify(value));
}
