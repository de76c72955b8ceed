/**
 * Contract of lists: pages, versions, selectors.
 * @module
 */
import { beforeAll, describe, expect, test } from "bun:test";
import type { ContractContext, WireObject } from "./client.ts";

const NODES = "/api/v1/nodes";
const SELECTED = `${NODES}?labelSelector=page%3Dyes`;
const NAMES = ["p-1", "p-2", "p-3", "p-4", "p-5"];

function namesOf(list: WireObject): readonly string[] {
  return (list.items ?? []).map((item) => item.metadata.name);
}

/** Adds the cases to the suite that is being described. */
export function addListCases(use: () => ContractContext): void {
  describe("lists", () => {
    beforeAll(async () => {
      for (const name of NAMES) {
        await use().client.send("POST", NODES, { metadata: { name, labels: { page: "yes" } } });
      }
    });

    test("a list comes in pages of one version, sorted, whatever happens meanwhile", async () => {
      const { client } = use();
      const first = (await client.get(`${SELECTED}&limit=2`)).body;
      await client.send("DELETE", `${NODES}/p-4`);
      const seen = [...namesOf(first)];
      let page = first;
      while (page.metadata.continue !== undefined) {
        page = (await client.get(`${SELECTED}&limit=2&continue=${page.metadata.continue}`)).body;
        expect(page.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
        seen.push(...namesOf(page));
      }
      expect(seen).toEqual(NAMES);
      expect(namesOf((await client.get(SELECTED)).body)).not.toContain("p-4");
      const again = { metadata: { name: "p-4", labels: { page: "yes" } } };
      await client.send("POST", NODES, again);
    });

    test("a page without selectors tells how many items remain", async () => {
      const { client } = use();
      const all = (await client.get(NODES)).body.items?.length ?? 0;
      const page = (await client.get(`${NODES}?limit=1`)).body;
      expect(page.metadata.remainingItemCount).toBe(all - 1);
    });

    test("a list at version 0 ignores the limit", async () => {
      const { client } = use();
      // The cache that answers version 0 may lag: it is asked until it has all.
      for (let round = 0; round < 100; round += 1) {
        const list = (await client.get(`${SELECTED}&limit=2&resourceVersion=0`)).body;
        if (namesOf(list).length < NAMES.length) continue;
        expect(list.metadata.continue).toBeUndefined();
        return;
      }
      expect.unreachable("the list at version 0 never held all Nodes");
    });

    test("items of a list carry neither kind nor apiVersion", async () => {
      const list = (await use().client.get(SELECTED)).body;
      expect(list.kind).toBe("NodeList");
      expect(list.items?.[0]).not.toHaveProperty("kind");
    });

    // A server that keeps snapshots in its cache goes on, until it was started again.
    test("a page from before a compaction goes on, or is gone with a token for the rest", async () => {
      const { client, target } = use();
      const page = (await client.get(`${SELECTED}&limit=2`)).body;
      await client.patch(`${NODES}/p-1`, "merge", { metadata: { annotations: { a: "b" } } });
      await target.compact();
      const path = `${SELECTED}&limit=2&continue=${page.metadata.continue}`;
      const answer = await client.get(path);
      const goesOn = answer.status === 200;
      if (!goesOn) expect([answer.status, answer.body.reason]).toEqual([410, "Expired"]);
      const token = answer.body.metadata.continue;
      expect(token).toBeString();
      const rest = (await client.get(`${SELECTED}&continue=${token}`)).body;
      const shown = goesOn ? namesOf(answer.body) : [];
      expect([...shown, ...namesOf(rest)]).toEqual(["p-3", "p-4", "p-5"]);
    });

    test("a version that is yet to come is a time-out with that cause", async () => {
      const answer = await use().client.get(`${NODES}?resourceVersion=999999999`);
      expect([answer.status, answer.body.reason]).toEqual([504, "Timeout"]);
      expect(answer.body.details?.["causes"]).toMatchObject([
        { reason: "ResourceVersionTooLarge" },
      ]);
    });

    test.each([
      ["labelSelector", "page in (yes,no)", NAMES],
      ["labelSelector", "page", NAMES],
      ["labelSelector", "page=no", []],
      ["labelSelector", "page,page!=no", NAMES],
      ["labelSelector", "page,page notin (yes)", []],
      ["fieldSelector", "metadata.name=p-3,metadata.name!=p-4", ["p-3"]],
      ["fieldSelector", "metadata.name=p-3", ["p-3"]],
    ])("%s %p selects %p", async (parameter, value, expected) => {
      const path = `${NODES}?${parameter}=${encodeURIComponent(value)}`;
      expect(namesOf((await use().client.get(path)).body)).toEqual([...expected]);
    });

    test("a field that cannot be selected by is refused", async () => {
      const answer = await use().client.get(`${NODES}?fieldSelector=spec.providerID%3Da`);
      expect([answer.status, answer.body.reason]).toEqual([400, "BadRequest"]);
    });
  });
}
