/**
 * Objects as the store keeps them: without the bulk that nobody here reads, complete in kind, and frozen.
 * @module
 */
import type { KubeObject, Node, ObjectMeta, Resource } from "./resource.ts";

/** Written by `kubectl apply`: a second copy of the whole object. */
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
/** The only annotation of a Node that anybody here reads; pod networks and storage drivers write long ones. */
const NODE_ANNOTATIONS: ReadonlySet<string> = new Set(["alpha.kubernetes.io/provided-node-ip"]);

/**
 * The object with `apiVersion` and `kind` (items of a list come without), of its metadata what {@linkcode ObjectMeta}
 * names but for the annotation of `kubectl apply`, and frozen through and through. Of a Node only what
 * {@linkcode Node} names is kept, which is a small part: heartbeats, resources, volumes and images are most of it.
 *
 * The object handed in may share parts with the result, which are then frozen too: do not use it afterwards. One that
 * was trimmed already is given back as it is.
 */
export function trimObject<T extends KubeObject>(resource: Resource<T>, object: T): T {
  // Nothing is frozen as it comes from the wire.
  if (Object.isFrozen(object)) return object;
  const { apiVersion, kind } = resource;
  const kept = kind === "Node" ? { ...object, ...toKept(object) } : object;
  const metadata = trimMetadata(object.metadata, kind === "Node" ? isRead : isNoCopy);
  return freezeDeep({ ...kept, apiVersion, kind, metadata });
}

/** `spec` and `status` of a Node, as far as they are read. */
function toKept({ spec, status }: Node): Pick<Node, "spec" | "status"> {
  const { addresses, conditions, nodeInfo } = status ?? {};
  return {
    ...(spec && { spec: pick(spec, ["providerID", "taints"]) }),
    ...(status && {
      status: {
        ...(addresses && { addresses }),
        ...(conditions && { conditions: toKeptConditions(conditions) }),
        ...(nodeInfo && { nodeInfo: pick(nodeInfo, ["systemUUID"]) }),
      },
    }),
  };
}

type Conditions = NonNullable<NonNullable<Node["status"]>["conditions"]>;

/** `Ready` in each of its states: the same few lists for thousands of Nodes. */
const READY_CONDITIONS: ReadonlyMap<string, Conditions> = new Map(
  ["True", "False", "Unknown"].map((status) => [status, freezeDeep([{ type: "Ready", status }])]),
);

/** Whether a Node is ready is all that is read of its conditions, of which there are four or more. */
function toKeptConditions(conditions: Conditions): Conditions {
  const ready = conditions.find(({ type }) => type === "Ready");
  if (ready === undefined) return [];
  return READY_CONDITIONS.get(ready.status) ?? [pick(ready, ["type", "status"])];
}

function trimMetadata(metadata: ObjectMeta, isKept: (annotation: string) => boolean): ObjectMeta {
  const { annotations } = metadata;
  const kept = Object.entries(annotations ?? {}).filter(([key]) => isKept(key));
  return {
    ...pick(metadata, META_FIELDS),
    name: metadata.name,
    ...(annotations && { annotations: Object.fromEntries(kept) }),
  };
}

const META_FIELDS = [
  "namespace",
  "uid",
  "resourceVersion",
  "creationTimestamp",
  "deletionTimestamp",
  "labels",
] as const;

function isRead(annotation: string): boolean {
  return NODE_ANNOTATIONS.has(annotation);
}

function isNoCopy(annotation: string): boolean {
  return annotation !== LAST_APPLIED;
}

function pick<T extends object, K extends keyof T>(from: T, names: readonly K[]): Pick<T, K> {
  const picked: Partial<T> = {};
  for (const name of names) if (name in from) picked[name] = from[name];
  return picked as Pick<T, K>;
}

/** Not by calling itself: how deep an object goes is for others to say. */
function freezeDeep<V>(value: V): V {
  const left: unknown[] = [value];
  while (left.length > 0) {
    const part = left.pop();
    if (typeof part !== "object" || part === null || Object.isFrozen(part)) continue;
    Object.freeze(part);
    for (const inner of Object.values(part)) if (typeof inner === "object") left.push(inner);
  }
  return value;
}
