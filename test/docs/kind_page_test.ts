import { describe, expect, test } from "bun:test";
import { renderKindPage, toKindPageName } from "../../docs/generator/kind_page.ts";
import { SIP_CLUSTER_KIND } from "../../lib/controllers/sipcluster/resource/crd.ts";
import { CONDITION_WORDS } from "../../lib/controllers/sipcluster/resource/words.ts";
import { IP_POOL_KIND } from "../../lib/controllers/vino/resource/crd.ts";
import { REASONS } from "../../lib/controllers/sipcluster/services/apply/object_applier.ts";

const page = renderKindPage(SIP_CLUSTER_KIND);

describe("renderKindPage()", () => {
  test("names its page as kubectl names the kind", () => {
    expect(toKindPageName(SIP_CLUSTER_KIND)).toBe("sipclusters.md");
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
