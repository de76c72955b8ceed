import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readListBody } from "../../../lib/kube/api/list_body.ts";
import { NODES } from "../../../lib/kube/kinds/node.ts";
import { trimObject } from "../../../lib/kube/kinds/trim.ts";
import { measureCpuMs } from "../../support/net/hostile.ts";

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
    await fc.assert(property, { numRuns: 200 });
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

  test("refuses what is no UTF-8, and more than one object has", async () => {
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

  test("takes little time and memory for long lists in which everything looks like a border", async () => {
    const list = Array.from({ length: 4_000 }, () => ({ metadata: { a: '\\"]'.repeat(70) } }));
    const items = Array.from({ length: 12 }, (_one, at) => ({ metadata: { name: `${at}` }, list }));
    const text = JSON.stringify(toList(items));
    expect(text.length).toBeGreaterThan(13_000_000);
    const cpuMs = await measureCpuMs(async () => {
      const value = (await read(text, 65_536)) as { items: object[] };
      expect(value.items).toHaveLength(12);
    });
    expect(cpuMs).toBeLessThan(2_000);
  });

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
