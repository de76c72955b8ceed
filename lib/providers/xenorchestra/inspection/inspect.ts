/**
 * Looks at Xen Orchestra once, for an operator who sets it up.
 * @module
 */
import { CloudError } from "../../../cloud/errors.ts";
import { type Finding, inspectInventory, type Inspection } from "../../../cloud/inspection.ts";
import type { Inventory } from "../../../cloud/inventory/inventory.ts";
import type { ListReply } from "../../../cloud_http/decode.ts";
import { withDeadline } from "../../../core/clock.ts";
import { formatHostPort } from "../../../core/net/connection_problem.ts";
import type { XenOrchestraApi } from "../wire/api.ts";
import {
  judgeConnections,
  nameServer,
  nameState,
  type ServersReply,
} from "../proof/connections.ts";
import { findNetworks } from "../model/inventory.ts";
import type { XenOrchestraSettings } from "../settings/config.ts";
import { diagnose, toWrongService } from "./diagnose.ts";
import { NO_POOL_ADVICE } from "../model/presence.ts";
import { listUnmatchedTagFindings, listUnfitFindings } from "../scope/entries.ts";
import { listUnknownEntryFindings, withoutUnknownEntries } from "../scope/pools.ts";
import type { Host, Server } from "../wire/schema.ts";

/** The dependencies of {@linkcode inspectXenOrchestra}. */
interface InspectOptions {
  readonly api: XenOrchestraApi;
  readonly settings: XenOrchestraSettings;
  /** Lists all VMs. */
  readonly listInventory: (signal: AbortSignal) => Promise<Inventory>;
}

/** Maximum wait for the first answer, in milliseconds, because an operator is waiting. */
const FIRST_MS = 10_000;

const WORDS = {
  instances: "vms",
  instance: "VM",
  part: "pool",
  noneAdvice: `${NO_POOL_ADVICE}; Xen Orchestra silently hides what the user has no right to see`,
  incompleteAdvice: "check the connection to the pool, and the user's right to read its hosts",
} as const;

/**
 * Lists hosts first, so that a wrong password is tried only once. Then lists everything else at the same time.
 *
 * @throws the signal's reason
 */
export async function inspectXenOrchestra(
  options: InspectOptions,
  signal: AbortSignal,
): Promise<Inspection> {
  const { api, settings, listInventory } = options;
  const endpoint = formatHostPort(settings.url);
  try {
    const firstMs = Math.max(FIRST_MS, settings.clientTimeoutMs ?? 0);
    const hosts = await api.list("hosts", withDeadline(signal, firstMs));
    if (hosts.objects.length === 0 && hosts.undecodable.size > 0) {
      return toFailed(endpoint, toWrongService(`The server at ${endpoint} shows no hosts`));
    }
    const [inventory, servers, networks, entries, tags] = await Promise.all([
      listInventory(signal),
      listServers(api, signal),
      listNetworkFindings(options, signal),
      listEntryFindings(options, hosts, signal),
      listTagFindings(options, hosts, signal),
    ]);
    const shown = inspectInventory(endpoint, withoutUnknownEntries(inventory), WORDS);
    const answers = `Xen Orchestra at ${endpoint} answers and accepts the credentials`;
    return {
      ...shown,
      inventory,
      counts: { ...shown.counts, hosts: hosts.objects.length },
      parts: [...shown.parts, ...toHostParts(hosts)],
      findings: [
        { level: "ok", code: "answers", message: answers },
        ...listSafetyFindings(settings),
        ...shown.findings,
        ...listUnknownEntryFindings(inventory, servers),
        ...listServerFindings(servers, inventory),
        ...networks,
        ...entries,
        ...tags,
      ],
    };
  } catch (error) {
    signal.throwIfAborted();
    return toFailed(endpoint, await diagnose(error, settings, signal));
  }
}

function toFailed(endpoint: string, finding: Finding): Inspection {
  return { endpoint, counts: {}, parts: [], findings: [finding] };
}

function toHostParts({ objects }: ListReply<Host>): Inspection["parts"] {
  return objects.map(({ id, name_label }) => ({
    kind: "host",
    id,
    ...(name_label ? { name: name_label } : {}),
  }));
}

/** Lists the connections to pools; `undefined` without an answer. The other lists then show the problem. */
async function listServers(
  api: XenOrchestraApi,
  signal: AbortSignal,
): Promise<ServersReply | undefined> {
  try {
    return await api.listServers(signal);
  } catch (error) {
    if (error instanceof CloudError) return undefined;
    throw error;
  }
}

function listServerFindings(servers: ServersReply | undefined, inventory: Inventory): Finding[] {
  if (servers === undefined) return [];
  const objects = typeof servers === "string" ? [] : servers.objects;
  const down = objects.filter(({ enabled, status }) => enabled !== false && status !== "connected");
  if (down.length > 0) return down.map(toServerFinding);
  const connections = judgeConnections(servers, inventory.coverage);
  // If no pool is visible, that is the main problem.
  if (connections.kind !== "unreadable" || inventory.coverage.size === 0) return [];
  const what = "Landfall deletes no Node whose VM it has not seen since its start";
  const message = `${connections.why}; ${what}`;
  const { advice } = connections;
  return [{ level: "warning", code: "connectionsUnreadable", message, advice }];
}

function toServerFinding(server: Server): Finding {
  const message = `the connection "${nameServer(server)}" to a pool is ${nameState(server)}`;
  const advice =
    "Landfall cannot see its VMs and does not change their Nodes; repair the connection, or disable " +
    "it if the pool is gone";
  return { level: "warning", code: "disconnected", message, advice };
}

async function listNetworkFindings(
  { api, settings }: InspectOptions,
  signal: AbortSignal,
): Promise<Finding[]> {
  const { network } = settings.addresses;
  if (network === undefined) return [];
  const { objects } = await api.list("networks", signal);
  if (findNetworks(objects, network).length > 0) return [];
  const message = `no network has the name or UUID "${network}"`;
  const advice = "correct addresses.network: without such a network no VM has usable addresses";
  return [{ level: "warning", code: "noNetwork", message, advice }];
}

async function listEntryFindings(
  { api, settings }: InspectOptions,
  hosts: ListReply<Host>,
  signal: AbortSignal,
): Promise<Finding[]> {
  if (settings.regions === undefined && settings.zones === undefined) return [];
  const pools = await api.list("pools", signal);
  const places = {
    pools: new Map(pools.objects.map((one) => [one.id, one])),
    hosts: new Map(hosts.objects.map((one) => [one.id, one])),
  };
  return listUnfitFindings(places, settings);
}

async function listTagFindings(
  { api, settings }: InspectOptions,
  hosts: ListReply<Host>,
  signal: AbortSignal,
): Promise<Finding[]> {
  const vms = settings.instanceTypeTag === undefined ? undefined : await api.list("vms", signal);
  return listUnmatchedTagFindings({ hosts: hosts.objects, vms: vms?.objects ?? [] }, settings);
}

function listSafetyFindings({ insecure, url }: XenOrchestraSettings): Finding[] {
  if (!insecure || !url.startsWith("https:")) return [];
  const message = "the certificate is not checked (insecure: true)";
  const advice =
    "an attacker on the network can read the credentials; use caFile or certificateFingerprint";
  return [{ level: "warning", code: "insecure", message, advice }];
}
