/**
 * Settings in YAML. Of its two parsers, the one that knows lines is loaded only when something is wrong.
 * @module
 */
import type { SettingSyntax } from "../cloud/settings/schema.ts";
import type { ConfigIssue } from "../core/errors.ts";
import { mustBe } from "../core/text/values.ts";
import type { YamlPlaces } from "./yaml_places.ts";

const INVALID = Symbol("not YAML");
const TOO_DEEP = Symbol("nested too deeply");

/** YAML, the syntax of settings unless a provider chooses another. */
export const YAML_SYNTAX: SettingSyntax = {
  name: "YAML",
  async parse(text) {
    let found: Promise<YamlPlaces> | undefined;
    const findPlaces = (): Promise<YamlPlaces> => (found ??= loadPlaces(text));
    const locate = async (): Promise<YamlPlaces["find"]> => (await findPlaces()).find;
    const raw = parseYaml(text);
    if (raw === TOO_DEEP) {
      // The other parser would need minutes and gigabytes to find the place.
      const message = "brackets or lists are nested too deeply";
      return { raw: undefined, issues: [{ message }], locate };
    }
    const needsPlaces = raw === INVALID || mayRepeatKeys(text);
    const places = needsPlaces ? await findPlaces() : undefined;
    const issues = [...(places?.issues ?? []), ...listShapeIssues(raw, places)];
    return { raw, issues, locate };
  },
};

function parseYaml(text: string): unknown {
  try {
    return Bun.YAML.parse(text);
  } catch (error) {
    // The other parser finds out what is wrong, and where.
    return error instanceof RangeError ? TOO_DEEP : INVALID;
  }
}

/** Loaded only when something is wrong: it uses memory that a running controller does not need. */
async function loadPlaces(text: string): Promise<YamlPlaces> {
  const { findYamlPlaces } = await import("./yaml_places.ts");
  return findYamlPlaces(text);
}

/** Whether any word before a colon occurs twice: cheap for any text; may say yes wrongly, never no. */
function mayRepeatKeys(text: string): boolean {
  const seen = new Set<string>();
  // The text after the last colon is not a key.
  for (const piece of text.split(/:(?=\s|$)/).slice(0, -1)) {
    const end = piece.trimEnd().replace(/["']$/, "");
    let start = end.length;
    while (start > 0 && !/[\s"'{},[\]:]/.test(end.charAt(start - 1))) start -= 1;
    const key = end.slice(start);
    if (seen.has(key)) return true;
    if (key !== "") seen.add(key);
  }
  return false;
}

function listShapeIssues(raw: unknown, places: YamlPlaces | undefined): ConfigIssue[] {
  if (raw === INVALID) {
    // The two parsers disagree. The known case is aliases that multiply: there is no place to name.
    const message = "cannot read this as YAML; if it uses aliases (*name), write them out";
    return places?.issues.length === 0 ? [{ message }] : [];
  }
  const isMapping = typeof raw === "object" && !Array.isArray(raw);
  // Several documents are a list, and their own problem.
  return isMapping || raw === undefined || places?.issues.length
    ? []
    : [{ message: mustBe("one block of settings (key: value)"), line: 1, column: 1 }];
}
