/**
 * What each change of power asks of Xen Orchestra, and what its refusals mean. Repeating an action is no error.
 * @module
 */
import {
  type PowerAction,
  type PowerRefusal,
  RefusedPowerError,
} from "../../../../cloud/capabilities/machine_power.ts";
import type { Vm } from "../observe/observation.ts";
import { ChangeRefusal, type Changes, isAlready, type VmAction } from "../wire/changes.ts";

/** The VM, as it was read right before, and how to change it. */
export interface Acting {
  readonly vm: Vm;
  readonly changes: Changes;
}

/** The actions. @throws {RefusedPowerError} @throws {CloudError} as `Changes` */
export const ACTIONS: Readonly<Record<PowerAction, (acting: Acting) => Promise<void>>> = {
  on: turnOn,
  off: turnOff,
  gracefulOff,
  // Redfish offers it for a machine that is off, too.
  restart: (acting) =>
    acting.vm.power === "stopped" ? turnOn(acting) : send(acting, "hard_reboot"),
  gracefulRestart: async (acting) => {
    checkGraceful(acting);
    await begin(acting, "clean_reboot");
  },
  cycle: async (acting) => {
    await turnOff(acting);
    await send(acting, "start", "running");
  },
  pause: (acting) => send(acting, "pause", "paused"),
  resume: async (acting) => {
    if (acting.vm.power === "running") return;
    await send(acting, "unpause", "running");
  },
};

/** A VM that is suspended goes on where it was. */
async function turnOn(acting: Acting): Promise<void> {
  const { power } = acting.vm;
  if (power === "running") return;
  if (power === "suspended") return await send(acting, "resume", "running");
  if (power === "paused") return await send(acting, "unpause", "running");
  await send(acting, "start", "running");
}

async function turnOff(acting: Acting): Promise<void> {
  if (acting.vm.power === "stopped") return;
  await send(acting, "hard_shutdown", "halted");
}

async function gracefulOff(acting: Acting): Promise<void> {
  if (acting.vm.power === "stopped") return;
  checkGraceful(acting);
  await begin(acting, "clean_shutdown");
}

function checkGraceful({ vm }: Acting): void {
  if (vm.power !== "running") {
    throw new RefusedPowerError(
      "state",
      `VM ${vm.name} does not run, so its guest cannot be asked`,
    );
  }
  if (vm.hasTools) return;
  throw new RefusedPowerError(
    "notGraceful",
    `VM ${vm.name} has no guest tools that could be asked`,
  );
}

/** Waits until it is done. @param state The hypervisor's word for the state that is wanted */
async function send({ vm, changes }: Acting, action: VmAction, state?: string): Promise<void> {
  try {
    await changes.act(vm.id, action, { waits: true });
  } catch (error) {
    if (state === undefined || !isAlready(error, state)) throw error;
  }
}

/** Only begins: a guest may take minutes. */
async function begin({ vm, changes }: Acting, action: VmAction): Promise<void> {
  await changes.act(vm.id, action, { waits: false });
}

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
