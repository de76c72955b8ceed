/**
 * What people do to Vinos and, in the cloud, to VMs.
 * @module
 */
import {
  isArray,
  isEqual,
  isObject,
  objectAt,
  stringAt,
} from "../../../../lib/simulator/kubernetes/patches/json.ts";
import type { XoRecord } from "../../../../lib/simulator/xenorchestra/mod.ts";
import { PUBLISH_AGAIN } from "../../../../lib/controllers/vino/hosts/words.ts";
import {
  dropAttachment,
  listAttachments,
} from "../../../../lib/simulator/xenorchestra/writes/disks.ts";
import { CONFIRMED_REMOVAL } from "../../../../lib/controllers/vino/words.ts";
import { isReady } from "../judges/machines.ts";
import { drawOrder } from "../orders.ts";
import { readCondition } from "../judges/truth.ts";
import { METAL, NAMES, type VinoWorld } from "../world.ts";
import { type Step, toStep, toStepOf } from "../../steps/mod.ts";

type VinoStep = Step<VinoWorld>;

const TOO_SMALL = /disk (\S+) has (\d+Gi), and a disk cannot shrink/;

const IN_THE_WAY = /is used by Metal3Machine \\"([^\\]+)\\"/g;

/** What people do. */
export const PEOPLE_STEPS: readonly VinoStep[] = [
  toStep("order", 8, (world) => {
    const name = world.random.pick(NAMES);
    const order = drawOrder(world.random);
    world.order(name, order);
    return `${name} ${JSON.stringify(order)}`;
  }),
  toStepOf(
    "delete Vino",
    1.5,
    ({ vinoes }) => vinoes,
    ({ objects }, { metadata: { name } }) => {
      objects.delete("vinoes", { namespace: METAL, name });
      return name;
    },
  ),
  toStep("confirm removals", 4, confirmRemovals),
  onMachine("is deleted", 1.5, (world, vm) => deleteMachine(world, vm)),
  // Name, mark and tag each lead Landfall to a VM. A person who takes all three away has taken it over.
  onMachine("is renamed", 1, ({ random }, vm) => {
    vm["name_label"] = `mine-${random.between(1, 1e6)}`;
  }),
  onMachine("loses tags", 2, ({ random }, vm) => {
    const tags = Array.isArray(vm["tags"]) ? vm["tags"] : [];
    vm["tags"] = tags.filter(() => random.chance(0.5));
  }),
  onMachine("loses its description", 1, (_world, vm) => {
    vm["name_description"] = "";
  }),
  onMachine("loses its protection", 1, (_world, vm) => {
    vm["blockedOperations"] = {};
  }),
  onMachine("is switched", 3, ({ cloud, overrideJudge }, vm) => {
    overrideJudge.notePromise(vm.id);
    cloud.state.setPower(vm.id, vm["power_state"] === "Running" ? "Halted" : "Running");
  }),
  onMachine("moves", 2, ({ cloud, random, site }, vm) => {
    if (vm["power_state"] !== "Running") return;
    const { hostIds } = site;
    const hosts = [hostIds["xcp-par-1"], hostIds["xcp-par-2"], hostIds["xcp-par-3"]];
    cloud.state.migrateLive(vm.id, random.pick(hosts));
  }),
];

/** Confirms removals of Vinos that ask for it. */
export function confirmRemovals({ vinoes, objects }: VinoWorld): string | undefined {
  const asking = vinoes.filter(
    (vino) => readCondition(vino, "ContractionBlocked") === "True FleetLimit",
  );
  for (const { metadata } of asking) {
    const annotations = { [CONFIRMED_REMOVAL]: String(metadata["generation"]) };
    const path = { namespace: METAL, name: metadata.name };
    objects.patch("vinoes", path, { metadata: { annotations } });
  }
  return asking.length === 0 ? undefined : asking.map(({ metadata }) => metadata.name).join(", ");
}

/** Deletes machines of Cluster API of which a Vino says that they use a host that it waits for. */
export function deleteMachinesInTheWay({ vinoes, clusterApi, trace }: VinoWorld): void {
  const status = JSON.stringify(vinoes.map(({ status: one = null }) => one));
  const users = new Set(Array.from(status.matchAll(IN_THE_WAY), ([, name = ""]) => name));
  for (const machine of clusterApi.list()) {
    if (machine.isLeaving || !users.has(machine.name)) continue;
    trace.note("PERSON", `deletes machine ${machine.name}`);
    clusterApi.remove(machine);
  }
}

