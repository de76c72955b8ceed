/**
 * The findings of one look at a cloud, in words for the operator who sets it up.
 * @module
 */
import { CloudError } from "./errors.ts";
import type { Inventory } from "./inventory/inventory.ts";

/** How serious a finding is: `failure` keeps Landfall from working; a `warning` may be intended. */
export type FindingLevel = "ok" | "warning" | "failure";

/** One finding. Neither text holds a secret or ends in a full stop. */
export interface Finding {
  readonly level: FindingLevel;
  /** Stable word for programs, in camel case: `unauthorized`. */
  readonly code: string;
  /** What was found. */
  readonly message: string;
  /** What to do about it. */
  readonly advice?: string;
}

/** A part of a cloud: a pool, a host, a file. */
export interface InspectedPart {
  /** What the cloud calls such a part: `pool`. */
  readonly kind: string;
  readonly id: string;
  readonly name?: string;
  /** Whether it answers in full; absent if the part cannot say. */
  readonly complete?: boolean;
  /** Why it is not complete. */
  readonly reason?: string;
}

/** What one look at a cloud found. */
export interface Inspection {
  /** Address of the cloud: host and port, or a file. Never contains a user, a password or the path of a URL. */
  readonly endpoint: string;
  /** How many objects of each kind are visible; the keys are the cloud's own words: `{vms: 12, hosts: 5}`. */
  readonly counts: Readonly<Record<string, number>>;
  readonly parts: readonly InspectedPart[];
  /** At least one. */
  readonly findings: readonly Finding[];
  /** All visible instances; absent only when the cloud did not answer. */
  readonly inventory?: Inventory;
  /**
   * What to do when instances are visible, but none of a Node: the credentials may be another account's. Absent: a
   * cloud that says which instance it hides, so that each Node has its own advice.
   */
  readonly strangersAdvice?: string;
}

/** The cloud's words for what an inventory holds. */
interface InspectionWords {
  /** Plural of an instance, which ends in `s`: `vms`. */
  readonly instances: string;
  /** Singular, as people write it: `VM`. @default {`instances` without its `s`} */
  readonly instance?: string;
  /** A part of the coverage: `pool`. */
  readonly part: string;
  /** What to do when no instance, or no part, is visible. */
  readonly noneAdvice: string;
  /** What to do about a part that is not complete. */
  readonly incompleteAdvice: string;
}

const WORDS: InspectionWords = {
  instances: "instances",
  part: "part",
  noneAdvice: "check that the credentials may see the machines of this cluster",
  incompleteAdvice: "check the connection to it, and what the credentials may see",
};

/** Turns an inventory of all instances into findings about its cloud. */
export function inspectInventory(
  endpoint: string,
  inventory: Inventory,
  words: InspectionWords = WORDS,
): Inspection & { readonly inventory: Inventory } {
  const { instances, coverage, undecodable } = inventory;
  const parts = [...coverage].map(([id, part]) => ({ kind: words.part, id, ...part }));
  const counts = { [`${words.part}s`]: parts.length, [words.instances]: instances.size };
  const findings = [
    ...(isNothingSeen(inventory)
      ? [toNothing(words)]
      : [...listPartFindings(parts, words), toSizeFinding(instances.size, words)]),
    ...listUndecodableFindings(undecodable, words),
  ];
  return { endpoint, counts, parts, findings, inventory };
}

/** What {@linkcode inspectPlainly} needs. */
interface PlainInspection {
  /** See {@linkcode Inspection}. */
  readonly endpoint: string;
  /** Takes an inventory of all instances. */
  readonly listInventory: (signal: AbortSignal) => Promise<Inventory>;
  /** @default {words that fit any cloud} */
  readonly words?: InspectionWords;
  /** Stable word for a cloud that does not answer. @default {the kind of its error} */
  readonly code?: string;
}

/**
 * Looks at a cloud by taking one inventory.
 *
 * @throws the signal's reason, and any error that is not a {@linkcode CloudError}
 */
export async function inspectPlainly(
  { endpoint, listInventory, words, code }: PlainInspection,
  signal: AbortSignal,
): Promise<Inspection> {
  try {
    return inspectInventory(endpoint, await listInventory(signal), words);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof CloudError)) throw error;
    const { kind, message } = error;
    const finding = { level: "failure", code: code ?? kind, message } as const;
    return { endpoint, counts: {}, parts: [], findings: [finding] };
  }
}

/**
 * Whether an inventory of all instances shows neither an instance nor a part. Landfall cannot compare any Node then.
 */
export function isNothingSeen({ instances, coverage, undecodable }: Inventory): boolean {
  return instances.size + coverage.size + undecodable.size === 0;
}

/**
 * Without parts or without instances alone a cloud may be as intended. Without both, Landfall has nothing to work with.
 */
function toNothing({ part, instances, noneAdvice }: InspectionWords): Finding {
  const message = `no ${part} and no ${instances} are visible`;
  return { level: "failure", code: "noInstances", message, advice: noneAdvice };
}

function listPartFindings(parts: readonly InspectedPart[], words: InspectionWords): Finding[] {
  if (parts.length === 0) {
    const message = `no ${words.part} is visible`;
    return [{ level: "warning", code: "noParts", message, advice: words.noneAdvice }];
  }
  return parts.map(({ kind, id, name, complete, reason }) => {
    const shown = `${kind} ${name === undefined || name === id ? id : `${name} (${id})`}`;
    if (complete) return { level: "ok", code: "partComplete", message: `${shown} is complete` };
    const message = `${shown} is not complete: ${reason ?? "the reason is unknown"}`;
    return { level: "warning", code: "partIncomplete", message, advice: words.incompleteAdvice };
  });
}

function toSizeFinding(
  size: number,
  { instances, noneAdvice, instance }: InspectionWords,
): Finding {
  if (size > 0) {
    const message = toSeen(size, instance ?? instances.replace(/s$/, ""));
    return { level: "ok", code: "instances", message };
  }
  const message = `no ${instances} are visible`;
  return { level: "warning", code: "noInstances", message, advice: noneAdvice };
}

/** Says how many objects of a kind Landfall can see. @param kind In the singular; its plural ends in `s` */
export function toSeen(count: number, kind: string): string {
  return count === 1 ? `1 ${kind} is visible` : `${count} ${kind}s are visible`;
}

function listUndecodableFindings(
  undecodable: Inventory["undecodable"],
  { instances }: InspectionWords,
): Finding[] {
  const [first] = undecodable;
  if (first === undefined) return [];
  const message = `${undecodable.size} of the ${instances} cannot be read, for example ${first.join(": ")}`;
  const advice = "Landfall leaves their Nodes unchanged; report this with the version of the cloud";
  return [{ level: "warning", code: "undecodable", message, advice }];
}
