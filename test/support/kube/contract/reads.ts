/**
 * Contract of lists and watches: pages, versions, selectors, bookmarks.
 *
 * @module
 */
import { beforeAll, describe, expect, test } from "bun:test";
import type { ContractContext, WireObject, WireEvent } from "./client.ts";

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

function watchPath(version: string, more: string = ""): string {
  return `${NODES}?watch=1&resourceVersion=${version}${more}`;
}

function shape(event: WireEvent): readonly string[] {
  return [event.type, event.object.metadata.name];
}

/** Adds the cases to the suite that is being described. */
export function addWatchCases(use: () => ContractContext): void {
  const currentVersion = async (): Promise<string> =>
    (await use().client.get(NODES)).body.metadata.resourceVersion;
  const post = (name: string, labels: object = {}): Promise<unknown> =>
    use().client.send("POST", NODES, { metadata: { name, labels } });

  describe("watches", () => {
    test("a watch goes on after the version it names", async () => {
      const { client } = use();
      const version = await currentVersion();
      await post("x-1");
      await client.patch(`${NODES}/x-1`, "merge", { metadata: { labels: { a: "b" } } });
      await client.send("DELETE", `${NODES}/x-1`);
      const events = await client.watch(watchPath(version), (event) => event.type === "DELETED");
      expect(events.map(shape)).toEqual([
        ["ADDED", "x-1"],
        ["MODIFIED", "x-1"],
        ["DELETED", "x-1"],
      ]);
      const [first, second, third] = events.map((event) => event.object.metadata.resourceVersion);
      expect(new Set([version, first, second, third]).size).toBe(4);
      const resumed = await client.watch(watchPath(first ?? ""), (e) => e.type === "DELETED");
      expect(resumed.map(shape)).toEqual(events.slice(1).map(shape));
      expect(events[0]?.object.kind).toBe("Node");
    });

    test("a watch shows what happens while it is open", async () => {
      const { client } = use();
      const stream = client.stream(watchPath(await currentVersion()));
      const next = stream.next();
      await post("x-2");
      const { value } = await next;
      await stream.return();
      expect(value === undefined ? [] : shape(value)).toEqual(["ADDED", "x-2"]);
    });

    test("a watch from version 0 begins with what is there", async () => {
      const { client } = use();
      await post("x-3");
      const last = (event: WireEvent): boolean => event.object.metadata.name === "x-3";
      const events = await client.watch(watchPath("0"), last);
      expect(new Set(events.map((event) => event.type))).toEqual(new Set(["ADDED"]));
    });

    test("an object that enters or leaves a selector is added or deleted", async () => {
      const { client } = use();
      const version = await currentVersion();
      await post("x-4");
      for (const value of ["yes", "other", "yes"]) {
        await client.patch(`${NODES}/x-4`, "merge", { metadata: { labels: { value } } });
      }
      let seen = 0;
      const path = watchPath(version, "&labelSelector=value%3Dyes");
      const events = await client.watch(path, () => (seen += 1) === 3);
      expect(events.map((event) => event.type)).toEqual(["ADDED", "DELETED", "ADDED"]);
    });

    test("timeoutSeconds ends a watch cleanly, after a bookmark if those were asked for", async () => {
      const { client } = use();
      const version = await currentVersion();
      const more = "&labelSelector=none&timeoutSeconds=3&allowWatchBookmarks=true";
      // The real server sends the bookmark about 2 s before the end, now and then too late, and none
      // when nothing of the kind has changed since the watch began.
      let events: readonly WireEvent[] = [];
      for (let round = 0; round < 5 && events.length === 0; round += 1) {
        const watched = client.watch(watchPath(version, more), () => false);
        await Bun.sleep(200);
        await post(`x-6-${round}`);
        events = await watched;
      }
      expect(new Set(events.map((event) => event.type))).toEqual(new Set(["BOOKMARK"]));
      const [bookmark] = events;
      expect(bookmark?.object.kind).toBe("Node");
      expect(bookmark?.object.metadata.resourceVersion).not.toBe(version);
      const resumed = await client.watch(
        watchPath(
          bookmark?.object.metadata.resourceVersion ?? "",
          "&labelSelector=none&timeoutSeconds=1",
        ),
        () => false,
      );
      expect(resumed).toEqual([]);
    }, 20_000);

    test("a watch from a version that is gone gets an ERROR event with 410", async () => {
      const { client, target } = use();
      await post("x-5");
      await target.compact();
      // Of Events, for which the real server keeps no cache of its own.
      const path = "/api/v1/events?watch=1&resourceVersion=1";
      const events = await client.watch(path, () => false);
      expect(events.map((event) => event.type)).toEqual(["ERROR"]);
      expect(events[0]?.object).toMatchObject({ kind: "Status", code: 410, reason: "Expired" });
    });
  });
}
