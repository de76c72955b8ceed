/**
 * What others added to an object and what changes how it serves: server-side apply leaves it there. Pure.
 * @module
 */
import { isFields } from "../../../../core/text/values.ts";
import type { KubeObject } from "../../../../kube/kinds/resource.ts";

/** A list of which every item is ours. Fields that say the same in two items make them one. */
interface OwnList {
  readonly path: readonly string[];
  readonly keys: readonly string[];
}

const POD = ["spec", "template", "spec"];
const LISTS: Readonly<Record<string, readonly OwnList[]>> = {
  Deployment: [
    { path: [...POD, "containers"], keys: ["name"] },
    { path: [...POD, "initContainers"], keys: ["name"] },
  ],
  Service: [{ path: ["spec", "ports"], keys: ["port", "protocol"] }],
};
/** Maps of which every key is ours. */
const MAPS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  Service: [["spec", "selector"]],
};

/**
 * Finds containers, ports and keys of a selector that are not wanted. A Service with another key in its selector finds
 * no Pod, and a container beside ours sees the same files.
 *
 * @returns The body of a merge patch that removes them; `undefined` if there are none
 */
export function findForeign(live: KubeObject, wanted: KubeObject): object | undefined {
  const { kind = "" } = wanted;
  const changes: (readonly [readonly string[], unknown])[] = [];
  for (const { path, keys } of LISTS[kind] ?? []) {
    const [items, ours] = [readList(live, path), readList(wanted, path)];
    const names = new Set(ours.map((item) => toName(item, keys)));
    const kept = items.filter((item) => names.has(toName(item, keys)));
    if (kept.length < items.length) changes.push([path, kept.length === 0 ? null : kept]);
  }
  for (const path of MAPS[kind] ?? []) {
    const ours = readField(wanted, path);
    const entries = Object.keys(toFields(readField(live, path)));
    const foreign = entries.filter((key) => !Object.hasOwn(toFields(ours), key));
    for (const key of foreign) changes.push([[...path, key], null]);
  }
  if (changes.length === 0) return undefined;
  const body: Record<string, unknown> = {};
  for (const [path, value] of changes) write(body, path, value);
  return body;
}

function toName(item: unknown, keys: readonly string[]): string {
  const fields = toFields(item);
  return keys.map((key) => String(fields[key] ?? DEFAULTS[key] ?? "")).join("/");
}

const DEFAULTS: Readonly<Record<string, string>> = { protocol: "TCP" };

function readList(object: KubeObject, path: readonly string[]): readonly unknown[] {
  const value = readField(object, path);
  return Array.isArray(value) ? value : [];
}

function readField(object: KubeObject, path: readonly string[]): unknown {
  let value: unknown = object;
  for (const name of path) value = toFields(value)[name];
  return value;
}

function toFields(value: unknown): Readonly<Record<string, unknown>> {
  return isFields(value) ? value : {};
}

function write(body: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [name = "", ...rest] = path;
  if (rest.length === 0) {
    body[name] = value;
    return;
  }
  const inner: Record<string, unknown> = { ...toFields(body[name]) };
  write(inner, rest, value);
  body[name] = inner;
}
