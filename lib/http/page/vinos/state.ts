/**
 * States of Vinos and of machines in one word, and what they mean.
 * @module
 */
import type { CloudMachineView, VinoMachineView, VinoState } from "../../vinos/views.ts";
import type { KindStateWords } from "../state.ts";

/** States of Vinos, the worst first. */
export const VINO_STATES: Readonly<Record<VinoState, KindStateWords>> = {
  failing: {
    word: "failing",
    meaning: "The last attempt failed, or a person must decide, see its conditions.",
    looksLike: "failing",
  },
  waiting: {
    word: "waiting",
    meaning: "The cloud does not say enough, or hosts that must go are in use, see its conditions.",
    looksLike: "notReady",
  },
  deleting: {
    word: "being deleted",
    meaning: "Landfall removes its hosts, and the machines that must go.",
    looksLike: "outOfService",
  },
  working: {
    word: "working",
    meaning: "Landfall makes machines, or waits for the cloud.",
    looksLike: "joining",
  },
  ready: { word: "ready", meaning: "It is as its spec asks.", looksLike: "well" },
};

/** How a machine stands on the pages. */
export type MachineLook =
  | "blocked"
  | "unknown"
  | "waiting"
  | "differs"
  | "removing"
  | "making"
  | "off"
  | "ready"
  | "unwanted"
  | "stray";

/** States of machines, the worst first. */
export const MACHINE_LOOKS: Readonly<Record<MachineLook, KindStateWords>> = {
  blocked: {
    word: "blocked",
    meaning: "A person must decide; until then, Landfall does not change it.",
    looksLike: "failing",
  },
  unknown: {
    word: "unknown",
    meaning: "A part of the cloud that may hold it does not answer.",
    looksLike: "unseen",
  },
  waiting: { word: "not begun", meaning: "It does not exist yet.", looksLike: "notReady" },
  differs: {
    word: "differs",
    meaning: "It is ready, but not as the spec asks.",
    looksLike: "differs",
  },
  removing: { word: "being removed", meaning: "Landfall removes it.", looksLike: "outOfService" },
  making: { word: "being made", meaning: "It is not complete yet.", looksLike: "joining" },
  off: { word: "off", meaning: "It is complete, and does not run.", looksLike: "stopped" },
  ready: { word: "ready", meaning: "It is as the spec asks.", looksLike: "well" },
  unwanted: {
    word: "not wanted",
    meaning: "The spec does not want it any more, and Landfall keeps it.",
    looksLike: "foreign",
  },
  stray: {
    word: "without a Vino",
    meaning: "No Vino of this cluster has it: its Vino was deleted, or is in another cluster.",
    looksLike: "foreign",
  },
};

/** The states of machines, the worst first. */
export const MACHINE_LOOK_NAMES: readonly MachineLook[] =
  Object.keys(MACHINE_LOOKS).filter(isMachineLook);

function isMachineLook(text: string): text is MachineLook {
  return Object.hasOwn(MACHINE_LOOKS, text);
}

const BY_STATE: ReadonlyMap<string, MachineLook> = new Map([
  ["Blocked", "blocked"],
  ["Unknown", "unknown"],
  ["Removing", "removing"],
  ["Absent", "waiting"],
]);
const OFF: ReadonlySet<string | undefined> = new Set(["stopped", "suspended"]);

/** Judges a machine of a Vino. @param shown What the cloud shows of it */
export function judgeMachine(
  { state, isWanted, parts }: VinoMachineView,
  shown: Pick<CloudMachineView, "power"> | undefined,
): MachineLook {
  const plain = BY_STATE.get(state);
  if (plain !== undefined && (isWanted || plain !== "waiting")) return plain;
  if (!isWanted) return "unwanted";
  if (state !== "Ready") return "making";
  if (parts.some(({ wanted, actual }) => wanted !== actual)) return "differs";
  return OFF.has(shown?.power) ? "off" : "ready";
}

/** Whether an operator should look at a Vino. */
export function isTroubled(state: VinoState): boolean {
  return state === "failing" || state === "waiting";
}
