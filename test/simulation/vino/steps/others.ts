/**
 * What other people do beside us: they have VMs, templates, disks, hosts, Secrets and addresses that look like ours.
 * @module
 */
import type { ApiObject, JsonObject } from "../../../../lib/simulator/kubernetes/mod.ts";
import {
  isArray,
  isObject,
  objectAt,
  stringAt,
} from "../../../../lib/simulator/kubernetes/patches/json.ts";
import { pathOf } from "../../../../lib/simulator/metal3/host_state.ts";
import type { XoRecord } from "../../../../lib/simulator/xenorchestra/mod.ts";
import { METAL, type VinoWorld } from "../world.ts";
import { type Step, toStep, toStepOf } from "../../steps/mod.ts";

type VinoStep = Step<VinoWorld>;

/** Machines have lower numbers, or no Vino wants them. */
const INDEX_MAX = 3;
/** Addresses of the subnet that others may take, and the owner that they write down. */
const [FIRST, LAST] = [10, 99];
const OWNER = "office/printer/";
/** Label of a Secret of others. */
const OTHERS = "of-others";

/** What others do. */
export const OTHERS_STEPS: readonly VinoStep[] = [
  onName("put a VM", 2, ({ others }, name) => others.putVm(name)),
  onName("put a template", 1, ({ others }, name) => others.putTemplate(name)),
  onName("put a disk", 1, ({ others, random }, name) => {
    const disk = random.pick([`${name}-old`, `${name}0.data`, "debian-root"]);
    others.putDisk(disk);
    return disk;
  }),
  onName("put a disk with another mark", 1, ({ others, random }, name) => {
    const disk = random.pick([`${name}.data`, `${name}.root`, `${name}-cidata`, `${name}.:left`]);
    others.putMarkedDisk(disk);
    return disk;
  }),
  onName("use a disk", 1, ({ others, random }, name) => {
    const disk = random.pick([`${name}.data`, `${name}-cidata`]);
    others.putUser(disk);
    return disk;
  }),
  onMachine("attach a disk", 2, ({ others }, vm) => others.attachDisk(vm)),
  onMachine("copy a VM", 1, ({ others }, vm) => others.copy(vm)),
  toStep("others take things away", 2, ({ others }) => {
    others.leave();
    return "all that is in the way";
  }),
  onHostName("host", ["baremetalhosts", ""], ({ random }) => ({
    labels: random.chance(0.5) ? { "landfall.dev/vino-uid": "another" } : {},
    more: { spec: { online: true } },
  })),
  onHostName("Secret", ["secrets", "-network-data"], () => ({
    labels: { [OTHERS]: "true" },
    more: { stringData: { networkData: "mine" } },
  })),
  toStep("others take an address", 2, takeAddress),
];

/** Takes away the Secrets of others. Their hosts go with those that are of no Vino. */
export function deleteOthersSecrets({ objects }: VinoWorld): void {
  for (const secret of objects.list("secrets", METAL)) {
    const isTheirs = OTHERS in objectAt(secret.metadata, "labels");
    if (isTheirs) objects.delete("secrets", pathOf(secret));
  }
}

/** Writes an address that nobody has into a pool. */
function takeAddress({ objects, random }: VinoWorld): string | undefined {
  const pools = objects.list("ippools", METAL);
  if (pools.length === 0) return undefined;
  const pool = random.pick(pools);
  const { allocatedIPs = [] } = objectAt(pool, "spec");
  const given = isArray(allocatedIPs) ? allocatedIPs.filter(isObject) : [];
  const at = random.between(FIRST, LAST);
  const ip = `192.0.2.${at}`;
  if (given.some((one) => stringAt(one, "ip") === ip)) return undefined;
  const mac = `02:ff:ff:ff:ff:${at.toString(16).padStart(2, "0")}`;
  const more = [...given, { ip, mac, allocatedTo: `${OWNER}${at}` }];
  objects.patch("ippools", pathOf(pool), { spec: { allocatedIPs: more } });
  return ip;
}

/** Others do something with a name of a machine that there is, or that there may be. */
function onName(
  name: string,
  weight: number,
  act: (world: VinoWorld, name: string) => string,
): VinoStep {
  return onVino(name, weight, (world, { metadata }) => {
    const uid = stringAt(metadata, "uid").slice(0, 8);
    const machine = `vino-${uid}-worker-${world.random.between(0, INDEX_MAX)}`;
    return `${machine}: ${act(world, machine)}`;
  });
}

/** Others put something of a kind with the name of a host's that there is, or that there may be. */
function onHostName(
  what: string,
  [plural, ending]: readonly [plural: string, ending: string],
  toBody: (world: VinoWorld) => { readonly labels: JsonObject; readonly more: JsonObject },
): VinoStep {
  return onVino(`put a ${what}`, 1, (world, { metadata }) => {
    const { objects, random } = world;
    const name = `${metadata.name}-worker-${random.between(0, INDEX_MAX)}${ending}`;
    const path = { namespace: METAL, name };
    if (objects.get(plural, path) !== undefined) return undefined;
    const { labels, more } = toBody(world);
    objects.create(plural, { metadata: { ...path, labels }, ...more });
    return name;
  });
}

function onVino(
  name: string,
  weight: number,
  act: (world: VinoWorld, vino: ApiObject) => string | undefined,
): VinoStep {
  return toStepOf(`others ${name}`, weight, ({ vinoes }) => vinoes, act);
}

/** Others do something with a VM of ours, also with one that is not complete. */
function onMachine(
  name: string,
  weight: number,
  act: (world: VinoWorld, vm: XoRecord) => void,
): VinoStep {
  const list = ({ cloudJudge }: VinoWorld) => cloudJudge.machines.list();
  return toStepOf(`others ${name}`, weight, list, (world, { vm, birth }) => {
    act(world, vm);
    return birth.name;
  });
}
