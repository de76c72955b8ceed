/**
 * The machines of Xen Orchestra.
 * @module
 */
import type {
  MachineIdentity,
  Machines,
  MachineSpec,
  MachinesQuestion,
  MachineStepContext,
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
import { takeLook } from "./look/look.ts";
import { readVms, toInventoryView } from "./look/inventory_view.ts";
import type { LookingUser, View, Vm } from "./look/view.ts";
import { planMachine } from "./plan/plan.ts";
import type { Plan } from "./plan/problems.ts";
import { planRemoval } from "./plan/removal.ts";
import { XenOrchestraPower } from "./power/power.ts";
import { JsonRpcChanges } from "./power/rpc_changes.ts";
import type { Step } from "./steps.ts";
import { listBlind } from "./privileges.ts";
import { MachinesApi } from "./wire/machines_api.ts";
import type { OwnChanges } from "./wire/own_changes.ts";
import { RefusedMachineError } from "../../../cloud/capabilities/refused_errors.ts";
import { ChangeRefusal } from "./wire/refusal.ts";

/** How often the rights of the user are read while it lacks none; an administrator can take them away. */
const RIGHTS_MS = 600_000;

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
export class XenOrchestraMachines implements Omit<Machines<View, Step>, "follow"> {
  readonly power: XenOrchestraPower;
  readonly #options: MachinesOptions;
  readonly #api: MachinesApi;
  #read: { readonly from: LastListing["vms"]; readonly vms: readonly Vm[] } | undefined;
  #userId: string | undefined;
  /** Until when the user counts as one that may see all that a creation depends on. */
  #seesAllUntilMs = -Infinity;

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

  async observe(question: MachinesQuestion, signal: AbortSignal): Promise<View> {
    const { clock, settings, own, findListing } = this.#options;
    const listing = findListing();
    if (listing === undefined) {
      throw new CloudError("unreachable", "Waiting for the first inventory with machines");
    }
    const { inventory } = listing;
    const { isForChange, machines = [] } = question;
    const readUser = (both: AbortSignal): Promise<LookingUser> => this.#readUser(both);
    return isForChange
      ? await takeLook(
          { api: this.#api, clock, settings, own, inventory, readUser },
          machines,
          signal,
        )
      : toInventoryView(listing, this.#readVms(listing), settings, clock.now());
  }

  plan(view: View, spec: MachineSpec, text: string | undefined): Plan {
    return waitForOthers(planMachine(view, spec, text), view, text);
  }

  planRemoval(view: View, identity: MachineIdentity, text: string | undefined): Plan {
    return waitForOthers(planRemoval(view, identity, text), view, text);
  }

  async apply(step: Step, context: MachineStepContext, signal: AbortSignal): Promise<void> {
    const { session, clock, own } = this.#options;
    await applyStep({ api: this.#api, session, own, clock }, step, { context, signal });
  }

  mayGoOn(error: unknown): boolean {
    if (error instanceof OutdatedPlanError) return true;
    const isRefusal = error instanceof RefusedMachineError || error instanceof ChangeRefusal;
    return isRefusal && error.kind !== "throttled";
  }

  inspect(isManaged: boolean, signal: AbortSignal): Promise<readonly Finding[]> {
    const { session } = this.#options;
    return inspectMachines({ api: this.#api, session, isManaged }, signal);
  }

  /** An inventory without changes is not read again. */
  #readVms({ vms }: LastListing): readonly Vm[] {
    if (this.#read?.from !== vms) this.#read = { from: vms, vms: readVms(vms) };
    return this.#read.vms;
  }

  /** The own user stays the same with the same settings. Rights that it lacks an administrator can give. */
  async #readUser(signal: AbortSignal): Promise<LookingUser> {
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

/** An earlier process may have begun what a record names, and reads show that a moment later. */
function waitForOthers(plan: Plan, { strangeMs = 0 }: View, text: string | undefined): Plan {
  if (strangeMs === 0 || text === undefined || plan.steps.length === 0) return plan;
  return { ...plan, steps: [], againMs: strangeMs };
}
