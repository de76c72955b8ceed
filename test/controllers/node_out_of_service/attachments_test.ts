import { describe, expect, test } from "bun:test";
import { Attachments } from "../../../lib/controllers/node_out_of_service/attachments.ts";
import { silentLogger } from "../../../lib/core/log.ts";
import { Store } from "../../../lib/kube/cache/store.ts";
import {
  VOLUME_ATTACHMENTS,
  type VolumeAttachment,
} from "../../../lib/kube/kinds/volume_attachment.ts";

function toAttachment(name: string, nodeName: string, resourceVersion = "1"): VolumeAttachment {
  return { metadata: { name, uid: `uid-${name}`, resourceVersion }, spec: { nodeName } };
}

function createStore(): Store<VolumeAttachment> {
  return new Store<VolumeAttachment>({ resource: VOLUME_ATTACHMENTS, log: silentLogger });
}

function listAll(attachments: Attachments): unknown {
  return ["n1", "n2"].map((name) => [...(attachments.list(name) ?? ["unknown"])].sort());
}

describe("Attachments.list()", () => {
  const cases: [string, (store: Store<VolumeAttachment>) => void, unknown][] = [
    ["what was there before", () => undefined, [["uid-a", "uid-b"], ["uid-c"]]],
    [
      "one more",
      (store) => store.apply(toAttachment("d", "n2")),
      [
        ["uid-a", "uid-b"],
        ["uid-c", "uid-d"],
      ],
    ],
    ["one less", (store) => store.remove(toAttachment("a", "n1", "2")), [["uid-b"], ["uid-c"]]],
    [
      "none of a Node",
      (store) => store.remove(toAttachment("c", "n2", "2")),
      [["uid-a", "uid-b"], []],
    ],
    [
      "one that changed",
      (store) => store.apply(toAttachment("c", "n2", "2")),
      [["uid-a", "uid-b"], ["uid-c"]],
    ],
    [
      "one on another Node",
      (store) => store.apply(toAttachment("b", "n2", "2")),
      [["uid-a"], ["uid-b", "uid-c"]],
    ],
    ["another list", (store) => store.replace([toAttachment("d", "n1")], "2"), [["uid-d"], []]],
    ["nothing that can be read", (store) => store.clear(), [["unknown"], ["unknown"]]],
  ];
  test.each(cases)("knows %s", (_what, change, listed) => {
    const store = createStore();
    store.replace([toAttachment("a", "n1"), toAttachment("b", "n1"), toAttachment("c", "n2")], "1");
    const attachments = new Attachments(store);
    change(store);
    expect(listAll(attachments)).toEqual(listed);
  });

  test("knows what comes after it, and nothing before the first list", () => {
    const store = createStore();
    const attachments = new Attachments(store);
    expect(listAll(attachments)).toEqual([["unknown"], ["unknown"]]);
    store.replace([toAttachment("a", "n1")], "1");
    expect(listAll(attachments)).toEqual([["uid-a"], []]);
  });

  test("gives what is attached now: it stays the same when that changes", () => {
    const store = createStore();
    store.replace([toAttachment("a", "n1")], "1");
    const attachments = new Attachments(store);
    const before = attachments.list("n1");
    store.apply(toAttachment("b", "n1"));
    expect([...(before ?? [])]).toEqual(["uid-a"]);
  });
});
