/**
 * Builds a tree of the settings that a file may have, from the table that describes them.
 * @module
 */
import type { SettingDescription } from "../provider_definition.ts";

/** A key, and the keys below it. */
export interface SettingBranch {
  /** Absent for a block without a row of its own, such as `deletion`. */
  readonly setting?: SettingDescription;
  /** Keys of the block, or of each item of the list; empty for a single value and for a map of free keys. */
  readonly children: SettingTree;
}

/** Branches by key, in the order of the table. */
export type SettingTree = ReadonlyMap<string, SettingBranch>;

/** Builds the tree of all settings: `deletion.enabled` becomes `enabled` below `deletion`. */
export function toSettingTree(settings: readonly SettingDescription[]): SettingTree {
  const root: MutableTree = new Map();
  for (const setting of settings) {
    let level = root;
    let branch: MutableBranch | undefined;
    for (const key of setting.path.split(".")) {
      branch = level.get(key) ?? { children: new Map() };
      level.set(key, branch);
      level = branch.children;
    }
    if (branch) branch.setting = setting;
  }
  return root;
}

type MutableTree = Map<string, MutableBranch>;

interface MutableBranch {
  setting?: SettingDescription;
  readonly children: MutableTree;
}
