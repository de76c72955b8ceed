import { describe, expect, test } from "bun:test";
import { renderKindPage, toKindPageName } from "../../docs/generator/kind_page.ts";
import { SIP_CLUSTER_KIND } from "../../lib/controllers/sipcluster/resource/crd.ts";
import { CONDITION_WORDS } from "../../lib/controllers/sipcluster/resource/words.ts";
import { IP_POOL_KIND, VINO_KIND } from "../../lib/controllers/vino/resource/crd.ts";
import { REASONS } from "../../lib/controllers/sipcluster/services/apply/refusal.ts";

const page = renderKindPage(SIP_CLUSTER_KIND);
const rows = new Map(
  page
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) => line.split(/ *(?<!\\)\| */).slice(1, -1))
    .filter((cells) => cells.length === 4)
    .map(([name = "", ...cells]) => [name, cells]),
);

describe("renderKindPage()", () => {
  test("names its page as kubectl names the kind", () => {
    expect(toKindPageName(SIP_CLUSTER_KIND)).toBe("sipclusters.md");
  });

  test.each<[field: string, type: string, fallback: string]>([
    ["`spec.services`", "object", "required"],
    ["`spec.nodes`", "map", ""],
    ["`spec.nodes.*.count.active`", "0 to 5000", "`0`"],
    ["`spec.nodes.*.labelSelector.matchLabels`", "map of texts", ""],
    ["`spec.nodes.*.topologyKeys`", "list of texts, at most 8", ""],
    ["`spec.services.jumpHost`", "list of objects, at most 8", ""],
    ["`spec.services.jumpHost[].bmc.proxy`", "true or false", "`false`"],
    ["`status.conditions[].status`", "`True`, `False`, `Unknown`", "required"],
    ["`status.observedGeneration`", "number", ""],
  ])("says of %s: %s, %s", (field, type, fallback) => {
    expect(rows.get(field)?.slice(0, 2)).toEqual([type, fallback]);
  });

  test("says which columns only a wide table has", () => {
    const { crd } = VINO_KIND;
    const wide = crd.spec.versions[0].additionalPrinterColumns.filter(
      ({ priority = 0 }) => priority > 0,
    );
    const lines = renderKindPage(VINO_KIND).split("\n");
    const said = lines.filter((line) => line.includes("Only with `-o wide`."));
    expect(said.map((line) => line.split("`")[1])).toEqual(wide.map(({ name }) => name));
  });

  test("has each rule with its place", () => {
    expect(page).toMatch(
      /\| `spec\.services\.loadBalancerWorker\[\]\.nodePortRange` +\| start must not be greater than end +\|/,
    );
  });

  test("leaves out of a kind without status and conditions what it does not have", () => {
    const plain = renderKindPage(IP_POOL_KIND);
    expect(plain.match(/^## .*$/gm)).toEqual(["## Its fields"]);
    expect(plain).toContain("| `spec.allocatedIPs[].ip` ");
    expect(plain).not.toMatch(/these rules|the condition/);
  });

  test("has the reasons of every condition", () => {
    const reasons = Object.values(CONDITION_WORDS).flatMap((words: object) =>
      Object.values<{ reason: string }>({ ...words }).map(({ reason }) => reason),
    );
    const all = [...reasons, ...Object.values(REASONS)];
    expect(all.filter((reason) => !page.includes(`| \`${reason}\` `))).toEqual([]);
  });
});
