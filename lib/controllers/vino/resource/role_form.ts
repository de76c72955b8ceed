/**
 * What the machines of a role are like: what the role says, otherwise the whole Vino, otherwise the default.
 * @module
 */
import type { SpecProblem } from "../../kinds/problems.ts";
import { toBytes } from "./quantity.ts";
import type {
  BOOTS,
  COUNT_PER,
  MachineForm,
  SecretKey,
  VinoHosts,
  VinoNode,
  VinoSpec,
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
