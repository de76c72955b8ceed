import { expect, test } from "bun:test";
import { KubeError } from "../../../lib/kube/api/errors.ts";
import { readIfPresent } from "../../../lib/kube/api/client.ts";
import { NODES } from "../../../lib/kube/kinds/node.ts";

const { signal } = new AbortController();

function readWith(error: Error): Promise<unknown> {
  const read = async (): Promise<never> => {
    throw error;
  };
  return readIfPresent({ read }, NODES, { name: "a" }, signal);
}

test("readIfPresent() takes only the API server's own word for an absence", async () => {
  expect(await readWith(new KubeError("notFound", "nodes a not found"))).toBeUndefined();
  for (const kind of ["forbidden", "unavailable", "conflict"] as const) {
    await expect(readWith(new KubeError(kind, "no answer"))).rejects.toMatchObject({ kind });
  }
});

test("readIfPresent() returns the object", async () => {
  const node = { apiVersion: "v1", kind: "Node", metadata: { name: "a" } };
  const read = (): Promise<never> => Promise.resolve(node as never);
  expect(await readIfPresent({ read }, NODES, { name: "a" }, signal)).toBe(node);
});
