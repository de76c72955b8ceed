/**
 * The machines of Xen Orchestra.
 * @module
 */
import {
  type MachineIdentity,
  type Machines,
  type MachineSpec,
  type MachinesQuestion,
  type MachinesUse,
  type MachineStepContext,
  toMachineName,
} from "../../../cloud/capabilities/machines.ts";
import { CloudError } from "../../../cloud/errors.ts";
import type { Finding } from "../../../cloud/inspection.ts";
import type { Clock } from "../../../core/clock.ts";
import type { Session } from "../session/session.ts";
import type { LastListing } from "../inventory.ts";
import type { InstanceSettings } from "../settings.ts";
import type { XenOrchestraApi } from "../client.ts";
import { applyStep } from "./apply/apply.ts";
import { OutdatedPlanError } from "./apply/checks.ts";
import { inspectMachines } from "./inspection.ts";
import { listTasks, type Places, observe } from "./observe/observe.ts";
import { toTasks } from "./observe/resources.ts";
import {
  type ApiUser,
  type Resources,
  type Observation,
  type Vm,
  readVms,
  toInventoryObservation,
} from "./observe/observation.ts";
import { FRESH_PERIOD_MS } from "./plan/find.ts";
import { planMachine } from "./plan/plan.ts";
import type { Plan } from "./plan/problems.ts";
import { planRemoval } from "./plan/removal.ts";
import { XenOrchestraPower } from "./power/power.ts";
import { JsonRpcChanges } from "./power/rpc_changes.ts";
import type { Step } from "./steps.ts";
import type { RawTask } from "./wire/objects.ts";
import { listBlind } from "./privileges.ts";
import { MachinesApi } from "./wire/machines_api.ts";
import type { OwnChanges } from "./wire/own_changes.ts";
import { RefusedMachineError } from "../../../cloud/capabilities/refused_errors.ts";
import { ChangeRefusal } from "./wire/changes.ts";

/** How often the rights of the user are read while it lacks none; an administrator can take them away. */
const RIGHTS_MS = 600_000;
/** For so long an observation may use the storages and networks of another one, in milliseconds. */
const PLACES_MS = 10_000;
/** The least often that everything is looked at while machines are made, in milliseconds. */
const PEEK_MS = 30_000;

/** What {@linkcode XenOrchestraMachines} needs. */
export interface MachinesOptions {
  readonly api: Pick<XenOrchestraApi, "listAs" | "listServers" | "readAs">;
  readonly session: Pick<Session, "callRpc" | "change" | "get">;
  readonly clock: Clock;
  /** They say which labels a machine has. */
  readonly settings: InstanceSettings;
  /** The changes that other settings of the same server made, too. */
  readonly own: OwnChanges;
  /** What the last inventory showed; `undefined` before the first one that shows machines. */
  readonly findListing: () => LastListing | undefined;
}

/** See {@linkcode Machines}. */
export class XenOrchestraMachines implements Omit<Machines<Observation, Step>, "follow"> {
  readonly power: XenOrchestraPower;
  readonly #options: MachinesOptions;
  readonly #api: MachinesApi;
  #read: { readonly from: LastListing["vms"]; readonly vms: readonly Vm[] } | undefined;
  #userId: string | undefined;
  /** Until when the user counts as one that may see all that a creation depends on. */
  #seesAllUntilMs = -Infinity;
  #places: (Places & { readonly atMs: number }) | undefined;
  /** The last observation for a change. */
  #last: Observation | undefined;
  /** Names of machines that were asked for since. */
  readonly #asked = new Set<string>();

