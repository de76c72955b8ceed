/**
 * Who held a Lease when, and who wrote Nodes without it: from the audit log of the API server alone.
 * @module
 */
import type { AuditedRequest } from "../../process/cluster.ts";
import type { Lease } from "../../../../lib/kube/kinds/lease.ts";

/** From when on a Lease said something else than before. */
interface LeaseChange {
  readonly username: string;
  /** Whether it names a holder, which is then whoever wrote it. */
  readonly isHeld: boolean;
  readonly durationMs: number;
  readonly at: string;
  readonly endedAt: string;
}

/** Requests that changed something. */
function isDone({ code }: AuditedRequest): boolean {
  return code >= 200 && code < 300;
}

/** Writes of Nodes that were done, in the order in which they came. */
export function listNodeWrites(requests: readonly AuditedRequest[]): AuditedRequest[] {
  const isWrite = ({ verb, resource }: AuditedRequest): boolean =>
    ["create", "update", "patch", "delete"].includes(verb) && /^nodes(\/|$)/.test(resource);
  return requests.filter((one) => isWrite(one) && isDone(one)).toSorted(byTime);
}

/** Writes of a Lease by this user that were done, in the order in which they came. */
export function listRenewals(
  requests: readonly AuditedRequest[],
  user: string,
): readonly { readonly at: string }[] {
  return listChanges(requests).filter(({ username, isHeld }) => isHeld && username === user);
}

/** How often the Lease got another holder. */
export function countHandOvers(requests: readonly AuditedRequest[]): number {
  const holders = listChanges(requests).filter(({ isHeld }) => isHeld);
  return holders.filter(({ username }, at) => username !== holders[at - 1]?.username).length - 1;
}

/** Who held the Lease at a time in milliseconds since the epoch: whoever wrote it last, if it then named a holder. */
export function findHolder(requests: readonly AuditedRequest[], atMs: number): string | undefined {
  const last = listChanges(requests).findLast(({ at }) => toMs(at) <= atMs);
  return last?.isHeld === true ? last.username : undefined;
}

/**
 * Writes of Nodes that are not proven to have been done while their writer held the Lease: begun after the request that
 * made it the holder, and ended before the next one that changes the holder and before the last renewal was worth
 * nothing any more.
 */
export function findForeignWrites(requests: readonly AuditedRequest[]): AuditedRequest[] {
  const changes = listChanges(requests);
  return listNodeWrites(requests).filter((write) => {
    // What is told of the end of a request may be a little later than its answer; its beginning is certain.
    const next = changes.findIndex(({ at }) => at > write.at);
    const before = changes.slice(0, next === -1 ? changes.length : next);
    const last = before.at(-1);
    if (last?.isHeld !== true || last.username !== write.username) return true;
    if (toMs(write.endedAt) > toMs(last.endedAt) + last.durationMs) return true;
    const after = changes.slice(before.length);
    return after.some(
      ({ at, username, isHeld }) => at < write.endedAt && !(isHeld && username === write.username),
    );
  });
}

function listChanges(requests: readonly AuditedRequest[]): LeaseChange[] {
  return requests
    .filter(({ resource, verb }) => resource === "leases" && ["create", "update"].includes(verb))
    .filter(isDone)
    .toSorted(byTime)
    .map(({ username, body, at, endedAt }) => {
      const { spec } = body as {
        spec?: { holderIdentity?: string; leaseDurationSeconds?: number };
      };
      const durationMs = (spec?.leaseDurationSeconds ?? 0) * 1_000;
      return { username, isHeld: Boolean(spec?.holderIdentity), durationMs, at, endedAt };
    });
}

function byTime(one: AuditedRequest, other: AuditedRequest): number {
  if (one.at === other.at) return 0;
  return one.at < other.at ? -1 : 1;
}

/** Milliseconds since the epoch of a time with microseconds. */
export function toMs(time: string): number {
  return Date.parse(time);
}

/** Whether a Lease in kube-system is that by which an API server says that it is there. */
export function isOfApiServer({ metadata }: Lease): boolean {
  return metadata.labels?.["apiserver.kubernetes.io/identity"] === "kube-apiserver";
}
