/**
 * Worlds for the simulated CloudStack: the small one of the demo, and fleets of any size for measurements.
 * @module
 */
import type { DemoMachine } from "../demo_machine.ts";
import { toUuid } from "../uuid.ts";
import {
  toAccount,
  toDomain,
  toProject,
  toUser,
  type Account,
  type Domain,
} from "./access/accounts.ts";
import {
  toNetwork,
  toNic,
  toOffering,
  toPublicIp,
  toVm,
  toZone,
  type Network,
  type Nic,
  type Offering,
  type PublicIp,
  type Vm,
  type VmOptions,
  type World,
  type Zone,
} from "./world/records.ts";

/** A world and what its kubelets report. */
interface DemoWorld {
  readonly world: World;
  /** The machines that become Nodes, by the name of the Node. */
  readonly machines: ReadonlyMap<string, DemoMachine>;
}

/** The world of the demo, with a machine that is created later. */
export interface StoryWorld extends DemoWorld {
  /** IDs of the zones by name. */
  readonly zoneIds: Readonly<Record<"paris" | "lyon", string>>;
  /** IDs of the service offerings by name. */
  readonly offeringIds: Readonly<Record<"small" | "large", string>>;
  /** IDs of the accounts: the cluster's own, and another one of the domain. */
  readonly accountIds: Readonly<Record<"acme" | "ops", string>>;
  /** A project that the cluster's account is a member of. */
  readonly projectId: string;
  /** A machine that registers before CloudStack shows it: `state.addVm(late.options)`. */
  readonly late: { readonly options: VmOptions; readonly machine: DemoMachine };
}

interface Site {
  readonly zone: Zone;
  readonly network: Network;
  readonly storage: Network;
}

const PUBLIC_IPS = Array.from({ length: 8 }, (_, index) => `192.0.2.${index + 10}`);

/** Two zones, eight Nodes and some other virtual machines. The same UUIDs in every run. */
export function createDemoWorld(): StoryWorld {
  const domain = toDomain("ROOT");
  const acme = toAccount({ name: "acme", domain });
  const ops = toAccount({ name: "ops", domain });
  const root = toAccount({ name: "admin", domain, type: "admin" });
  const { project, account: projectAccount } = toProject("platform", domain, [acme]);
  const small = toOffering("Small Instance", 2, 4_096);
  const large = toOffering("Large-8 (Über)", 8, 16_384);
  const paris = toSite("paris", "10.10.0.", acme);
  const lyon = toSite("lyon", "10.20.0.", acme);
  const nodes = toNodes(paris, lyon, { acme, small, large });
  const others = toOthers(paris, { acme, ops, projectAccount, small });
  const vms = [...nodes.map(({ vm }) => vm), ...others];
  const late = toLate(lyon, acme, small);
  return {
    world: {
      domains: [domain],
      accounts: [acme, ops, root, projectAccount],
      projects: [project],
      users: [
        toUser({ username: "kubeadmin", account: acme }),
        toUser({ username: "ops", account: ops }),
        toUser({ username: "admin", account: root }),
      ],
      zones: [paris.zone, lyon.zone],
      offerings: [small, large],
      networks: [paris.network, paris.storage, lyon.network, lyon.storage],
      vms,
      publicIps: toPublicIps(paris, acme, vms[0]),
    },
    machines: new Map(nodes.map(({ machine }) => [machine.nodeName, machine])),
    zoneIds: { paris: paris.zone.id, lyon: lyon.zone.id },
    offeringIds: { small: small.id, large: large.id },
    accountIds: { acme: acme.id, ops: ops.id },
    projectId: project.id,
    late,
  };
}

function toSite(name: string, prefix: string, account: Account): Site {
  const zone = toZone(name);
  const zoneId = zone.id;
  return {
    zone,
    network: toNetwork({ name: `k8s-${name}`, zoneId, accountId: account.id, prefix }),
    storage: toNetwork({
      name: `storage-${name}`,
      zoneId,
      prefix: `172.16.${prefix.slice(3, 5)}.`,
    }),
  };
}

interface Node {
  readonly vm: Vm;
  readonly machine: DemoMachine;
}

