/**
 * Finds what must never happen in a storm, in the audit log of the API server.
 * @module
 */
import { isDeepStrictEqual } from "node:util";
import type { Node } from "../../../lib/kube/kinds/node.ts";
import { type AuditedRequest, type AuditEvent, toAuditedRequest } from "../process/cluster.ts";
import { findForeignWrites, findHolder, toMs } from "../kube/election/lease_history.ts";
import type { Member, Span } from "./world.ts";

/** Writes of Nodes with what became of them, whoever writes; of other writes of replicas what they say. */
export const STORM_AUDIT_RULES: readonly object[] = [
  {
    level: "RequestResponse",
    verbs: ["create", "update", "patch", "delete"],
    resources: [{ group: "", resources: ["nodes", "nodes/status"] }],
  },
  {
    level: "Request",
    userGroups: ["system:serviceaccounts"],
    verbs: ["create", "update", "patch", "delete"],
    resources: [{ group: "coordination.k8s.io", resources: ["leases"] }],
  },
  { level: "None" },
];

/** What an audit log tells. */
export interface Judgement {
  /** What must never happen. */
  readonly findings: readonly string[];
  /** Writes of Nodes by replicas that were done. */
  readonly writes: number;
  readonly deletions: number;
  /** Of the writes, those whose Node is known as it was before. */
  readonly compared: number;
  /** Writes that the API server did late, after they had been sent in time. */
  readonly late: number;
}

/** How long an API server that thaws still finds requests that came while it stood still. */
const THAW_MS = 2_000;
const OUR_TAINTS = /^node\.cloudprovider\.kubernetes\.io\/(uninitialized|shutdown)$/;
const OUR_LABELS = [
  /^(topology|failure-domain\.beta)\.kubernetes\.io\/(zone|region)$/,
  /^(node|beta)\.kubernetes\.io\/instance-type$/,
  /^(vm|topology)\.k8s\.xenorchestra\//,
] as const;

interface NodeWrite {
  readonly request: AuditedRequest;
  readonly after: Node | undefined;
}

/** Judges all that happened so far. */
export function judgeAudit(
  events: readonly AuditEvent[],
  members: readonly Pick<Member, "name" | "goneAtMs" | "history">[],
  outages: readonly Span[],
): Judgement {
  const requests = events.map(toAuditedRequest);
  const ours = requests.filter(({ username }) => username.startsWith("system:serviceaccount:"));
  const writes = events
    .filter(({ objectRef }) => objectRef?.resource === "nodes")
    .map((event) => ({ request: toAuditedRequest(event), after: toNode(event.responseObject) }))
    .filter(({ request: { code } }) => code >= 200 && code < 300);
  const versions = new Map(
    writes.flatMap(({ after }) => (after === undefined ? [] : [[toVersionKey(after), after]])),
  );
  const patches = writes.filter(
    ({ request: { verb, username } }) => isReplica(username) && verb !== "delete",
  );
  const compared = patches.map((write) => comparePatch(write, versions));
  const foreign = findForeignWrites(ours);
  const unexcused = foreign.filter((write) => !isLate(write, ours, outages));
  return {
    findings: [
      ...judgeDeletions(events, members),
      ...compared.flatMap(({ findings }) => findings),
      ...unexcused.map((write) => `written without the Lease: ${JSON.stringify(write)}`),
    ],
    writes: patches.length,
    deletions: ours.filter(({ verb, code }) => verb === "delete" && code === 200).length,
    compared: compared.filter(({ isKnown }) => isKnown).length,
    late: foreign.length - unexcused.length,
  };
}

function isReplica(username: string): boolean {
  return username.startsWith("system:serviceaccount:");
}

