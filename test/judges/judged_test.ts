/**
 * Replays what real parts were seen to do that no registry has: metal3's operator and Dex. `test/fixtures/judged` has
 * the facts, each as it was seen once; what Landfall writes must still fit them.
 * @module
 */
import { expect, test } from "bun:test";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toBareMetalHost } from "../../lib/controllers/vino/hosts/publish/host_writer.ts";
import { toCredentialsName } from "../../lib/controllers/vino/hosts/names.ts";
import { DEX_PROGRAM_KINDS } from "../../lib/controllers/sipcluster/services/auth/dex_crds.ts";
import { ClusterApi } from "../../lib/simulator/metal3/cluster_api.ts";
import { patchHostStatus } from "../../lib/simulator/metal3/hosts.ts";
import dex from "../fixtures/judged/dex.json";
import metal3 from "../fixtures/judged/metal3.json";
import { createHosts, HOSTS } from "../support/metal3/objects.ts";
import { createAuthority, createCertificate } from "../support/net/certificates.ts";
import { findFreePort } from "../support/process/server_process.ts";
import { beginLogin, DexDouble } from "../support/sipcluster/dex.ts";
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

test("Dex has its newer kinds", () => {
  const names = DEX_PROGRAM_KINDS.crds.map((crd) => Object(crd).metadata.name);
  for (const plural of dex.newerKinds) expect(names).toContain(`${plural}.${dex.group}`);
});

test("Dex's answers to a login are those of our double, on which API servers are tried", async () => {
  const folder = await mkdtemp(join(tmpdir(), "landfall-dex-"));
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => rm(folder, { recursive: true, force: true }));
  const issuer = `https://127.0.0.1:${await findFreePort()}`;
  const redirectURI = "http://localhost:8000";
  const clients = [{ id: "kubernetes", public: true, redirectURIs: [redirectURI] }];
  const config = JSON.stringify({ issuer, staticClients: clients });
  const authority = await createAuthority(folder, "ca");
  const extensions = ["subjectAltName=IP:127.0.0.1"];
  const own = { folder, name: "dex", subject: "/CN=dex", extensions };
  const certificate = await createCertificate(authority, own);
  const person = { email: dex.login.email, groups: [] };
  cleanup.use(await DexDouble.start(config, certificate, person));
  const client = { ca: await readFile(authority.certPath, "utf8"), redirectURI };
  const { verifier, code, client: unknown } = dex.refusals;

  const login = await beginLogin(issuer, { ...client, clientID: "kubernetes" });
  expect(await login.redeem("x".repeat(50))).toEqual(verifier);
  const { body } = await login.redeem();
  const { id_token, access_token: _, ...rest } = Object(body);
  expect(rest).toEqual(dex.login.token);
  const [header, claims] = String(id_token)
    .split(".")
    .slice(0, 2)
    .map((part) => Object.keys(JSON.parse(Buffer.from(part, "base64url").toString())));
  expect({ header, claims }).toEqual({ header: dex.login.header, claims: dex.login.claims });
  expect(await login.redeem()).toEqual(code);
  const stranger = beginLogin(issuer, { ...client, clientID: "none" });
  await expect(stranger).rejects.toThrow(`: ${unknown.status} `);
});
