/**
 * How requests are spelled and answers read.
 * @module
 */
import fc from "fast-check";
import { describe, expect, test } from "bun:test";
import { LEASES } from "../../../lib/kube/kinds/lease.ts";
import { NODES } from "../../../lib/kube/kinds/node.ts";
import {
  readBody,
  readListBody,
  readWatchEvents,
  toDeleted,
  toListSearch,
  toObject,
  toPage,
  toWatchSearch,
} from "../../../lib/kube/api/wire.ts";
import { trimObject } from "../../../lib/kube/kinds/resource.ts";
import { measureCpuMs } from "../../support/net/hostile.ts";
import type { WatchEvent } from "../../../lib/kube/api/client.ts";
import { tries } from "../../support/extent.ts";
import { longTest } from "../../support/long_tests.ts";

describe("toListSearch()", () => {
  test.each([
    [{}, ""],
    [{ namespace: "n" }, ""],
    [{ limit: 500 }, "?limit=500"],
    [{ continue: "a=b" }, "?continue=a%3Db"],
    [
      { labelSelector: "a in (b)", fieldSelector: "x=y" },
      "?labelSelector=a+in+%28b%29&fieldSelector=x%3Dy",
    ],
  ])("spells a query, case %#", (query, expected) => {
    expect(toListSearch(query)).toBe(expected);
  });
});

describe("toWatchSearch()", () => {
  test("asks for what is selected alone", () => {
    const selection = { labelSelector: "a=b", fieldSelector: "x=y" };
    expect(toWatchSearch({ resourceVersion: "7", timeoutSeconds: 30, ...selection })).toBe(
      "?watch=1&allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=30&labelSelector=a%3Db&fieldSelector=x%3Dy",
    );
  });
});

describe("toPage()", () => {
  test("takes null for no items, and an empty continue for none", () => {
    const list = { items: null, metadata: { resourceVersion: "7", continue: "" } };
    expect(toPage(list, NODES)).toEqual({ items: [], resourceVersion: "7" });
  });

  test.each([null, "text", {}, { items: [] }, { metadata: { resourceVersion: "7" } }])(
    "refuses what is no list, case %#",
    (value) => {
      expect(() => toPage(value, NODES)).toThrow("the answer is not a list");
    },
  );
});

test("toPage() takes no list of another kind, and none of which an object is damaged", () => {
  const metadata = { resourceVersion: "7" };
  const node = { metadata: { name: "a", labels: { a: "b" } } };
  expect(toPage({ kind: "NodeList", metadata, items: [node] }, NODES).items).toHaveLength(1);
  expect(() => toPage({ kind: "PodList", metadata, items: [node] }, NODES)).toThrow(
    "the answer is not a list",
  );
  for (const [damaged, why] of [
    [null, "it is not an object"],
    [{ metadata: { name: "" } }, "it has no name"],
    [{ metadata: { name: "a", labels: { a: 1 } } }, "metadata.labels has a wrong type"],
  ] as const) {
    expect(() => toPage({ metadata, items: [node, damaged] }, NODES)).toThrow(
      `object 1 is damaged: ${why}`,
    );
  }
});

describe("toObject()", () => {
  const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "a" } };

  test("takes the object of that name; a review has none", () => {
    expect<object>(toObject(lease, LEASES, "a")).toBe(lease);
    const { metadata: _metadata, ...review } = lease;
    expect<object>(toObject(review, LEASES)).toBe(review);
  });

  test.each<[unknown]>([
    [null],
    ["<html>signed in</html>"],
    [""],
    [[]],
    [{}],
    [{ kind: "Status", apiVersion: "v1", status: "Success" }],
    [{ ...lease, kind: "Node" }],
    [{ ...lease, apiVersion: "v1" }],
    [{ ...lease, metadata: { name: "b" } }],
    [{ ...lease, metadata: "a" }],
  ])("takes nothing else for it, as %j", (value) => {
    expect(() => toObject(value, LEASES, "a")).toThrow("the answer is not a Lease of that name");
  });
});

test("toDeleted() takes a Status or the object, and no page of a proxy", () => {
  const read = (value: unknown) => toDeleted(value, NODES);
  const last = { apiVersion: "v1", kind: "Node", metadata: { name: "a" } };
  expect(read({ kind: "Status", status: "Success" })).toBeUndefined();
  // Some kinds answer with the last state of what is gone.
  expect(read(last)).toBeUndefined();
  const held = { ...last, metadata: { name: "a", deletionTimestamp: "2026-01-01T00:00:00Z" } };
  expect(read(held)).toBe(held as never);
  for (const value of [
    "<html>",
    "",
    null,
    {},
    { kind: "Pod" },
    { kind: "Status", status: "Failure" },
  ]) {
    expect(() => read(value)).toThrow("does not come from Kubernetes");
  }
});

