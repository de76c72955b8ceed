import { expect, test } from "bun:test";
import { NODES_PLACE } from "../../../lib/http/debug.ts";
import { renderNodePage } from "../../../lib/http/page/node_page.tsx";
import type { NodeView } from "../../../lib/http/views.ts";
import { PAGE_NOW, toLostView, toNodeView } from "../../support/page/node_views.ts";

async function render(node: NodeView): Promise<string> {
  const frame = { nowMs: PAGE_NOW, base: "../", places: [NODES_PLACE], version: "1.2.3" };
  return await renderNodePage(node, frame);
}

test("renderNodePage() goes from the Node to its machine to its host to its pool", async () => {
  const html = await render(toNodeView("a"));
  const path = ["<small>Node", "<small>machine, running", "<small>host", "<small>pool"];
  const positions = path.map((text) => html.indexOf(text));
  expect(positions).not.toContain(-1);
  expect(positions).toEqual(positions.toSorted((a, b) => a - b));
  expect(html).toContain("matched by provider ID");
  expect(html).toContain("30s ago: ok");
});

test("renderNodePage() says an address conflict once, also if another state is worse, and else not", async () => {
  const addressConflict = "10.0.0.2 is in the address pool main";
  const has = async (over: Partial<NodeView>): Promise<number> =>
    (await render(toNodeView("a", over))).split(addressConflict).length - 1;
  expect(await has({ addressConflict })).toBe(1);
  expect(await has({ addressConflict, ready: "False" })).toBe(1);
  expect(await render(toNodeView("a"))).not.toContain("Address conflict");
});

test("renderNodePage() shows what differs", async () => {
  const html = await render(
    toNodeView("a", { labels: { wanted: { a: "1" }, actual: { a: "2" } } }),
  );
  expect(html).toContain('<tr class="l-differs">');
  expect(html).toContain("<title>a: out of sync · Landfall</title>");
});

test("renderNodePage() says why nothing is known, what stands before a deletion, and where it was", async () => {
  const html = await render(
    toLostView("a", "notCovered", {
      deletion: { state: "blocked", reason: "notCovered", message: "pool Lyon is lost" },
      lastReconcile: { at: "2026-01-01T00:00:00Z", outcome: "error", error: "no <answer>" },
      nextReconcileAt: "2026-01-01T00:10:45Z",
    }),
  );
  for (const text of [
    "because notCovered",
    "blocked: its part of the cloud does not answer",
    "pool Lyon is lost",
    "host, by its labels",
    "no &lt;answer&gt;",
    "in 45s, or when something changes",
    "It has none, and the desired ones are unknown.",
    "It has none.",
  ]) {
    expect(html).toContain(text);
  }
});

test.each(["confirmations", "holdOff", "ready", "held", "disabled", "neverSeen", "fleetLimit"])(
  "renderNodePage() has words for a deletion that waits because of %s",
  async (reason) => {
    const deletion = { state: "waiting", reason, message: "It has been missing for 3s of 60s" };
    const html = await render(toLostView("a", "notListed", { deletion }));
    const [, words = ""] = /<dt>Deletion<\/dt><dd>waits: ([^<]*)</.exec(html) ?? [];
    expect(words).toMatch(/^[\w ]+ [\w ]+$/);
    expect(words).not.toContain(reason);
  },
);

test("renderNodePage() shows the labels that a Node has while its machine is out of sight", async () => {
  const zone = "topology.kubernetes.io/zone";
  const html = await render(toLostView("a", "notCovered", { labels: { actual: { [zone]: "z" } } }));
  expect(html).toContain(`<code>${zone}</code>`);
  expect(html).toContain("<code>z</code>");
  expect(html).toContain("unknown");
});

test("renderNodePage() says whether a Node is out of service, where there is something to say", async () => {
  const outOfService = { state: "blocked", message: "Too many <machines> are off" };
  const html = await render(toNodeView("a", { outOfService }));
  expect(html).toContain("<dt>Out of service</dt><dd>no<p");
  expect(html).toContain("Too many &lt;machines&gt; are off");
  expect(await render(toNodeView("a"))).not.toContain("Out of service");
});

test("renderNodePage() tells that nothing was done yet", async () => {
  const lost = toLostView("a", "notFound");
  const { providerId: _none, wantedProviderId: _unknown, ...bare } = lost;
  const html = await render({ ...bare, lastReconcile: null, isUninitialized: true });
  expect(html).toContain("It has no provider ID, and the desired one is unknown.");
  expect(html).toContain("<dd>not yet</dd>");
  expect(html).toContain("no: it waits with its taint");
  expect(html).toContain("when something changes");
});

test("renderNodePage() shows Events, CPUs and memory, and leads to the machine in its cloud", async () => {
  const details = { powerState: "Running", cpus: "8", memory: "16 GiB" };
  const page = "https://xo.example/#/vms/a/general";
  const instance = { id: "a", name: "vm", state: "running", details, page };
  const events = [
    { type: "Warning", reason: "Odd", message: "<odd>", count: 3, at: "2026-01-01T00:09:00Z" },
  ];
  const html = await render(toNodeView("a", { instance, events }));
  expect(html).toContain("<dt>CPUs</dt><dd>8</dd>");
  expect(html).toContain("<dt>Memory</dt><dd>16 GiB</dd>");
  expect(html).toContain(`<a href="${page}">`);
  expect(html).toContain('<span class="mark s-notReady">&lt;odd&gt;</span>');
  expect(html).toContain('<td data-label="Ago">60s</td>');
});

test("renderNodePage() folds labels that are in sync, and shows those that are not", async () => {
  const same = Object.fromEntries(["a", "b", "c", "d"].map((key) => [key, "1"]));
  const labels = { wanted: { ...same, e: "1" }, actual: { ...same, e: "2" } };
  const html = await render(toNodeView("a", { labels }));
  expect(html).toContain("4 in sync");
  expect(html.indexOf("<code>e</code>")).toBeLessThan(html.indexOf("<code>a</code>"));
});