  constructor(options: MachinesOptions) {
    const { api, session, own } = options;
    this.#options = options;
    this.#api = new MachinesApi(api, session, own);
    const rpc = new JsonRpcChanges(session);
    const findListed = (id: string): Vm | undefined => {
      const listing = options.findListing();
      return listing && this.#readVms(listing).find((vm) => vm.id === id);
    };
    this.power = new XenOrchestraPower({ api: this.#api, session, own, rpc, findListed });
  }

  async observe(question: MachinesQuestion, signal: AbortSignal): Promise<Observation> {
    const { clock, settings, own, findListing } = this.#options;
    const listing = findListing();
    if (listing === undefined) {
      throw new CloudError("unreachable", "Waiting for the first inventory with machines");
    }
    if (!question.isForChange) {
      return toInventoryObservation(listing, this.#readVms(listing), settings, clock.now());
    }
    const { machines = [] } = question;
    const peeked = await this.#peek(machines, signal);
    if (peeked.cloud !== undefined) return peeked.cloud;
    const options = {
      api: this.#api,
      clock,
      settings,
      own,
      inventory: listing.inventory,
      readUser: (both: AbortSignal) => this.#readUser(both),
      listPlaces: (both: AbortSignal) => this.#listPlaces(both),
    };
    this.#last = await observe(options, machines, signal, peeked.tasks);
    this.#asked.clear();
    return this.#last;
  }

  /** As long as Xen Orchestra makes all machines in question, only its tasks are of interest. */
  async #peek(
    machines: readonly MachineIdentity[],
    signal: AbortSignal,
  ): Promise<{ readonly cloud?: Observation; readonly tasks?: readonly RawTask[] }> {
    const { clock } = this.#options;
    const { resources, observedAtMs = -Infinity } = this.#last ?? {};
    if (resources?.tasks === undefined || clock.monotonic() - observedAtMs >= PEEK_MS) return {};
    const names = machines.map(toMachineName);
    const isPending = (tasks: NonNullable<Resources["tasks"]>, name: string): boolean =>
      tasks.get(name)?.some(({ status }) => status === "pending") === true;
    const { tasks: before } = resources;
    const isLikely = names.every((name) => this.#asked.has(name) || isPending(before, name));
    if (!isLikely || names.length === 0) return {};
    const beganMs = clock.monotonic();
    const tasks = await listTasks(this.#api, machines, signal);
    if (tasks === undefined) return {};
    const now = toTasks(tasks);
    if (this.#last === undefined || !names.every((name) => isPending(now, name))) return { tasks };
    const times = { observedAtMs: beganMs, atMs: clock.now() };
    return { cloud: { ...this.#last, ...times, resources: { ...resources, tasks: now } } };
  }

  plan(cloud: Observation, spec: MachineSpec, text: string | undefined): Plan {
    return waitForReads(planMachine(cloud, spec, text), cloud, text);
  }

  planRemoval(cloud: Observation, identity: MachineIdentity, text: string | undefined): Plan {
    return waitForReads(planRemoval(cloud, identity, text), cloud, text);
  }

  async apply(step: Step, context: MachineStepContext, signal: AbortSignal): Promise<void> {
    const { session, clock, own } = this.#options;
    if (step.change.kind === "create") {
      const name = toMachineName(step.identity);
      this.#asked.add(name);
      own.begun.add(name);
    }
    await applyStep({ api: this.#api, session, own, clock }, step, { context, signal });
  }

  mayGoOn(error: unknown): boolean {
    if (error instanceof OutdatedPlanError) return true;
    const isRefusal = error instanceof RefusedMachineError || error instanceof ChangeRefusal;
    return isRefusal && error.kind !== "throttled";
  }

  inspect(use: MachinesUse, signal: AbortSignal): Promise<readonly Finding[]> {
    const { session } = this.#options;
    return inspectMachines({ api: this.#api, session, ...use }, signal);
  }

  /** An inventory without changes is not read again. */
  #readVms({ vms }: LastListing): readonly Vm[] {
    if (this.#read?.from !== vms) this.#read = { from: vms, vms: readVms(vms) };
    return this.#read.vms;
  }

  /** They rarely change. */
  async #listPlaces(signal: AbortSignal): Promise<Places> {
    const atMs = this.#options.clock.monotonic();
    if (this.#places !== undefined && atMs - this.#places.atMs < PLACES_MS) return this.#places;
    const [storages, networks] = await Promise.all([
      this.#api.list("srs", signal),
      this.#api.list("networks", signal),
    ]);
    const places = { atMs, storages: storages.objects, networks: networks.objects };
    // An administrator may just have given the right to see them.
    const isEmpty = places.storages.length === 0 || places.networks.length === 0;
    this.#places = isEmpty ? undefined : places;
    return places;
  }

  /** The own user stays the same with the same settings. Rights that it lacks an administrator can give. */
  async #readUser(signal: AbortSignal): Promise<ApiUser> {
    this.#userId ??= await this.#api.readUserId(signal);
    if (this.#userId === undefined) return { blind: [] };
    const nowMs = this.#options.clock.monotonic();
    if (nowMs < this.#seesAllUntilMs) return { id: this.#userId, blind: [] };
    const blind = await this.#listBlind(this.#userId, signal);
    if (blind.length === 0) this.#seesAllUntilMs = nowMs + RIGHTS_MS;
    return { id: this.#userId, blind };
  }

  async #listBlind(userId: string, signal: AbortSignal): Promise<readonly string[]> {
    const rights = await this.#api.readRights(userId, signal);
    return typeof rights === "string" ? [] : listBlind(rights);
  }
}

/**
 * Waits for what reads show later: an earlier process may have begun what a record names. What is not certain is looked
 * at again soon.
 */
function waitForReads(
  plan: Plan,
  { strangeMs = 0, isUnsure = false }: Observation,
  text: string | undefined,
): Plan {
  const isStrange = strangeMs > 0 && text !== undefined;
  if (isStrange && plan.steps.length > 0) {
    return { ...plan, steps: [], needsLook: true, againMs: strangeMs };
  }
  const isAtRest = plan.steps.length === 0 && plan.againMs === undefined;
  return isUnsure && isAtRest ? { ...plan, againMs: FRESH_PERIOD_MS } : plan;
}
