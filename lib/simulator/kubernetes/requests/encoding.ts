/**
 * The form of objects, lists and events in answers: as JSON objects, or as Tables for `kubectl get`.
 * @module
 */
import { apiVersionOf, type Kind } from "../schema/kind.ts";
import type { List } from "../lists.ts";
import type { Stored } from "../store.ts";
import { toTable, type TableOptions } from "../tables.ts";

/** The form that a client requested. */
export interface Form {
  /** Rows instead of objects when set. */
  readonly table: TableOptions | undefined;
}

/** One object as it is sent. */
export function encodeObject(kind: Kind, stored: Stored, form: Form): string {
  if (form.table !== undefined) {
    const { resourceVersion } = stored.object.metadata;
    return JSON.stringify(toTable(kind, [stored.object], { ...form.table, resourceVersion }));
  }
  return `${typeMeta(kind)}${stored.json.slice(1)}`;
}

/** A list. Its items carry no `kind` and `apiVersion`, as those of the real server. */
export function encodeList(kind: Kind, list: List, form: Form): string {
  const metadata = {
    resourceVersion: list.resourceVersion,
    ...(list.continue === undefined ? {} : { continue: list.continue }),
    ...(list.remainingItemCount === undefined
      ? {}
      : { remainingItemCount: list.remainingItemCount }),
  };
  if (form.table !== undefined) {
    const objects = list.items.map((item) => item.object);
    return JSON.stringify({ ...toTable(kind, objects, form.table), metadata });
  }
  const head = `{"kind":"${kind.kind}List","apiVersion":"${apiVersionOf(kind)}"`;
  const items = list.items.map((item) => item.json).join(",");
  return `${head},"metadata":${JSON.stringify(metadata)},"items":[${items}]}\n`;
}

/** One line of a watch. */
export function encodeEvent(type: string, object: string): string {
  return `{"type":"${type}","object":${object.trimEnd()}}\n`;
}

/** A bookmark: an object with only a version, and annotations if needed. */
export function encodeBookmark(
  kind: Kind,
  resourceVersion: number,
  annotations?: Readonly<Record<string, string>>,
): string {
  const more = annotations === undefined ? {} : { annotations };
  const version = String(resourceVersion);
  const metadata = { resourceVersion: version, creationTimestamp: null, ...more };
  return `${typeMeta(kind)}"metadata":${JSON.stringify(metadata)}}`;
}

function typeMeta(kind: Kind): string {
  return `{"kind":"${kind.kind}","apiVersion":"${apiVersionOf(kind)}",`;
}
