/**
 * Breaks of what keeps a misspelt setting from being taken for one that is not set.
 * @module
 */
import { type Break, edit } from "../break.ts";

const CONFIG = "lib/config/provider_config.ts";
const KEYS = "lib/config/unknown_keys.ts";

export const SETTINGS_BREAKS: readonly Break[] = [
  {
    id: "ignore-unknown-keys",
    invariant: "a misspelt switch is an error, and not an unset switch",
    edits: edit(
      CONFIG,
      "const beside = [...common.issues, ...unknown].filter(",
      "const beside = common.issues.filter(",
    ),
    tests: ["test/config/provider_config_test.ts", "test/app/reload_test.ts"],
  },
  {
    id: "mix-old-and-new-settings",
    invariant: "machines of a file whose settings for deletions are refused are not used",
    edits: edit("lib/config/settings_file.ts", "isSame === true", "isSame !== undefined"),
    tests: ["test/config/settings_file_test.ts"],
  },
  {
    id: "ignore-nested-unknown-keys",
    invariant: "a key counts only in its own block, at every level",
    edits: edit(
      KEYS,
      "if (branch) walk(one, branch.children, `${above}${key}.`);",
      "if (branch) void one;",
    ),
    tests: ["test/config/unknown_keys_test.ts"],
  },
];
