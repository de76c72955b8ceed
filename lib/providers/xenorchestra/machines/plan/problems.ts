/**
 * The problems of machines in Xen Orchestra, what messages call its things, and the short form of plans. Pure.
 * @module
 */
import {
  type Machine,
  type MachineIdentity,
  type MachinePart,
  type MachinePlan,
  type MachinePool,
  type MachineProblem,
  type MachineState,
  toMachineName,
} from "../../../../cloud/capabilities/machines.ts";
import { quote } from "../../../../core/text/printable.ts";
import type { Resources, Observation } from "../observe/observation.ts";
import type { Change, EarlierVms, Step } from "../steps.ts";
import type { VmRecord } from "../vm_record.ts";

interface Named {
  readonly id: string;
  readonly name: string;
}

/** `network "oam" (6b6ca0f5-…)`; only the ID if there is no other name. */
export function nameThing(what: string, { id, name }: Named): string {
  return name === id || name === "" ? `${what} ${id}` : `${what} ${quote(name)} (${id})`;
}

/** `pool "paris" (02f9029d-…)`. */
export function namePool({ pools }: Pick<Observation, "pools">, id: string): string {
  return nameThing("pool", findNamed(pools, id));
}

/** `network "oam" (6b6ca0f5-…)`. */
export function nameNetwork({ networks }: Pick<Resources, "networks">, id: string): string {
  return nameThing("network", findNamed(networks, id));
}

/** `storage repository "fast" (4cb0d74e-…)`. */
export function nameStorage({ storages }: Pick<Resources, "storages">, id: string): string {
  return nameThing("storage repository", findNamed(storages, id));
}

/** `template "debian" (1ba8e9d0-…)`. @param id The ID or the UUID */
export function nameTemplate({ templates }: Pick<Resources, "templates">, id: string): string {
  const found = templates.find((one) => one.id === id || one.uuid === id);
  return nameThing("template", { id, name: found?.name ?? id });
}

/** `host "xcp-1" (a5b3c1d2-…)`. */
export function nameHost({ hostsById }: Pick<Observation, "hostsById">, id: string): string {
  return nameThing("host", hostsById.get(id) ?? { id, name: id });
}

function findNamed(all: readonly Named[], id: string): Named {
  return all.find((one) => one.id === id) ?? { id, name: id };
}

/** A plan of Xen Orchestra. */
export type Plan = MachinePlan<Step>;

/** When to look again at what passes without a change that Landfall sees, in milliseconds. */
export const RETRY_MS = 30_000;

/** A person must decide. */
export function toDecision(reason: string, message: string): MachineProblem {
  return { reason, message, kind: "decision" };
}

/** Landfall tries again by itself. */
export function toRetry(reason: string, message: string): MachineProblem {
  return { reason, message, kind: "retry" };
}

/** Worth knowing. */
export function toNotice(reason: string, message: string): MachineProblem {
  return { reason, message, kind: "notice" };
}

/** What a person can do with something that is in the way, for messages: to delete it deletes its data, too. */
export const RENAME_OR_DELETE = "rename it to keep its data, or delete it with its data";

/** The VM of a machine exists, but no list shows it. */
export function toHiddenVm(name: string, vmId: string): MachineProblem {
  const what = `VM ${name} (${vmId}) exists, but Xen Orchestra does not list it`;
  const advice =
    "remove the selector from the privilege vm read of the user, or the privilege that denies it";
  return toDecision("VmHidden", `${what}: ${advice}`);
}

/** Why a pool may hide a machine. `undefined`: it answers in full. */
export function findLostPool(
  pools: readonly MachinePool[],
  id: string,
): MachineProblem | undefined {
  const pool = pools.find((one) => one.id === id);
  if (pool?.isComplete === true) return undefined;
  const what = pool === undefined ? "is not shown" : "is disconnected or still loading";
  const advice =
    "check its connection, and whether the user of Landfall has the privileges pool read and host read";
  return toRetry("PoolNotConnected", `pool ${pool?.name ?? id} ${what}: ${advice}`);
}

/** What a plan may have beside its state. */
interface PlanDetails {
  readonly steps?: readonly Step[];
  readonly problems?: readonly MachineProblem[];
  readonly parts?: readonly MachinePart[];
  readonly machine?: Machine | undefined;
  readonly againMs?: number | undefined;
  readonly needsLook?: boolean;
  readonly isBuilt?: boolean;
  readonly shown?: string;
  readonly disks?: Plan["disks"];
}

/** Builds a plan. */
export function toPlan(state: MachineState, details: PlanDetails = {}): Plan {
  const { steps = [], problems = [], parts = [], machine, againMs } = details;
  const { needsLook, isBuilt, shown, disks } = details;
  return {
    state,
    steps,
    problems,
    parts,
    ...(machine && { machine }),
    ...(againMs !== undefined && { againMs }),
    ...(needsLook === true && { needsLook }),
    ...(isBuilt === true && { isBuilt }),
    ...(shown !== undefined && { shown }),
    ...(disks && { disks }),
  };
}

/** Builds a step. @param summary As `MachineStep.summary` */
export function toStep(identity: MachineIdentity, summary: string, change: Change): Step {
  const { owner, role, index } = identity;
  return { summary, change, identity: { owner, role, index } };
}

/** The step that asks whether VMs are gone that no list shows. */
export function toProof(identity: MachineIdentity, earlier: EarlierVms, record: VmRecord): Step {
  const summary = `make sure that VM ${toMachineName(identity)} is gone`;
  const step = toStep(identity, summary, { kind: "proveGone", earlier, record });
  return { ...step, isQuestion: true };
}

/** A step that people should know of. */
export function toNews(step: Step): Step {
  return { ...step, isNews: true };
}

/** Lets each step but the first follow the one before it without another observation. */
export function toChain(steps: readonly Step[]): Step[] {
  return steps.map((step, at) => (at === 0 ? step : { ...step, isDirect: true }));
}
