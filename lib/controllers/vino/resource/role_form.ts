/**
 * What the machines of a role are like: what the role says, otherwise the whole Vino, otherwise the default.
 * @module
 */
import type { SpecProblem } from "../../kinds/problems.ts";
import { toBytes } from "./schema/fields.ts";
import type {
  BOOTS,
  COUNT_PER,
  MachineForm,
  SecretKey,
  VinoHosts,
  VinoNode,
  VinoSpec,
  XenOrchestraBlock,
} from "./vino.ts";

/** A disk, with its size as a number. */
interface RoleDisk {
  readonly name: string;
  readonly sizeBytes: number;
  /** ID or name of the storage repository. Absent: that of the template's disk, or the default one of the pool. */
  readonly sr?: string;
}

/** What all machines of a role have in common. */
export interface RoleForm {
  /** ID or name. */
  readonly template: string;
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly disks: readonly RoleDisk[];
  readonly countPer: (typeof COUNT_PER)[number];
  readonly boot: (typeof BOOTS)[number];
  readonly userDataSecret?: Required<SecretKey>;
  /** Empty: all hosts of the pool. */
  readonly hosts: VinoHosts;
}

/** What {@linkcode toRoleForm} returns. */
type FormOfRole =
  | { readonly isComplete: true; readonly form: RoleForm }
  | { readonly isComplete: false; readonly missing: readonly SpecProblem[] };

const USER_DATA_KEY = "userData";

/**
 * Puts together what the machines of a role are like. A list or a choice of hosts of the role replaces that of the
 * whole Vino.
 *
 * @param spec A right one
 * @param at The role's place in `spec.nodes`
 */
export function toRoleForm(spec: VinoSpec, at: number): FormOfRole {
  const node: VinoNode | undefined = spec.nodes?.[at];
  const given: MachineForm = { ...spec.xenOrchestra, ...node?.xenOrchestra };
  const { template, cpus, memory, userDataSecret: secret } = given;
  const memoryBytes = memory === undefined ? undefined : toBytes(memory);
  if (template === undefined || cpus === undefined || memoryBytes === undefined) {
    const missing = Object.entries({ template, cpus, memory }).filter(
      ([, value]) => value === undefined,
    );
    const message = "must be set here or in spec.xenOrchestra, because a machine needs it";
    return {
      isComplete: false,
      missing: missing.map(([key]) => ({ path: `spec.nodes[${at}].xenOrchestra.${key}`, message })),
    };
  }
  return {
    isComplete: true,
    form: {
      template,
      cpus,
      memoryBytes,
      disks: (given.disks ?? []).map(({ name, size, sr }) => ({
        name,
        sizeBytes: toBytes(size) ?? 0,
        ...(sr !== undefined && { sr }),
      })),
      countPer: given.countPer ?? "Host",
      boot: given.boot ?? "Template",
      ...(secret && { userDataSecret: { name: secret.name, key: secret.key ?? USER_DATA_KEY } }),
      hosts: given.hosts ?? {},
    },
  };
}

/** A role with everything that its machines have in common. */
export interface Role {
  readonly node: VinoNode;
  readonly form: RoleForm;
}

/** How many machines of a role are wanted, and where. */
export interface RoleDemand {
  readonly role: string;
  readonly count: number;
  readonly countPer: NonNullable<XenOrchestraBlock["countPer"]>;
  readonly hosts: VinoHosts;
}

/** The roles of a spec by name, in its order, or what is missing to make machines. */
type Roles =
  | { readonly isComplete: true; readonly roles: ReadonlyMap<string, Role> }
  | { readonly isComplete: false; readonly missing: readonly SpecProblem[] };

/** Reads the roles of a right spec. A role that wants no machines needs no form. */
export function readRoles(spec: VinoSpec): Roles {
  const roles = new Map<string, Role>();
  const missing: SpecProblem[] = [];
  for (const [at, node] of (spec.nodes ?? []).entries()) {
    const read = toRoleForm(spec, at);
    if (read.isComplete) roles.set(node.name, { node, form: read.form });
    else if ((node.count ?? 0) > 0) missing.push(...read.missing);
  }
  return missing.length > 0 ? { isComplete: false, missing } : { isComplete: true, roles };
}

/** How many machines each role wants, and where. */
export function toDemands(roles: ReadonlyMap<string, Role>): RoleDemand[] {
  return Array.from(roles, ([role, { node, form }]) => ({
    role,
    count: node.count ?? 0,
    countPer: form.countPer,
    hosts: form.hosts,
  }));
}
