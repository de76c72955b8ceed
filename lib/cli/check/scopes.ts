/**
 * Rights that are enough in some namespaces: where the objects of a controller are, and where hosts are.
 * @module
 */
import type { NeededRight } from "../../app/rights.ts";
import type { ControllerDefinition } from "../../controllers/definition.ts";
import type { AccessAnswer, Scope } from "../../kube/access/rights.ts";
import { reviewAccess } from "../../kube/access/rights.ts";
import type { KubeClient } from "../../kube/api/client.ts";
import { BARE_METAL_HOSTS } from "../../kube/kinds/bare_metal_host.ts";
import type { KubeObject, Resource } from "../../kube/kinds/resource.ts";
import { tryList } from "../listing.ts";

/** A right, with the answer about it. */
export interface AnsweredRight {
  readonly right: NeededRight;
  readonly answer: AccessAnswer;
  /** Whether it counts only for hosts of that namespace, which may be for others. */
  readonly isOfHosts?: boolean;
}

/** What was asked. */
interface ScopedAnswers {
  readonly answers: readonly AnsweredRight[];
  /** Whether there is no namespace yet in which rights could be missing. */
  readonly hasNoPlace: boolean;
}

/** Each needs some thirty questions. */
const NAMESPACES_MAX = 20;

/**
 * Asks about rights that the user does not have in all namespaces: in those in which they are needed.
 *
 * @param missing Rights with a scope
 * @throws the signal's reason
 */
export async function reviewScopes(
  client: KubeClient,
  missing: readonly NeededRight[],
  registry: readonly ControllerDefinition[],
  signal: AbortSignal,
): Promise<ScopedAnswers> {
  const names = new Set(missing.flatMap(({ controllers = [] }) => controllers));
  const owners = registry.filter(({ name }) => names.has(name));
  const places = new Map<string, ReadonlySet<string>>();
  for (const { name, kind } of owners) places.set(name, await listNamespaces(client, kind, signal));
  const hasHosts = missing.some(({ scope }) => scope === "hosts");
  const hosts = hasHosts ? await listNamespaces(client, BARE_METAL_HOSTS, signal) : new Set("");
  const wanted = missing.flatMap((right) => {
    const tenants = new Set(
      (right.controllers ?? []).flatMap((name) => [...(places.get(name) ?? [])]),
    );
    const others = right.scope === "hosts" ? hosts.difference(tenants) : new Set<string>();
    return [...toPlaced(right, "tenants", tenants), ...toPlaced(right, "hosts", others)];
  });
  const answers = await reviewAccess(
    client,
    wanted.map(({ right }) => right.access),
    signal,
  );
  return {
    answers: wanted.map((one, at) => ({ ...one, answer: answers[at] ?? { allowed: "unknown" } })),
    hasNoPlace: [...places.values()].every(({ size }) => size === 0),
  };
}

function toPlaced(
  right: NeededRight,
  scope: Scope,
  namespaces: ReadonlySet<string>,
): { readonly right: NeededRight; readonly isOfHosts: boolean }[] {
  return [...namespaces]
    .toSorted()
    .slice(0, NAMESPACES_MAX)
    .map((namespace) => ({
      right: { ...right, access: { ...right.access, namespace } },
      isOfHosts: scope === "hosts",
    }));
}

/** The namespaces with objects of a kind; none if the API server does not show them, which is said elsewhere. */
async function listNamespaces(
  client: KubeClient,
  kind: Resource<KubeObject>,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const items = (await tryList(client, kind, signal)) ?? [];
  return new Set(items.map(({ metadata: { namespace = "" } }) => namespace));
}
