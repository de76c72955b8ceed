/**
 * Failures between a client and CloudStack, and of CloudStack itself, that can be switched on and off.
 * @module
 */
import { FaultSwitches, type Limit } from "../fault_switches.ts";
import type { JobFate } from "./world/jobs.ts";

/** A fault that replaces or changes an answer. */
export type Fault =
  /** The connection is reset; the command is not carried out. */
  | { readonly kind: "reset" }
  /** The command is carried out, then the connection is reset without an answer. */
  | { readonly kind: "resetAfter" }
  /** The request is never answered, and the command not carried out; the connection stays open. */
  | { readonly kind: "hang" }
  /** The command is carried out and never answered; the connection stays open. */
  | { readonly kind: "hangAfter" }
  /** The command is carried out; the head and half of the right body are sent, then the connection ends. */
  | { readonly kind: "halfBody" }
  /** The right answer, this many milliseconds late. */
  | { readonly kind: "delay"; readonly ms: number }
  /** A code with the error that CloudStack sends with it: 401, 429, 431, 503, 530, 531 and others. */
  | { readonly kind: "error"; readonly code: number; readonly text?: string }
  /** A page of another server in between: the 502 of a proxy without a backend. */
  | { readonly kind: "html"; readonly status: number }
  /** Any JSON, whether CloudStack would send it or not. */
  | { readonly kind: "json"; readonly status?: number; readonly body: unknown }
  /** A redirect, 302. */
  | { readonly kind: "redirect"; readonly location: string }
  /** A list is empty: `{}` inside. */
  | { readonly kind: "emptyList" }
  /** A page of a list has a count and no entries, as if it were beyond the end. */
  | { readonly kind: "missingPage"; readonly page: number }
  /** From the second page on, the first entry of the list is gone: the pages skip one, and their counts differ. */
  | { readonly kind: "shrinkingList" }
  /** A job is taken, and stays pending until it is released. */
  | { readonly kind: "endlessJob" }
  /** A job is taken, and ends half-way without a result, as when the server restarts. What it did until then stays. */
  | { readonly kind: "cutOffJob" }
  /**
   * A job is taken, and fails without a change. With `isLate` it fails at its end, as it does when the router does not
   * answer: what it did meanwhile was to be seen, and is taken back.
   */
  | {
      readonly kind: "failedJob";
      readonly code: number;
      readonly text: string;
      readonly isLate?: boolean;
    };

/** The requests that a fault is for; all of them by default. */
export interface FaultScope extends Limit {
  /** Only this command; a list of commands for several. */
  readonly command?: string | readonly string[];
  /** Only requests with this value of a parameter, such as the ID of a virtual machine. */
  readonly value?: string;
}

/** The switches of the simulated CloudStack. */
export class Faults extends FaultSwitches<Fault, FaultScope> {
  /** The fault for a request, which counts as used; `undefined` for a normal answer. */
  take(command: string, parameters: ReadonlyMap<string, string>): Fault | undefined {
    return this.takeLast(
      ({ fault, scope }) => fits(scope, command, parameters) && isOnPage(fault, parameters),
    );
  }
}

/** What a fault makes of a job that the request starts. */
export function toJobFate(fault: Fault | undefined): JobFate | undefined {
  if (fault?.kind === "endlessJob") return { kind: "endless" };
  if (fault?.kind === "cutOffJob") return { kind: "cutOff" };
  if (fault?.kind !== "failedJob") return undefined;
  return { ...fault, kind: "failed" };
}

/** A missing page is used up by that page, not by the others. */
function isOnPage(fault: Fault, parameters: ReadonlyMap<string, string>): boolean {
  return fault.kind !== "missingPage" || String(fault.page) === (parameters.get("page") ?? "1");
}

function fits(
  { command, value }: Partial<FaultScope>,
  actual: string,
  parameters: ReadonlyMap<string, string>,
): boolean {
  if (command !== undefined && ![command].flat().includes(actual)) return false;
  return value === undefined || [...parameters.values()].includes(value);
}
