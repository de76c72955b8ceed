/**
 * The CustomResourceDefinitions of Vinos, VinoMachines and IPPools. Only what writes manifests and reference pages
 * loads them.
 * @module
 */
import type { PrinterColumn } from "../../../kube/kinds/crd.ts";
import type { KindDefinition } from "../../definition.ts";
import { AGE_COLUMN, listConditionWords, toCrd, toReadyColumns } from "../../kinds/crd.ts";
import { NAME_RULE } from "../../kinds/parts.ts";
import { IP_POOLS } from "./ip_pool.ts";
import { POOL_SPEC } from "./schema/ip_pool.ts";
import { SPEC } from "./schema/spec.ts";
import { STATUS } from "./schema/status.ts";
import { MACHINE_SPEC, MACHINE_STATUS } from "./schema/vino_machine.ts";
import { MACHINE_CONDITION_WORDS } from "./machine_words.ts";
import { VINOES } from "./vino.ts";
import { VINO_MACHINES } from "./vino_machine.ts";
import { CONDITION_WORDS } from "./words.ts";

const VINO_COLUMNS: readonly PrinterColumn[] = [
  ...toReadyColumns("Whether all machines are complete and published."),
  {
    name: "Machines",
    type: "string",
    jsonPath: ".status.counts.summary",
    description: "Complete machines, and machines that the spec wants.",
  },
  {
    name: "Unwanted",
    type: "integer",
    jsonPath: ".status.counts.unwanted",
    description: "Machines that the spec does not want, and that exist or may exist.",
  },
  {
    name: "Hosts",
    type: "integer",
    jsonPath: ".status.counts.published",
    description: "BareMetalHosts of all these machines.",
  },
  {
    name: "Differences",
    type: "string",
    jsonPath: '.status.conditions[?(@.type=="MachinesDiffer")].reason',
    description: "Whether complete machines are as the spec says: the reason of MachinesDiffer.",
    priority: 1,
  },
  AGE_COLUMN,
];

/** Vinos, as a kind that Kubernetes does not have. */
export const VINO_KIND: KindDefinition = {
  crd: toCrd({
    resource: VINOES,
    // kubectl takes the singular, too: `vino`.
    shortNames: [],
    columns: VINO_COLUMNS,
    description: "Which virtual machines are made, and published as BareMetalHosts.",
    spec: { schema: SPEC, description: "Which machines are wanted." },
    status: { schema: STATUS, description: "Which machines there are." },
    rule: NAME_RULE,
  }),
  about:
    "A Vino makes virtual machines on hosts of Xen Orchestra, and publishes each as a BareMetalHost of metal3 in its " +
    "namespace.",
  conditions: listConditionWords(CONDITION_WORDS),
};

const MACHINE_COLUMNS: readonly PrinterColumn[] = [
  { name: "Role", type: "string", jsonPath: ".spec.role", description: "The role of the machine." },
  {
    name: "Host",
    type: "string",
    jsonPath: ".spec.hostDisplayName",
    description: "Name of the host in the cloud where it starts.",
  },
  { name: "State", type: "string", jsonPath: ".status.state", description: "How far it is." },
  { name: "Address", type: "string", jsonPath: ".status.address", description: "Its address." },
  {
    name: "VM",
    type: "string",
    jsonPath: ".status.machineId",
    description: "Its ID in the cloud.",
  },
  {
    name: "BareMetalHost",
    type: "string",
    jsonPath: ".status.bareMetalHost",
    description: "How far its BareMetalHost is, which has the name of this object.",
  },
  ...Object.keys(MACHINE_CONDITION_WORDS).map((type): PrinterColumn => {
    const jsonPath = `.status.conditions[?(@.type=="${type}")].reason`;
    const description = `The reason of the condition ${type}.`;
    return { name: type, type: "string", jsonPath, description, priority: 1 };
  }),
  {
    name: "Message",
    type: "string",
    jsonPath: ".status.message",
    description: "What it waits for.",
    priority: 1,
  },
  AGE_COLUMN,
];

/** VinoMachines, as a kind that Kubernetes does not have. */
export const VINO_MACHINE_KIND: KindDefinition = {
  crd: toCrd({
    resource: VINO_MACHINES,
    shortNames: ["vmach"],
    columns: MACHINE_COLUMNS,
    description: "What was decided about a machine of a Vino, and how far it is.",
    spec: { schema: MACHINE_SPEC, description: "What was decided about the machine." },
    status: { schema: MACHINE_STATUS, description: "How far the machine is." },
  }),
  about:
    "A VinoMachine says what Landfall decided about one machine of a Vino, and how far it is. It has the name of the " +
    "machine's BareMetalHost. Only Landfall writes it: to add, change or remove a machine, edit the Vino. One that " +
    "you delete stays until nothing of its machine is left, because Landfall needs its record until then.",
  conditions: listConditionWords(MACHINE_CONDITION_WORDS),
};

/** IPPools, as a kind that Kubernetes does not have. */
export const IP_POOL_KIND: KindDefinition = {
  crd: toCrd({
    resource: IP_POOLS,
    shortNames: [],
    columns: [
      {
        name: "Subnet",
        type: "string",
        jsonPath: ".spec.subnet",
        description: "The subnet of the addresses.",
      },
      AGE_COLUMN,
    ],
    description: "Which addresses of a subnet machines have.",
    spec: { schema: POOL_SPEC, description: "The addresses of a subnet." },
  }),
  about:
    "An IPPool records which addresses and MAC addresses of a subnet the machines of Vinos have. Landfall never " +
    "deletes one: without addresses, it stays for the next Vino with that subnet.",
  conditions: [],
};
