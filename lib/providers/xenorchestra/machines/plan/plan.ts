/**
 * Plans what to do for a machine that must exist. Pure.
 * @module
 */
import {
  type MachineProblem,
  type MachineSpec,
  toMachineName,
} from "../../../../cloud/capabilities/machines.ts";
import { type Observation, findShown } from "../observe/observation.ts";
import { type VmRecord, parseRecord } from "../vm_record.ts";
import { ROLE_PATH } from "../privileges.ts";
import type { Step } from "../steps.ts";
import {
  type Attempt,
  type Found,
  type FullView,
  findAdriftDisks,
  findEarlier,
  findMachine,
  findOrphanDisks,
  isDoubtful,
  planAdrift,
  toDoubtLeftMs,
  toFailure,
  toOrphanDeletion,
  toOrphansWaitMs,
  toWaitMs,
} from "./find.ts";
import { type Wanted, toCreateBody, toWanted } from "./wanted.ts";
import { compareVm } from "./compare.ts";
import { planComplete } from "./complete.ts";
import { planFromInventory } from "./from_inventory.ts";
import {
  type Plan,
  RENAME_OR_DELETE,
  RETRY_MS,
  toDecision,
  toHiddenVm,
  toNews,
  toPlan,
  toProof,
  toStep,
} from "./problems.ts";
import { planUnfinished } from "./unfinished.ts";

/** See `Machines.plan`. */
export function planMachine(cloud: Observation, spec: MachineSpec, text: string | undefined): Plan {
  const record = parseRecord(text);
  const { resources } = cloud;
  if (resources === undefined) return planFromInventory(cloud, spec, record);
  const full = { ...cloud, resources };
  const wanted = toWanted(full, spec);
  const { poolId } = spec;
  const { template } = wanted;
  const found = findMachine({ cloud: full, identity: spec, record, poolId, template });
  return toPlanOf(found, { cloud: full, spec, record, wanted });
}

interface Known {
  readonly cloud: FullView;
  readonly spec: MachineSpec;
  readonly record: VmRecord;
  readonly wanted: Wanted;
}

function toPlanOf(found: Found, known: Known): Plan {
  const { cloud, spec, record, wanted } = known;
  switch (found.kind) {
    case "unknown":
      return toPlan("Unknown", { problems: [found.problem], againMs: RETRY_MS });
    case "running": {
      const { attempt, vm } = found;
      const problems = attempt.problem ? [attempt.problem] : [];
      const machine = vm && findShown(cloud, vm);
      const isBlocked = attempt.problem?.kind === "decision";
      const state = isBlocked ? "Blocked" : "Creating";
      return toPlan(state, { problems, machine, againMs: attempt.againMs });
    }
    case "blocked":
      return toPlan("Blocked", { problems: [found.problem] });
    case "leftover":
      return toPlan("Unfinished", { steps: found.steps });
    case "complete": {
      const comparison = compareVm(cloud, spec, { vm: found.vm, wanted, record });
      return planComplete({ cloud, spec, record, vm: found.vm, wanted, comparison });
    }
    case "unfinished": {
      const comparison = compareVm(cloud, spec, { vm: found.vm, wanted, record });
      return planUnfinished({ ...known, ...found, comparison });
    }
    case "none":
      return { ...planAbsent(found, known), ...toVanished(record) };
  }
}

/** The VM of the record if it was complete, and no removal of ours began. */
function toVanished({ vm, disks, offAt }: VmRecord): Pick<Plan, "vanishedId"> {
  const isOurs = disks !== undefined || offAt !== undefined;
  return vm === undefined || isOurs ? {} : { vanishedId: vm };
}

/** Whether a VM that the list does not show has a network interface of the machine. */
function usesMac({ resources }: FullView, { interfaces }: MachineSpec, id: string): boolean {
  return interfaces.some(({ mac }) => resources.macs.get(mac)?.some(({ vmId }) => vmId === id));
}

function toBlind(blind: readonly string[]): MachineProblem {
  const what = `the user of Landfall has no right to see all that a VM is made of: it lacks ${blind.join(", ")}`;
  return toDecision("NoRight", `${what}. Give its role what ${ROLE_PATH} has`);
}

/** Sweeps what an earlier attempt left behind, and creates. */
function planAbsent(
  { attempt }: Found & { readonly kind: "none" },
  { cloud, spec, record, wanted }: Known,
): Plan {
  const earlier = findEarlier(attempt, record);
  const hidden = earlier.vmIds.find((id) => usesMac(cloud, spec, id));
  if (hidden !== undefined) {
    return toPlan("Blocked", { problems: [toHiddenVm(toMachineName(spec), hidden)] });
  }
  // Only after that it is known whether the machine is there: a second VM would do harm.
  if (earlier.vmIds.length > 0) {
    return toPlan("Unknown", { steps: [toProof(spec, earlier, record)] });
  }
  const { blind } = cloud.resources;
  if (blind.length > 0) return toPlan("Blocked", { problems: [toBlind(blind)] });
  const failure = toFailure(toMachineName(spec), attempt);
  const { problems, template } = wanted;
  if (template === undefined || problems.length > 0) {
    const isDecision = problems.some(({ kind }) => kind === "decision");
    return isDecision
      ? toPlan("Blocked", { problems })
      : toPlan("Absent", { problems, againMs: RETRY_MS });
  }
  const loose = findOrphanDisks(cloud, spec);
  const isSwept = record.vm === undefined;
  const lost = isSwept ? undefined : loose.find(({ isSeed }) => !isSeed)?.disk;
  if (lost !== undefined) {
    const left = `disk ${lost.name} (${lost.id})`;
    const message = `VM ${toMachineName(spec)} is gone, but its ${left} exists: ${RENAME_OR_DELETE}`;
    return toPlan("Blocked", { problems: [toDecision("DisksLeft", message)] });
  }
  const adrift = isSwept ? findAdriftDisks(cloud, spec) : [];
  if (adrift.length > 0) return planAdrift(adrift);
  const waitMs = toWaitMs(record, cloud.atMs);
  const failures = failure === undefined ? [] : [failure];
  const againMs = waitMs > 0 ? waitMs : toOrphansWaitMs(loose);
  if (againMs !== undefined) return toPlan("Absent", { problems: failures, againMs });
  const steps = [
    ...loose.map((one) => toOrphanDeletion(spec, one, record)),
    toNews(toCreation(cloud, spec, { record, wanted, template, attempt })),
  ];
  return toPlan("Absent", { steps, problems: failures });
}

function toCreation(
  cloud: FullView,
  spec: MachineSpec,
  {
    record,
    wanted,
    template,
    attempt,
  }: Pick<Known, "record" | "wanted"> & {
    readonly template: NonNullable<Wanted["template"]>;
    readonly attempt: Attempt & { readonly kind: "over" };
  },
): Step {
  const name = toMachineName(spec);
  const prior = cloud.resources.tasks?.get(name)?.[0]?.id;
  const templates = [...new Set([...(record.templates ?? []), template.uuid])];
  const tries = record.vm === undefined ? (record.tries ?? 0) + 1 : 1;
  const isOpen = isDoubtful(attempt, record) && toDoubtLeftMs(attempt, record, cloud) > 0;
  const doubtAt = isOpen ? cloud.atMs : record.doubtAt;
  const { uploadAt } = record;
  const next = { at: cloud.atMs, prior, tries, templates, pool: spec.poolId, doubtAt, uploadAt };
  const body = toCreateBody(spec, template, wanted);
  return toStep(spec, `create VM ${name}`, {
    kind: "create",
    poolId: spec.poolId,
    body,
    record: next,
  });
}
