/**
 * The controller between a cluster and a CloudStack in memory: ten Nodes in two zones, and one more in each whose
 * machine will be deleted.
 * @module
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DeletionSettings } from "../../../lib/cloud/deletion/guard.ts";
import { cloudStack } from "../../../lib/providers/cloudstack/mod.ts";
import type { CloudStackSettings } from "../../../lib/providers/cloudstack/settings/config.ts";
import {
  type Account,
  toAccount,
  toDomain,
  toProject,
  toUser,
  type User,
} from "../../../lib/simulator/cloudstack/access/accounts.ts";
import { CloudStack } from "../../../lib/simulator/cloudstack/cloudstack.ts";
import type { World } from "../../../lib/simulator/cloudstack/mod.ts";
import {
  toNetwork,
  toNic,
  toOffering,
  toVm,
  toZone,
  type Vm,
} from "../../../lib/simulator/cloudstack/world/records.ts";
import type { ObjectInput } from "../../../lib/simulator/kubernetes/mod.ts";
import { toUuid } from "../../../lib/simulator/uuid.ts";
import { MemoryServer } from "../net/memory_server.ts";
import {
  FLEET,
  GONE,
  HALTED,
  type Labels,
  LIVE,
  MOVED,
  type PartName,
  SUFFIXES,
  toPart,
} from "./fleet.ts";
import { OutageStage, prepareGround, type StageOptions } from "./stage.ts";

/** Which CloudStack it is, and how it is asked. */
export interface CloudStackOptions {
  /** The machines belong to a project, which the settings name so. @default {they belong to an account} */
  readonly project?: "id" | "name";
  /** The machines of each zone belong to another account, and an administrator asks. */
  readonly isShared?: boolean;
  /** An administrator hides the machines of `alpha` from others, and asks. */
  readonly isHidden?: boolean;
  /** The keys come from files. */
  readonly hasKeyFiles?: boolean;
  /** `deletion.trustEmptyAnswer`. @default {true} */
  readonly trustsEmptyAnswer?: boolean;
}

/** Enough that a list with small pages has two: the machines of `beta` are on the first, of `alpha` on the second. */
const OTHERS = 20;
/** The smallest page that Landfall asks for. */
export const SMALL_PAGE = 20;

const DOMAIN = toDomain("ROOT");
const ACME = toAccount({ name: "acme", domain: DOMAIN });
const OPS = toAccount({ name: "ops", domain: DOMAIN });
const STRANGER = toAccount({ name: "stranger", domain: toDomain("other", "/other/") });
const MANAGER = toAccount({ name: "manager", domain: DOMAIN, type: "admin" });
const PROJECT = toProject("cluster", DOMAIN, [ACME]);
const SMALL = toOffering("Small", 2, 4_096);
const LARGE = toOffering("Large", 8, 16_384);
const ZONES = { alpha: toZone("alpha"), beta: toZone("beta") } as const;

/** Cluster, cloud, and the controller between them. */
export class CloudStackRig extends OutageStage<CloudStackSettings> {
  /** Nodes as the first process leaves them, whatever its settings. */
  static #initialised: Promise<readonly ObjectInput[]> | undefined;
  readonly cloud: CloudStack;
  readonly server: MemoryServer;
  /** A process proves only that a machine is gone that it saw. */
  readonly provesUnseen = false;
  /** IDs of accounts: that of the machines, and another one of the same domain. */
  readonly accountIds: Readonly<Record<"acme" | "ops", string>> = { acme: ACME.id, ops: OPS.id };
  readonly project: { readonly id: string; readonly accountId: string } = {
    id: PROJECT.project.id,
    accountId: PROJECT.account.id,
  };
  readonly #how: CloudStackOptions;
  /** What the settings say. */
  readonly #keys: Readonly<Record<"apiKey" | "secretKey", string>>;
  readonly #forgotten = new Map<string, Vm>();
  #keyFolder: string | undefined;

  private constructor(options: StageOptions<CloudStackSettings>, how: CloudStackOptions) {
    super(options);
    this.#how = how;
    const { clock } = this;
    const stopped = new AbortController();
    const { signal } = stopped;
    this.cloud = new CloudStack({ clock, world: createWorld(how), signal });
    if (how.isHidden) for (const id of listVmIds("alpha")) this.cloud.state.hide(id);
    const { apiKey, secretKey } = this.cloud.user;
    this.#keys = { apiKey, secretKey };
    this.server = new MemoryServer((request, onWait) => this.cloud.answer(request, onWait));
    options.ground.setCloud(this.server);
    // Traffic counts what passes to the server in memory, so it begins later and ends first.
    const endServing = this.server.serve();
    this.disposals.push(
      options.ground.traffic.watchFetch(),
      endServing,
      () => stopped.abort(),
      () => this.kubernetes.stop(),
      () => this.#keyFolder && rmSync(this.#keyFolder, { recursive: true }),
    );
    if (how.hasKeyFiles) this.writeKeys(this.cloud.user);
  }

  /** Starts everything; resolves when all Nodes are initialised, Ready and at rest. */
  static async start(
    deletion: DeletionSettings,
    how: CloudStackOptions = {},
  ): Promise<CloudStackRig> {
    CloudStackRig.#initialised ??= CloudStackRig.#initialise(deletion);
    const nodes = await CloudStackRig.#initialised;
    const rig = CloudStackRig.#build(deletion, how);
    await rig.begin(nodes);
    return rig;
  }

