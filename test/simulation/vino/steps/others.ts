/**
 * What other people do beside us: they have VMs, templates, disks, hosts, Secrets and addresses that look like ours.
 * @module
 */
import {
  isArray,
  isObject,
  objectAt,
  stringAt,
} from "../../../../lib/simulator/kubernetes/patches/json.ts";
import { pathOf } from "../../../../lib/simulator/metal3/host_state.ts";
import type { XoRecord } from "../../../../lib/simulator/xenorchestra/mod.ts";
import type { ControllerStep } from "../../steps/controller.ts";
import { METAL, type VinoWorld } from "../world.ts";

type Step = ControllerStep<VinoWorld>;

/** Machines have lower numbers, or no Vino wants them. */
const INDEX_MAX = 3;
/** Addresses of the subnet that others may take, and the owner that they write down. */
const [FIRST, LAST] = [10, 99];
const OWNER = "office/printer/";
/** Label of a Secret of others. */
const OTHERS = "of-others";

/** What others do. */
export const OTHERS_STEPS: readonly Step[] = [
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
  {
    name: "others take things away",
    weight: 2,
    act: ({ others }) => {
      others.leave();
      return "all that is in the way";
    },
  },
  {
    name: "others put a host",
    weight: 1,
    act: ({ objects, random, vinoes }) => {
      if (vinoes.length === 0) return undefined;
      const name = `${random.pick(vinoes).metadata.name}-worker-${random.between(0, INDEX_MAX)}`;
      const path = { namespace: METAL, name };
      if (objects.get("baremetalhosts", path) !== undefined) return undefined;
      const labels = random.chance(0.5) ? { "landfall.dev/vino-uid": "another" } : {};
      objects.create("baremetalhosts", { metadata: { ...path, labels }, spec: { online: true } });
      return name;
    },
  },
  {
    name: "others put a Secret",
    weight: 1,
    act: ({ objects, random, vinoes }) => {
      if (vinoes.length === 0) return undefined;
      const host = `${random.pick(vinoes).metadata.name}-worker-${random.between(0, INDEX_MAX)}`;
      const path = { namespace: METAL, name: `${host}-network-data` };
      if (objects.get("secrets", path) !== undefined) return undefined;
      const metadata = { ...path, labels: { [OTHERS]: "true" } };
      objects.create("secrets", { metadata, stringData: { networkData: "mine" } });
      return path.name;
    },
  },
  { name: "others take an address", weight: 2, act: takeAddress },
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
): Step {
  return {
    name: `others ${name}`,
    weight,
    act: (world) => {
      const { random, vinoes } = world;
      if (vinoes.length === 0) return undefined;
      const uid = stringAt(random.pick(vinoes).metadata, "uid");
      const machine = `vino-${uid.slice(0, 8)}-worker-${random.between(0, INDEX_MAX)}`;
      return `${machine}: ${act(world, machine)}`;
    },
  };
}

/** Others do something with a VM of ours, also with one that is not complete. */
function onMachine(
  name: string,
  weight: number,
  act: (world: VinoWorld, vm: XoRecord) => void,
): Step {
  return {
    name: `others ${name}`,
    weight,
    act: (world) => {
      const all = world.cloudJudge.machines.list();
      if (all.length === 0) return undefined;
      const { vm, birth } = world.random.pick(all);
      act(world, vm);
      return birth.name;
    },
  };
}
