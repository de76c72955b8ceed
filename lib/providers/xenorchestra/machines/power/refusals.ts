/**
 * Turns refusals of the hypervisor into those of power. Pure.
 * @module
 */
import {
  type PowerAction,
  type PowerRefusal,
  RefusedPowerError,
} from "../../../../cloud/capabilities/machine_power.ts";
import { ChangeRefusal } from "../wire/refusal.ts";

/** What the hypervisor's words mean. */
const WORDS: Readonly<Record<string, PowerRefusal>> = {
  VM_BAD_POWER_STATE: "state",
  VM_LACKS_FEATURE: "notGraceful",
  VM_LACKS_FEATURE_SHUTDOWN: "notGraceful",
  VM_MISSING_PV_DRIVERS: "notGraceful",
  OTHER_OPERATION_IN_PROGRESS: "busy",
  OPERATION_BLOCKED: "blocked",
  HOST_NOT_ENOUGH_FREE_MEMORY: "noRoom",
  NO_HOSTS_AVAILABLE: "noRoom",
  HOST_DISABLED: "noRoom",
  SR_BACKEND_FAILURE_44: "noRoom",
};

/** What is done besides actions on the power. */
type Other = "delete the image" | "set the firmware" | "upload the image";

/** Turns an error of an action into one that says what kind of refusal it is, if it is one. */
export function toPowerRefusal(error: unknown, action: PowerAction | Other): unknown {
  if (!(error instanceof ChangeRefusal)) return error;
  const refusal = findRefusal(error);
  if (refusal === undefined) return error;
  const what = action.includes(" ") ? action : `do ${action}`;
  return new RefusedPowerError(refusal, `Cannot ${what}: ${error.message}`, { cause: error });
}

function findRefusal({
  code,
  missing,
  isBlocked,
  isMissing,
}: ChangeRefusal): PowerRefusal | undefined {
  if (missing.length > 0) return "denied";
  if (isBlocked) return "blocked";
  if (isMissing) return "notOurs";
  return WORDS[code ?? ""];
}