/** Every request to delete a Node names the very object, and those that were done had no machine any more. */
function judgeDeletions(
  events: readonly AuditEvent[],
  members: Parameters<typeof judgeAudit>[1],
): string[] {
  const findings: string[] = [];
  const byName = new Map(members.map((member) => [member.name, member]));
  for (const { user, verb, objectRef, requestObject, ...event } of events) {
    if (verb !== "delete" || objectRef?.resource !== "nodes" || !isReplica(user.username)) continue;
    const name = objectRef.name ?? "";
    const { uid, resourceVersion } = requestObject?.preconditions ?? {};
    if (!uid || !resourceVersion) findings.push(`${name} was to be deleted whatever it is`);
    const { goneAtMs = Infinity, history = [] } = byName.get(name) ?? {};
    const at = event.requestReceivedTimestamp;
    if (toMs(at) >= goneAtMs) continue;
    const what = `${name} was to be deleted by ${user.username} at ${at}, but has a machine`;
    findings.push([what, ...history].join("\n  "));
  }
  return findings;
}

/** A patch changes something, nothing but what is ours, and the very version that it was made for. */
function comparePatch(
  { request, after }: NodeWrite,
  versions: ReadonlyMap<string, Node>,
): { readonly findings: readonly string[]; readonly isKnown: boolean } {
  const { name, body, resource } = request;
  const version = toNode(body)?.metadata.resourceVersion;
  const what = `${resource} ${name} at ${request.at}: ${JSON.stringify(body)}`;
  if (version === undefined) return { findings: [`no precondition: ${what}`], isKnown: false };
  if (after === undefined) return { findings: [`no Node came back: ${what}`], isKnown: false };
  if (after.metadata.resourceVersion === version) {
    return { findings: [`written though nothing differs: ${what}`], isKnown: true };
  }
  const { uid } = after.metadata;
  const before = versions.get(`${uid}/${version}`);
  // An API server that was killed may not have told of what it had just done.
  if (before === undefined) return { findings: [], isKnown: false };
  const findings: string[] = [];
  if (!isDeepStrictEqual(toForeign(before), toForeign(after))) {
    const parts = [toForeign(before), toForeign(after)].map((part) => JSON.stringify(part));
    findings.push(`something of others changed: ${what}\n  ${parts.join("\n  ")}`);
  }
  if (before.spec?.providerID && before.spec.providerID !== after.spec?.providerID) {
    findings.push(`the provider ID changed: ${what}`);
  }
  return { findings, isKnown: true };
}

function isOurLabel(key: string): boolean {
  return OUR_LABELS.some((pattern) => pattern.test(key));
}

/** All of a Node that Landfall may not change. */
function toForeign({ metadata, spec, status }: Node): unknown {
  const {
    resourceVersion: _version,
    managedFields: _fields,
    labels = {},
    ...rest
  } = {
    managedFields: undefined,
    ...metadata,
  };
  const { providerID: _id, taints = [], ...otherSpec } = { ...spec };
  const { addresses: _addresses, ...otherStatus } = { ...status };
  return {
    metadata: rest,
    labels: Object.fromEntries(Object.entries(labels).filter(([key]) => !isOurLabel(key))),
    taints: taints.filter(({ key }) => !OUR_TAINTS.test(key)),
    spec: otherSpec,
    status: otherStatus,
  };
}

/**
 * Whether a write was sent by who led when the API server or etcd began to stand still: what is done when they go on is
 * guarded by its precondition alone.
 */
function isLate(
  write: AuditedRequest,
  requests: readonly AuditedRequest[],
  outages: readonly Span[],
): boolean {
  const [fromMs, endMs] = [toMs(write.at), toMs(write.endedAt)];
  return outages.some(
    (outage) =>
      fromMs < outage.toMs + THAW_MS &&
      endMs > outage.fromMs &&
      findHolder(requests, outage.fromMs) === write.username,
  );
}

function toNode(object: unknown): Node | undefined {
  if (typeof object !== "object" || object === null || !("metadata" in object)) return undefined;
  return object as Node;
}

function toVersionKey({ metadata: { uid, resourceVersion } }: Node): string {
  return `${uid}/${resourceVersion}`;
}
