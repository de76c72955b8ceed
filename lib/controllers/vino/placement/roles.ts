/**
 * The roles of a Vino, and how many machines each demands. Pure.
 * @module
 */
import type { SpecProblem } from "../../kinds/problems.ts";
import { type RoleForm, toRoleForm } from "../resource/role_form.ts";
import type { VinoHosts, VinoNode, VinoSpec, XenOrchestraBlock } from "../resource/vino.ts";

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
