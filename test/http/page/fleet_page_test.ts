import { describe, expect, test } from "bun:test";
import { NODES_PLACE } from "../../../lib/http/debug.ts";
import { type FleetPageOptions, renderFleetPage } from "../../../lib/http/page/fleet_page.tsx";
import {
  PAGE_NOW,
  toInventoryView,
  toLostView,
  toNodeView,
} from "../../support/page/node_views.ts";

async function render(over: Partial<FleetPageOptions> = {}): Promise<string> {
  return await renderFleetPage({
    nodes: [toNodeView("a"), toNodeView("b"), toLostView("c", "notFound")],
    inventory: toInventoryView(),
    nowMs: PAGE_NOW,
    base: "",
    places: [NODES_PLACE],
    version: "1.2.3",
    ...over,
  });
}

describe("renderFleetPage()", () => {
  test("renderFleetPage() begins with how many Nodes need a look", async () => {
    const html = await render();
    expect(html).toContain("<h1>1 of 3 Nodes needs attention</h1>");
    expect(html).toContain("<title>(1) Landfall</title>");
    expect(html).toContain("as of 00:10:00 UTC");
    const order = ["<h1>", "Look at these first", "Where they are", "What the cloud answered"];
    const positions = order.map((text) => html.indexOf(text));
    expect(positions).not.toContain(-1);
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
  });

  test.each([
    [[], "No Nodes yet"],
    [[toNodeView("a")], "The only Node is in sync"],
    [[toNodeView("a"), toNodeView("b")], "All 2 Nodes are in sync"],
    [[toNodeView("a"), toNodeView("b", { isUninitialized: true })], "1 of 2 Nodes are in sync"],
    [[toLostView("a", "denied"), toLostView("b", "denied")], "2 of 2 Nodes need attention"],
  ])("renderFleetPage() sums up (%#)", async (nodes, heading) => {
    expect(await render({ nodes })).toContain(`<h1>${heading}</h1>`);
  });

  test("renderFleetPage() links to the Nodes in each state, and says which are shown", async () => {
    const html = await render({ state: "well" });
    expect(html).toMatch(/<a href=".\/"><b>3<\/b> in all/);
    expect(html).toMatch(/class="mark s-well" href="\?state=well"[^>]*aria-current="true"/);
    expect(html).toMatch(/href="\?state=unmatched"[^>]*"><b>1<\/b> no match/);
    expect(html.match(/aria-current="true"/g)).toHaveLength(1);
  });

  test("renderFleetPage() is quiet when all is well", async () => {
    const html = await render({ nodes: [toNodeView("a")] });
    expect(html).not.toContain("Look at these first");
    expect(html).toContain("<title>Landfall</title>");
  });

  test("renderFleetPage() says first of all that the cloud does not answer", async () => {
    const html = await render({ inventory: toInventoryView({ lastError: "refused <by> it" }) });
    expect(html).toContain("refused &lt;by&gt; it");
    expect(html.indexOf("The cloud does not answer")).toBeLessThan(html.indexOf("<h1>"));
  });

  test("renderFleetPage() says that it stands by while another leads", async () => {
    const election = { lease: "l", identity: "a", holder: "b", isLeading: false };
    const status = { provider: "x", host: "h" };
    expect(await render({ status: { ...status, election } })).toContain(
      "This process is a standby.",
    );
    const leading = { ...election, holder: "a", isLeading: true };
    expect(await render({ status: { ...status, election: leading } })).not.toContain(
      "is a standby.",
    );
    expect(await render({ status })).not.toContain("is a standby.");
    const leaderless = await render({
      status: { ...status, election: { ...election, holder: "" } },
    });
    expect(leaderless).toContain("There is no leader now.");
    expect(leaderless).not.toContain("leader’s page");
  });

  test("renderFleetPage() shows only the Nodes that are searched for", async () => {
    const byState = await render({ state: "unmatched" });
    expect(byState).toContain("1 Node no match");
    expect(byState).not.toContain("nodes/a");
    expect(byState).toContain('href="?state=unmatched"');
    const byMachine = await render({ query: " VM-B" });
    expect(byMachine).toContain("1 Node with “VM-B”");
    expect(byMachine).toContain('href="nodes/b"');
    for (const text of ["vm-b", "Paris › xcp-1", "30s ago"]) expect(byMachine).toContain(text);
    expect(await render({ query: "paris" })).toContain("3 Nodes with");
    expect(await render({ query: "nowhere" })).toContain("0 Nodes with");
  });

  test("renderFleetPage() renews a large page less often", async () => {
    const toSeconds = async (count: number): Promise<string> => {
      const nodes = Array.from({ length: count }, (_, index) => toNodeView(`n${index}`));
      return /data-refresh="(\d+)"/.exec(await render({ nodes }))?.[1] ?? "";
    };
    expect([await toSeconds(3), await toSeconds(301), await toSeconds(2_001)]).toEqual([
      "5",
      "15",
      "60",
    ]);
  });

  test("renderFleetPage() ends its table after 500 rows, and says so", async () => {
    const nodes = Array.from({ length: 501 }, (_, index) => toNodeView(`n${index}`));
    const html = await render({
      nodes,
      isTable: true,
      inventory: toInventoryView({ coverage: [] }),
    });
    expect(html.match(/<th scope="row">/g)).toHaveLength(500);
    expect(html).toContain("These are the first 500 of 501");
  });

  test("renderFleetPage() begins its table with the Nodes in the worst state, by name", async () => {
    const lost = ["b", "d"].map((name) => toLostView(name, "notFound"));
    const nodes = [toNodeView("a"), ...lost, toNodeView("c")];
    const html = await render({ nodes, isTable: true });
    const rows = [...html.matchAll(/<th scope="row"><a[^>]*>(\w)</g)];
    expect(rows.map(([, name]) => name)).toEqual(["b", "d", "a", "c"]);
  });

  test("renderFleetPage() shows how each part of the cloud answered, and nothing without parts", async () => {
    const coverage = [
      { id: "p1", complete: true },
      { id: "p2", name: "Lyon", complete: false, reason: "lost" },
    ];
    const html = await render({ inventory: toInventoryView({ coverage }) });
    expect(html).toContain(">complete<");
    expect(html).toContain(">not complete: lost<");
    const none = await render({ inventory: toInventoryView({ coverage: [] }) });
    expect(none).not.toContain("What the cloud answered");
  });

  test("renderFleetPage() tells one Node with its place and its reason", async () => {
    const html = await render({ nodes: [toLostView("a", "notFound")] });
    expect(html).toContain('<a class="name" href="nodes/a">a</a>');
    expect(html).toContain("Paris › xcp-1");
    expect(html).toContain("because notFound");
  });

  test("renderFleetPage() tells a reason that many share once, and closes a long list", async () => {
    const toMany = (count: number): Promise<string> =>
      render({
        nodes: Array.from({ length: count }, (_, at) => toLostView(`n${at}`, "notCovered")),
      });
    const html = await toMany(40);
    expect(html.match(/because notCovered/g)).toHaveLength(1);
    expect(html).toContain('<details class="more" id="more-unseen-0">');
    expect(html).toContain("<b>40 Nodes</b>");
    expect(await toMany(3)).toContain('<details class="more" id="more-unseen-0" open="">');
  });

  test("renderFleetPage() tells a dozen reasons, and where the others are", async () => {
    const nodes = Array.from({ length: 15 }, (_, at) => {
      const message = `reason ${"i".repeat(at + 1)}`;
      return toLostView(`n${at}`, "notFound", {
        presence: { kind: "unknown", reason: "notFound", message },
      });
    });
    const html = await render({ nodes });
    expect(html.match(/<p class="why">/g)).toHaveLength(12);
    expect(html).toContain('<a href="?state=unmatched">3 more Nodes, each with its reason</a>');
  });
});
