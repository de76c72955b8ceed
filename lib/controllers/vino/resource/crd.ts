/**
 * The CustomResourceDefinitions of Vinos, VinoMachines and IPPools. Only what writes manifests and reference pages
 * loads them.
 * @module
 */
import type { PrinterColumn } from "../../../kube/kinds/crd.ts";
import type { KindDefinition } from "../../definition.ts";
import { AGE_COLUMN, listConditionWords, toCrd, toReadyColumns } from "../../kinds/crd.ts";
import {
  NAME_RULE,
  conditions,
  list,
  object,
  optional,
  required,
  type Schema,
  STATUS_NUMBER,
  STATUS_TEXT,
  STATUS_TIME,
  oneOf,
  text,
  wholeNumber,
  withRules,
} from "../../kinds/parts.ts";
import { IP_POOLS } from "./ip_pool.ts";
import { POOL_SPEC } from "./schema/ip_pool.ts";
import { SPEC } from "./schema/spec.ts";
import { MACHINE_CONDITION_WORDS, CONDITION_WORDS } from "./words.ts";
import {
  VINOES,
  MACHINES_MAX,
  type VinoCounts,
  type VinoRemoval,
  type VinoStatus,
} from "./vino.ts";
import {
  VINO_MACHINES,
  HOST_STATES,
  MACHINE_STATES,
  type MachineDiskSpec,
  type MachineInterfaceSpec,
  PARTS_MAX,
  type VinoMachineSpec,
  type VinoMachineStatus,
} from "./vino_machine.ts";
import type { MachinePart } from "../../../cloud/capabilities/machines.ts";
import { namePart } from "./schema/fields.ts";

const COUNTS: Schema<VinoCounts> = object<VinoCounts>({
  wanted: required(STATUS_NUMBER, "Machines that the spec wants."),
  machines: required(STATUS_NUMBER, "Machines that exist."),
  ready: required(STATUS_NUMBER, "Machines that are complete."),
  unwanted: optional(
    STATUS_NUMBER,
    "Machines that the spec does not want, and that exist or may exist.",
  ),
  published: required(STATUS_NUMBER, "BareMetalHosts of all these machines."),
  summary: required(STATUS_TEXT, "Complete machines, and machines that the spec wants."),
});

const REMOVAL: Schema<VinoRemoval> = object<VinoRemoval>({
  name: required(STATUS_TEXT, "The name that it had in the cloud."),
  time: required(STATUS_TIME, "When it was gone."),
});

/** The schema of `status`. */
const STATUS: Schema<VinoStatus> = object<VinoStatus>({
  observedGeneration: optional(
    STATUS_NUMBER,
    "The generation of the spec that this status is about.",
  ),
  conditions: optional(
    conditions(Object.keys(CONDITION_WORDS).join(", ")),
    "What the Vino has, and what it waits for.",
  ),
  counts: optional(COUNTS, "How many machines the Vino has."),
  removals: optional(
    list(REMOVAL, MACHINES_MAX),
    "Machines that were removed within `deletion.fleetWindow`. They count for `deletion.fleetShare`, also after a " +
      "restart of Landfall.",
  ),
});

const TEXT = text(256);

const DISK: Schema<MachineDiskSpec> = object<MachineDiskSpec>({
  name: required(TEXT, "Its name."),
  sizeBytes: required(STATUS_NUMBER, "Its size at least, in bytes."),
  storage: optional(TEXT, "ID or name of its storage repository."),
});

const INTERFACE: Schema<MachineInterfaceSpec> = object<MachineInterfaceSpec>({
  name: required(TEXT, "Its name."),
  network: required(TEXT, "ID or name of its network in the cloud."),
  mac: required(TEXT, "Its MAC address."),
  addresses: optional(list(TEXT, PARTS_MAX), "Its addresses. Absent: a DHCP server gives them."),
});

const FIELDS: Schema<VinoMachineSpec> = object<VinoMachineSpec>({
  vinoName: required(text(253), "Name of its Vino."),
  vinoUid: required(text(128), "UID of its Vino."),
  machineName: required(text(63), "Its name in the cloud."),
  role: required(namePart(63), "Its role."),
  index: required(wholeNumber(0, 99_999), "Its number within the role."),
  host: optional(TEXT, "ID of the host in the cloud where it starts."),
  hostDisplayName: optional(STATUS_TEXT, "The name of that host."),
  template: optional(TEXT, "ID or name of its template."),
  cpus: optional(STATUS_NUMBER, "How many CPUs it has."),
  memoryBytes: optional(STATUS_NUMBER, "Its memory, in bytes."),
  disks: optional(list(DISK, PARTS_MAX), "Its disks. The first ones are those of its template."),
  interfaces: optional(list(INTERFACE, PARTS_MAX), "Its network interfaces."),
});

const FIXED = ["vinoName", "vinoUid", "machineName", "role", "index"] as const;

/** The schema of `spec`. Which machine of which Vino an object is of never changes. */
const MACHINE_SPEC: Schema<VinoMachineSpec> = withRules(FIELDS, [
  {
    cel: FIXED.map((one) => `self.${one} == oldSelf.${one}`).join(" && "),
    message: `${FIXED.join(", ")} must not change`,
    holds: () => true,
  },
]);

const PART: Schema<MachinePart> = object<MachinePart>({
  name: required(STATUS_TEXT, "Which part."),
  wanted: optional(STATUS_TEXT, "What it should be. Absent: it should not exist."),
  actual: optional(STATUS_TEXT, "What it is. Absent: it does not exist."),
});

const POWER_STATES = ["running", "stopped", "paused", "suspended", "unknown"] as const;

/** The schema of `status`. */
const MACHINE_STATUS: Schema<VinoMachineStatus> = object<VinoMachineStatus>({
  conditions: optional(
    conditions(Object.keys(MACHINE_CONDITION_WORDS).join(", ")),
    "What the machine has, and what it waits for.",
  ),
  state: optional(oneOf(MACHINE_STATES), "How far it is."),
  message: optional(STATUS_TEXT, "What it waits for."),
  retryTime: optional(STATUS_TIME, "When Landfall tries again after a failure."),
  machineId: optional(STATUS_TEXT, "Its ID in the cloud."),
  address: optional(STATUS_TEXT, "Its address."),
  power: optional(oneOf(POWER_STATES), "Whether it runs, as Landfall saw it last."),
  bareMetalHost: optional(
    oneOf(HOST_STATES),
    "How far its BareMetalHost is, which has the name of this object.",
  ),
  differences: optional(
    list(PART, PARTS_MAX),
    "Parts of a complete machine that are not as the spec says.",
  ),
  record: optional(STATUS_TEXT, "What Landfall must know about it after a restart."),
});

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
