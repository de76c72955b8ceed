/**
 * Flags of `landfall nodes` beside those of `run`.
 * @module
 */
import type { FlagSpec } from "../flags/spec.ts";

/** How Nodes are shown. */
export type NodesOutput = "text" | "wide" | "json";

/** Flags that `run` does not have. */
export const NODES_FLAGS: readonly FlagSpec[] = [
  {
    name: "output",
    short: "o",
    type: "string",
    default: "text",
    help: "Format: text, wide (text with more columns), or json as at /debug/nodes",
    effect: "applies",
    group: "Report",
    choices: ["text", "wide", "json"],
  },
];
