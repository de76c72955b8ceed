/**
 * Rights that are enough in some namespaces: where the objects of a controller are, and where hosts are.
 * @module
 */
import type { NeededRight, Needs } from "../../app/rights.ts";
import { EVERY_NAMESPACE } from "../../core/text/label.ts";
import type { AccessAnswer } from "../../kube/access/rights.ts";
import { reviewAccess } from "../../kube/access/rights.ts";
import type { KubeClient } from "../../kube/api/client.ts";
import { BARE_METAL_HOSTS } from "../../kube/kinds/bare_metal_host.ts";
import type { KubeObject, Resource } from "../../kube/kinds/resource.ts";
import { tryList } from "../listing.ts";

/** A right, with the answer about it. */
export interface AnsweredRight {
  readonly right: NeededRight;
  readonly answer: AccessAnswer;
  /** Whether it counts only for hosts of that namespace, which no flag names, so that they may be for others. */
  readonly isOfHosts?: boolean;
}

/** What was asked. */
interface ScopedAnswers {
  readonly answers: readonly AnsweredRight[];
  /** How many namespaces were left out, because there are too many. */
  readonly leftOut: number;
  /** Whether there is no namespace yet in which rights could be missing. */
  readonly hasNoPlace: boolean;
}

/** Each needs some thirty questions. */
export const NAMESPACES_MAX = 20;

/**
 * Asks about rights that the user does not have in all namespaces: in those in which they are needed.
 *
 * @param missing Rights with a scope
 * @throws the signal's reason
 */
export async function reviewScopes(
  client: KubeClient,
  missing: readonly NeededRight[],
  { registry, flags = {} }: Pick<Needs, "flags" | "registry">,
  signal: AbortSignal,
): Promise<ScopedAnswers> {
  const names = new Set(missing.flatMap(({ controllers = [] }) => controllers));
  const owners = registry.filter(({ name }) => names.has(name));
  const places = new Map<string, ReadonlySet<string>>();
  for (const { name, kind } of owners) places.set(name, await listNamespaces(client, kind, signal));
  const named = new Set(
    owners
      .flatMap((one) => one.listNamespaces?.(flags) ?? [])
      .flatMap(({ namespace, isForHosts }) => (isForHosts ? namespace : [])),
  );
  const hosts = named.delete(EVERY_NAMESPACE)
    ? await listNamespaces(client, BARE_METAL_HOSTS, signal)
    : new Set<string>();
  const placed = missing.flatMap((right) => {
    const tenants = new Set(
      (right.controllers ?? []).flatMap((name) => [...(places.get(name) ?? [])]),
    );
    if (right.scope === "tenants") return toPlaced(right, tenants);
    const sure = tenants.union(named);
    return [...toPlaced(right, sure), ...toPlaced(right, hosts.difference(sure), true)];
  });
  const wanted = placed.filter(({ isLeftOut }) => !isLeftOut);
  const leftOut = placed.flatMap(({ isLeftOut, right }) =>
    isLeftOut ? (right.access.namespace ?? []) : [],
  );
  const answers = await reviewAccess(
    client,
    wanted.map(({ right }) => right.access),
    signal,
  );
  return {
    answers: wanted.map(({ right, isOfHosts }, at) => ({
      right,
      isOfHosts,
      answer: answers[at] ?? { allowed: "unknown" },
    })),
    leftOut: new Set(leftOut).size,
    hasNoPlace: [...places.values()].every(({ size }) => size === 0),
  };
}

interface PlacedRight {
  readonly right: NeededRight;
  readonly isOfHosts: boolean;
  /** Whether Landfall does not ask about it, because there are too many namespaces. */
  readonly isLeftOut: boolean;
}

function toPlaced(
  right: NeededRight,
  namespaces: ReadonlySet<string>,
  isOfHosts = false,
): readonly PlacedRight[] {
  return [...namespaces].toSorted().map((namespace, at) => ({
    right: { ...right, access: { ...right.access, namespace } },
    isOfHosts,
    isLeftOut: at >= NAMESPACES_MAX,
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
