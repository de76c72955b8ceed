/**
 * What the flags of more than one command share.
 * @module
 */
import type { FlagSpec } from "./spec.ts";

/** Where the probes, metrics and debug pages are without a flag. */
export const DEFAULT_DEBUG_ADDRESS = "127.0.0.1:10260";

/** Environment variable: where `landfall nodes` asks without a flag. Empty: {@linkcode DEFAULT_DEBUG_ADDRESS}. */
export const DEBUG_ADDRESS_VARIABLE = "LANDFALL_DEBUG_ADDRESS";

/** Every command has it. */
export const HELP_FLAG: FlagSpec = {
  name: "help",
  short: "h",
  type: "bool",
  default: "false",
  help: "Print this help and exit",
  effect: "applies",
};
