/**
 * Keys that no setting has. They are errors: a misspelt switch would be off while the operator believes it to be on.
 * @module
 */
import type { SettingDescription } from "../cloud/provider_definition.ts";
import { type SettingTree, toSettingTree } from "../cloud/settings/tree.ts";
import { findClosest } from "../core/text/edit_distance.ts";
import type { ConfigIssue } from "../core/errors.ts";

/** Aliases can repeat a list of keys so often that they would not fit into memory. */
const ISSUES_MAX = 1_000;

/**
 * Finds unknown keys at any level, a thousand at most, and suggests what was probably meant. An empty key counts, too:
 * it may still be misspelt. Never repeats a value.
 *
 * @param raw The content of the file
 * @param settings All settings that a file may have
 * @param spell How the file writes the path of a setting. @default {as it is}
 */
export function listUnknownKeys(
  raw: unknown,
  settings: readonly SettingDescription[],
  spell?: (path: string) => string,
): UnknownKey[] {
  const paths = settings.map(({ path }) => path);
  const issues: UnknownKey[] = [];
  // Goes only as deep as settings do: an alias may make a file contain itself.
  const walk = (value: unknown, tree: SettingTree, above: string): void => {
    if (typeof value !== "object" || value === null || tree.size === 0) return;
    if (issues.length >= ISSUES_MAX) return;
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) {
        if (!Array.isArray(item)) walk(item, tree, `${above}${index}.`);
      }
      return;
    }
    for (const [key, one] of Object.entries(value)) {
      if (issues.length >= ISSUES_MAX) return;
      const branch = tree.get(key);
      if (branch) walk(one, branch.children, `${above}${key}.`);
      else {
        const level = { above, siblings: [...tree.keys()], spell };
        issues.push({ path: above + key, ...suggest(key, level, paths) });
      }
    }
  };
  if (!Array.isArray(raw)) walk(raw, toSettingTree(settings), "");
  return issues;
}

/** A key that no setting has. */
export interface UnknownKey extends ConfigIssue {
  /** Path of the setting that was probably meant. */
  readonly meant?: string;
}

/** Where a key stands. */
interface Level {
  /** The text before the key in its path: `addresses.` */
  readonly above: string;
  /** The keys that would be known there. */
  readonly siblings: readonly string[];
  readonly spell: ((path: string) => string) | undefined;
}

/** The key may be misspelt, in the wrong block, or in the form of the documents: with dots. */
function suggest(
  key: string,
  { above, siblings, spell }: Level,
  paths: readonly string[],
): Pick<UnknownKey, "meant" | "message"> {
  if (key.includes(".") && paths.includes(key)) {
    const [block, ...rest] = key.split(".");
    const message = `unknown key; write it as a block: ${block}: { ${rest.join(".")}: … }`;
    return { message, meant: key };
  }
  const sibling = findClosest(key, siblings) ?? findSection(key, siblings);
  const meant = sibling ?? paths.find((path) => path.split(".").at(-1) === key);
  if (meant === undefined) return { message: "unknown key; correct or remove it" };
  const path = sibling === undefined ? meant : above + sibling;
  return { message: `unknown key; did you mean ${spell?.(path) ?? meant}?`, meant: path };
}

/** A section such as `[Addreses]`: without its brackets, and in any case. */
function findSection(key: string, siblings: readonly string[]): string | undefined {
  const name = /^\[(.+)\]$/s.exec(key)?.[1];
  if (name === undefined) return undefined;
  const known = new Map(siblings.map((one) => [one.toLowerCase(), one]));
  return known.get(findClosest(name.toLowerCase(), [...known.keys()]) ?? "");
}
