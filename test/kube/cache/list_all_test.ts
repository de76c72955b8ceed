import { expect, test } from "bun:test";
import { KubeError } from "../../../lib/kube/api/errors.ts";
import { listAll } from "../../../lib/kube/cache/list_all.ts";
import type { KubeObject } from "../../../lib/kube/kinds/resource.ts";
import { NODES } from "../../../lib/kube/kinds/node.ts";
import { ManualClock } from "../../support/manual_clock.ts";
import { ScriptedKubeClient, type ScriptStep } from "../../support/kube/scripted_kube_client.ts";

const signal = new AbortController().signal;
const query = { resourceVersion: "0", limit: 2 };

function toPage(names: string, resourceVersion: string, next?: string): ScriptStep {
  const items: KubeObject[] = [...names].map((name) => ({ metadata: { name } }));
  return { page: { items, resourceVersion, ...(next !== undefined && { continue: next }) } };
}

function setUp(...script: ScriptStep[]): ScriptedKubeClient {
  return new ScriptedKubeClient(new ManualClock(), script);
}

async function list(client: ScriptedKubeClient): Promise<[string, string]> {
  const { items, resourceVersion } = await listAll(client, NODES, query, signal);
  return [items.map(({ metadata }) => metadata.name).join(""), resourceVersion];
}

test("listAll() of one page asks once", async () => {
  const client = setUp(toPage("ab", "9"));
  expect(await list(client)).toEqual(["ab", "9"]);
  expect(client.requests).toEqual(["list rv=0 limit=2"]);
});

test("I-05: listAll() follows the pages, without a version, and keeps that of the first", async () => {
  const client = setUp(toPage("ab", "9", "t1"), toPage("cd", "9", "t2"), toPage("e", "10"));
  expect(await list(client)).toEqual(["abcde", "9"]);
  expect(client.requests).toEqual([
    "list rv=0 limit=2",
    "list limit=2 continue=t1",
    "list limit=2 continue=t2",
  ]);
});

test("I-05: listAll() starts again in one piece when a continue token has expired", async () => {
  const gone = { fail: new KubeError("gone", "expired", { code: 410 }) };
  const client = setUp(toPage("ab", "9", "t1"), gone, toPage("abcd", "12"));
  expect(await list(client)).toEqual(["abcd", "12"]);
  expect(client.requests.at(-1)).toBe("list rv=0");
});

test("listAll() takes no part for the whole", async () => {
  const gone = { fail: new KubeError("gone", "expired", { code: 410 }) };
  const client = setUp(toPage("ab", "9", "t1"), gone, toPage("ab", "12", "t2"));
  await expect(list(client)).rejects.toThrow("is only a part of it");
});

test("listAll() passes on a 410 of the first page, and any other failure of a later one", async () => {
  const gone = { fail: new KubeError("gone", "compacted", { code: 410 }) };
  await expect(list(setUp(gone))).rejects.toThrow("compacted");
  const denied = { fail: new KubeError("forbidden", "denied", { code: 403 }) };
  await expect(list(setUp(toPage("a", "9", "t"), denied))).rejects.toThrow("denied");
});

test("listAll() refuses pages that never end", async () => {
  const client = setUp(...Array.from({ length: 2_000 }, (_one, at) => toPage("a", "9", `p${at}`)));
  await expect(list(client)).rejects.toThrow("more than 2000 pages");
});

test("listAll() refuses pages that go round in a circle", async () => {
  const pages = ["same", "other", "same", "other"].map((next) => toPage("a", "9", next));
  const client = setUp(...pages);
  await expect(list(client)).rejects.toThrow("a page leads back to an earlier one");
  expect(client.requests).toHaveLength(3);
});
