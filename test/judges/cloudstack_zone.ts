/**
 * The zone that the contract of CloudStack is held against: the double's, or one on a real management server.
 *
 * A real one is asked for with LANDFALL_CHANGE_REAL_CLOUD=yes, CLOUDSTACK_URL, the whole endpoint, and
 * CLOUDSTACK_KEYS_FILE, a JSON file with the IDs of the zone's objects and the keys of its accounts: `zone`,
 * `offering`, `template`, `network` with `vm-node-1` and `vm-node-2`, `vpc` with `acl`, `tier` and `vm-vnode-1`, and
 * of each account `account-kube`, which owns all that, `account-other`, `account-domadmin` and `account-rootadmin` its
 * `name`, `domainid`, `key` and `secret`.
 * @module
 */
import { randomUUID } from "node:crypto";
import { parseJson } from "../../lib/core/text/values.ts";
import { startCloudStackSimulator } from "../../lib/simulator/cloudstack/mod.ts";
import { createNetworkKinds } from "../support/cloud/cloudstack_network_kinds.ts";
import { toAccount, toDomain, toUser } from "../../lib/simulator/cloudstack/access/accounts.ts";
import { toNic, type World } from "../../lib/simulator/cloudstack/world/records.ts";
import {
  readAnswer,
  sendSigned,
  type Answer,
  type Fields,
  type Keys,
  type SendOptions,
} from "../support/cloud/cloudstack_asks.ts";
import { ManualClock } from "../support/manual_clock.ts";
import { findRealCloud } from "./real_cloud.ts";

/** Who asks: the owner of everything, another account of the domain, and administrators. */
export type Who = "owner" | "other" | "domainAdmin" | "root";

/** What a case needs. */
interface Ids {
  readonly zone: string;
  /** An isolated network whose router balances the load, and two machines in it. */
  readonly network: string;
  readonly vms: readonly [string, string];
  /** A VPC, its list of network ACL items without items, its tier with that list, and a machine in it. */
  readonly vpc: string;
  readonly aclList: string;
  readonly tier: string;
  readonly tierVm: string;
  /** A project of the owner, to which no other account belongs. */
  readonly project: string;
}

/** How a change ended. */
export interface Done {
  /** ID of the object that was made; empty for other changes. */
  readonly id: string;
  /** 0 for success, otherwise the code of the refusal or of the failed job. */
  readonly code: number;
  /** What the refusal or the failed job says; empty for success. */
  readonly text: string;
  /** The result of the job, or the answer of a command without one. */
  readonly result: Readonly<Record<string, unknown>>;
}

/** How to ask. */
export interface ZoneAskOptions extends SendOptions {
  /** @default {"owner"} */
  readonly as?: Who | Keys;
}

/** Where a zone is, and what only its kind knows how to do. */
interface Place {
  /** What the cases ran on, for people. */
  readonly name: string;
  readonly url: string;
  readonly users: Readonly<Record<Who, Keys>>;
  readonly names: Readonly<Record<"owner", string>>;
  /** How long a case may take. */
  readonly timeoutMs: number;
  /** Milliseconds since the epoch by the server's clock. */
  readonly now: () => number;
  /** Gives a job time. */
  readonly wait: () => Promise<void>;
  /** Lets the owner have so many public addresses; without a number as many as before. */
  readonly limitAddresses: (zone: Zone, max?: number) => Promise<void>;
  /** Hides a machine from everybody, or shows it again. */
  readonly hide: (zone: Zone, vmId: string, isHidden: boolean) => Promise<void>;
  /** A running machine of the owner in the network, which a case may destroy. */
  readonly makeVm: (zone: Zone) => Promise<string>;
  /** Gives a machine that runs to the other account. */
  readonly giveVm: (zone: Zone, vmId: string) => Promise<void>;
  /** Lets an address of the network lead to a machine alone, until it is given back. */
  readonly bindIp: (zone: Zone, ipId: string, vmId: string) => Promise<void>;
  /** A list of network ACL items for every VPC. */
  readonly makeGlobalList: (zone: Zone) => Promise<string>;
  readonly stop: () => Promise<void>;
}

/** A zone. */
class Zone {
  readonly place: Place;
  readonly ids: Ids;

  constructor(place: Place, ids: Ids) {
    this.place = place;
    this.ids = ids;
  }

