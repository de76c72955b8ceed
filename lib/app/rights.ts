/**
 * Every right that a process needs. `landfall check`, the reference page, the manifests and the Helm chart use this
 * list.
 * @module
 */
import type { ProviderInstall } from "../cloud/provider_definition.ts";
import { findSettings, type SectionValues } from "../cloud/settings/schema.ts";
import {
  type ControllerDefinition,
  type FlagValues,
  listInstalled,
  listLeases,
  needsCloud,
} from "../controllers/definition.ts";
import { CONTROLLERS } from "../controllers/mod.ts";
import { NODES } from "../kube/kinds/node.ts";
import type { KubeObject, Resource } from "../kube/kinds/resource.ts";
import type { LeaseName } from "../kube/election/lease.ts";
import {
  type Access,
  listElectionRights,
  listEventRights,
  listReviewRights,
  type Right,
  type Scope,
} from "../kube/access/rights.ts";

/** What decides which rights a process needs. */
export interface Needs {
  /** All controllers in the registry. */
  readonly registry: readonly ControllerDefinition[];
  /** Names of the chosen controllers. */
  readonly controllers: ReadonlySet<string>;
  /** The settings of sections. Absent: those that need the most rights. */
  readonly sections?: SectionValues;
  /** The flags of controllers. Absent: all have their defaults. */
  readonly flags?: FlagValues;
  /** The Lease of the process, with the namespace of those that controllers name. Absent without leader election. */
  readonly lease?: LeaseName;
  /** Whether clients connect over the network, so that Landfall must check their tokens. */
  readonly hasSecurePort: boolean;
}

/** A right, and the controllers that need it. */
export interface NeededRight extends Right {
  /** The controllers that need it; absent: every process needs it. */
  readonly controllers?: readonly string[];
}

/** All controllers that the manifests of a cloud start, with all their functions. */
export function needAll(
  lease: LeaseName,
  registry: readonly ControllerDefinition[] = CONTROLLERS,
  install?: Pick<ProviderInstall, "controllers">,
): Needs {
  const controllers = new Set(listInstalled(registry, install).map(({ name }) => name));
  return { registry, controllers, lease, hasSecurePort: true };
}

/** Lists the rights that a process needs, each once. */
export function listRights(needs: Needs): NeededRight[] {
  const { lease, registry, controllers } = needs;
  const chosen = registry.filter(({ name }) => controllers.has(name));
  const ofControllers = chosen.flatMap((one) =>
    [
      ...one.watches.flatMap(toWatchRights),
      ...one.listRights({
        settings: needs.sections && findSettings(one.section, needs.sections),
        flags: needs.flags ?? {},
      }),
    ].map((right) => ({
      ...right,
      controllers: [one.name],
    })),
  );
  const hasCloud = needsCloud(chosen);
  const all: readonly NeededRight[] = [
    ...(hasCloud ? toWatchRights(NODES) : []),
    ...ofControllers,
    ...listEventRights(),
    ...(lease === undefined ? [] : listLeaseRights(chosen, lease)),
    ...(needs.hasSecurePort ? listReviewRights() : []),
  ];
  return mergeRights(all);
}

/** Lists the additional rights for one more controller, for example one that is off by default. */
export function listFurtherRights(needs: Needs, name: string): NeededRight[] {
  const had = new Set(listRights(needs).map(({ access }) => toKey(access)));
  const controllers = new Set([...needs.controllers, name]);
  return listRights({ ...needs, controllers }).filter(({ access }) => !had.has(toKey(access)));
}

/** To hold the Lease of the process, and those that controllers name. */
function listLeaseRights(
  chosen: readonly ControllerDefinition[],
  { namespace, name: own }: LeaseName,
): NeededRight[] {
  return listLeases(chosen, own).flatMap((name) => {
    const rights = listElectionRights({ namespace, name });
    if (name === own) return rights;
    const controllers = chosen.filter(({ lease }) => lease === name).map((one) => one.name);
    return rights.map((right) => ({ ...right, controllers }));
  });
}

function toWatchRights({ apiVersion, kind, plural }: Resource<KubeObject>): Right[] {
  const group = apiVersion.split("/").slice(0, -1).join("/");
  const access = { group, resource: plural };
  return [
    { access: { ...access, verb: "list" }, purpose: `to read the ${kind}s`, mandatory: true },
    { access: { ...access, verb: "watch" }, purpose: "to see their changes", mandatory: true },
  ];
}

/** Merges equal rights of several controllers into one right with all purposes. */
function mergeRights(rights: readonly NeededRight[]): NeededRight[] {
  const groups = Map.groupBy(rights, ({ access }) => toKey(access)).values();
  return Array.from(groups, (same) => same.reduce(mergeTwo));
}

function mergeTwo(one: NeededRight, other: NeededRight): NeededRight {
  return {
    access: one.access,
    ...toWider(one.scope, other.scope),
    purpose: [...new Set([one.purpose, other.purpose])].join(", "),
    mandatory: one.mandatory || other.mandatory,
    ...(one.controllers &&
      other.controllers && { controllers: [...one.controllers, ...other.controllers] }),
  };
}

/** Hosts may be in more namespaces than tenants. */
function toWider(one: Scope | undefined, other: Scope | undefined): { readonly scope?: Scope } {
  if (one === undefined || other === undefined) return {};
  return { scope: one === other ? one : "hosts" };
}

function toKey({ group, resource, subresource, namespace, name, verb }: Access): string {
  return JSON.stringify([group, resource, subresource, namespace, name, verb]);
}

/** A rule of a Role or ClusterRole (rbac.authorization.k8s.io/v1). */
export interface PolicyRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** Rights in the form of RBAC. */
export interface Policy {
  /** Rules of a ClusterRole. */
  readonly clusterRules: readonly PolicyRule[];
  /** Rules of a Role in each namespace. */
  readonly rules: ReadonlyMap<string, readonly PolicyRule[]>;
}

/** Rights by where they are needed. */
interface ScopedRights<R extends Right> {
  /** Always. */
  readonly base: readonly R[];
  /** In the namespaces of tenants. */
  readonly tenants: readonly R[];
  /** In other namespaces with hosts: a part of those of tenants. */
  readonly hosts: readonly R[];
}

/** Divides rights by where they are needed. */
export function splitRights<R extends Right>(rights: readonly R[]): ScopedRights<R> {
  const tenants = rights.filter(({ scope }) => scope !== undefined);
  return {
    base: rights.filter(({ scope }) => scope === undefined),
    tenants,
    hosts: tenants.filter(({ scope }) => scope === "hosts"),
  };
}

/** Turns rights into rules: one rule for each resource and name. Its verbs keep the order of the rights. */
export function toPolicy(rights: readonly Right[]): Policy {
  const places = Map.groupBy(rights, ({ access }) => access.namespace);
  const clusterRules = toRules(places.get(undefined) ?? []);
  const rules = new Map<string, readonly PolicyRule[]>();
  for (const [namespace, found] of places) {
    if (namespace !== undefined) rules.set(namespace, toRules(found));
  }
  return { clusterRules, rules };
}

function toRules(rights: readonly Right[]): PolicyRule[] {
  const accesses = rights.map(({ access }) => access);
  const groups = Map.groupBy(accesses, (access) => toKey({ ...access, verb: "" })).values();
  return Array.from(groups, (same) => {
    const [{ group, resource, subresource, name } = { group: "", resource: "" }] = same;
    return {
      apiGroups: [group],
      resources: [subresource === undefined ? resource : `${resource}/${subresource}`],
      ...(name !== undefined && { resourceNames: [name] }),
      verbs: same.map(({ verb }) => verb),
    };
  });
}
