/**
 * Looks at Xen Orchestra once, for an operator who sets it up.
 * @module
 */
import { CloudError } from "../../cloud/errors.ts";
import { type Finding, inspectInventory, type Inspection } from "../../cloud/inspection.ts";
import type { Inventory } from "../../cloud/inventory/inventory.ts";
import type { ListReply } from "../../cloud_http/decode.ts";
import { diagnoseConnection, diagnoseSilence, toFailure } from "../../cloud_http/diagnosis.ts";
import { isTimeout, withDeadline } from "../../core/clock.ts";
import { formatHostPort } from "../../core/http/connection.ts";
import type { Host, Server, ServersReply, XenOrchestraApi } from "./client.ts";
import {
  judgeConnections,
  listUnknownEntryFindings,
  nameServer,
  nameState,
  withoutUnknownEntries,
} from "./pools.ts";
import type { Surroundings } from "./inventory.ts";
import { NO_POOL_ADVICE, RIGHTS_ADVICE } from "./presence.ts";
import { SERVER_NAMES } from "./session/session.ts";
import type { XenOrchestraSettings } from "./settings.ts";
import { listUnfitFindings, listUnmatchedTagFindings } from "./labels.ts";

/** The dependencies of {@linkcode inspectXenOrchestra}. */
interface InspectOptions {
  readonly api: XenOrchestraApi;
  readonly settings: XenOrchestraSettings;
  /** Lists all VMs, and what surrounds them. */
  readonly listAll: (
    signal: AbortSignal,
  ) => Promise<{ readonly inventory: Inventory; readonly surroundings: Surroundings }>;
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
  const { api, settings, listAll } = options;
  const endpoint = formatHostPort(settings.url);
  try {
    const firstMs = Math.max(FIRST_MS, settings.clientTimeoutMs ?? 0);
    const hosts = await api.list("hosts", withDeadline(signal, firstMs));
    if (hosts.objects.length === 0 && hosts.undecodable.size > 0) {
      return toFailed(endpoint, toWrongService(`The server at ${endpoint} shows no hosts`));
    }
    const [{ inventory, surroundings }, servers, tags] = await Promise.all([
      listAll(signal),
      listServers(api, signal),
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
        ...listNetworkFindings(settings, surroundings),
        ...listUnfitFindings(surroundings, settings),
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

function listNetworkFindings(
  { addresses: { network } }: XenOrchestraSettings,
  { networkIds }: Surroundings,
): Finding[] {
  if (networkIds?.size !== 0) return [];
  const message = `no network has the name or UUID "${network}"`;
  const advice = "correct addresses.network: without such a network no VM has usable addresses";
  return [{ level: "warning", code: "noNetwork", message, advice }];
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

type Settings = Pick<XenOrchestraSettings, "url" | "credentials" | "certificateFingerprint">;

/**
 * Finds out why a request failed: from its error, or, if the error does not say, by a second look at the server.
 *
 * @param error The error of the request; a timeout of the caller counts as no answer
 * @throws any error that is no failure of the cloud, and the signal's reason
 */
export async function diagnose(
  error: unknown,
  settings: Settings,
  signal: AbortSignal,
): Promise<Finding> {
  const isLate = isTimeout(error);
  if (!(error instanceof CloudError) && !isLate) throw error;
  if (error instanceof CloudError && error.status !== undefined) {
    return diagnoseReply(error, error.status, settings);
  }
  if (error instanceof CloudError && error.kind === "throttled") return toThrottled(error.message);
  const asked = { server: settings, names: SERVER_NAMES, signal };
  const found = await diagnoseConnection(error, asked);
  if (found) return found;
  if (error instanceof CloudError && error.kind === "protocol")
    return toWrongService(error.message);
  return await diagnoseSilence(asked);
}

function diagnoseReply(error: CloudError, status: number, { url, credentials }: Settings): Finding {
  const where = `Xen Orchestra at ${formatHostPort(url)}`;
  if (status === 401) {
    return toFailure(
      "unauthorized",
      `${where} does not accept the credentials (401)`,
      {
        token:
          "the token is wrong, expired or revoked: create a new one and set token or XOA_TOKEN; " +
          "before Xen Orchestra 6.4 its user must be an administrator",
        tokenFile: "the token in tokenFile is wrong, expired or revoked: create a new one",
        password:
          "the username or the password is wrong, or the user needs a one-time password: in that case use a token",
      }[credentials.kind],
    );
  }
  if (status === 403) {
    return toFailure(
      "forbidden",
      `${where} knows the credentials, but denies access (403)`,
      RIGHTS_ADVICE,
    );
  }
  if (error.kind === "throttled") return toThrottled(error.message);
  if (status >= 300 && status < 400) {
    return toFailure(
      "redirect",
      error.message,
      "Landfall never sends credentials to another address; it follows redirects within the same address only",
    );
  }
  if (status >= 500) {
    const advice =
      "Xen Orchestra may be starting or have a problem: read the log of xo-server, and try again";
    return toFailure("serverError", `${where} answers with an error (${status})`, advice);
  }
  return toWrongService(error.message);
}

/** Creates the finding that the server that answers is not Xen Orchestra. */
function toWrongService(message: string): Finding {
  return toFailure(
    "wrongService",
    message,
    "url must be that of Xen Orchestra itself (https://host, without /rest/v0) in version 5.112 or newer; " +
      "check that no proxy or sign-in page is in front of it",
  );
}

function toThrottled(message: string): Finding {
  const advice =
    "a sign-in just failed, or there are too many requests: wait some seconds and try again";
  return toFailure("throttled", message, advice);
}
