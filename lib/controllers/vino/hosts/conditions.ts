/**
 * What the state of the hosts of a Vino means for its conditions. Pure.
 * @module
 */
import { toMessage } from "../../../core/text/printable.ts";
import { toFinding } from "../../kinds/conditions.ts";
import { joinSome } from "../../kinds/problems.ts";
import type { Finding } from "../resource/conditions.ts";
import type { HostState } from "../resource/vino_machine.ts";
import { CONDITION_WORDS } from "../resource/words.ts";
import type { HostOutcome } from "./types.ts";

const { HostsHealthy, HostsPublished } = CONDITION_WORDS;

/** The reasons, the most urgent first. */
const REASONS = [
  ["refused", ["Refused"]],
  ["nameTaken", ["NameTaken"]],
  ["paused", ["Paused", "Moved"]],
  ["waiting", ["Publishing", "InUse", "Removing"]],
] as const satisfies readonly (readonly [keyof typeof HostsPublished, readonly HostState[]])[];

/** Whether a host of this state exists, and is the Vino's. */
export function doesExist(state: HostState | undefined): boolean {
  return EXISTING.has(state);
}

const EXISTING: ReadonlySet<HostState | undefined> = new Set([
  "Published",
  "Paused",
  "InUse",
  "Removing",
]);

/**
 * The condition `HostsPublished`.
 *
 * @param hosts Those that must exist
 * @param waiting How many machines are not complete, so that their hosts wait
 * @param idle How many complete machines have other addresses than the spec gives them, so that their hosts stay
 */
export function findHostsPublished(
  hosts: readonly HostOutcome[],
  waiting: number,
  idle = 0,
): Finding {
  for (const [word, states] of REASONS) {
    const found = hosts.filter(({ state }) => states.some((one) => one === state));
    if (found.length > 0) {
      const messages = found.flatMap(({ message }) => message ?? []);
      return toFinding("HostsPublished", HostsPublished[word], joinSome(messages));
    }
  }
  if (waiting > 0) {
    const what =
      waiting === 1
        ? "1 machine is not complete. Landfall publishes or updates its host when it is"
        : `${waiting} machines are not complete. Landfall publishes or updates their hosts when they are`;
    return toFinding("HostsPublished", HostsPublished.waiting, what);
  }
  const without = hosts.flatMap(({ bmcProblem }) => bmcProblem ?? []);
  if (without.length > 0) {
    const message = describeBmcProblems(without);
    return toFinding("HostsPublished", HostsPublished.noCredentials, message);
  }
  const notices = new Set(hosts.flatMap(({ bmcNotice }) => bmcNotice ?? []));
  const all = [describeAll(hosts.length, idle), ...notices].join(". ");
  return toFinding("HostsPublished", HostsPublished.done, all);
}

/** The condition `HostsHealthy`. It has the words of metal3, which a person reads anyway to mend it. */
export function findHostsHealthy(hosts: readonly HostOutcome[]): Finding {
  const broken = hosts.flatMap(({ name, error }) => (error === undefined ? [] : [{ name, error }]));
  if (broken.length === 0) {
    return toFinding("HostsHealthy", HostsHealthy.all, "metal3 reports no error of a host");
  }
  const what = broken.length === 1 ? "an error of 1 host" : `errors of ${broken.length} hosts`;
  const lines = broken.map(({ name, error }) => `BareMetalHost ${name}: ${toMessage(error)}`);
  return toFinding("HostsHealthy", HostsHealthy.some, `metal3 reports ${what}. ${joinSome(lines)}`);
}

/** Says why hosts have no management controller: mostly all for one reason. */
function describeBmcProblems(problems: readonly string[]): string {
  const count =
    problems.length === 1
      ? "1 host gets no management controller"
      : `${problems.length} hosts get no management controller`;
  return `${count}. ${joinSome([...new Set(problems)])}`;
}

function describeAll(updated: number, idle: number): string {
  const count = updated + idle;
  if (count === 0) return "There is no machine that needs a BareMetalHost";
  const all =
    count === 1
      ? "The complete machine has a BareMetalHost"
      : `All ${count} complete machines have a BareMetalHost`;
  if (idle === 0) return all;
  const which = idle === 1 ? "1 BareMetalHost" : `${idle} BareMetalHosts`;
  return `${all}. Landfall does not update ${which}: MachinesReady says why`;
}
