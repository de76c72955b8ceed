/**
 * Decides which machines that a Vino does not want any more may be removed now. Pure.
 * @module
 */
import { joinSome } from "../../../kinds/problems.ts";
import type { HostOutcome } from "../../hosts/types.ts";
import type { ContractionReport, MachineReport } from "../../status/outcome.ts";
import { reportIdle } from "../../status/entries.ts";
import type { KnownMachine } from "../../placement/known.ts";

/** What the status says about a machine that stays, because the Vino deletes none. */
export const KEPT_MESSAGE =
  "The spec does not want it any more. It stays in the cloud, because deletionPolicy is Retain";
/** What the status says about a machine of which nothing more is known when its Vino ends. */
const UNSEEN_MESSAGE =
  "The cloud does not show it now. If it exists, it stays there with its addresses, because deletionPolicy is Retain";
const LIMITED_MESSAGE = "It is not wanted any more. A person must confirm its removal";

/** What is known about the machines that are too many. */
export interface RemovalInput {
  readonly surplus: readonly KnownMachine[];
  /** How far their BareMetalHosts are, by name of the machine; only of those that may go. */
  readonly outcomes: ReadonlyMap<string, HostOutcome>;
  readonly deletes: boolean;
  /** Why none of them may go; no full stop. */
  readonly limit: string | undefined;
  /** Whether the Vino goes on without the cloud: then all machines stay. @default {false} */
  readonly isWithoutCloud?: boolean;
}

/** What becomes of them. */
export interface RemovalDecision {
  /** Machines that may be removed from the cloud now, or that may be gone: then their addresses are free. */
  readonly removable: readonly KnownMachine[];
  /** Reports on the others. */
  readonly reports: readonly MachineReport[];
  /** Why some stay that should go. */
  readonly contraction?: ContractionReport;
  /** Whether nothing is left to do but {@linkcode removable}. */
  readonly isDrained: boolean;
}

/** Decides about machines that are too many. */
export function decideRemovals(input: RemovalInput): RemovalDecision {
  const { surplus, outcomes, deletes, limit, isWithoutCloud = false } = input;
  const removable: KnownMachine[] = [];
  const reports: MachineReport[] = [];
  const held: string[] = [];
  let isDrained = true;
  for (const machine of surplus) {
    const host = outcomes.get(machine.name);
    if (limit !== undefined && !machine.isRemoving) {
      isDrained = false;
      reports.push(reportIdle(machine, false, LIMITED_MESSAGE));
    } else if (host !== undefined && host.state !== "Gone") {
      isDrained = false;
      const message = host.message ?? `BareMetalHost ${host.name} is being deleted`;
      if (HELD.has(host.state)) held.push(message);
      reports.push(reportIdle(machine, false, message));
    } else if (isWithoutCloud) reports.push(reportKept(machine, UNSEEN_MESSAGE));
    else if (deletes || machine.machine === undefined) removable.push(machine);
    else reports.push(reportKept(machine, KEPT_MESSAGE));
  }
  const inUse: ContractionReport | undefined =
    held.length === 0
      ? undefined
      : { kind: "inUse", message: `Not wanted any more, but kept: ${joinSome(held)}` };
  const contraction =
    limit === undefined ? inUse : ({ kind: "fleetLimit", message: limit } as const);
  return { removable, reports, ...(contraction && { contraction }), isDrained };
}

function reportKept(machine: KnownMachine, message: string): MachineReport {
  return { ...reportIdle(machine, false, message), isKept: true };
}

/** A person or another program must act before these hosts can go. */
const HELD: ReadonlySet<HostOutcome["state"]> = new Set([
  "InUse",
  "Paused",
  "Moved",
  "Refused",
  "NameTaken",
]);
