/**
 * What a command gets and gives, and how it finds the objects that its parameters name.
 * @module
 */
import type { Caller } from "../access/auth.ts";
import type { Parameters } from "../parameters.ts";
import { ApiError, toInvalid, toUnknownEntity } from "../replies.ts";
import type { Settings } from "../settings.ts";
import type { Job, JobOptions } from "../world/jobs.ts";
import type { CloudStackState } from "../world/state.ts";

/** A request of a caller who may make it. */
export interface Call {
  readonly caller: Caller;
  readonly parameters: Parameters;
  readonly state: CloudStackState;
  readonly settings: Settings;
  /** Milliseconds since the epoch by the server's clock. */
  readonly nowMs: number;
  readonly jobs: ReadonlyMap<string, Job>;
}

/** A list, whose entries are made for one page only. */
export interface List {
  /** What one entry is called. */
  readonly key: string;
  readonly count: number;
  /** The entries from one index up to another, without the latter. */
  readonly slice: (from: number, to: number) => object[];
}

/** A command, by the form of its answer. */
export type Command =
  | { readonly kind: "list"; readonly run: (call: Call) => List }
  | { readonly kind: "answer"; readonly run: (call: Call) => object }
  | { readonly kind: "job"; readonly run: (call: Call) => WantedJob }
  /** Makes an object at once, which the job puts to work; the answer names it beside the job. */
  | { readonly kind: "create"; readonly run: (call: Call) => WantedJob };

/** A job that a command starts; who started it is added. */
export type WantedJob = Omit<JobOptions, "command" | "userId" | "accountId">;

/** A list of objects that are shown one by one. */
export function toList<T>(key: string, items: readonly T[], show: (item: T) => object): List {
  return { key, count: items.length, slice: (from, to) => items.slice(from, to).map(show) };
}

/**
 * The object that a parameter names; `undefined` when it names none.
 *
 * @throws {ApiError} 431 when there is no such object
 */
export function findNamed<T>(
  parameters: Parameters,
  name: string,
  objects: ReadonlyMap<string, T>,
): T | undefined {
  const value = parameters.get(name);
  if (value === undefined) return undefined;
  const found = objects.get(value.toLowerCase());
  if (found === undefined) throw toUnknownEntity(parameters.command, name, value);
  return found;
}

/** The object that a parameter must name. @throws {ApiError} 431 when it is missing or names none */
export function needNamed<T>(
  parameters: Parameters,
  name: string,
  objects: ReadonlyMap<string, T>,
): T {
  return findNamed(parameters, name, objects) ?? throwMissing(parameters, name);
}

/** The text of a parameter that must be there. @throws {ApiError} 431 when it is missing */
export function needText(parameters: Parameters, name: string): string {
  return parameters.get(name) ?? throwMissing(parameters, name);
}

/** The whole number of a parameter; `undefined` when there is none. @throws {ApiError} 431 for anything else */
export function readNumber(parameters: Parameters, name: string): number | undefined {
  const text = parameters.get(name);
  if (text === undefined) return undefined;
  if (/^-?\d{1,9}$/.test(text)) return Number(text);
  const command = parameters.command.toLowerCase();
  throw toInvalid(
    `Unable to execute API command ${command} due to invalid value ${text} for parameter ${name}`,
  );
}

/** Refuses a request without a parameter that must be there. @throws {ApiError} 431 */
export function throwMissing({ command }: Parameters, name: string): never {
  const lower = command.toLowerCase();
  throw new ApiError(
    431,
    `Unable to execute API command ${lower} due to missing parameter ${name}`,
  );
}

/** Whether a name or another text contains the keyword, which any text does without one. */
export function matches(parameters: Parameters, ...texts: readonly string[]): boolean {
  const keyword = parameters.get("keyword")?.toLowerCase();
  return keyword === undefined || texts.some((text) => text.toLowerCase().includes(keyword));
}

/** Whether two names are the same; case does not matter to the server's database. */
export function isSame(wanted: string | undefined, name: string): boolean {
  return wanted === undefined || wanted.toLowerCase() === name.toLowerCase();
}
