/**
 * The least role in Xen Orchestra for a user that makes VMs: every privilege that Landfall uses for it, with what it is
 * for. The documents, `landfall check` and messages about a refused request come from this one table.
 * @module
 */
import { MACHINE_PREFIX } from "../../../cloud/capabilities/machines.ts";
import type { CloudRole } from "../../../cloud/provider_definition.ts";

/** What Xen Orchestra can allow: an action on one kind of objects. */
export interface Privilege {
  /** `vm`, `vm-template`. */
  readonly resource: string;
  /** `create:vm`. An action allows the finer ones below it, too: `update` allows `update:tags`. */
  readonly action: string;
}

/** A privilege that a user has. */
export interface GrantedPrivilege extends Privilege {
  /** Only for objects that match. @default {all of the kind} */
  readonly selector?: string;
}

/** A privilege of the role. */
interface RolePrivilege extends GrantedPrivilege {
  /** What Landfall does with it, to complete the sentence "Landfall needs it to …". */
  readonly purpose: string;
}

/** In a selector: the ID of the user that has the role. Xen Orchestra makes it, so only the administrator knows it. */
export const USER_ID = "USER_ID";

/** Objects with a name of ours. Other VMs and disks cannot be changed with the role. */
const OWN_NAME = `name_label:/^${MACHINE_PREFIX}/`;

const READ_PURPOSES: Readonly<Record<string, string>> = {
  pool: "see the pools, and whether they are connected",
  host: "see the hosts, on which VMs start",
  server: "know when a pool is lost, so that a missing VM is not made a second time",
  network: "find the networks of VMs by name",
  sr: "check storage before it asks for disks",
  vm: "see which VMs exist",
  "vm-controller": "see that a pool without any VM answers",
  "vm-template": "find the template, and templates that a broken creation left behind",
  vif: "compare network interfaces",
  vdi: "compare disks, and find disks that a broken creation left behind",
  vbd: "see which disks are attached to which VM",
};

/** Every privilege, in the order of the documents. */
export const PRIVILEGES: readonly RolePrivilege[] = [
  ...Object.entries(READ_PURPOSES).map(([resource, purpose]) => ({
    resource,
    action: "read",
    purpose,
  })),
  {
    resource: "task",
    action: "read",
    selector: `properties:userId:${USER_ID}`,
    purpose: "follow its own creations, so that none is repeated",
  },
  { resource: "pool", action: "create:vm", purpose: "make VMs" },
  { resource: "vm-template", action: "instantiate", purpose: "make VMs from a template" },
  { resource: "host", action: "allow-vm", purpose: "make a VM for a host" },
  { resource: "vif", action: "create", purpose: "connect VMs to networks" },
  { resource: "vdi", action: "create", purpose: "make disks, and choose the storage of disks" },
  { resource: "sr", action: "import:vdi", purpose: "upload the disk with data for cloud-init" },
  { resource: "vbd", action: "create", purpose: "attach disks" },
  { resource: "vbd", action: "delete", purpose: "detach foreign disks before it deletes a VM" },
  {
    resource: "vm",
    action: "update",
    selector: OWN_NAME,
    purpose: "set tags, CPUs and memory, and protect VMs from deletion",
  },
  { resource: "vdi", action: "update", selector: OWN_NAME, purpose: "let disks grow" },
  { resource: "vm", action: "start", selector: OWN_NAME, purpose: "start VMs" },
  { resource: "vm", action: "shutdown", selector: OWN_NAME, purpose: "stop VMs" },
  { resource: "vm", action: "reboot", selector: OWN_NAME, purpose: "restart VMs" },
  ...["pause", "unpause", "resume"].map((action) => ({
    resource: "vm",
    action,
    selector: OWN_NAME,
    purpose: `${action} VMs by their management controllers`,
  })),
  { resource: "vm", action: "delete", selector: OWN_NAME, purpose: "delete VMs" },
  {
    resource: "vm-template",
    action: "delete",
    selector: OWN_NAME,
    purpose: "delete what a broken creation left behind",
  },
  {
    resource: "vdi",
    action: "delete",
    selector: OWN_NAME,
    purpose: "delete disks that a broken creation left behind",
  },
];

/** Finds the privilege of the role that allows something. @returns `undefined` if the role does not allow it at all */
export function findPrivilege({ resource, action }: Privilege): RolePrivilege | undefined {
  return PRIVILEGES.find(
    (one) =>
      one.resource === resource && (one.action === action || action.startsWith(`${one.action}:`)),
  );
}

/** Formats a privilege as messages and guides do: `vif create`. */
export function formatPrivilege({ resource, action }: Privilege): string {
  return `${resource} ${action}`;
}

/**
 * Lists the privileges of the role that a user lacks.
 *
 * A wider one counts: `sr import` and `sr *` for `sr import:vdi`. To see only some objects does not count where the
 * role sees all: what is hidden looks as if it did not exist. Other selectors are not judged.
 */
export function listLacking(has: readonly GrantedPrivilege[]): readonly RolePrivilege[] {
  return PRIVILEGES.filter((needed) => !has.some((one) => grants(one, needed)));
}

/** Kinds of objects that a creation depends on: it would begin without the right to see them, and never end. */
const SEEN_AT_CREATION: ReadonlySet<string> = new Set([
  "pool",
  "host",
  "network",
  "sr",
  "vm",
  "vm-template",
  "vif",
  "vdi",
  "vbd",
  "task",
]);

/** Lists the privileges without which no creation may begin, and which a user lacks for all objects: `task read`. */
export function listBlind(has: readonly GrantedPrivilege[]): string[] {
  const seen = new Set(
    has.filter(({ action }) => action === "read" || action === "*").map((one) => one.resource),
  );
  const needed = PRIVILEGES.filter(({ action }) => action === "read");
  return needed
    .filter(({ resource }) => SEEN_AT_CREATION.has(resource) && !seen.has(resource))
    .map(formatPrivilege);
}

function grants(granted: GrantedPrivilege, needed: RolePrivilege): boolean {
  const { resource, action } = needed;
  const [wider = action] = action.split(":");
  if (granted.resource !== resource || ![action, wider, "*"].includes(granted.action)) return false;
  return action !== "read" || needed.selector !== undefined || granted.selector === undefined;
}

/** Where administrators find the role, from the root of the source. */
export const ROLE_PATH = "deploy/xenorchestra/vino-role.json";

/** The role, as administrators apply it. */
export const MACHINES_ROLE: CloudRole = {
  file: "vino-role.json",
  role: {
    name: "landfall-vino",
    description: "may make, change and delete VMs with names of Landfall's controller vino",
    privileges: PRIVILEGES.map(({ resource, action, selector }) => ({
      effect: "allow",
      resource,
      action,
      ...(selector !== undefined && { selector }),
    })),
  },
};
