import { expect, test } from "bun:test";
import {
  annotationsOf,
  consumerOf,
  hasBmc,
  hasImage,
  hasLabels,
  isExternallyProvisioned,
  isLeaving,
  isPaused,
  pathOf,
  stateOf,
} from "../../../lib/simulator/metal3/host_state.ts";
import type { ApiObject, JsonObject } from "../../../lib/simulator/kubernetes/mod.ts";

const METADATA = {
  name: "h",
  namespace: "n",
  uid: "u",
  resourceVersion: "1",
  creationTimestamp: "",
};
const REFERENCE = { kind: "Metal3Machine", namespace: "n", name: "m" };

function toHost(more: JsonObject, metadata: JsonObject = {}): ApiObject {
  return { ...more, metadata: { ...METADATA, ...metadata } };
}

test("a host without anything has no state, consumer, image or annotations, and stays", () => {
  const host = toHost({});
  expect([pathOf(host), stateOf(host), annotationsOf(host)]).toEqual([
    { namespace: "n", name: "h" },
    "",
    {},
  ]);
  expect(consumerOf(host)).toBeUndefined();
  expect([hasImage(host), isPaused(host), isLeaving(host)]).toEqual([false, false, false]);
});

test("a host tells its state, consumer, image, pause and deletion", () => {
  const host = toHost(
    {
      spec: { consumerRef: REFERENCE, image: { url: "https://i" } },
      status: { provisioning: { state: "provisioned" } },
    },
    {
      annotations: { "baremetalhost.metal3.io/paused": "" },
      deletionTimestamp: "2026-01-02T03:04:05Z",
    },
  );
  expect([stateOf(host), consumerOf(host)]).toEqual(["provisioned", REFERENCE]);
  expect([hasImage(host), isPaused(host), isLeaving(host)]).toEqual([true, true, true]);
});

test("hasLabels() wants all labels with their values", () => {
  const host = toHost({}, { labels: { a: "1", b: "2" } });
  expect([{}, { a: "1" }, { a: "1", b: "2" }].map((some) => hasLabels(host, some))).toEqual([
    true,
    true,
    true,
  ]);
  expect([{ a: "2" }, { a: "1", c: "" }].map((some) => hasLabels(host, some))).toEqual([
    false,
    false,
  ]);
});

test("a host says whether it has a management controller, and who installs it", () => {
  const hosts = [
    {},
    { spec: { bmc: { address: "" }, externallyProvisioned: false } },
    { spec: { bmc: { address: "redfish://192.0.2.1" }, externallyProvisioned: true } },
  ].map((fields) => toHost(fields));
  expect(hosts.map(hasBmc)).toEqual([false, false, true]);
  expect(hosts.map(isExternallyProvisioned)).toEqual([false, false, true]);
});
