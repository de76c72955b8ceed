/**
 * Contract of server-side apply: one manager says all that it wants, others write the rest.
 * @module
 */
import { describe, expect, test } from "bun:test";
import type { Answer, ContractContext } from "./client.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const OWNER = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: "u-1" };

/** Adds the cases to the suite that is being described. */
export function addApplyCases(use: () => ContractContext): void {
  const apply = (name: string, wanted: object, query = "fieldManager=a"): Promise<Answer> => {
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, ...wanted };
    return use().client.patch(`${MAPS}/${name}?${query}`, "apply", body);
  };
  const patch = (name: string, body: object): Promise<Answer> =>
    use().client.patch(`${MAPS}/${name}?fieldManager=b`, "merge", body);
  const read = async (name: string): Promise<Answer["body"]> =>
    (await use().client.get(`${MAPS}/${name}`)).body;

  describe("server-side apply", () => {
    test("creates what is not there, and writes nothing when all is as wanted", async () => {
      const first = await apply("made", { data: { a: "1" } });
      expect([first.status, first.body.metadata.name]).toEqual([201, "made"]);
      const again = await apply("made", { data: { a: "1" } });
      expect([again.status, again.body.metadata.resourceVersion]).toEqual([
        200,
        first.body.metadata.resourceVersion,
      ]);
    });

    test("takes away what its manager wants no more, and leaves what others wrote", async () => {
      const labels = { mine: "1", old: "1" };
      await apply("shared", { metadata: { name: "shared", labels }, data: { a: "1", old: "1" } });
      await patch("shared", { metadata: { labels: { theirs: "1" } }, data: { b: "2" } });
      const metadata = { name: "shared", labels: { mine: "2" } };
      const { body } = await apply("shared", { metadata, data: { a: "3" } });
      expect(body.metadata.labels).toEqual({ mine: "2", theirs: "1" });
      expect(body).toMatchObject({ data: { a: "3", b: "2" } });
      expect(body).not.toMatchObject({ data: { old: "1" } });
    });

    test("leaves what its manager wants no more when somebody else has changed it", async () => {
      await apply("taken", { data: { a: "1", b: "1" } });
      await patch("taken", { data: { b: "2" } });
      await apply("taken", { data: { a: "1" } });
      expect(await read("taken")).toMatchObject({ data: { a: "1", b: "2" } });
    });

    test("is a conflict where somebody else has changed a field, unless it is forced", async () => {
      await apply("fought", { data: { a: "1" } });
      await patch("fought", { data: { a: "2" } });
      const refused = await apply("fought", { data: { a: "1" } });
      expect([refused.status, refused.body.reason]).toEqual([409, "Conflict"]);
      expect(refused.body.details).toMatchObject({
        causes: [{ reason: "FieldManagerConflict", field: ".data.a" }],
      });
      expect(await read("fought")).toMatchObject({ data: { a: "2" } });
      const forced = await apply("fought", { data: { a: "1" } }, "fieldManager=a&force=true");
      expect([forced.status, forced.body]).toMatchObject([200, { data: { a: "1" } }]);
    });

    test("keeps finalizers and owners that others added, and drops its own", async () => {
      const metadata = { name: "owned", finalizers: ["example.org/a"], ownerReferences: [OWNER] };
      const { body } = await apply("owned", { metadata });
      expect(body.metadata).toMatchObject({ ...metadata });
      const theirs = { ...OWNER, name: "other", uid: "u-2" };
      await patch("owned", {
        metadata: {
          finalizers: ["example.org/a", "example.org/b"],
          ownerReferences: [OWNER, theirs],
        },
      });
      await apply("owned", { metadata: { name: "owned" } });
      const after = await read("owned");
      expect(after.metadata["finalizers"]).toEqual(["example.org/b"]);
      expect(after.metadata["ownerReferences"]).toEqual([theirs]);
      await patch("owned", { metadata: { finalizers: null } });
    });

    test("is refused without a manager, and without a kind", async () => {
      const unmanaged = await apply("refused", {}, "");
      expect([unmanaged.status, unmanaged.body.reason]).toEqual([422, "Invalid"]);
      const body = { metadata: { name: "refused" } };
      const path = `${MAPS}/refused?fieldManager=a`;
      const untyped = await use().client.patch(path, "apply", body);
      expect([untyped.status, untyped.body.reason]).toEqual([400, "BadRequest"]);
    });
  });
}
