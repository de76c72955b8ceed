import { expect, test } from "bun:test";
import {
  toJumpHostLabels,
  toJumpHostNames,
} from "../../../../../lib/controllers/sipcluster/services/jump_host/names.ts";

const cluster = { metadata: { name: "tenant", namespace: "infra" } };

test("toJumpHostNames() gives each entry of a list names of its own", () => {
  expect(toJumpHostNames(cluster, 0)).toEqual({
    name: "jumphost-tenant",
    account: "landfall-jumphost-tenant",
    hostKeys: "jumphost-tenant-host-keys",
    requests: "jumphost-tenant-requests",
  });
  expect(toJumpHostNames(cluster, 1).name).toBe("jumphost-tenant-2");
});

test("toJumpHostLabels() writes the labels of the original operator", () => {
  expect(toJumpHostLabels("jumphost-tenant-2")).toEqual({
    "app.kubernetes.io/part-of": "sip",
    "app.kubernetes.io/component": "jumphost",
    "app.kubernetes.io/name": "jumphost",
    "app.kubernetes.io/instance": "jumphost-tenant-2",
  });
});
