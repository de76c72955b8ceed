/**
 * Every command in one table: help, shell completions, suggestions and docs/reference/flags.md follow it.
 * @module
 */
import { SHELLS } from "./completion/shells.ts";
import {
  CHECK_FLAGS,
  DEMO_FLAGS,
  KIND_STORIES,
  NODES_FLAGS,
  OBJECT_FLAGS,
  SERVICES_FLAGS,
  VERSION_FLAGS,
} from "./flags/command_flags.ts";
import { DEBUG_ADDRESS_VARIABLE } from "./flags/common.ts";
import type { FlagSpec } from "./flags/spec.ts";

/** One command that users type. */
export interface CommandSpec {
  readonly name: string;
  /** What it does, in one line without full stop. */
  readonly summary: string;
  /** What may follow its name: `[flags]`. */
  readonly usage: string;
  /** What it does and how it ends; a paragraph each. */
  readonly description: readonly string[];
  /** Lines to type, each with what it is for. */
  readonly examples: readonly (readonly [purpose: string, line: string])[];
  /** Flags that `run` does not have. @default {none} */
  readonly flags?: readonly FlagSpec[];
  /** The flags of `run` that help and completions show; it accepts them all. Absent: it accepts none. */
  readonly runFlags?: "all" | readonly string[];
  /** Values of its argument, for completions. @default {none} */
  readonly args?: readonly string[];
}

const EXITS =
  "It exits with 0 when it shows what you asked for, with 1 when it cannot, and with 2 when flags or settings are " +
  "wrong.";

const FILES = "--cloud-config=landfall.yaml --kubeconfig=landfall.kubeconfig";

const RUNNING: readonly CommandSpec[] = [
  {
    name: "run",
    summary: "Run the controllers (the default command; on a terminal, only with flags)",
    usage: "[flags]",
    description: [
      "Runs the controllers until SIGTERM or SIGINT. It exits with 0 when it was stopped, with 1 when it failed or " +
        "lost the Lease, and with 2 when flags or settings are wrong.",
    ],
    examples: [
      ["Run with a settings file", `landfall run ${FILES}`],
      [
        "Run without the controller that deletes Nodes",
        `landfall run ${FILES} --controllers='*,-cloud-node-lifecycle'`,
      ],
    ],
    runFlags: "all",
  },
  {
    name: "check",
    summary: "Check settings, cloud, cluster, permissions and Nodes",
    usage: "[flags]",
    description: [
      "Checks the settings, the cloud, the Kubernetes API server, the permissions and every Node, and says how to " +
        "fix what is wrong. It changes nothing, in the cluster or in the cloud.",
      "It takes the flags of run, so that you can check the command line of a controller as it is. It exits with 0 " +
        "when there is no problem, with 1 when there is one, and with 2 when the flags are wrong.",
    ],
    examples: [
      ["Check before you install", `landfall check ${FILES}`],
      [
        "Check the permissions of the service account, as an administrator",
        "landfall check --as=system:serviceaccount:kube-system:landfall",
      ],
      [
        "Fail on warnings, too, and show nothing else",
        "landfall check --problems-only --fail-on=warn",
      ],
    ],
    flags: CHECK_FLAGS,
    runFlags: "all",
  },
  {
    name: "nodes",
    summary: "Show every Node with its machine",
    usage: "[NAME] [flags]",
    description: [
      "Shows what Landfall knows about each Node, or about the Node NAME in detail. It changes nothing.",
      "It asks the Landfall process at --debug-address. If no process answers there, or if you give --kubeconfig, " +
        "--master or --cloud-config without --debug-address, it asks the cluster and the cloud itself. With " +
        "--debug-address= it never asks a process. Without the flag, the address comes from the environment variable " +
        `${DEBUG_ADDRESS_VARIABLE}, if it is set.`,
      EXITS,
    ],
    examples: [
      ["All Nodes, from the process on this machine", "landfall nodes"],
      ["One Node in detail", "landfall nodes worker-1"],
      ["Without a process", `landfall nodes -o wide ${FILES}`],
      ["From a unix socket", "landfall nodes --debug-address=unix:/run/landfall/debug.sock"],
    ],
    flags: NODES_FLAGS,
    runFlags: ["debug-address", "cloud-provider", "cloud-config", "kubeconfig", "master"],
  },
  {
    name: "services",
    summary: "Show every Service with its load balancer, or the addresses that are kept",
    usage: "[NAME] [flags]",
    description: [
      "Shows what the Landfall process at --debug-address knows about each Service of type LoadBalancer that it " +
        "serves, or about one in detail. NAME is its name, or NAMESPACE/NAME. It changes nothing.",
      "With --kept, it shows the public IP addresses on CloudStack that stay without a Service, because the one that " +
        "they were taken for had the annotation landfall.dev/keep-address. It then asks the cluster for its ID, and " +
        "the cloud for the addresses.",
      EXITS,
    ],
    examples: [
      ["All Services, and what each waits for", "landfall services"],
      ["One, again whenever it changes", "landfall services web/shop --watch"],
      [
        "The addresses that this cluster keeps",
        `landfall services --kept --cloud-provider=external-cloudstack ${FILES}`,
      ],
    ],
    flags: SERVICES_FLAGS,
    runFlags: ["debug-address", "cloud-provider", "cloud-config", "kubeconfig", "master"],
  },
  {
    name: "sipclusters",
    summary: "Show every SIPCluster with its hosts",
    usage: "[NAME] [flags]",
    description: [
      "Shows what the Landfall process at --debug-address knows about each SIPCluster and the hosts that they share, " +
        "or about one in detail: what each role gets, and why not more. NAME is its name, or NAMESPACE/NAME. It " +
        "changes nothing.",
      EXITS,
    ],
    examples: [
      ["All SIPClusters and hosts", "landfall sipclusters"],
      ["Why one gets no host", "landfall sipclusters tenants/blue"],
    ],
    flags: OBJECT_FLAGS,
    runFlags: ["debug-address"],
  },
  {
    name: "vinos",
    summary: "Show every Vino with its machines",
    usage: "[NAME] [flags]",
    description: [
      "Shows what the Landfall process at --debug-address knows about each Vino and its machines, or about one in " +
        "detail: what each machine waits for, and what differs. NAME is its name, or NAMESPACE/NAME. It changes " +
        "nothing.",
      EXITS,
    ],
    examples: [
      ["All Vinos and machines, again whenever something changes", "landfall vinos --watch"],
      ["One Vino", "landfall vinos metal3/edge"],
    ],
    flags: OBJECT_FLAGS,
    runFlags: ["debug-address"],
  },
];

