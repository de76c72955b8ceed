/**
 * Replays what real parts were seen to do that no registry has: metal3's operator and Dex. `test/fixtures/judged` has
 * the facts, each as it was seen once; what Landfall writes must still fit them.
 * @module
 */
import { expect, test } from "bun:test";
import { toBareMetalHost } from "../../lib/controllers/vino/hosts/bare_metal_host_object.ts";
import { toCredentialsName } from "../../lib/controllers/vino/hosts/names.ts";
import { DEX_PROGRAM_KINDS } from "../../lib/controllers/sipcluster/services/auth/dex_crds.ts";
import { toOidcData } from "../../lib/controllers/sipcluster/services/auth/flags.ts";
import { ClusterApi } from "../../lib/simulator/metal3/cluster_api.ts";
import { patchHostStatus } from "../../lib/simulator/metal3/hosts.ts";
import dex from "../fixtures/judged/dex.json";
import metal3 from "../fixtures/judged/metal3.json";
import { createHosts, HOSTS } from "../support/metal3/objects.ts";
import { createRig, credentialsOf } from "../support/redfish/client.ts";
import { ManagementRig } from "../support/vino/management_rig.ts";
import { OWNER, toWanted } from "../support/vino/wanted_hosts.ts";

const { signal } = new AbortController();

test("metal3 finds the firmware and a disk of each machine, whatever it takes without a word", () => {
  const { bootMode, rootDevice } = metal3;
  const found = (["bios", "uefi"] as const).map((firmware) => {
    const spec = Object(toBareMetalHost(OWNER, toWanted(0, { firmware })).spec);
    const { deviceName = rootDevice.whenAbsent } = Object(spec.rootDeviceHints);
    expect(rootDevice.disksOfXcpNg).toContain(deviceName);
    return spec.bootMode ?? bootMode.whenAbsent;
  });
  expect(found).toEqual(["legacy", "UEFI"]);
});

test("metal3 sees new credentials when there are some, and not at each boot", async () => {
  const rig = new ManagementRig();
  const name = metal3.credentials.secret.replace("HOST", "a");
  expect(toCredentialsName("a")).toBe(name);
  const process = rig.createProcess();
  process.lead();
  const versions = new Set([rig.secrets.version(name)]);
  for (const action of ["on", "off", "on"] as const) {
    const boot = { device: "network", duration: "once" } as const;
    const set = process.management.setBoot("a", boot, signal);
    await rig.clock.advance(5_000);
    expect(await set).toMatchObject({ kind: "done" });
    const done = process.management.reset("a", action, signal);
    await rig.clock.advance(60_000);
    expect(await done).toMatchObject({ kind: "done" });
    versions.add(rig.secrets.version(name));
  }
  expect(versions.size).toBe(1);
  rig.secrets.set(name, { username: "admin", password: "new" });
  versions.add(rig.secrets.version(name));
  expect(versions.size).toBe(2);
});

test("metal3 is refused a soft power-off at once, as it was, so that it asks for a hard one", async () => {
  const { backend, ask } = createRig();
  const reset = "/redfish/v1/Systems/a/Actions/ComputerSystem.Reset";
  const post = (ResetType: string) =>
    ask(reset, { as: credentialsOf("a"), method: "POST", body: { ResetType } });
  backend.refusal = { kind: "refused", refusal: "notGraceful", message: "no guest tools" };
  expect((await post("GracefulShutdown")).status).toBe(metal3.softPowerOff.refusedWith);
  backend.refusal = undefined;
  expect((await post("ForceOff")).status).toBe(204);
});

test("Cluster API's provider takes hosts in the states in which it did, in our double, too", () => {
  const { takesHostsThatAre: taken, not } = metal3.clusterApi;
  const states = [...taken, ...not];
  const found = states.filter((state) => {
    const objects = createHosts([{ name: "r1", flavors: { worker: 1 } }]);
    const path = { namespace: HOSTS, name: "r1-worker-1" };
    patchHostStatus(objects, path, { provisioning: { state } });
    const provider = new ClusterApi(objects, () => 0);
    provider.add({ namespace: HOSTS, name: "m", hostSelector: {} });
    return provider.step().length > 0;
  });
  expect(found).toEqual(taken);
});

test("Dex has its newer kinds, and the API server names a user as it did", () => {
  const names = DEX_PROGRAM_KINDS.crds.map((crd) => Object(crd).metadata.name);
  for (const plural of dex.newerKinds) expect(names).toContain(`${plural}.${dex.group}`);
  const { "kube-apiserver-flags": text = "" } = toOidcData({
    issuerURL: "https://a",
    clientID: "b",
  });
  const flags = new Map(text.split("\n").map((line) => line.split("=") as [string, string]));
  const claim = flags.get("--oidc-username-claim") ?? "";
  const { [claim]: user }: Readonly<Record<string, string>> = { email: dex.login.email };
  expect(`${flags.get("--oidc-username-prefix")}${user}`).toBe(dex.login.kubernetesSays);
});
