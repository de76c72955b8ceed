/**
 * Contract of watches: resume, bookmarks, time-outs, versions that are gone.
 * @module
 */
import { describe, expect, test } from "bun:test";
import type { ContractContext, WireEvent } from "./client.ts";

const NODES = "/api/v1/nodes";

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