test("readBody() reads to a bound", async () => {
  const create = (mebibytes: number): Response => {
    let left = mebibytes;
    const body = new ReadableStream({
      pull(controller) {
        if (left === 0) controller.close();
        else controller.enqueue(new Uint8Array(1024 * 1024).fill(32));
        left -= 1;
      },
    });
    return new Response(body);
  };
  await expect(readBody(create(17))).rejects.toThrow("the answer is longer than 16Mi");
});

/** The body in chunks of so many bytes. */
function toReply(text: string, chunkBytes: number): Response {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at + chunkBytes));
      at += chunkBytes;
    },
  });
  return new Response(body);
}

function read(text: string, chunkBytes = 1_000): Promise<unknown> {
  return readListBody(NODES, toReply(text, chunkBytes));
}

/** A Node as a list has it, with everything that may look like the border of two objects. */
function toNode(name: string, note = '"},{"metadata":{'): object {
  const conditions = [{ type: "Ready", status: "True" }];
  const images = [{ names: [name] }, { metadata: { name } }, { names: [note] }];
  const addresses = [{ type: "Hostname", address: name }];
  return {
    metadata: { name, annotations: { note }, managedFields: [{ manager: note }] },
    spec: { taints: [{ key: "a", effect: "NoSchedule" }] },
    status: { addresses, conditions, images },
  };
}

function toList(items: readonly unknown[], more: object = {}): object {
  const metadata = { resourceVersion: "7" };
  return { kind: "NodeList", apiVersion: "v1", metadata, items, ...more };
}

function trim(node: object): object {
  return trimObject(NODES, structuredClone(node) as never);
}

const THREE = [toNode("a"), toNode("ü\u{1F600}"), toNode("c", "\\")];

describe("readListBody()", () => {
  test("gives the same whatever the pieces are in which it comes, each object trimmed", async () => {
    const text = `${JSON.stringify(toList(THREE))}\n`;
    const wanted = toList(THREE.map((node) => trim(node)));
    for (let chunkBytes = 1; chunkBytes < 200; chunkBytes += 1) {
      expect(await read(text, chunkBytes)).toEqual(wanted);
    }
    expect(await read(text, text.length * 2)).toEqual(wanted);
  });

  test.each([
    ["fields behind the objects", JSON.stringify(toList(THREE, { last: [{ metadata: 1 }] }))],
    ["objects first", JSON.stringify({ items: THREE, ...toList(THREE) })],
    ["blanks", JSON.stringify(toList(THREE), null, 2)],
    [
      "kinds in the objects",
      JSON.stringify(toList(THREE.map((one) => ({ kind: "Node", ...one })))),
    ],
  ])("reads a list with %s", async (_what, text) => {
    const wanted = JSON.parse(text) as { items: object[] };
    for (const chunkBytes of [7, 100, 10_000]) {
      const value = await read(text, chunkBytes);
      expect(value).toEqual({ ...wanted, items: wanted.items.map((node) => trim(node)) });
    }
  });

  test.each([
    ["an empty list", toList([])],
    ["a list of nothing", { ...toList([]), items: null }],
    ["a Status", { kind: "Status", message: '"items":[{"metadata":{' }],
    ["a text", '"items":[{"metadata":{"name":"a"}},{"metadata":{'],
    ["items elsewhere", { other: { items: [toNode("x"), toNode("y")] } }],
  ])("gives %s as it is", async (_what, value) => {
    const text = JSON.stringify(value);
    for (const chunkBytes of [3, 10_000]) expect(await read(text, chunkBytes)).toEqual(value);
  });

  test("leaves damaged objects as they came, for whoever looks for damage", async () => {
    const damaged = { metadata: { name: "b", labels: 5 }, status: { images: [] } };
    const items = [toNode("a"), damaged, 7, null, toNode("c")];
    const wanted = [trim(toNode("a")), damaged, 7, null, trim(toNode("c"))];
    expect(await read(JSON.stringify(toList(items)), 50)).toEqual(toList(wanted));
  });

  test("reads anything just as JSON.parse() does", async () => {
    const anything = fc.tuple(
      fc.array(fc.oneof(fc.jsonValue(), fc.constant(toNode("n")))),
      fc.nat(60),
    );
    const property = fc.asyncProperty(anything, async ([items, chunkBytes]) => {
      const text = JSON.stringify(toList(items));
      const { items: found } = (await read(text, chunkBytes + 1)) as { items: { kind?: string }[] };
      // Objects that are no Nodes stay as they are.
      const wanted = items.map((item) => (isNode(item) ? trim(item) : item));
      expect(found).toEqual(JSON.parse(JSON.stringify(wanted)) as never);
    });
    await fc.assert(property, tries(200));
  });

  test.each([
    ["half a list", JSON.stringify(toList(THREE)).slice(0, -30)],
    [
      "a list that goes on wrong",
      JSON.stringify(toList(THREE)).replace('},{"metadata":{"name":"c"', '},,{"m":{'),
    ],
    ["nothing", ""],
    ["a page", "<html>"],
  ])("refuses %s", async (_what, text) => {
    for (const chunkBytes of [11, 10_000]) {
      await expect(read(text, chunkBytes)).rejects.toBeInstanceOf(SyntaxError);
    }
  });

  longTest("refuses what is no UTF-8, and more than one object has", async () => {
    const bytes = Uint8Array.of(0x7b, 0xff, 0xfe);
    await expect(readListBody(NODES, new Response(bytes))).rejects.toThrow(
      "the answer is not UTF-8",
    );
    const blanks = new Uint8Array(8 * 1024 * 1024).fill(32);
    let isCancelled = false;
    const body = new ReadableStream({
      pull: (controller) => controller.enqueue(blanks),
      cancel: () => {
        isCancelled = true;
      },
    });
    await expect(readListBody(NODES, new Response(body))).rejects.toThrow(
      "more than 12Mi of it cannot be read in parts",
    );
    expect(isCancelled).toBe(true);
  });

  longTest(
    "takes little time and memory for long lists in which everything looks like a border",
    async () => {
      const list = Array.from({ length: 4_000 }, () => ({ metadata: { a: '\\"]'.repeat(70) } }));
      const items = Array.from({ length: 12 }, (_one, at) => ({
        metadata: { name: `${at}` },
        list,
      }));
      const text = JSON.stringify(toList(items));
      expect(text.length).toBeGreaterThan(13_000_000);
      const cpuMs = await measureCpuMs(async () => {
        const value = (await read(text, 65_536)) as { items: object[] };
        expect(value.items).toHaveLength(12);
      });
      expect(cpuMs).toBeLessThan(2_000);
    },
  );

  test("reads the longest object that the API server can have, among others", async () => {
    const note = "\u0001".repeat(1_500_000);
    const node = { metadata: { name: "b", annotations: { note } } };
    const value = (await read(JSON.stringify(toList([node, node, toNode("c")])), 65_536)) as {
      items: object[];
    };
    expect(value.items).toHaveLength(3);
  });
});

