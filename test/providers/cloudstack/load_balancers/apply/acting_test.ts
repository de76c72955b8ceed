/**
 * What every change shares.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { CloudError } from "../../../../../lib/cloud/errors.ts";
import {
  type Acting,
  compare,
  isMissing,
  toProject,
  toSorted,
} from "../../../../../lib/providers/cloudstack/load_balancers/apply/acting.ts";
import { RecordWriter } from "../../../../../lib/providers/cloudstack/load_balancers/apply/record_writer.ts";
import { ApiError } from "../../../../../lib/providers/cloudstack/session/errors.ts";
import { OWNER, useApply } from "./apply_rig.ts";
import { SIGNER } from "../objects.ts";

const rig = useApply();
const { signal } = new AbortController();

function toActing(projectId?: string): Acting {
  const { session, store, clock, random } = rig;
  const record = new RecordWriter(rig.record, { owner: OWNER }, SIGNER, signal);
  return { session, store, clock, projectId, random, record, owner: OWNER, signal };
}

describe("compare()", () => {
  test.each([
    [{}, true],
    [{ port: 80 }, true],
    [{ cidrs: ["a", "b"] }, true],
    [{ port: 81 }, false],
    [{ cidrs: ["a"] }, false],
    [{ reason: "x" }, false],
  ])("an object that was asked for with %p leaves the look valid: %p", async (asked, isValid) => {
    await rig.look();
    const object: { port: number; cidrs: string[]; reason?: string } = {
      port: 80,
      cidrs: ["a", "b"],
    };
    compare(toActing(), object, asked);
    expect(rig.store.isValid).toBe(isValid);
  });
});

test("toProject() names the project, if there is one", () => {
  expect(toProject(toActing())).toEqual({});
  expect(toProject(toActing("p"))).toEqual({ projectid: "p" });
});

test("toSorted() leaves the list alone", () => {
  const cidrs = ["b", "a"];
  expect([toSorted(cidrs), cidrs]).toEqual([
    ["a", "b"],
    ["b", "a"],
  ]);
});

test("isMissing() is about the object that is named, and no other", () => {
  const id = OWNER.uid;
  const text = `Invalid parameter id value=${id} due to incorrect long value format, or entity does not exist`;
  const error = new ApiError({ code: 431, text }, { command: "x", secrets: [] });
  expect(isMissing(error, id)).toBe(true);
  expect(isMissing(error, rig.networkId)).toBe(false);
  expect(isMissing(new CloudError("protocol", text), id)).toBe(false);
  expect(isMissing(new Error(text), id)).toBe(false);
});

describe("RecordWriter", () => {
  const address = { place: { networkId: OWNER.uid }, atMs: 0, wasFree: true };
  const job = { id: OWNER.uid, command: "x" };

  test("saves in the order of the calls, and nothing that Kubernetes has", async () => {
    const writer = new RecordWriter(rig.record, { owner: OWNER }, SIGNER, signal);
    rig.record.onSave = () => Bun.sleep(1);
    await Promise.all([writer.keep({ address }), writer.keepJob(job), writer.keep({ address })]);
    await writer.keep({ address });
    const saved = rig.record.saved.map((text) => Object.keys(JSON.parse(text ?? "{}")));
    expect(saved).toEqual([
      ["v", "uid", "address", "signature"],
      ["v", "uid", "address", "job", "signature"],
      ["v", "uid", "address", "signature"],
    ]);
  });

  test("keeps what each call is not about", async () => {
    const shared = "192.0.2.7";
    const record = { address: { ...address, id: OWNER.uid }, shared };
    const writer = new RecordWriter(rig.record, { owner: OWNER, record }, SIGNER, signal);
    await writer.keepJob(job);
    expect(writer.kept).toEqual({ ...record, job });
    await writer.keepAddress(address);
    expect(writer.kept).toEqual({ address, shared });
    await writer.keepShared("192.0.2.8");
    expect(writer.kept).toEqual({ address, shared: "192.0.2.8" });
    await writer.forgetAddress({ id: "other", ip: shared });
    expect(writer.kept).toEqual({ address, shared: "192.0.2.8" });
    await writer.forgetAddress({ id: "other", ip: "192.0.2.8" });
    expect(writer.kept).toEqual({ address });
    await writer.keepAddress();
    expect(rig.record.text).toBeUndefined();
  });

  test("a save that failed is tried again by the next one", async () => {
    const writer = new RecordWriter(rig.record, { owner: OWNER }, SIGNER, signal);
    rig.record.onSave = () => Promise.reject(new Error("no"));
    expect(await writer.keep({ job }).catch(String)).toBe("Error: no");
    rig.record.onSave = () => {};
    await writer.keep({ job });
    expect(rig.record.text).toBeDefined();
  });

  test("begins with what the step knows of the record", async () => {
    const writer = new RecordWriter(rig.record, { owner: OWNER, record: { job } }, SIGNER, signal);
    await writer.keep({ job });
    expect(rig.record.saved).toEqual([]);
    await writer.keep({});
    expect(rig.record.saved).toEqual([undefined]);
  });

  test("clears a record that nothing was known of", async () => {
    const writer = new RecordWriter(rig.record, { owner: OWNER }, SIGNER, signal);
    await writer.clear();
    expect(rig.record.saved).toEqual([undefined]);
  });
});