  static async #initialise(deletion: DeletionSettings): Promise<readonly ObjectInput[]> {
    await using rig = CloudStackRig.#build(deletion, {});
    return await rig.initialise(FLEET);
  }

  static #build(deletion: DeletionSettings, how: CloudStackOptions): CloudStackRig {
    return new CloudStackRig({ ground: prepareGround(), definition: cloudStack, deletion }, how);
  }

  protected override get connection(): object {
    const folder = this.#keyFolder;
    const keys = folder ? toKeyFiles(folder) : this.#keys;
    const { project: by } = this.#how;
    const projectId = by === "id" ? this.project.id : PROJECT.project.name;
    const deletion = { trustEmptyAnswer: this.#how.trustsEmptyAnswer ?? true };
    const apiUrl = `${this.server.origin}/client/api`;
    return { apiUrl, ...keys, ...(by && { projectId }), deletion };
  }

  /** A user by the account's name. */
  findUser(account: "acme" | "ops" | "stranger"): User {
    const user = [...this.cloud.state.users.values()].find(({ username }) => username === account);
    if (user === undefined) throw new Error(`Cannot find user ${account}`);
    return user;
  }

  /** From now on the keys of the settings are another user's. Returns what takes that back. */
  swapKeys(account: "acme" | "ops" | "stranger"): () => void {
    const [mine, other] = [this.cloud.user, this.findUser(account)];
    const swap = (): void => {
      const { apiKey, secretKey } = mine;
      Object.assign(mine, { apiKey: other.apiKey, secretKey: other.secretKey });
      Object.assign(other, { apiKey, secretKey });
    };
    swap();
    return swap;
  }

  /** Writes a user's keys into the files that the settings name. */
  writeKeys({ apiKey, secretKey }: Pick<User, "apiKey" | "secretKey">): void {
    this.#keyFolder ??= mkdtempSync(join(tmpdir(), "outage-keys-"));
    const { apiKeyFile, secretKeyFile } = toKeyFiles(this.#keyFolder);
    writeFileSync(apiKeyFile, apiKey);
    writeFileSync(secretKeyFile, secretKey);
  }

  /** Makes it so that the server never had a machine. Returns what takes that back. */
  forget(vmId: string): () => void {
    const { state } = this.cloud;
    const vm = structuredClone(state.vm(vmId));
    this.#forgotten.set(vmId, vm);
    state.purge(vmId);
    return () => void state.addVm(vm);
  }

  /** What would happen without an outage, too. */
  happen(): void {
    const find = (name: string): Vm => {
      const vmId = this.toVmId(name);
      return this.#forgotten.get(vmId) ?? this.cloud.state.vm(vmId);
    };
    find(HALTED).state = "Stopped";
    for (const name of MOVED) find(name).offeringId = LARGE.id;
  }

  /** Machines are deleted. */
  lose(): void {
    for (const name of GONE) this.cloud.state.expunge(this.toVmId(name));
  }

  /** Labels of a Node whose machine has another service offering. */
  toFollowing(name: string, labels: Labels): Labels | undefined {
    if (!MOVED.includes(name)) return undefined;
    return {
      ...labels,
      "node.kubernetes.io/instance-type": LARGE.name,
      "beta.kubernetes.io/instance-type": LARGE.name,
    };
  }
}

/** IDs of the machines of a zone that stay. */
export function listVmIds(part: PartName): readonly string[] {
  return LIVE.filter((name) => toPart(name) === part).map((name) => toUuid(`vm/${name}`));
}

function toKeyFiles(folder: string): Readonly<Record<"apiKeyFile" | "secretKeyFile", string>> {
  return { apiKeyFile: join(folder, "api-key"), secretKeyFile: join(folder, "secret-key") };
}

function createWorld({ project, isShared = false, isHidden = false }: CloudStackOptions): World {
  const owner = project === undefined ? ACME : PROJECT.account;
  const users = [ACME, OPS, STRANGER].map((account) => toUser({ username: account.name, account }));
  const manager = toUser({ username: MANAGER.name, account: MANAGER });
  const others = Array.from({ length: OTHERS }, (_, at) => toMachine(`other-${at}`, "beta", owner));
  return {
    domains: [DOMAIN, toDomain("other", "/other/")],
    accounts: [ACME, OPS, STRANGER, MANAGER, PROJECT.account],
    projects: [PROJECT.project],
    // The first one's keys are those of the settings.
    users: isShared || isHidden ? [manager, ...users] : [...users, manager],
    zones: Object.values(ZONES),
    offerings: [SMALL, LARGE],
    networks: Object.values(NETWORKS),
    vms: [
      ...SUFFIXES.map((suffix) => toMachine(`beta-${suffix}`, "beta", isShared ? OPS : owner)),
      ...others,
      ...SUFFIXES.map((suffix) => toMachine(`alpha-${suffix}`, "alpha", owner)),
    ],
  };
}

const NETWORKS = {
  alpha: toNetwork({ name: "alpha", zoneId: ZONES.alpha.id, prefix: "10.1.0." }),
  beta: toNetwork({ name: "beta", zoneId: ZONES.beta.id, prefix: "10.2.0." }),
} as const;

function toMachine(name: string, zone: PartName, { id: accountId }: Account): Vm {
  const network = NETWORKS[zone];
  const at = SUFFIXES.indexOf(name.slice(name.indexOf("-") + 1)) + 1;
  const last = name.startsWith("other") ? 100 + Number(name.slice(name.indexOf("-") + 1)) : at;
  const nics = [toNic({ vmName: name, network, ipAddress: `${network.prefix}${last}` })];
  return toVm({ name, accountId, zoneId: ZONES[zone].id, offeringId: SMALL.id, nics });
}
