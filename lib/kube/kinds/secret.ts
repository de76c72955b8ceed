/**
 * Secrets.
 * @module
 */
import type { V1Secret } from "@kubernetes/client-node";
import type { KubeObject, Raw, Resource } from "./resource.ts";

/** A Secret: `data` in base64. `stringData` is not for server-side apply, which would never remove a key of it. */
export interface Secret extends KubeObject {
  readonly type?: Raw<V1Secret>["type"];
  readonly data?: Raw<V1Secret>["data"];
}

/** Secrets are only read by name: a right to list them is a right to read them all. */
export const SECRETS: Resource<Secret> = {
  apiVersion: "v1",
  kind: "Secret",
  plural: "secrets",
  namespaced: true,
};

/** The `data` of a Secret from texts, with keys in order. */
export function toSecretData(texts: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(texts)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, text]) => [key, Buffer.from(text).toString("base64")]),
  );
}

/** The text of one key. @returns `undefined` if the Secret does not exist, or has no such key */
export function findSecretText(
  secret: Pick<Secret, "data"> | undefined,
  key: string,
): string | undefined {
  const encoded: unknown = secret?.data?.[key];
  return typeof encoded === "string" ? Buffer.from(encoded, "base64").toString("utf8") : undefined;
}
