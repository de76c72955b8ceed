/**
 * Contract of kinds that a CustomResourceDefinition brings: how they come, what is counted, how they go.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Answer, ContractContext } from "./client.ts";

const MUSEUM = { kind: "Museum", plural: "museums", namespaced: true } as const;
const MUSEUMS = { apiVersion: "contract.example.org/v1", ...MUSEUM } as const;
const TYPE = { apiVersion: MUSEUMS.apiVersion, kind: MUSEUM.kind } as const;
const ROOT = "/apis/contract.example.org";
const ALL = `${ROOT}/v1/museums`;
const HERE = `${ROOT}/v1/namespaces/default/museums`;

/** Adds the cases to the suite that is being described. */
export function addKindCases(use: () => ContractContext): void {
  const untilStatus = async (path: string, status: number): Promise<void> => {
    const { target } = use();
    const read = async (): Promise<number> => {
      const answer = await target.fetch(path, {});
      await answer.text();
      return answer.status;
    };
    while ((await read()) !== status) await Bun.sleep(20);
  };
  const post = (name: string, more: object = {}): Promise<Answer> =>
    use().client.send("POST", HERE, { ...TYPE, metadata: { name, ...more }, spec: { rooms: 1 } });

  describe("a kind that is not there", () => {
    test.each([`${ROOT}/v1/museums`, `${ROOT}/v1`, ROOT])(
      "is answered with a 404 that is no Status: %s",
      async (path) => {
        const answer = await use().target.fetch(path, {});
        expect([answer.status, await answer.text()]).toEqual([404, "404 page not found\n"]);
      },
    );

    test("is in no list of groups", async () => {
      const { body } = await use().client.get("/apis");
      expect(JSON.stringify(body)).not.toContain("contract.example.org");
      expect(body.kind).toBe("APIGroupList");
    });
  });

  describe("a kind that was installed", () => {
    beforeAll(async () => {
      await use().target.installKind(MUSEUMS);
      await untilStatus(ALL, 200);
      await untilStatus(`${ROOT}/v1`, 200);
    });
    afterAll(async () => {
      await use().target.removeKind(MUSEUMS);
      await untilStatus(ALL, 404);
    });

    test("is in the lists of groups and of resources", async () => {
      const { client } = use();
      await untilStatus(ROOT, 200);
      const groupVersion = "contract.example.org/v1";
      expect((await client.get("/apis")).body).toMatchObject({
        groups: expect.arrayContaining([
          expect.objectContaining({
            name: "contract.example.org",
            versions: [{ groupVersion, version: "v1" }],
          }),
        ]),
      });
      const resource = { name: "museums", kind: "Museum", namespaced: true };
      expect((await client.get(`${ROOT}/v1`)).body).toMatchObject({
        kind: "APIResourceList",
        groupVersion,
        resources: [resource, { name: "museums/status" }],
      });
    });

    test("counts generations: what is wanted and the deletion, but neither metadata nor status", async () => {
      const { client } = use();
      const path = `${HERE}/counted`;
      const { body } = await post("counted", { finalizers: ["example.org/a"] });
      const generations = [body.metadata["generation"]];
      const patch = async (to: string, change: object): Promise<void> => {
        const answer = await client.patch(to, "merge", change);
        expect(answer.status).toBe(200);
        generations.push(answer.body.metadata["generation"]);
      };
      await patch(path, { metadata: { labels: { a: "b" }, generation: 9 } });
      await patch(path, { spec: { rooms: 2 } });
      await patch(path, { spec: { rooms: 2 }, status: { open: true } });
      await patch(`${path}/status`, { status: { open: true }, spec: { rooms: 3 } });
      const deleted = await client.send("DELETE", path);
      generations.push(deleted.body.metadata["generation"]);
      expect(deleted.body.metadata.deletionTimestamp).toBeString();
      expect(deleted.body).toMatchObject({ spec: { rooms: 2 }, status: { open: true } });
      expect(generations).toEqual([1, 1, 2, 2, 2, 3]);
      await client.patch(path, "merge", { metadata: { finalizers: null } });
      expect((await client.get(path)).status).toBe(404);
    });

    test("begins without a status", async () => {
      const { client } = use();
      const body = { ...TYPE, metadata: { name: "begun" }, status: { open: true } };
      expect((await client.send("POST", HERE, body)).body).not.toHaveProperty("status");
    });

    test("has finalizers that are only a domain, as built-in kinds have not", async () => {
      const { status } = await post("kept", { finalizers: ["museum.example.org"] });
      expect(status).toBe(201);
      await use().client.patch(`${HERE}/kept`, "merge", { metadata: { finalizers: null } });
    });

    test("takes no object that does not say of what kind it is", async () => {
      const body = { metadata: { name: "untyped" } };
      const answer = await use().client.send("POST", HERE, body);
      expect([answer.status, answer.body.reason]).toEqual([400, "BadRequest"]);
    });

    test("takes no strategic merge patch", async () => {
      await post("plain");
      expect((await use().client.patch(`${HERE}/plain`, "strategic", {})).status).toBe(415);
    });

    test("takes what is applied, which leaves the status alone and counts like a patch", async () => {
      const { client } = use();
      const path = `${HERE}/applied`;
      const apply = (spec: object): Promise<Answer> => {
        const body = { ...TYPE, metadata: { name: "applied" }, spec };
        return client.patch(`${path}?fieldManager=a&force=true`, "apply", body);
      };
      const made = await apply({ rooms: 1, floors: 2 });
      expect([made.status, made.body.metadata["generation"]]).toEqual([201, 1]);
      await client.patch(`${path}/status`, "merge", { status: { open: true } });
      const changed = await apply({ rooms: 1, towers: [{ high: 1 }] });
      expect(changed.body.metadata["generation"]).toBe(2);
      expect(changed.body.spec).toEqual({ rooms: 1, towers: [{ high: 1 }] });
      expect(changed.body.status).toEqual({ open: true });
    });

    test("is watched by a label, which an object may lose", async () => {
      const { client } = use();
      const { metadata } = (await client.get(ALL)).body;
      await post("labelled", { labels: { show: "yes" } });
      await post("other");
      await client.patch(`${HERE}/labelled`, "merge", { metadata: { labels: { show: "no" } } });
      const query = `watch=1&resourceVersion=${metadata.resourceVersion}&labelSelector=show%3Dyes`;
      const events = await client.watch(`${ALL}?${query}`, ({ type }) => type === "DELETED");
      expect(events.map(({ type, object }) => [type, object.metadata.name])).toEqual([
        ["ADDED", "labelled"],
        ["DELETED", "labelled"],
      ]);
      expect((await client.get(`${ALL}?labelSelector=show%3Dno`)).body.items).toHaveLength(1);
    });
  });

  test("a kind that is removed ends its watches once they told that its objects are gone", async () => {
    const { client, target } = use();
    await target.installKind(MUSEUMS);
    await untilStatus(ALL, 200);
    await post("last");
    const events = client.stream(`${ALL}?watch=1&resourceVersion=0`);
    expect((await events.next()).value).toMatchObject({ type: "ADDED" });
    await target.removeKind(MUSEUMS);
    expect((await events.next()).value).toMatchObject({
      type: "DELETED",
      object: { metadata: { name: "last" } },
    });
    expect((await events.next()).done).toBe(true);
    await untilStatus(ALL, 404);
  });
}
