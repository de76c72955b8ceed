/**
 * Whether SIPClusters may take the hosts that they need, for `landfall check`.
 * @module
 */
import type { Finding } from "../../cloud/inspection.ts";
import type { KubeClient } from "../../kube/api/client.ts";
import { type Key, toKey } from "../../kube/cache/store.ts";
import { listAll } from "../../kube/cache/watcher.ts";
import { BARE_METAL_HOSTS, type BareMetalHost } from "../../kube/kinds/bare_metal_host.ts";
import { type FlagValues, readTextFlag } from "../definition.ts";
import { findCondition } from "../kinds/conditions.ts";
import { nameSome } from "../kinds/problems.ts";
import { HOST_NAMESPACES_FLAG } from "./flags.ts";
import { findLabelled, isLabelled, toHostFacts } from "./hosts/facts.ts";
import { type AllowsHost, planAdoption, toAllowsHost } from "./hosts/record.ts";
import { ROLES, SIP_CLUSTERS, type SipCluster } from "./resource/sip_cluster.ts";
import { toMatcher } from "./schedule/label_selector.ts";

const PAGE = { limit: 500 };

/** Lists SIPClusters and hosts, and says which hosts are in namespaces that are not allowed. */
export async function inspectHosts(
  client: Pick<KubeClient, "list">,
  flags: FlagValues,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const clusters = await listAll(client, SIP_CLUSTERS, PAGE, signal);
  if (clusters.items.length === 0) return [];
  const hosts = await listAll(client, BARE_METAL_HOSTS, PAGE, signal);
  const allows = toAllowsHost(readTextFlag(flags, HOST_NAMESPACES_FLAG));
  return listFindings(clusters.items, hosts.items, allows);
}

function listFindings(
  clusters: readonly SipCluster[],
  hosts: readonly BareMetalHost[],
  allows: AllowsHost,
): readonly Finding[] {
  const labelled = new Map<Key, ReadonlySet<string>>();
  const wanted = new Map<Key, ReadonlySet<string>>();
  const byKey = new Map(hosts.map((host) => [toKey(host), host]));
  for (const cluster of clusters) {
    const key = toKey(cluster);
    const foreign = hosts.filter((host) => !allows(key, toKey(host)));
    const claimants = hosts.filter(({ metadata }) => findLabelled(metadata.labels) === key);
    const index = {
      find: (host: Key) => byKey.get(host),
      listClaimants: () => claimants.map((host) => toHostFacts(host)),
    };
    if (planAdoption(cluster, { index, allows }).kind === "blocked") {
      labelled.set(key, toNamespaces(claimants.filter((host) => foreign.includes(host))));
    }
    if (findCondition(cluster.status, "Scheduled")?.status === "True") continue;
    const matchers = ROLES.flatMap((role) => cluster.spec?.nodes?.[role] ?? []).map((one) =>
      toMatcher(one.labelSelector),
    );
    const fitting = foreign.filter(
      ({ metadata: { labels = {} } }) =>
        !isLabelled(labels) && matchers.some((matches) => matches(labels)),
    );
    if (fitting.length > 0) wanted.set(key, toNamespaces(fitting));
  }
  return [
    ...toFinding(labelled, {
      level: "failure",
      what: "have hosts by their labels, whose namespaces are not allowed, so Landfall changes nothing there",
    }),
    ...toFinding(wanted, {
      level: "warning",
      what: "lack hosts, and hosts that match are in namespaces that are not allowed",
    }),
  ];
}

function toFinding(
  namespaces: ReadonlyMap<Key, ReadonlySet<string>>,
  { level, what }: { readonly level: Finding["level"]; readonly what: string },
): readonly Finding[] {
  if (namespaces.size === 0) return [];
  const all = [...new Set([...namespaces.values()].flatMap((some) => [...some]))].toSorted();
  const message = `SIPClusters ${nameSome([...namespaces.keys()])} ${what}: ${nameSome(all)}`;
  const advice = `if you trust all who may write hosts there, add to --${HOST_NAMESPACES_FLAG.name}: ${nameSome(all)}`;
  return [{ level, code: "hostNamespaces", message, advice }];
}

function toNamespaces(hosts: readonly BareMetalHost[]): ReadonlySet<string> {
  return new Set(hosts.map(({ metadata }) => metadata.namespace ?? ""));
}
