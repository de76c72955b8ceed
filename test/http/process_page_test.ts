import { expect, test } from "bun:test";
import type { ProcessView } from "../../lib/http/views.ts";
import { toPages } from "../support/page/pages.ts";

const VIEW: ProcessView = {
  host: "cp-1",
  elections: [
    { lease: "ccm", identity: "cp-1_a", holder: "cp-1_a", isLeading: true },
    { lease: "shops", identity: "cp-1_a", holder: "", isLeading: false },
  ],
  controllers: [
    { name: "cloud-node", lease: "ccm", isRunning: true },
    { name: "shop", lease: "shops", isRunning: false },
  ],
  kinds: [
    { kind: "nodes/v1", state: "synced" },
    { kind: "shops.example.org/v1", state: "missing" },
    { kind: "configmaps/v1", state: "synced", selection: "labelSelector=a" },
  ],
};

async function ask(query = "", accept = "*/*"): Promise<Response> {
  const pages = toPages({ readProcess: () => VIEW });
  return await pages.request(`/debug/process${query}`, { headers: { accept } });
}

test("/debug/process gives JSON for programs", async () => {
  expect(await (await ask()).json()).toEqual(VIEW);
  expect((await ask("?format=xml")).status).toBe(400);
});

test("/debug/process gives tables for people", async () => {
  const lines = (await (await ask("?format=text")).text()).split("\n");
  const rows = lines.map((line) => line.trim().split(/\s{2,}/));
  expect(rows).toContainEqual(["shop", "no", "shops"]);
  expect(rows).toContainEqual(["ccm", "yes", "cp-1_a"]);
  expect(rows).toContainEqual(["shops.example.org/v1", "missing", "-"]);
  expect(rows).toContainEqual(["configmaps/v1", "synced", "labelSelector=a"]);
});

test("/debug/process gives a page for browsers", async () => {
  const html = await (await ask("", "text/html")).text();
  expect(html).toContain("<h1>This process</h1>");
  expect(html).toContain('<th scope="row">shops.example.org/v1</th>');
  expect(html).toContain('<td data-label="State">missing</td><td class="nothing">-</td>');
});
