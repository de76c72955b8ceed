/**
 * What a comparison of a VM with what it must be like finds. Pure.
 * @module
 */
import type { MachinePart, MachineProblem } from "../../../../../cloud/capabilities/machines.ts";
import type { Change } from "../../steps.ts";

/** What differs in one part of a VM, and what can be done. */
export interface Difference {
  readonly part: MachinePart;
  /** Absent: Landfall cannot put it right, and {@linkcode problem} says what a person can do. */
  readonly fix?: { readonly summary: string; readonly change: Change };
  /** Whether the VM must be off for it. */
  readonly needsStop?: boolean;
  readonly problem?: MachineProblem;
  /** Whether a disk or an interface is missing, too many, or not as it must be. Names and places do not count. */
  readonly isUnbuilt?: boolean;
}

/** The parts of a VM; those that differ come with what can be done. */
export interface Comparison {
  readonly parts: readonly MachinePart[];
  readonly differences: readonly Difference[];
  /** Names of disks that the specification asks for and that the VM lacks. */
  readonly missing: readonly string[];
}

/** Whether a VM has all disks and interfaces that it must have, as they must be. */
export function isBuilt({ differences }: Pick<Comparison, "differences">): boolean {
  return differences.every(({ isUnbuilt = false }) => !isUnbuilt);
}

/** A comparison in which each difference means that the VM is not built. */
export function asUnbuilt({ differences, ...rest }: Comparison): Comparison {
  return { ...rest, differences: differences.map((one) => ({ ...one, isUnbuilt: true })) };
}

/** Joins comparisons. */
export function joinComparisons(some: readonly Comparison[]): Comparison {
  return {
    parts: some.flatMap(({ parts }) => parts),
    differences: some.flatMap(({ differences }) => differences),
    missing: some.flatMap(({ missing }) => missing),
  };
}

/** A part without a difference, or with one. */
export function toComparison(
  part: MachinePart,
  difference: Omit<Difference, "part"> | undefined,
): Comparison {
  const differences = difference === undefined ? [] : [{ part, ...difference }];
  return { parts: [part], differences, missing: [] };
}
