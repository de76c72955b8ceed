/**
 * What is kept of a BareMetalHost, and which answers are damaged.
 * @module
 */
import { expect, test } from "bun:test";
import { BARE_METAL_HOSTS, VINO_UID } from "../../../lib/kube/kinds/bare_metal_host.ts";
import { findDamage, trimObject } from "../../../lib/kube/kinds/resource.ts";

const PAUSED = "baremetalhost.metal3.io/paused";

test("a store keeps what decides about a host, and nothing else", () => {
  const metadata = {
    name: "h",
    namespace: "metal3",
    uid: "u",
    resourceVersion: "7",
    generation: 3,
    labels: { rack: "r1" },
    annotations: { [PAUSED]: "", "inspect.metal3.io/hardwaredetails": "{}" },
    managedFields: [{ manager: "x" }],
    finalizers: ["baremetalhost.metal3.io"],
  };
  const spec = {
    online: true,
    bmc: { address: "redfish://192.0.2.1", credentialsName: "bmc" },
    networkData: { name: "h-networkdata", namespace: "metal3" },
    consumerRef: { apiVersion: "v1", kind: "Metal3Machine", name: "m", namespace: "metal3" },
    userData: null,
  };
  const status = {
    provisioning: { state: "provisioned", ID: "1", image: {} },
    operationalStatus: "error",
    errorMessage: "x".repeat(10_000),
    hardware: { cpu: {} },
  };
  const object: object = { metadata, spec, status };
  const trimmed = trimObject(BARE_METAL_HOSTS, { metadata, ...object });
  const { managedFields: _fields, finalizers: _finalizers, ...kept } = metadata;
  expect(trimmed).toEqual({
    apiVersion: "metal3.io/v1alpha1",
    kind: "BareMetalHost",
    metadata: { ...kept, annotations: { [PAUSED]: "" } },
    spec: {
      networkData: { name: "h-networkdata", namespace: "metal3" },
      consumerRef: { kind: "Metal3Machine", name: "m", namespace: "metal3" },
      bmc: {},
    },
    status: {
      provisioning: { state: "provisioned" },
      operationalStatus: "error",
      errorMessage: "x".repeat(120),
    },
  });
});

test("a store keeps of hosts that Landfall made what it must compare", () => {
  const metadata = {
    name: "h",
    labels: { [VINO_UID]: "u" },
    annotations: {
      "landfall.dev/machine-id": "vm",
      "cluster.x-k8s.io/paused": "",
      "inspect.metal3.io/hardwaredetails": "{}",
      other: "x",
    },
  };
  const bmc = { address: "redfish://192.0.2.1", credentialsName: "bmc" };
  const bootMACAddress = "02:00:00:00:00:01";
  const object: object = { spec: { bmc, bootMACAddress } };
  const { metadata: kept, spec } = trimObject(BARE_METAL_HOSTS, { metadata, ...object });
  expect(spec).toEqual({ bmc: { address: bmc.address }, bootMACAddress });
  expect(Object.keys(kept.annotations ?? {})).toEqual([
    "landfall.dev/machine-id",
    "cluster.x-k8s.io/paused",
    "inspect.metal3.io/hardwaredetails",
  ]);
});

test("a store keeps no field that is empty or null", () => {
  const spec = { networkData: null, consumerRef: null, preprovisioningNetworkDataName: "" };
  const status = { provisioning: { state: "" }, errorMessage: "" };
  const object: object = { spec, status };
  const { spec: keptSpec, status: keptStatus } = trimObject(BARE_METAL_HOSTS, {
    metadata: { name: "h" },
    ...object,
  });
  expect([keptSpec, keptStatus]).toEqual([{}, {}]);
});

test.each<[string, object]>([
  ["spec", { spec: [] }],
  ["spec.networkData", { spec: { networkData: "x" } }],
  ["spec.networkData.name", { spec: { networkData: { name: 1 } } }],
  ["spec.preprovisioningNetworkDataName", { spec: { preprovisioningNetworkDataName: 1 } }],
  ["spec.consumerRef.namespace", { spec: { consumerRef: { namespace: [] } } }],
  ["spec.bmc.address", { spec: { bmc: { address: 1 } } }],
  ["spec.bootMACAddress", { spec: { bootMACAddress: 1 } }],
  ["status", { status: "x" }],
  ["status.provisioning.state", { status: { provisioning: { state: {} } } }],
  ["status.operationalStatus", { status: { operationalStatus: 1 } }],
  ["status.errorMessage", { status: { errorMessage: {} } }],
])("findDamage() of a BareMetalHost names %s", (path, rest) => {
  const damage = findDamage(BARE_METAL_HOSTS, { metadata: { name: "h" }, ...rest });
  expect(damage).toBe(`${path} has a wrong type`);
});

test("findDamage() of a BareMetalHost finds nothing wrong with what is absent or null", () => {
  const metadata = { name: "h" };
  const spec = { networkData: null, consumerRef: null };
  const whole = [{ metadata }, { metadata, spec, status: null }];
  expect(whole.map((object) => findDamage(BARE_METAL_HOSTS, object))).toEqual([
    undefined,
    undefined,
  ]);
});