const OTHERS: readonly CommandSpec[] = [
  {
    name: "demo",
    summary: "Watch Landfall work on a simulated cluster and cloud",
    usage: "[sipcluster|vino] [flags]",
    description: [
      "Starts a simulated Kubernetes API and a simulated cloud on this machine, runs the real controllers between " +
        "them, and prints what happens. With the argument sipcluster, it shows how two tenants share racks of " +
        "BareMetalHosts, without a cloud. With the argument vino, it shows how Vinos become VMs in Xen Orchestra and " +
        "BareMetalHosts.",
    ],
    examples: [
      ["Play the demo, then keep the cluster until Ctrl-C", "landfall demo"],
      ["Play the demo and exit: 0 if every step succeeded, else 1", "landfall demo --once"],
      ["Play it on Apache CloudStack", "landfall demo --cloud=cloudstack"],
      ["Play the demo of SIPClusters", "landfall demo sipcluster"],
      ["Play the demo of Vinos", "landfall demo vino"],
    ],
    args: KIND_STORIES,
    flags: DEMO_FLAGS,
  },
  {
    name: "completion",
    summary: `Print a completion script for ${SHELLS.slice(0, -1).join(", ")} or ${SHELLS.at(-1)}`,
    usage: SHELLS.join("|"),
    description: [
      "Prints a script that makes the shell complete commands, flags and their values.",
    ],
    examples: [
      ["bash, in this session", "source <(landfall completion bash)"],
      ["bash, in every session", "landfall completion bash > /etc/bash_completion.d/landfall"],
      ["zsh, in this session", "source <(landfall completion zsh)"],
      [
        "fish, in every session",
        "landfall completion fish > ~/.config/fish/completions/landfall.fish",
      ],
    ],
    args: SHELLS,
  },
  {
    name: "version",
    summary: "Print the version",
    usage: "[flags]",
    description: ["Prints the version; with -o json also the commit and the platform."],
    examples: [["For a bug report", "landfall version -o json"]],
    flags: VERSION_FLAGS,
  },
];

/** Every command but `help`, in the order of the help. */
export const COMMANDS: readonly CommandSpec[] = [...RUNNING, ...OTHERS];

/** Finds the command of this name; `help` has none. */
export function findCommand(name: string): CommandSpec | undefined {
  return COMMANDS.find((one) => one.name === name);
}
