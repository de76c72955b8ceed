/**
 * What looks found of a machine, for as long as no look and no inventory shows anything else. Pure.
 * @module
 */
import type {
  MachinePlan,
  MachinePool,
  MachineProblem,
} from "../../../../cloud/capabilities/machines.ts";

/** Whether a look found that a machine differs, and nothing to do; and the inventory shows nothing else since. */
export function holds(
  {
    plan,
    failures,
    foundMs,
  }: {
    readonly plan: MachinePlan;
    readonly failures: number;
    /** When a look found nothing to do. Absent: none did. */
    readonly foundMs?: number;
  },
  next: MachinePlan,
): boolean {
  const isFound = foundMs !== undefined && failures === 0 && plan.needsLook !== true;
  const differs = plan.problems.length > 0 && plan.problems.every(({ kind }) => kind === "notice");
  const isSame = plan.shown !== undefined && plan.shown === next.shown;
  return isFound && differs && isSame && plan.steps.length === 0;
}

/**
 * Adds to the plan from an inventory what was found before.
 *
 * @param before The plan so far, of the same goal
 * @param pools Of the inventory
 */
export function keepFound(
  plan: MachinePlan,
  before: MachinePlan | undefined,
  pools: readonly MachinePool[],
): MachinePlan {
  return before === undefined ? plan : keepDisks(keepProblems(plan, before, pools), before);
}

/**
 * Why the last attempt to make a machine failed: known until a look finds something else, or the machine is made.
 *
 * @param plan From a look or an inventory, without what is kept
 * @param before What is known so far, of the same goal
 */
export function listSetbacks(
  { state, problems, needsLook = false }: MachinePlan,
  before: { readonly setbacks: readonly MachineProblem[] } | undefined,
): readonly MachineProblem[] {
  // A look that finds nothing proves why: it judges the last attempt, and all that a new one depends on.
  if (state === "Absent" && !needsLook) return problems.filter(isRetry);
  return state === "Absent" || state === "Creating" ? (before?.setbacks ?? []) : [];
}

function isRetry({ kind }: MachineProblem): boolean {
  return kind === "retry";
}

/** Only a look shows disks. They are the same as long as the machine has what it had. */
function keepDisks(plan: MachinePlan, before: MachinePlan): MachinePlan {
  const isSame = plan.isBuilt === true && plan.machine?.id === before.machine?.id;
  if (!isSame || plan.disks !== undefined || before.disks === undefined) return plan;
  return { ...plan, disks: before.disks };
}

/** What a person must decide, or should know, stands until a look or an inventory shows that it is over. */
function keepProblems(
  plan: MachinePlan,
  before: MachinePlan,
  pools: readonly MachinePool[],
): MachinePlan {
  if (plan.needsLook !== true) return plan;
  const { state, problems, parts } = before;
  if (problems.some(({ kind }) => kind === "decision")) return { ...plan, state, problems };
  const isLost = plan.state === "Unknown";
  const wasLost = state === "Unknown";
  // A look says more about a pool that is lost, and how a person can say that it is gone.
  if (isLost && wasLost && problems.length > 0) return { ...plan, problems };
  // Only a look knows that a machine may be in a lost pool that is not that of the spec.
  const hides = ({ missingPoolId: id }: MachineProblem): boolean =>
    id === undefined
      ? pools.some(({ isComplete }) => !isComplete)
      : !pools.some((pool) => pool.id === id && pool.isComplete);
  if (plan.state === "Absent" && wasLost && problems.some(hides)) {
    return { ...plan, state, problems };
  }
  // A pool that is lost, or answers again, is other news. So is a machine that came or went.
  const isSame = !isLost && !wasLost && plan.machine?.id === before.machine?.id;
  const failures = isSame ? problems.filter(isRetry) : [];
  const notices = problems.filter(({ kind }) => kind === "notice");
  if (notices.length > 0 && plan.state === "Ready") {
    return { ...plan, problems: [...failures, ...notices], parts };
  }
  return failures.length === 0 ? plan : { ...plan, problems: failures };
}