  /** Sends a request. */
  send(command: string, fields: Fields = {}, options: ZoneAskOptions = {}): Promise<Response> {
    const { as = "owner", ...rest } = options;
    const keys = typeof as === "string" ? this.place.users[as] : as;
    return sendSigned(this.place.url, keys, { command, ...fields }, rest);
  }

  /** Asks, and takes the answer out of its envelope. */
  async ask(command: string, fields?: Fields, options?: ZoneAskOptions): Promise<Answer> {
    return readAnswer(await this.send(command, fields, options));
  }

  /** Asks for a change, and lets its job end. */
  async change(command: string, fields?: Fields, options: ZoneAskOptions = {}): Promise<Done> {
    const { status, body } = await this.ask(command, fields, { method: "POST", ...options });
    if (status !== 200) return toFailed(status, body);
    const id = typeof body["id"] === "string" ? body["id"] : "";
    if (typeof body["jobid"] !== "string") return { id, code: 0, text: "", result: body };
    const job = await this.end(body["jobid"], options);
    const result = isObject(job["jobresult"]) ? job["jobresult"] : {};
    if (job["jobstatus"] === 1) return { id, code: 0, text: "", result };
    return { ...toFailed(Number(job["jobresultcode"]), result), id, result };
  }

  /** Lets a job end. Returns it as the server shows it then. */
  async end(jobid: string, { as = "owner" }: ZoneAskOptions = {}): Promise<Answer["body"]> {
    const untilMs = performance.now() + this.place.timeoutMs;
    for (;;) {
      const { body } = await this.ask("queryAsyncJobResult", { jobid }, { as });
      if (body["jobstatus"] !== 0) return body;
      if (performance.now() > untilMs) throw new Error(`Job ${jobid} did not end`);
      await this.place.wait();
    }
  }
}

