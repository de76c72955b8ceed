/**
 * Every Lease that this process would use, who holds it, and who else acts, for `landfall check`.
 * @module
 */
import { type ControllerDefinition, listLeases } from "../../../controllers/definition.ts";
import type { LeaseName } from "../../../kube/election/lease.ts";
import type { CheckFinding } from "../report.ts";
import { describeHolder, isHeldNow } from "./other_leaders.ts";
import { checkLease, checkWithoutLease, type LeaseSearch } from "./own_lease.ts";
import { readLease, toLeaseFinding } from "./reading.ts";

/** What {@linkcode checkLeases} looks for. */
export interface LeasesSearch extends Omit<LeaseSearch, "installed"> {
  /** Whether the process waits for its Leases: not with `--leader-elect=false`. */
  readonly isElected: boolean;
  /** Whether a flag names the Lease of the process. Then no other one is looked for. */
  readonly isNamed: boolean;
  /** That of installations for this cloud. */
  readonly installed: string;
  /** The controllers that run. */
  readonly chosen: readonly Pick<ControllerDefinition, "lease">[];
}

/** What is said of the Leases. */
interface CheckedLeases {
  /** The Lease of the process. Absent if it waits for none, or only for those that controllers name. */
  readonly lease?: LeaseName;
  /** Whether a process leads by it. @default {false} */
  readonly isHeld?: boolean;
  readonly findings: readonly CheckFinding[];
}

/** What is said with `--leader-elect=false`. */
const NO_LEASE: CheckFinding = {
  level: "ok",
  code: "lease",
  message: "no Lease: with --leader-elect=false this process acts at once, so run only one",
};

/**
 * Looks at the Lease of the process if it needs one, and at those that controllers name.
 *
 * @throws the signal's reason
 */
export async function checkLeases(
  search: LeasesSearch,
  signal: AbortSignal,
): Promise<CheckedLeases> {
  const { own, installed, isNamed, isElected, chosen } = search;
  const names = listLeases(chosen, own.name);
  const kinds = names.filter((name) => name !== own.name);
  const isNeeded = names.includes(own.name);
  const ofKinds = await checkKindLeases(search, kinds, signal);
  if (!isElected) {
    const others = isNeeded ? await checkWithoutLease(search, signal) : [];
    return { findings: [NO_LEASE, ...others, ...ofKinds] };
  }
  if (!isNeeded) return { findings: ofKinds };
  const choice = { ...search, installed: isNamed ? undefined : installed };
  const { findings, ...found } = await checkLease(choice, signal);
  return { ...found, findings: [...findings, ...ofKinds] };
}

/** Of a process that waits for these Leases, says who holds them; of one that does not, warns if a process does. */
async function checkKindLeases(
  { client, own: { namespace }, isElected, nowMs }: LeasesSearch,
  names: readonly string[],
  signal: AbortSignal,
): Promise<CheckFinding[]> {
  const findings = names.map(async (name): Promise<CheckFinding[]> => {
    const path = { namespace, name };
    const reading = await readLease(client, path, signal);
    if (isElected) return [toLeaseFinding(path, reading)];
    if (typeof reading !== "object" || !isHeldNow(reading, nowMs)) return [];
    const holder = describeHolder(reading, nowMs);
    const message = `another process holds Lease ${namespace}/${name}: ${holder}`;
    const advice =
      "with --leader-elect=false both act: stop one of the two, or remove --leader-elect=false";
    return [{ level: "warning", code: "otherLeader", message, advice }];
  });
  return (await Promise.all(findings)).flat();
}
