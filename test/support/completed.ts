/**
 * Commands to try completions with.
 * @module
 */
import type { Completed } from "../../lib/cli/completion/shells.ts";
import type { FlagSpec } from "../../lib/cli/flags/spec.ts";

const TEXT = { type: "string", default: "", effect: "applies" } as const;
const ONCE: FlagSpec = { ...TEXT, name: "once", type: "bool", help: "It's [said]: once" };

/** Three commands and `help`: with flags, with values of an argument, and the one that needs no name. */
export const COMPLETED: readonly Completed[] = [
  {
    name: "run",
    summary: "Run it",
    args: [],
    flags: [{ ...TEXT, name: "log", help: "The log", suggestions: ["loud"] }],
  },
  {
    name: "show",
    summary: "Show 'it'",
    args: [],
    flags: [
      { ...TEXT, name: "output", short: "o", help: "The format", choices: ["text", "json"] },
      ONCE,
      { ...TEXT, name: "file", help: "A file", isFile: true },
      { ...TEXT, name: "v", short: "v", type: "int", help: "How much" },
    ],
  },
  { name: "pick", summary: "Pick one", args: ["one", "two"], flags: [ONCE] },
  { name: "help", summary: "Print help", args: ["run", "show", "pick"], flags: [] },
];
