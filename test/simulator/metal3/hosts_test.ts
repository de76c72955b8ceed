import { expect, test } from "bun:test";
import { Buffer } from "node:buffer";
import { objectAt, stringAt } from "../../../lib/simulator/kubernetes/patches/json.ts";
import {
  breakHost,
  changeNetworks,
  mendHost,
  patchHostStatus,
  planHosts,
} from "../../../lib/simulator/metal3/hosts.ts";
import { createHosts, HOSTS } from "../../support/metal3/objects.ts";

const HOST = { namespace: HOSTS, name: "r1-worker-1" };

test("planHosts() gives every host its labels, and an address and a machine of its own", () => {
  const plans = planHosts("metal3", [
    { name: "r1", flavors: { "control-plane": 1, worker: 2 } },
    { name: "r2", flavors: { worker: 1 } },
  ]);
  expect(plans.map(({ name }) => name)).toEqual([
    "r1-control-plane-1",
    "r1-worker-1",
    "r1-worker-2",
    "r2-worker-1",
  ]);
  expect(plans[1]).toMatchObject({
    namespace: "metal3",
    labels: {
      "vino.airshipit.org/flavor": "worker",
      "vino.airshipit.org/rack": "r1",
      "vino.airshipit.org/host": "r1-u2",
    },
  });
  const addresses = plans.flatMap(({ networks }) => networks.map(({ address }) => address));
  expect(new Set(addresses).size).toBe(plans.length);
});

test("createHost() registers a host that is available, with the Secrets that it names", () => {
  const objects = createHosts([{ name: "r1", flavors: { worker: 1 } }]);
  expect(objects.get("baremetalhosts", HOST)).toMatchObject({
    spec: {
      networkData: { name: "r1-worker-1-networkdata", namespace: HOSTS },
      bmc: { credentialsName: "r1-worker-1-bmc-credentials" },
    },
    status: { provisioning: { state: "available" }, operationalStatus: "OK" },
  });
  expect(objects.list("secrets", HOSTS).map(({ metadata }) => metadata.name)).toEqual([
    "r1-worker-1-bmc-credentials",
    "r1-worker-1-networkdata",
  ]);
});

test("changeNetworks() changes the Secret and not the host", () => {
  const objects = createHosts([{ name: "r1", flavors: { worker: 1 } }]);
  const before = objects.get("baremetalhosts", HOST);
  changeNetworks(objects, HOST, [{ id: "oam-ipv4", address: "10.9.9.9" }]);
  const secret = objects.get("secrets", { namespace: HOSTS, name: "r1-worker-1-networkdata" });
  const data = secret === undefined ? "" : stringAt(objectAt(secret, "data"), "networkData");
  expect(Buffer.from(data, "base64").toString()).toContain("10.9.9.9");
  expect(objects.get("baremetalhosts", HOST)).toEqual(before);
});

test("mendHost() takes back what breakHost() reports, and nothing else", () => {
  const objects = createHosts([{ name: "r1", flavors: { worker: 1 } }]);
  patchHostStatus(objects, HOST, { poweredOn: false });
  const before = objects.get("baremetalhosts", HOST)?.["status"];
  breakHost(objects, HOST, "the fan is broken");
  expect(objects.get("baremetalhosts", HOST)).toMatchObject({
    status: { operationalStatus: "error", errorMessage: "the fan is broken" },
  });
  mendHost(objects, HOST);
  expect(objects.get("baremetalhosts", HOST)?.["status"]).toEqual(before);
});