function isNode(item: unknown): item is object {
  return JSON.stringify(item) === JSON.stringify(toNode("n"));
}

const EVENTS: WatchEvent[] = [
  { type: "ADDED", object: { metadata: { name: "a" } } },
  { type: "MODIFIED", object: { metadata: { name: "Grüße-日本-🚢" } } },
  { type: "ERROR", object: { kind: "Status", code: 410 } },
];

interface Body {
  stream: ReadableStream<Uint8Array>;
  cancelled: () => boolean;
}

/** A body that gives these chunks, and then ends. */
function createBody(chunks: readonly (Uint8Array | string)[]): Body {
  let cancelled = false;
  const left = chunks.map((one) => (typeof one === "string" ? new TextEncoder().encode(one) : one));
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const next = left.shift();
        if (next !== undefined) controller.enqueue(next);
        else controller.close();
      },
      cancel() {
        cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, cancelled: () => cancelled };
}

async function readAll(body: Body): Promise<WatchEvent[]> {
  const events: WatchEvent[] = [];
  for await (const event of readWatchEvents({ body: body.stream })) events.push(event);
  return events;
}

describe("readWatchEvents()", () => {
  test("passes over blank lines, a blank end too, and takes CRLF", async () => {
    const body = createBody(['\n{"type":"BOOKMARK","object":{}}\r\n\r\n \t']);
    expect(await readAll(body)).toEqual([{ type: "BOOKMARK", object: {} }]);
  });

  test.each([
    ["not json\n", "a line is not JSON"],
    ['"text"\n', "a line is not a watch event"],
    ["null\n", "a line is not a watch event"],
    ['{"type":1,"object":{}}\n', "a line is not a watch event"],
    ['{"type":"ADDED"}\n', "a line is not a watch event"],
    ['{"type":"ADDED","obj', "the stream ended within an event"],
  ])("fails on %p without showing it, and closes the stream", async (text, message) => {
    const body = createBody([text, "more\n"].slice(0, text.endsWith("\n") ? 2 : 1));
    const error = await readAll(body).catch((error: unknown) => error);
    expect(error).toMatchObject({ name: "BodyError", message });
    expect(body.cancelled()).toBe(text.endsWith("\n"));
  });

  test("refuses what is no UTF-8: a name may be damaged", async () => {
    const [before = "", after = ""] = JSON.stringify(EVENTS[1]).split("ü");
    const encoder = new TextEncoder();
    const body = createBody([encoder.encode(before), new Uint8Array([0xfc]), `${after}\n`]);
    await expect(readAll(body)).rejects.toThrow("the answer is not UTF-8");
  });
});