/** Says that no other cluster has hosts of which Landfall only saw that they were paused and then gone. */
export function publishAgain({ vinoes, objects, trace }: VinoWorld): void {
  for (const { metadata, status = null } of vinoes) {
    if (!JSON.stringify(status).includes(`${PUBLISH_AGAIN}=true`)) continue;
    if (PUBLISH_AGAIN in objectAt(metadata, "annotations")) continue;
    trace.note("PERSON", `has hosts of ${metadata.name} published again`);
    const path = { namespace: METAL, name: metadata.name };
    objects.patch("vinoes", path, { metadata: { annotations: { [PUBLISH_AGAIN]: "true" } } });
  }
}

/** Asks for disks as large as those that there are. */
export function askForLargerDisks({ vinoes, objects, trace }: VinoWorld): void {
  for (const { metadata, spec = null, status = null } of vinoes) {
    const [, disk = "", size = ""] = TOO_SMALL.exec(JSON.stringify(status)) ?? [];
    const block = isObject(spec) ? objectAt(spec, "xenOrchestra") : {};
    const { disks = [] } = block;
    if (size === "" || !isArray(disks)) continue;
    const all = disks.filter(isObject);
    const larger = all.map((one) => (stringAt(one, "name") === disk ? { ...one, size } : one));
    if (isEqual(all, larger)) continue;
    trace.note("PERSON", `asks for ${size} of disk ${disk} of ${metadata.name}`);
    const path = { namespace: METAL, name: metadata.name };
    objects.patch("vinoes", path, { spec: { xenOrchestra: { disks: larger } } });
  }
}

/** Gives VMs the names back that they were made with. */
export function nameBack({ cloudJudge, trace }: VinoWorld): void {
  for (const { vm, birth } of cloudJudge.machines.list()) {
    if (vm["name_label"] === birth.name) continue;
    vm["name_label"] = birth.name;
    trace.note("PERSON", `names ${birth.name} again`);
  }
}

/** Why only a person can go on with a VM: nobody knows whose it is, or what it was started with. */
const HOPELESS = ["has lost the marks of Landfall", "was started before it was complete"];

/** Deletes VMs of which Landfall says that a person must. */
export function deleteHopeless(world: VinoWorld): void {
  const status = JSON.stringify(world.vinoes.map(({ status: one = null }) => one));
  for (const { vm, birth } of world.cloudJudge.machines.list()) {
    if (!HOPELESS.some((why) => status.includes(`${birth.name} (${vm.id}) ${why}`))) continue;
    world.trace.note("PERSON", `deletes ${birth.name}`);
    deleteMachine(world, vm);
  }
}

/** How Landfall says that only a person knows whether a disk has data. */
const DISK_LEFT = /is gone, but its disk (\S+) \(([^)]+)\) exists/g;

/** Deletes disks of VMs that people deleted, of which Landfall says that a person must. */
export function deleteDisksLeft({ vinoes, cloud: { state }, trace }: VinoWorld): void {
  const status = JSON.stringify(vinoes.map(({ status: one = null }) => one));
  for (const [, name = "", id = ""] of status.matchAll(DISK_LEFT)) {
    if (!state.all("vdis").has(id)) continue;
    trace.note("PERSON", `deletes disk ${name}`);
    state.remove("vdis", id);
  }
}

/** Deletes a VM with its disks. */
function deleteMachine({ cloud: { state }, cloudJudge }: VinoWorld, vm: XoRecord): void {
  const birth = cloudJudge.machines.findBirth(vm.id);
  if (birth !== undefined) cloudJudge.noteDeletion(vm, birth);
  // Disks of others are theirs, also on a VM of ours.
  for (const vbd of listAttachments(state, vm.id)) {
    if (cloudJudge.watcher.isForeign(String(vbd["VDI"]))) dropAttachment(state, vbd);
  }
  state.removeVm(vm.id, "go");
}

/** People touch only machines that were complete. */
function onMachine(
  name: string,
  weight: number,
  act: (world: VinoWorld, vm: XoRecord) => void,
): VinoStep {
  const list = ({ cloudJudge }: VinoWorld) =>
    cloudJudge.machines.list().filter(({ vm }) => isReady(vm));
  return toStepOf(`VM ${name}`, weight, list, (world, { vm, birth }) => {
    act(world, vm);
    return birth.name;
  });
}
