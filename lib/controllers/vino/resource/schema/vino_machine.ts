/**
 * The schemas of the `spec` and the `status` of a VinoMachine.
 * @module
 */
import type { MachinePart } from "../../../../cloud/capabilities/machines.ts";
import {
  conditions,
  list,
  object,
  oneOf,
  optional,
  required,
  type Schema,
  STATUS_NUMBER,
  STATUS_TEXT,
  text,
  wholeNumber,
  withRules,
} from "../../../kinds/parts.ts";
import { MACHINE_CONDITION_WORDS } from "../machine_words.ts";
import {
  HOST_STATES,
  MACHINE_STATES,
  type MachineDiskSpec,
  type MachineInterfaceSpec,
  PARTS_MAX,
  type VinoMachineSpec,
  type VinoMachineStatus,
} from "../vino_machine.ts";
import { namePart } from "./fields.ts";

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
export const MACHINE_SPEC: Schema<VinoMachineSpec> = withRules(FIELDS, [
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
export const MACHINE_STATUS: Schema<VinoMachineStatus> = object<VinoMachineStatus>({
  conditions: optional(
    conditions(Object.keys(MACHINE_CONDITION_WORDS).join(", ")),
    "What the machine has, and what it waits for.",
  ),
  state: optional(oneOf(MACHINE_STATES), "How far it is."),
  message: optional(STATUS_TEXT, "What it waits for."),
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
