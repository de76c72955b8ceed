/**
 * Which Lease this process would use, and who holds it, for `landfall check`.
 * @module
 */
import type { KubeClient } from "../../../kube/api/client.ts";
import { KubeError } from "../../../kube/api/errors.ts";
import { listElectionRights, reviewAccess } from "../../../kube/access/rights.ts";
import type { LeaseName } from "../../../kube/election/lease.ts";
import { type Lease, LEASES } from "../../../kube/kinds/lease.ts";
import { isHeldNow, listOtherLeaders, USUAL_NAME } from "./other_leaders.ts";
import type { CheckFinding } from "../report.ts";
import { type Reading, readLease, toLeaseFinding } from "./reading.ts";

const LISTED_MAX = 500;

/** What {@linkcode checkLease} looks with. */
export interface LeaseSearch {
  /** Reads Leases. */
  readonly client: KubeClient;
  /** Asks for permissions, perhaps as another user. */
  readonly reviewer: KubeClient;
  /** The Lease that `run` uses with these flags. */
  readonly own: LeaseName;
  /** That of installations for this cloud. Absent: a flag names the Lease, so that no other one is looked for. */
  readonly installed?: string | undefined;
  /** Wall-clock milliseconds. */
  readonly nowMs: number;
}

/** A Lease, and what to say about it and others. */
export interface CheckedLease {
  readonly lease: LeaseName;
  /** Whether a process leads by it. */
  readonly isHeld: boolean;
  readonly findings: readonly CheckFinding[];
}

/**
 * Finds the Lease and its holder, and warns of other Leases of cloud controller managers that are held now.
 *
 * Without a flag that names the Lease, the flags of the manifests may still name one. So it takes, in this order: the
 * only one of the known names that may be updated; one that exists; the one that `run` uses. The known names are that
 * of the Go controller, and the one that `run` uses.
 *
 * @throws the signal's reason
 */
export async function checkLease(search: LeaseSearch, signal: AbortSignal): Promise<CheckedLease> {
  const { client, own, nowMs } = search;
  const { namespace } = own;
  const usual = await listUsual(client, namespace, signal);
  const { name, reading } = await findLease(search, usual, signal);
  const others = usual.filter(({ metadata }) => metadata.name !== name);
  const findings = [
    toFinding({ namespace, name }, reading, search),
    ...listOtherLeaders(others, { own, isElected: true, nowMs }),
  ];
  const isHeld = typeof reading === "object" && isHeldNow(reading, nowMs);
  return { lease: { namespace, name }, isHeld, findings };
}

/**
 * Warns of each Lease that is held now, for a process with `--leader-elect=false`, which waits for none.
 *
 * @throws the signal's reason
 */
export async function checkWithoutLease(
  { client, own, installed, nowMs }: Omit<LeaseSearch, "reviewer">,
  signal: AbortSignal,
): Promise<CheckFinding[]> {
  const { namespace } = own;
  const usual = await listUsual(client, namespace, signal);
  const listed = new Set(usual.map(({ metadata }) => metadata.name));
  const known = [own.name, ...(installed === undefined ? [] : [installed])];
  const others = [...new Set(known)].filter((name) => !listed.has(name));
  const read = await Promise.all(
    others.map((name) => readLease(client, { namespace, name }, signal)),
  );
  const leases = [...usual, ...read.filter((one) => typeof one === "object")];
  return listOtherLeaders(leases, { own, isElected: false, nowMs });
}

interface FoundLease {
  readonly name: string;
  readonly reading: Reading;
}

async function findLease(
  search: LeaseSearch,
  usual: readonly Lease[],
  signal: AbortSignal,
): Promise<FoundLease> {
  const { client, own, installed } = search;
  const { namespace } = own;
  const read = async (name: string): Promise<FoundLease> => {
    return { name, reading: await readLease(client, { namespace, name }, signal) };
  };
  if (installed === undefined) return await read(own.name);
  const known = [...new Set([installed, own.name])];
  const allowed = await listAllowed(search, known, signal);
  const candidates = allowed.length === 0 ? known : allowed;
  const found = await Promise.all(candidates.map(read));
  const existing = found.find(({ reading }) => typeof reading === "object");
  if (existing !== undefined) return existing;
  const [only, second] = allowed.length === 1 ? [] : usual;
  if (only !== undefined && second === undefined) {
    return { name: only.metadata.name, reading: only };
  }
  const name = allowed.length === 1 ? allowed[0] : own.name;
  return found.find((one) => one.name === name) ?? { name: own.name, reading: "missing" };
}

function toFinding(
  { namespace, name }: LeaseName,
  reading: Reading,
  { own, installed }: LeaseSearch,
): CheckFinding {
  const finding = toLeaseFinding({ namespace, name }, reading);
  const flag = "--leader-elect-resource-name";
  if (name !== own.name) {
    return {
      ...finding,
      advice: `run uses it only with ${flag}=${name}, as the manifests have it`,
    };
  }
  if (installed === undefined || installed === name || reading !== "missing") return finding;
  const advice = `run uses it without ${flag}; the chart and the manifests give this flag a value`;
  return { ...finding, advice };
}

/** Those of the names that the user may update. */
async function listAllowed(
  { reviewer, own: { namespace } }: LeaseSearch,
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

/** The Leases of cloud controller managers; none if Leases may not be listed. */
async function listUsual(
  client: KubeClient,
  namespace: string,
  signal: AbortSignal,
): Promise<Lease[]> {
  try {
    const { items } = await client.list(LEASES, { namespace, limit: LISTED_MAX }, signal);
    return items.filter(({ metadata }) => metadata.name.startsWith(USUAL_NAME));
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof KubeError) return [];
    throw error;
  }
}
