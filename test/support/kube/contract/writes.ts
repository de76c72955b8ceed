/**
 * Contract of writes: versions, preconditions, the status split, patches, and what is refused.
 * @module
 */
import { describe, expect, test } from "bun:test";
import type { Answer, ContractContext } from "./client.ts";

const NODES = "/api/v1/nodes";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
const EVENTS = "/api/v1/namespaces/default/events";
const TAINT = { key: "example.com/a", value: "true", effect: "NoSchedule" };

/** Adds the cases to the suite that is being described. */
export function addWriteCases(use: () => ContractContext): void {
  let count = 0;
  const createNode = async (extra: object = {}): Promise<string> => {
    count += 1;
    const name = `w-${count}`;
    const answer = await use().client.send("POST", NODES, { metadata: { name }, ...extra });
    expect(answer.status).toBe(201);
    return `${NODES}/${name}`;
  };
  const refused = (answer: Answer, code: number, reason: string): void => {
    expect([answer.status, answer.body.kind, answer.body.reason, answer.body.code]).toEqual([
      code,
      "Status",
      reason,
      code,
    ]);
  };

  describe("versions and preconditions", () => {
    test("a PUT with an old resourceVersion is a conflict", async () => {
      const { client } = use();
      const path = await createNode();
      const old = (await client.get(path)).body;
      await client.patch(path, "merge", { metadata: { labels: { a: "b" } } });
      refused(await client.send("PUT", path, old), 409, "Conflict");
    });

    test.each(["merge", "strategic"] as const)(
      "a %s patch with an old resourceVersion in its body is a conflict and changes nothing",
      async (type) => {
        const { client } = use();
        const path = await createNode();
        const { resourceVersion } = (await client.get(path)).body.metadata;
        const body = (label: string): object => ({
          metadata: { resourceVersion, labels: { label } },
        });
        expect((await client.patch(path, type, body("first"))).status).toBe(200);
        refused(await client.patch(path, type, body("second")), 409, "Conflict");
        expect((await client.get(path)).body.metadata.labels?.["label"]).toBe("first");
      },
    );

    test("versions are whole numbers that grow with each write, in lists as in objects", async () => {
      const { client } = use();
      const path = await createNode();
      const other = await createNode();
      const changed = await client.patch(path, "merge", { metadata: { labels: { a: "b" } } });
      const answers = [await client.get(other), changed, await client.get(NODES)];
      const versions = answers.map(({ body }) => body.metadata.resourceVersion);
      for (const version of versions) expect(version).toMatch(/^[1-9]\d*$/);
      const [before, after, list] = versions.map(BigInt);
      expect([(after ?? 0n) > (before ?? 0n), (list ?? 0n) >= (after ?? 0n)]).toEqual([true, true]);
    });

    test("a write with the UID of another object is refused", async () => {
      const { client } = use();
      const path = await createNode();
      const uid = "00000000-0000-0000-0000-000000000000";
      refused(await client.patch(path, "merge", { metadata: { uid } }), 422, "Invalid");
      const metadata = { name: path.slice(NODES.length + 1), uid };
      refused(await client.send("PUT", path, { metadata }), 409, "Conflict");
    });

    test("a write that changes nothing keeps the resourceVersion", async () => {
      const { client } = use();
      const path = await createNode({ spec: { taints: [TAINT] } });
      const before = (await client.get(path)).body.metadata.resourceVersion;
      const same = await client.patch(path, "merge", { spec: { taints: [TAINT] } });
      expect(same.body.metadata.resourceVersion).toBe(before);
    });

    test.each(["uid", "resourceVersion"])(
      "a delete with another %s is a conflict and deletes nothing",
      async (key) => {
        const { client } = use();
        const path = await createNode();
        const body = { preconditions: { [key]: "12" } };
        refused(await client.send("DELETE", path, body), 409, "Conflict");
        expect((await client.get(path)).status).toBe(200);
      },
    );

    test("a delete with the right UID and version deletes, once", async () => {
      const { client } = use();
      const path = await createNode();
      const { uid, resourceVersion } = (await client.get(path)).body.metadata;
      const body = { preconditions: { uid, resourceVersion } };
      const answer = await client.send("DELETE", path, body);
      expect([answer.status, answer.body.status]).toEqual([200, "Success"]);
      refused(await client.send("DELETE", path, body), 404, "NotFound");
    });

    test("an object with a finalizer stays until the finalizer goes", async () => {
      const { client } = use();
      const path = await createNode({
        metadata: { name: `f-${count + 1}`, finalizers: ["example.com/f"] },
      }).then(() => `${NODES}/f-${count}`);
      expect((await client.send("DELETE", path)).status).toBe(200);
      expect((await client.get(path)).body.metadata.deletionTimestamp).toBeString();
      await client.patch(path, "merge", { metadata: { finalizers: null } });
      refused(await client.get(path), 404, "NotFound");
    });

    test("creating what is there is refused", async () => {
      const path = await createNode();
      const name = path.slice(NODES.length + 1);
      const answer = await use().client.send("POST", NODES, { metadata: { name } });
      refused(answer, 409, "AlreadyExists");
    });
  });

  describe("status", () => {
    const address = { type: "InternalIP", address: "10.0.0.1" };

    test("a write of the object leaves the status alone", async () => {
      const { client } = use();
      const path = await createNode({ status: { addresses: [address] } });
      const patch = { metadata: { labels: { a: "b" } }, status: { addresses: [] } };
      const answer = await client.patch(path, "merge", patch);
      expect(answer.body.metadata.labels).toEqual({ a: "b" });
      expect(answer.body.status).toMatchObject({ addresses: [address] });
    });

    test("a write of the status leaves the spec alone, and changes labels", async () => {
      const { client } = use();
      const path = await createNode({ spec: { taints: [TAINT] } });
      const patch = {
        metadata: { labels: { a: "b" } },
        spec: { taints: null, unschedulable: true },
        status: { addresses: [address] },
      };
      const answer = await client.patch(`${path}/status`, "merge", patch);
      expect(answer.body.spec).toEqual({ taints: [TAINT] });
      expect(answer.body.status).toMatchObject({ addresses: [address] });
      expect(answer.body.metadata.labels).toEqual({ a: "b" });
    });

    test("a strategic patch merges addresses by type", async () => {
      const { client } = use();
      const hostname = { type: "Hostname", address: "n" };
      const path = await createNode({ status: { addresses: [address, hostname] } });
      const changed = { ...address, address: "10.0.0.2" };
      const patch = { status: { addresses: [changed] } };
      const answer = await client.patch(`${path}/status`, "strategic", patch);
      expect(answer.body.status).toMatchObject({ addresses: [changed, hostname] });
    });

    test("a strategic patch with $patch: replace replaces all addresses, in order", async () => {
      const { client } = use();
      const path = await createNode({
        status: { addresses: [address, { type: "Hostname", address: "n" }] },
      });
      const wanted = [
        { type: "InternalIP", address: "10.0.0.9" },
        { type: "InternalIP", address: "fd00::9" },
        { type: "ExternalIP", address: "198.51.100.9" },
      ];
      const patch = { status: { addresses: [...wanted, { $patch: "replace" }] } };
      const answer = await client.patch(`${path}/status`, "strategic", patch);
      expect(answer.body.status).toMatchObject({ addresses: wanted });
    });

    test("a merge patch replaces all addresses, in order", async () => {
      const { client } = use();
      const path = await createNode({ status: { addresses: [address] } });
      const addresses = [{ type: "InternalIP", address: "fd00::9" }, address];
      const answer = await client.patch(`${path}/status`, "merge", { status: { addresses } });
      expect(answer.body.status).toMatchObject({ addresses });
    });
  });

  describe("fields", () => {
    test("a field that the server does not know is dropped, others stay as they were", async () => {
      const { client } = use();
      const path = await createNode({
        spec: { taints: [TAINT], neverHeardOf: 1 },
        status: { images: [{ names: ["a"], sizeBytes: 5 }], capacity: { "example.com/gpu": "2" } },
      });
      const answer = await client.patch(path, "merge", { metadata: { labels: { a: "b" } } });
      expect(answer.body.spec).toEqual({ taints: [TAINT] });
      expect(answer.body.status).toMatchObject({
        images: [{ names: ["a"], sizeBytes: 5 }],
        capacity: { "example.com/gpu": "2" },
      });
    });

    test.each(["merge", "strategic"] as const)(
      "a %s patch replaces all taints, and null or none removes them",
      async (type) => {
        const { client } = use();
        const path = await createNode({ spec: { taints: [TAINT] } });
        const other = { key: "example.com/b", effect: "NoExecute" };
        const replaced = await client.patch(path, type, { spec: { taints: [other] } });
        expect(replaced.body.spec?.["taints"]).toEqual([other]);
        const empty = await client.patch(path, type, { spec: { taints: [] } });
        expect(empty.body.spec).toEqual({});
        await client.patch(path, type, { spec: { taints: [other] } });
        const removed = await client.patch(path, type, { spec: { taints: null } });
        expect(removed.body.spec).toEqual({});
      },
    );

    test("a provider ID is set once and never changed", async () => {
      const { client } = use();
      const path = await createNode();
      const set = (providerID: string | null): Promise<Answer> =>
        client.patch(path, "merge", { spec: { providerID } });
      expect((await set("a://1")).status).toBe(200);
      expect((await set("a://1")).status).toBe(200);
      refused(await set("a://2"), 422, "Invalid");
      refused(await set(null), 422, "Invalid");
      expect((await client.get(path)).body.spec?.["providerID"]).toBe("a://1");
    });

    test.each([
      ["a label value with a blank", { metadata: { labels: { a: "b c" } } }],
      ["a label value of 64 characters", { metadata: { labels: { a: "x".repeat(64) } } }],
      ["a label value that ends in a dash", { metadata: { labels: { a: "b-" } } }],
      ["a label value beyond ASCII", { metadata: { labels: { a: "é" } } }],
      ["a label key with two slashes", { metadata: { labels: { "a/b/c": "" } } }],
      ["an unknown taint effect", { spec: { taints: [{ ...TAINT, effect: "No" }] } }],
      ["the same taint twice", { spec: { taints: [TAINT, TAINT] } }],
    ])("%s is refused", async (_title, patch) => {
      const path = await createNode();
      refused(await use().client.patch(path, "merge", patch), 422, "Invalid");
    });

    test("a patch of an unknown media type is refused", async () => {
      const path = await createNode();
      const answer = await use().client.send("PATCH", path, {}, "application/json");
      refused(answer, 415, "UnsupportedMediaType");
    });

    test("an unknown field is refused or warned of if that is asked for", async () => {
      const { client } = use();
      const node = { metadata: { name: "strict" }, spec: { foo: 1 } };
      const strict = await client.send("POST", `${NODES}?fieldValidation=Strict`, node);
      expect([strict.status, strict.body.reason]).toEqual([400, "BadRequest"]);
      expect(strict.body.message).toContain('strict decoding error: unknown field "spec.foo"');
      const warned = await client.send("POST", `${NODES}?fieldValidation=Warn`, node);
      expect(warned.status).toBe(201);
      expect(warned.headers.get("warning")).toContain('unknown field \\"spec.foo\\"');
    });

    test("a dry run checks and stores nothing", async () => {
      const { client } = use();
      const node = { metadata: { name: "dry" } };
      expect((await client.send("POST", `${NODES}?dryRun=All`, node)).status).toBe(201);
      expect((await client.get(`${NODES}/dry`)).status).toBe(404);
    });

    test("a body that is no JSON is refused", async () => {
      refused(await use().client.send("POST", NODES, "{"), 400, "BadRequest");
    });

    test("an absent object is NotFound, by GET, PUT, PATCH and DELETE", async () => {
      const { client } = use();
      const path = `${NODES}/absent`;
      refused(await client.get(path), 404, "NotFound");
      refused(await client.send("PUT", path, { metadata: { name: "absent" } }), 404, "NotFound");
      refused(await client.patch(path, "merge", {}), 404, "NotFound");
      refused(await client.send("DELETE", path), 404, "NotFound");
    });
  });

  describe("leases and events", () => {
    const lease = (name: string, renewTime: string): object => ({
      metadata: { name },
      spec: { holderIdentity: "", leaseDurationSeconds: 15, leaseTransitions: 0, renewTime },
    });

    test("a Lease takes times with exactly six digits and keeps empty values", async () => {
      const { client } = use();
      const time = "2026-01-01T00:00:00.123456Z";
      const answer = await client.send("POST", LEASES, lease("good", time));
      expect([answer.status, answer.body.spec?.["renewTime"]]).toEqual([201, time]);
      expect(answer.body.spec).toMatchObject({ holderIdentity: "", leaseTransitions: 0 });
    });

    test.each(["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.123Z", "now"])(
      "a Lease refuses the time %s",
      async (time) => {
        refused(await use().client.send("POST", LEASES, lease("bad", time)), 400, "BadRequest");
      },
    );

    test("a Lease is not updated without a resourceVersion", async () => {
      const { client } = use();
      const body = lease("unversioned", "2026-01-01T00:00:00.000000Z");
      await client.send("POST", LEASES, body);
      refused(await client.send("PUT", `${LEASES}/unversioned`, body), 422, "Invalid");
    });

    test("an Event on a Node stands in the namespace default, and its count is patched", async () => {
      const { client } = use();
      const involvedObject = { kind: "Node", name: "n", uid: "u" };
      const body = { metadata: { name: "e.1" }, involvedObject, reason: "R", count: 1 };
      expect((await client.send("POST", EVENTS, body)).status).toBe(201);
      const answer = await client.patch(`${EVENTS}/e.1`, "strategic", { count: 2 });
      expect(answer.body).toMatchObject({ count: 2, reason: "R" });
      const elsewhere = EVENTS.replace("default", "kube-system");
      refused(await client.send("POST", elsewhere, body), 422, "Invalid");
    });

    test("an object in an absent namespace is refused", async () => {
      const path = LEASES.replace("kube-system", "absent");
      const body = lease("a", "2026-01-01T00:00:00.000000Z");
      refused(await use().client.send("POST", path, body), 404, "NotFound");
    });
  });
}

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
