/**
 * Says what a person can do about a refused step. Pure.
 * @module
 */
import { RefusedMachineError } from "../../../../cloud/capabilities/refused_errors.ts";
import type { MachineProblem } from "../../../../cloud/capabilities/machines.ts";
import { CloudError } from "../../../../cloud/errors.ts";
import { ROLE_PATH } from "../privileges.ts";
import type { Step } from "../steps.ts";
import { ChangeRefusal } from "../wire/refusal.ts";

/** What the hypervisor's words mean, and what to do. */
const WORDS: Readonly<Record<string, readonly [reason: string, advice: string]>> = {
  HOST_NOT_ENOUGH_FREE_MEMORY: ["NoRoom", "the host has too little free memory: make room on it"],
  NO_HOSTS_AVAILABLE: ["NoRoom", "no host can start it: make room, or enable a host"],
  HOST_DISABLED: ["HostNotUsable", "the host is disabled: enable it"],
  HOST_OFFLINE: ["HostNotUsable", "the host is offline: start it"],
  SR_BACKEND_FAILURE_44: ["StorageFull", "the storage is full: make room, or name another one"],
  OTHER_OPERATION_IN_PROGRESS: ["Busy", "another operation runs on it"],
  VM_LACKS_FEATURE: ["NotGraceful", "its guest cannot be asked"],
};

/** Turns an error of a step into one with a problem for operators, if there is one. */
export function explainRefusal(error: unknown, step: Step): unknown {
  if (error instanceof RangeError && step.change.kind === "attachSeed") {
    const message = `Cannot ${step.summary}: ${error.message}`;
    const cause = new CloudError("protocol", message, { cause: error });
    return new RefusedMachineError({ reason: "SeedNotUsable", message, kind: "decision" }, cause);
  }
  if (!(error instanceof ChangeRefusal)) return error;
  const problem = toProblem(error);
  return problem === undefined ? error : new RefusedMachineError(problem, error);
}

function toProblem(error: ChangeRefusal): MachineProblem | undefined {
  const { code, message, missing, isBlocked } = error;
  if (missing.length > 0) {
    const advice = `Give its role what ${ROLE_PATH} has`;
    return { reason: "NoRight", message: `${message}. ${advice}`, kind: "decision" };
  }
  if (isBlocked) return { reason: "OperationBlocked", message, kind: "decision" };
  const [reason, advice] = WORDS[code ?? ""] ?? [];
  if (reason === undefined || advice === undefined) return undefined;
  return { reason, message: `${message}: ${advice}`, kind: "retry" };
}
