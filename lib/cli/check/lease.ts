/**
 * Which Lease the replicas of Landfall use, for `landfall check` without `--leader-elect-resource-name`.
 * @module
 */
import type { KubeClient } from "../../kube/api/client.ts";
import { KubeError } from "../../kube/api/errors.ts";
import { reviewAccess } from "../../kube/access/review.ts";
import { listElectionRights } from "../../kube/access/rights.ts";
import { findHolder, type LeaseName } from "../../kube/election/lease.ts";
import { type Lease, LEASES } from "../../kube/kinds/lease.ts";
import type { CheckFinding } from "./report.ts";

/** Cloud controller managers call their Lease this, many with the name of their cloud behind it. */
const USUAL_NAME = "cloud-controller-manager";
const LISTED_MAX = 500;

/** What {@linkcode findLease} looks with. */
export interface LeaseSearch {
  /** Reads Leases. */
  readonly client: KubeClient;
  /** Asks for permissions, perhaps as another user. */
  readonly reviewer: KubeClient;
  /** The one that `run` uses without a flag. */
  readonly fallback: LeaseName;
  /** As given by `--cloud-provider`. */
  readonly provider: string;
}

/** A Lease, and what to say about it. */
export interface FoundLease {
  readonly lease: LeaseName;
  readonly finding: CheckFinding;
}

/**
 * Finds the Lease, in this order: the only one of the known names that may be updated; one that exists; the fallback.
 * The known names are the one of the manifests and of the Go controller, and the fallback.
 *
 * @throws the signal's reason
 */
export async function findLease(search: LeaseSearch, signal: AbortSignal): Promise<FoundLease> {
  const { fallback, provider, client } = search;
  const { namespace } = fallback;
  const known = [...new Set([`${USUAL_NAME}-${provider}`, fallback.name])];
  const allowed = await listAllowed(search, known, signal);
  const candidates = allowed.length === 0 ? known : allowed;
  const found = await Promise.all(
    candidates.map((name) => readLease(client, { namespace, name }, signal)),
  );
  const existing = found.find((lease) => lease !== undefined);
  const other =
    existing === undefined && allowed.length !== 1
      ? await findOther(client, namespace, signal)
      : undefined;
  const lease = existing ?? other;
  const only = allowed.length === 1 ? allowed[0] : undefined;
  const name = lease?.metadata.name ?? only ?? fallback.name;
  return { lease: { namespace, name }, finding: toFinding({ namespace, name }, lease, fallback) };
}

function toFinding(
  { namespace, name }: LeaseName,
  lease: Lease | undefined,
  fallback: LeaseName,
): CheckFinding {
  const holder = lease && findHolder(lease);
  const state = holder ? `held by ${holder}` : lease ? "held by no process" : "not created yet";
  const finding = { level: "ok", code: "lease" } as const;
  const message = `Lease ${namespace}/${name}: ${state}`;
  if (name === fallback.name) return { ...finding, message };
  const advice = `run uses it only with --leader-elect-resource-name=${name}, as the manifests have it`;
  return { ...finding, message, advice };
}

/** Those of the names that the user may update. */
async function listAllowed(
  { reviewer, fallback: { namespace } }: LeaseSearch,
  names: readonly string[],
  signal: AbortSignal,
): Promise<string[]> {
  const updates = names.flatMap((name) =>
    listElectionRights({ namespace, name })
      .map(({ access }) => access)
      .filter(({ verb }) => verb === "update"),
  );
  const answers = await reviewAccess(reviewer, updates, signal);
  return names.filter((_, at) => answers[at]?.allowed === "yes");
}

/** One that does not exist and one that may not be read are the same here. */
async function readLease(
  client: KubeClient,
  path: LeaseName,
  signal: AbortSignal,
): Promise<Lease | undefined> {
  return await orNothing(client.read(LEASES, path, signal), signal);
}

/** The only Lease whose name begins as usual, if Leases may be listed. */
async function findOther(
  client: KubeClient,
  namespace: string,
  signal: AbortSignal,
): Promise<Lease | undefined> {
  const listed = client.list(LEASES, { namespace, limit: LISTED_MAX }, signal);
  const { items = [] } = (await orNothing(listed, signal)) ?? {};
  const usual = items.filter(({ metadata }) => metadata.name.startsWith(USUAL_NAME));
  return usual.length === 1 ? usual[0] : undefined;
}

/** What the API server answers; nothing if it refuses. @throws the signal's reason */
async function orNothing<T>(answer: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof KubeError) return undefined;
    throw error;
  }
}
