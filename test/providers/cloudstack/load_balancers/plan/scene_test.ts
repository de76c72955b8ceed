import { expect, test } from "bun:test";
import {
  isNameOf,
  isOfAnother,
  isOwn,
  toScene,
} from "../../../../../lib/providers/cloudstack/load_balancers/plan/scene.ts";
import { TAG_KEYS, toTags } from "../../../../../lib/providers/cloudstack/load_balancers/words.ts";
import { CLUSTER } from "../cloud/cloud_model.ts";
import { createCloud, LB_NAME, OWNER, toRecord, toSpec } from "../cloud/services.ts";

test("a rule is of a Service if its name is exactly one of ours, whatever it contains", () => {
  const names: readonly [string, boolean][] = [
    [`${LB_NAME}-tcp-80`, true],
    [`${LB_NAME}-tcp-proxy-80`, true],
    [`${LB_NAME}-udp-80`, true],
    [`${LB_NAME}-80`, true],
    [`${LB_NAME}-sctp-80`, false],
    [`${LB_NAME}-tcp-080`, false],
    [`${LB_NAME}-tcp-80-x`, false],
    [`x${LB_NAME}-tcp-80`, false],
    [`${LB_NAME}`, false],
    [`${LB_NAME}0-tcp-80`, false],
  ];
  expect(names.map(([name]) => [name, isNameOf(LB_NAME, name)])).toEqual(
    names.map((one) => [...one]),
  );
});

test("an address is of a Service if its tags name this cluster and the Service", () => {
  const cloud = createCloud();
  const scene = toScene(cloud.view(), toSpec());
  const put = (tags: ReadonlyMap<string, string>): (string | boolean)[] => {
    const address = cloud.addAddress({ ip: "192.0.2.1", tags });
    return [isOwn(scene, address), isOfAnother(scene, address)];
  };
  expect(put(toTags(CLUSTER, OWNER))).toEqual([true, false]);
  expect(put(toTags(CLUSTER, { ...OWNER, uid: "other" }))).toEqual([false, true]);
  expect(put(toTags("other", OWNER))).toEqual([false, true]);
  expect(put(new Map([[TAG_KEYS.serviceUid, OWNER.uid]]))).toEqual([false, true]);
  expect(put(new Map([["team", "shop"]]))).toEqual([false, false]);
});

test("a copy of another Service's record says nothing", () => {
  const address = { ip: "192.0.2.1", network: "01234567-89ab-4cde-8f01-23456789abcd" };
  const asked = { ...address, at: "2026-01-01T00:00:00Z", free: true };
  const view = createCloud().view();
  expect(toScene(view, toSpec({ record: toRecord({ address: asked }) })).record?.address?.ip).toBe(
    "192.0.2.1",
  );
  expect(
    toScene(view, toSpec({ record: toRecord({ address: asked }, "another") })).record,
  ).toBeUndefined();
});
