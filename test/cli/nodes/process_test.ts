/**
 * Reading the debug pages of a process.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type CloudSilence,
  readCloudSilence,
  readFromProcess,
} from "../../../lib/cli/nodes/process.ts";
import type { ListenAddress } from "../../../lib/core/net/listen_address.ts";
import { createPages } from "../../../lib/http/pages.ts";
import {
  PAGE_NOW,
  toInventoryView,
  toLostView,
  toNodeView,
} from "../../support/page/node_views.ts";

const signal = new AbortController().signal;
const VIEWS = [toNodeView("a"), toLostView("b", "notFound")];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "landfall-nodes-"));
});
afterAll(() => rm(folder, { recursive: true }));

function createLandfall(): { fetch: (request: Request) => Response | Promise<Response> } {
  return createPages({
    version: "1.2.3",
    now: () => PAGE_NOW,
    debug: {
      listNodes: () => VIEWS,
      findNode: () => undefined,
      readInventory: () => toInventoryView(),
    },
  });
}

function serve(fetch: (request: Request) => Response | Promise<Response>): Bun.Server<undefined> {
  return Bun.serve({ port: 0, hostname: "127.0.0.1", fetch });
}

function toAddress({ port = 0 }: Bun.Server<undefined>): ListenAddress {
  return { kind: "tcp", host: "127.0.0.1", port };
}

describe("readFromProcess()", () => {
  test("reads all Nodes at an address, and at a unix socket", async () => {
    const { fetch } = createLandfall();
    using tcp = serve(fetch);
    expect(await readFromProcess(toAddress(tcp), signal)).toEqual(VIEWS);
    const path = join(folder, "d.sock");
    using unix = Bun.serve({ unix: path, fetch });
    expect(unix.url).toBeDefined();
    expect(await readFromProcess({ kind: "unix", path }, signal)).toEqual(VIEWS);
  });

  test("finds no process where none listens", async () => {
    const closed = serve(() => new Response());
    const nobody = toAddress(closed);
    await closed.stop(true);
    expect(await readFromProcess(nobody, signal)).toBeUndefined();
    const path = join(folder, "none.sock");
    expect(await readFromProcess({ kind: "unix", path }, signal)).toBeUndefined();
  });

  test.each<[string, () => Response, string]>([
    ["another program", () => new Response("no", { status: 404 }), "it is not Landfall"],
    ["a broken program", () => new Response("no", { status: 500 }), "it answers with status 500"],
    ["no JSON", () => new Response("{"), "or another version of it"],
    ["other JSON", () => Response.json({ nodes: [{ name: 1 }] }), "or another version of it"],
    ["a redirect", () => Response.redirect("http://127.0.0.1:1/"), "it answers with status 302"],
  ])("refuses %s", async (_title, fetch, message) => {
    using server = serve(fetch);
    const address = toAddress(server);
    const text = `cannot read the Nodes from 127.0.0.1:${server.port}: `;
    await expect(readFromProcess(address, signal)).rejects.toThrow(text);
    await expect(readFromProcess(address, signal)).rejects.toThrow(message);
  });

  test("ends with its signal", async () => {
    using server = serve(() => new Promise(() => {}));
    const address = toAddress(server);
    const stop = new AbortController();
    const reading = readFromProcess(address, stop.signal);
    stop.abort(new Error("stopped"));
    await expect(reading).rejects.toThrow("stopped");
  });
});

describe("readCloudSilence()", () => {
  const read = async (fetch: () => Response): Promise<CloudSilence | undefined> => {
    using server = serve(fetch);
    return await readCloudSilence(toAddress(server), signal);
  };

  test.each<[string, () => Response]>([
    ["the cloud answered", () => Response.json(toInventoryView())],
    ["the answer is no JSON", () => new Response("{")],
    ["the page is not there", () => new Response("no", { status: 404 })],
  ])("says nothing when %s", async (_title, fetch) => {
    expect(await read(fetch)).toBeUndefined();
  });
});