function toFailed(code: number, body: Answer["body"]): Done {
  return { id: "", code, text: String(body["errortext"]), result: {} };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** The zone of the management server that the environment names; without one, the double's. It says which. */
export async function openZone(): Promise<Zone> {
  const found = await findRealCloud("CLOUDSTACK_URL", "CLOUDSTACK_KEYS_FILE");
  const zone = "url" in found ? await openReal(found.url, found.secret) : await openDouble(found);
  process.stderr.write(`\n*** The contract of CloudStack runs on ${zone.place.name} ***\n`);
  return zone;
}

async function openDouble({ whyDouble }: { whyDouble: string }): Promise<Zone> {
  const made = createNetworkKinds();
  const { networks, vms, vpc, aclList, projectId } = made;
  const clock = new ManualClock();
  const world = withAdministrator(made.world);
  const simulator = await startCloudStackSimulator({ clock, world });
  const { state, settings } = simulator;
  const [owner, other, root, domainAdmin] = state.users.values();
  if (!owner || !other || !root || !domainAdmin) throw new Error("A user is missing");
  const services = [...networks.isolated.services, "Dns"];
  const network = { ...networks.isolated, services, balancer: "HAProxy" } as const;
  state.networks.set(network.id, network);
  let count = 0;
  const place: Place = {
    name: `the double, because ${whyDouble}`,
    url: simulator.url,
    users: { owner, other, root, domainAdmin },
    names: { owner: "acme" },
    timeoutMs: 20_000,
    now: () => clock.now(),
    wait: () => clock.advance(settings.jobMs),
    limitAddresses: async (_, max = Infinity) => {
      settings.publicIpsMax = max;
    },
    hide: async (_, vmId, isHidden) => state.hide(vmId, isHidden),
    makeVm: async () => {
      count += 1;
      const name = `spare-${count}`;
      const nics = [toNic({ vmName: name, network, ipAddress: `${network.prefix}${100 + count}` })];
      const { accountId, zoneId, offeringId } = state.vm(vms.isolated[0]?.id ?? "");
      return state.addVm({ name, accountId, zoneId, offeringId, nics });
    },
    giveVm: async (_, vmId) => {
      state.vm(vmId).accountId = other.accountId;
    },
    bindIp: async (_, ipId, vmId) => {
      Object.assign(state.publicIps.get(ipId) ?? {}, { staticNatVmId: vmId });
    },
    makeGlobalList: async () => {
      const id = randomUUID();
      state.aclLists.set(id, { id, name: "global", description: "" });
      return id;
    },
    stop: () => simulator.stop(),
  };
  const [one = "", two = ""] = vms.isolated.map(({ id }) => id);
  return new Zone(place, {
    zone: network.zoneId,
    network: network.id,
    vms: [one, two],
    vpc: vpc.id,
    aclList: aclList.id,
    tier: networks.tier.id,
    tierVm: vms.tier[0]?.id ?? "",
    project: projectId,
  });
}

/** The world with an administrator of the domain, and without items in the list of the VPC. */
function withAdministrator(world: World): World {
  const account = toAccount({ name: "head", domain: toDomain("ROOT"), type: "domainAdmin" });
  return {
    ...world,
    accounts: [...(world.accounts ?? []), account],
    users: [...(world.users ?? []), toUser({ username: "head", account })],
    aclItems: [],
  };
}

async function openReal(url: string, keys: string): Promise<Zone> {
  const found: unknown = parseJson(keys);
  if (found === undefined) throw new Error("CLOUDSTACK_KEYS_FILE: must be JSON");
  const read = (...path: readonly string[]): string => {
    let value: unknown = found;
    for (const key of path) value = isObject(value) ? value[key] : undefined;
    if (typeof value === "string") return value;
    throw new Error(`CLOUDSTACK_KEYS_FILE: must have ${path.join(".")}`);
  };
  const toKeys = (name: string): Keys => ({
    apiKey: read(`account-${name}`, "key"),
    secretKey: read(`account-${name}`, "secret"),
  });
  const owner = {
    account: read("account-kube", "name"),
    domainid: read("account-kube", "domainid"),
  };
  let limit: string | undefined;
  const place: Place = {
    name: `the management server ${url}`,
    url,
    users: {
      owner: toKeys("kube"),
      other: toKeys("other"),
      domainAdmin: toKeys("domadmin"),
      root: toKeys("rootadmin"),
    },
    names: { owner: owner.account },
    timeoutMs: 300_000,
    now: () => Date.now(),
    wait: () => Bun.sleep(300),
    limitAddresses: async (zone, max) => {
      const asked = { ...owner, resourcetype: "1" };
      const { body } = await zone.ask("listResourceLimits", asked, { as: "root" });
      const [now] = Array.isArray(body["resourcelimit"]) ? body["resourcelimit"] : [];
      limit ??= String(now?.max ?? -1);
      const fields = { ...asked, max: max === undefined ? limit : String(max) };
      must(await zone.change("updateResourceLimit", fields, { as: "root" }));
    },
    hide: async (zone, id, isHidden) => {
      const fields = { id, displayvm: String(!isHidden) };
      must(await zone.change("updateVirtualMachine", fields, { as: "root" }));
    },
    makeVm: async (zone) => {
      const name = `contract-${randomUUID().slice(0, 8)}`;
      const [serviceofferingid, templateid] = [read("offering"), read("template")];
      const fields = { name, serviceofferingid, templateid, zoneid: zone.ids.zone };
      return must(
        await zone.change("deployVirtualMachine", { ...fields, networkids: zone.ids.network }),
      ).id;
    },
    giveVm: async (zone, virtualmachineid) => {
      must(await zone.change("stopVirtualMachine", { id: virtualmachineid }));
      const to = {
        account: read("account-other", "name"),
        domainid: read("account-other", "domainid"),
      };
      must(await zone.change("assignVirtualMachine", { virtualmachineid, ...to }, { as: "root" }));
    },
    bindIp: async (zone, ipaddressid, virtualmachineid) => {
      must(await zone.change("enableStaticNat", { ipaddressid, virtualmachineid }));
    },
    makeGlobalList: async (zone) => {
      const fields = { name: `contract-${randomUUID().slice(0, 8)}` };
      return must(await zone.change("createNetworkACLList", fields, { as: "root" })).id;
    },
    stop: async () => {},
  };
  const ids: Ids = {
    zone: read("zone"),
    network: read("network"),
    vms: [read("vm-node-1"), read("vm-node-2")],
    vpc: read("vpc"),
    aclList: read("acl"),
    tier: read("tier"),
    tierVm: read("vm-vnode-1"),
    project: "",
  };
  return new Zone(place, { ...ids, project: await needProject(new Zone(place, ids)) });
}

/** A project of the owner, which stays for the next run. */
async function needProject(zone: Zone): Promise<string> {
  const name = "contract";
  const { body } = await zone.ask("listProjects", { name });
  const [there] = Array.isArray(body["project"]) ? body["project"] : [];
  if (there !== undefined) return String(there.id);
  return must(await zone.change("createProject", { name, displaytext: name })).id;
}

function must(done: Done): Done {
  if (done.code !== 0) throw new Error(done.text);
  return done;
}
