/**
 * Flags that `run` does not have, of each command. Cheap to import: `landfall help` needs no more.
 * @module
 */
import { DEFAULT_DEBUG_ADDRESS } from "./common.ts";
import type { FlagSpec } from "./spec.ts";

const OUTPUT_FLAG: FlagSpec = {
  name: "output",
  short: "o",
  type: "string",
  default: "text",
  help: "Format: text, or json with stable names",
  effect: "applies",
  group: "Report",
  choices: ["text", "json"],
};

/** Flags of `check` beside those of `run`. */
export const CHECK_FLAGS: readonly FlagSpec[] = [
  OUTPUT_FLAG,
  {
    name: "problems-only",
    type: "bool",
    default: "false",
    help: "Leave out of the text what is ok",
    effect: "applies",
    group: "Report",
  },
  {
    name: "all",
    type: "bool",
    default: "false",
    help: "Show in the text each of many Nodes of which the same is to say, and each right",
    effect: "applies",
    group: "Report",
  },
  {
    name: "fail-on",
    type: "string",
    default: "fail",
    help: "Exit with 1 on a problem (fail), or on a warning as well (warn)",
    effect: "applies",
    group: "Report",
    choices: ["fail", "warn"],
  },
  {
    name: "as",
    type: "string",
    default: "",
    help: "Check the permissions of this user: system:serviceaccount:NAMESPACE:NAME for a service account",
    effect: "applies",
    group: "Permissions",
  },
  {
    name: "as-group",
    type: "list",
    default: "",
    help: "Groups of the user of --as; a service account has its groups without this flag",
    effect: "applies",
    group: "Permissions",
  },
  {
    name: "as-uid",
    type: "string",
    default: "",
    help: "UID of the user of --as",
    effect: "applies",
    group: "Permissions",
  },
];

const WATCH_FLAG: FlagSpec = {
  name: "watch",
  short: "w",
  type: "bool",
  default: "false",
  help: "Look every two seconds, and show what changes until Ctrl-C",
  effect: "applies",
  group: "Report",
};

/** Flags of `nodes` beside those of `run`. */
export const NODES_FLAGS: readonly FlagSpec[] = [
  WATCH_FLAG,
  {
    ...OUTPUT_FLAG,
    help: "Format: text, wide (text with more columns), or json as at /debug/nodes",
    choices: ["text", "wide", "json"],
  },
];

/** Flags of the commands that show objects, beside those of `run`. */
export const OBJECT_FLAGS: readonly FlagSpec[] = [
  WATCH_FLAG,
  {
    ...OUTPUT_FLAG,
    help: "Format: text, wide (text wider than the terminal), or json with stable names",
    choices: ["text", "wide", "json"],
  },
];

/** Flags of `services`. */
export const SERVICES_FLAGS: readonly FlagSpec[] = [
  {
    name: "kept",
    type: "bool",
    default: "false",
    help: "Show the addresses that stay without a Service, from the cluster and the cloud",
    effect: "applies",
    group: "Report",
  },
  ...OBJECT_FLAGS,
];

/** Arguments of `demo` that choose a demo of one kind of objects. */
export const KIND_STORIES = ["sipcluster", "vino"] as const;

/** Flags of `demo`. */
export const DEMO_FLAGS: readonly FlagSpec[] = [
  {
    name: "cloud",
    type: "string",
    default: "xenorchestra",
    help: "Simulated cloud: xenorchestra or cloudstack; not with sipcluster or vino",
    effect: "applies",
    choices: ["xenorchestra", "cloudstack"],
  },
  {
    name: "once",
    type: "bool",
    default: "false",
    help: "Play the story and exit: 0 if every step succeeded, else 1",
    effect: "applies",
  },
  {
    name: "kubeconfig",
    type: "string",
    default: "",
    help: "Write the kubeconfig of the simulated cluster to this new file; empty: a temporary folder",
    effect: "applies",
    isFile: true,
  },
  {
    name: "debug-address",
    type: "string",
    default: DEFAULT_DEBUG_ADDRESS,
    help: "Loopback host:port or unix socket path for the debug pages; port 0 takes a free one",
    effect: "applies",
  },
  {
    name: "verbose",
    type: "bool",
    default: "false",
    help: "Show the log of the controllers, too",
    effect: "applies",
  },
];

/** Flags of `version`. */
export const VERSION_FLAGS: readonly FlagSpec[] = [OUTPUT_FLAG];
