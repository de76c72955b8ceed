/**
 * The last measurements, in a file from which the page and its charts are made.
 * @module
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Figures } from "./budgets.ts";
import type { CloudName } from "./clouds/mod.ts";
import type { CurvePoint } from "./curve.ts";

/** The results of measurements with one cloud. */
export interface Results {
  readonly figures: Figures;
  /** By number of Nodes, ascending. */
  readonly curve: readonly CurvePoint[];
  /** When and where each measurement last ran, by its name. */
  readonly runs: Readonly<Record<string, Run>>;
}

/** When and where a measurement ran. */
export interface Run {
  /** Day, `2026-11-21`. */
  readonly date: string;
  /** What measured, in words. */
  readonly machine: string;
  /** Load of the machine over 1, 5 and 15 minutes. */
  readonly loadBefore: string;
  readonly loadAfter: string;
}

/** The result of one measurement. */
export interface Measured {
  readonly figures: Figures;
  readonly curve?: readonly CurvePoint[];
}

const FILE = join(import.meta.dir, "..", "docs", "benchmark", "results.json");

/** Nothing yet. */
export const NO_RESULTS: Results = { figures: {}, curve: [], runs: {} };

/** Results by cloud. */
type SavedResults = Readonly<Record<CloudName, Results>>;

const NOTHING: SavedResults = { xenorchestra: NO_RESULTS, cloudstack: NO_RESULTS };

/** What was saved. @throws Error when there is nothing, or it cannot be read */
export async function readResults(): Promise<SavedResults> {
  const text = await readFile(FILE, "utf8");
  return { ...NOTHING, ...(JSON.parse(text) as Partial<SavedResults>) };
}

/**
 * Merges new results into the saved ones: results that were not measured now stay.
 *
 * @throws RangeError for a value that never happened, which is not a number
 */
export async function saveResults(cloud: CloudName, results: Results): Promise<void> {
  const saved = await readResults().catch(() => NOTHING);
  const all = { ...saved, [cloud]: mergeResults(saved[cloud], results) };
  await mkdir(dirname(FILE), { recursive: true });
  await writeFile(FILE, `${JSON.stringify(all, toFinite, 2)}\n`);
}

/** Three decimals are enough, and JSON has no value for infinity or `NaN`. */
function toFinite(key: string, value: unknown): unknown {
  if (typeof value !== "number") return value;
  if (!Number.isFinite(value)) throw new RangeError(`Cannot save ${key}: it is ${value}`);
  return Math.round(value * 1_000) / 1_000;
}

/** The newer over the older, figure by figure and point by point. */
export function mergeResults(older: Results, newer: Results): Results {
  const points = new Map(
    [...older.curve, ...newer.curve].map((point): [number, CurvePoint] => [point.nodes, point]),
  );
  return {
    figures: { ...older.figures, ...newer.figures },
    curve: [...points.values()].sort((left, right) => left.nodes - right.nodes),
    runs: { ...older.runs, ...newer.runs },
  };
}
