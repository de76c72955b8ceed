import { expect, test } from "bun:test";
import type { JsonObject, ObjectAccess } from "../../../lib/simulator/kubernetes/mod.ts";
import { operateHosts } from "../../../lib/simulator/metal3/bare_metal_operator.ts";
import { createHost } from "../../../lib/simulator/metal3/hosts.ts";
import { stateOf } from "../../../lib/simulator/metal3/host_state.ts";
import { createHosts, HOSTS } from "../../support/metal3/objects.ts";

const PATH = { namespace: HOSTS, name: "r1-worker-1" };
const IMAGE = { spec: { image: { url: "https://images.example.org/a" } } };

function createOne(): ObjectAccess {
  return createHosts([{ name: "r1", flavors: { worker: 1 } }]);
}

/** The states of the host after each step, until none changes it. */
function listStates(objects: ObjectAccess): readonly string[] {
  const states: string[] = [];
  while (operateHosts(objects).moved.length > 0) {
    const host = objects.get("baremetalhosts", PATH);
    states.push(host === undefined ? "gone" : stateOf(host));
  }
  return states;
}

test("operateHosts() leaves an available host alone", () => {
  const objects = createOne();
  const before = objects.get("baremetalhosts", PATH);
  expect(operateHosts(objects)).toEqual({ moved: [], rebooted: [] });
  expect(objects.get("baremetalhosts", PATH)).toEqual(before);
});

test("operateHosts() registers and inspects a new host", () => {
  const objects = createHosts([]);
  createHost(objects, { ...PATH, labels: {}, networks: [] }, "registering");
  expect(listStates(objects)).toEqual(["inspecting", "preparing", "available"]);
});

test("operateHosts() installs an image, and cleans the host when it is taken away", () => {
  const objects = createOne();
  objects.patch("baremetalhosts", PATH, IMAGE);
  expect(listStates(objects)).toEqual(["provisioning", "provisioned"]);
  objects.patch("baremetalhosts", PATH, { spec: { image: null } });
  expect(listStates(objects)).toEqual(["deprovisioning", "available"]);
});

test("operateHosts() cleans a host that is deleted before it lets it go", () => {
  const objects = createOne();
  objects.patch("baremetalhosts", PATH, IMAGE);
  listStates(objects);
  objects.delete("baremetalhosts", PATH);
  expect(listStates(objects)).toEqual(["deprovisioning", "deleting", "gone"]);
});

test("operateHosts() restarts a host once for the annotation", () => {
  const objects = createOne();
  const annotations = { "reboot.metal3.io": "", other: "stays" };
  objects.patch("baremetalhosts", PATH, { metadata: { annotations } });
  expect(operateHosts(objects).rebooted).toEqual([`${HOSTS}/r1-worker-1`]);
  expect(operateHosts(objects).rebooted).toEqual([]);
  expect(objects.get("baremetalhosts", PATH)?.metadata["annotations"]).toEqual({ other: "stays" });
});

test("operateHosts() leaves a paused host alone", () => {
  const objects = createOne();
  const annotations = { "baremetalhost.metal3.io/paused": "", "reboot.metal3.io": "" };
  objects.patch("baremetalhosts", PATH, { ...IMAGE, metadata: { annotations } });
  expect(operateHosts(objects)).toEqual({ moved: [], rebooted: [] });
});

const BMC = { address: "redfish://192.0.2.1/redfish/v1/Systems/1", credentialsName: "bmc" };

/** A host as a person makes it, without anything of metal3. */
function createBare(spec: JsonObject, annotations: JsonObject = {}): ObjectAccess {
  const objects = createHosts([]);
  const { namespace, name } = PATH;
  objects.create("baremetalhosts", { metadata: { namespace, name, annotations }, spec });
  return objects;
}

test("operateHosts() does not manage a host without a management controller, until it has one", () => {
  const objects = createBare({ online: false, externallyProvisioned: true });
  expect(listStates(objects)).toEqual(["unmanaged"]);
  objects.patch("baremetalhosts", PATH, { spec: { bmc: BMC, externallyProvisioned: null } });
  expect(listStates(objects)).toEqual(["registering", "inspecting", "preparing", "available"]);
});

test("operateHosts() lets go of an unmanaged host at once", () => {
  const objects = createBare({ online: false });
  listStates(objects);
  objects.delete("baremetalhosts", PATH);
  expect(listStates(objects)).toEqual(["gone"]);
});

test("operateHosts() installs nothing on a host that is externally provisioned", () => {
  const objects = createBare({ online: true, externallyProvisioned: true, bmc: BMC });
  expect(listStates(objects)).toEqual(["registering", "externally provisioned"]);
  objects.delete("baremetalhosts", PATH);
  expect(listStates(objects)).toEqual(["deleting", "gone"]);
});

test("operateHosts() believes the annotation about the hardware, and removes it", () => {
  const details = { cpu: { count: 4 } };
  const annotations = { "inspect.metal3.io/hardwaredetails": JSON.stringify(details) };
  const objects = createBare({ online: true, bmc: BMC }, annotations);
  listStates(objects);
  const host = objects.get("baremetalhosts", PATH);
  expect(host?.["status"]).toMatchObject({ hardware: details });
  expect(host?.metadata["annotations"] ?? {}).toEqual({});
});