function toNodes(
  paris: Site,
  lyon: Site,
  { acme, small, large }: Record<"small" | "large", Offering> & { readonly acme: Account },
): Node[] {
  const accountId = acme.id;
  const node = (
    { zone, network, storage }: Site,
    { last, ...more }: { name: string; last: number; nodeName?: string; isDual?: boolean },
    offering: Offering = small,
  ): Node => {
    const { name, nodeName = name, isDual = false } = more;
    const ipAddress = `${network.prefix}${last}`;
    const ip6Address = `fd00:${network.prefix.slice(3, 5)}::${last}`;
    const first = toNic({ vmName: name, network, ipAddress, ip6Address });
    const second: Nic = toNic({
      vmName: name,
      network: storage,
      ipAddress: `${storage.prefix}${last}`,
      isDefault: false,
    });
    // The server shows interfaces in any order.
    const nics = isDual ? [second, first] : [first];
    const vm = toVm({ name, accountId, zoneId: zone.id, offeringId: offering.id, nics });
    return { vm, machine: toMachine(vm, nodeName, ipAddress) };
  };
  return [
    node(paris, { name: "cp-1", last: 11 }, large),
    node(paris, { name: "worker-1", last: 21 }),
    node(paris, { name: "worker-2", last: 22 }),
    node(paris, { name: "worker-dual", last: 23, isDual: true }, large),
    node(lyon, { name: "worker-3", last: 31 }),
    node(lyon, { name: "worker-4", last: 32 }),
    // Names of Nodes are in lower case; a kubelet may use the full host name.
    node(lyon, { name: "Worker-Upper", last: 33, nodeName: "worker-upper" }),
    node(lyon, { name: "worker-fqdn", last: 34, nodeName: "worker-fqdn.k8s.example" }),
  ];
}

function toOthers(
  { zone, network }: Site,
  owners: Record<"acme" | "ops" | "projectAccount", Account> & { readonly small: Offering },
): Vm[] {
  const { acme, ops, projectAccount, small } = owners;
  const vm = (name: string, account: Account, more: Partial<VmOptions> = {}): Vm =>
    toVm({ name, accountId: account.id, zoneId: zone.id, offeringId: small.id, ...more });
  const nics = [toNic({ vmName: "bastion", network, ipAddress: `${network.prefix}5` })];
  return [
    vm("bastion", acme, { nics }),
    vm("worker-10", acme, { state: "Stopped" }),
    vm("build", ops),
    vm("build", ops, { id: toUuid("vm/build/2"), state: "Stopped" }),
    vm("runner", projectAccount),
  ];
}

/** One leads to the first machine, one is the network's own, the others are free. */
function toPublicIps({ zone, network }: Site, { id }: Account, first: Vm | undefined): PublicIp[] {
  return PUBLIC_IPS.map((address, index) => {
    if (index > 1) return toPublicIp(address, zone.id);
    const ip = { ...toPublicIp(address, zone.id, id), networkId: network.id };
    if (index === 0) return { ...ip, isSourceNat: true };
    return first === undefined ? ip : { ...ip, staticNatVmId: first.id };
  });
}

function toLate({ zone, network }: Site, { id }: Account, offering: Offering): StoryWorld["late"] {
  const name = "worker-late";
  const ipAddress = `${network.prefix}99`;
  const nics = [toNic({ vmName: name, network, ipAddress })];
  const options = { name, accountId: id, zoneId: zone.id, offeringId: offering.id, nics };
  return { options, machine: toMachine(toVm(options), name, ipAddress) };
}

/** KVM shows the ID of a machine to its firmware; other hypervisors show one of their own. */
function toMachine({ id }: Vm, nodeName: string, address: string): DemoMachine {
  return { nodeName, vmId: id, systemUuid: id, address };
}

/**
 * A fleet: zones of 500 machines, `fleet-00001` and so on, all running Nodes of one account.
 *
 * @param count How many machines
 */
export function createFleet(count: number): DemoWorld {
  const perZone = 500;
  const domain: Domain = toDomain("ROOT");
  const account = toAccount({ name: "fleet", domain });
  const offering = toOffering("Small Instance", 2, 4_096);
  const sites = Array.from({ length: Math.max(1, Math.ceil(count / perZone)) }, (_, index) =>
    toSite(`zone-${index + 1}`, `10.${index + 1}.0.`, account),
  );
  const nodes: Node[] = [];
  for (const [at, { zone, network }] of sites.entries()) {
    const inZone = Math.min(perZone, count - at * perZone);
    for (let index = 0; index < inZone; index += 1) {
      const name = `fleet-${String(at * perZone + index + 1).padStart(5, "0")}`;
      const ipAddress = `10.${at + 1}.${Math.floor(index / 200)}.${(index % 200) + 10}`;
      const nics = [toNic({ vmName: name, network, ipAddress })];
      const place = { accountId: account.id, zoneId: zone.id, offeringId: offering.id };
      const vm = toVm({ name, ...place, nics });
      nodes.push({ vm, machine: toMachine(vm, name, ipAddress) });
    }
  }
  return {
    world: {
      domains: [domain],
      accounts: [account],
      users: [toUser({ username: "kubeadmin", account })],
      zones: sites.map(({ zone }) => zone),
      offerings: [offering],
      networks: sites.flatMap(({ network, storage }) => [network, storage]),
      vms: nodes.map(({ vm }) => vm),
    },
    machines: new Map(nodes.map(({ machine }) => [machine.nodeName, machine])),
  };
}
