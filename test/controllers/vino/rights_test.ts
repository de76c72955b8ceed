import { expect, test } from "bun:test";
import { listRights, toPolicy } from "../../../lib/app/rights.ts";
import { vinoController } from "../../../lib/controllers/vino/definition.ts";
import { listRedfishRights } from "../../../lib/controllers/vino/rights.ts";
import { toEndpointSlice } from "../../../lib/controllers/vino/redfish/leader_endpoint.ts";
import { NAME } from "../../../lib/controllers/vino/words.ts";

const { clusterRules } = toPolicy(
  listRights({ registry: [vinoController], controllers: new Set([NAME]), hasSecurePort: false }),
);

function listVerbs(resource: string): readonly string[] {
  const rules = clusterRules.filter(({ resources }) => resources.includes(resource));
  return rules.flatMap(({ verbs }) => verbs).toSorted();
}

test("the controller never lists, watches or deletes Secrets", () => {
  expect(listVerbs("secrets")).toEqual(["create", "get", "patch"]);
});

test("the controller writes Vinos, their hosts and pools, and deletes only hosts", () => {
  expect(listVerbs("vinoes")).toEqual(["get", "list", "patch", "watch"]);
  expect(listVerbs("vinoes/status")).toEqual(["patch"]);
  expect(listVerbs("ippools")).toEqual(["create", "list", "patch", "watch"]);
  expect(listVerbs("baremetalhosts")).toEqual([
    "create",
    "delete",
    "get",
    "list",
    "patch",
    "watch",
  ]);
});

test("the controller changes no Node, and no kind", () => {
  expect(listVerbs("nodes").filter((verb) => !["list", "watch", "get"].includes(verb))).toEqual([]);
  const resources = clusterRules.flatMap((rule) => rule.resources);
  expect(resources.filter((one) => /customresource|role|\*/.test(one))).toEqual([]);
});

test.each([
  ["10.0.0.7", "10.0.0.7"],
  ["fd00::7", "fd00::7"],
  // As an administrator checks it, who does not know the address of the Pod.
  ["", "10.0.0.7"],
])(
  "listRedfishRights() allows the slice that the leader writes, with the address %p",
  (given, ip) => {
    const flags = {
      "vino-redfish-address": "0.0.0.0:8443",
      "vino-redfish-service": "metal/redfish",
      "vino-redfish-pod-ip": given,
    };
    const endpoint = { namespace: "metal", service: "redfish", ip, port: 8_443 };
    const { name } = toEndpointSlice(endpoint, true).metadata;
    const slices = { group: "discovery.k8s.io", resource: "endpointslices", namespace: "metal" };
    const rights = listRedfishRights(flags);
    expect(rights.map(({ access }) => access)).toEqual([
      { ...slices, verb: "create" },
      { ...slices, name, verb: "patch" },
    ]);
    expect(rights.every(({ mandatory }) => mandatory)).toBe(true);
  },
);

test("listRedfishRights() needs nothing without the Service, or without Redfish", () => {
  expect(listRedfishRights({ "vino-redfish-address": "0.0.0.0:8443" })).toEqual([]);
  expect(listRedfishRights({ "vino-redfish-service": "metal/redfish" })).toEqual([]);
});
