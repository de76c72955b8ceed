/**
 * The image of jump hosts, built by its recipe, run as a kubelet would, and used by real ssh clients.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { BARE_METAL_HOSTS } from "../../../lib/kube/kinds/bare_metal_host.ts";
import type { Machine } from "../../../lib/controllers/sipcluster/services/types.ts";
import { skipsImages } from "../../support/deploy/image.ts";
import { CRDS_PATH } from "../../support/kube/crd.ts";
import { skipsNetworks } from "../../support/net/network.ts";
import { skipsCluster } from "../../support/process/cluster.ts";
import { waitUntil } from "../../support/process/cluster_rig.ts";
import type { Ended } from "../../support/process/landfall_process.ts";
import { readBareMetalHostCrd } from "../../support/metal3/bare_metal_host_crd.ts";
import {
  JumpHostRig,
  NETWORK,
  PORT,
  PROXY,
  type RunningJumpHost,
  type SshOptions,
  TENANT,
} from "../../support/sipcluster/jump_host_rig.ts";
import { createSshKeyPair } from "../../support/ssh/keys.ts";

const run = promisify(execFile);
const isSkipped =
  skipsCluster() || skipsImages(["debootstrap", "ssh", "ssh-keyscan"]) || (await skipsNetworks());
const HOSTS_PATH = "/apis/metal3.io/v1alpha1/namespaces/metal3/baremetalhosts";
const CLAIM = {
  "sip.airshipit.org/cluster-namespace": TENANT,
  "sip.airshipit.org/cluster-name": "a",
  "sip.airshipit.org/node-type": "Worker",
};
const [USER, STRANGER, NODES] = ["user", "stranger", "nodes"].map(() =>
  createSshKeyPair(["-t", "ed25519"]),
);
if (!USER || !STRANGER || !NODES) throw new Error("ssh-keygen made no keys");

/** A jump host, and a node of its cluster. */
interface Stage {
  readonly rig: JumpHostRig;
  readonly jump: RunningJumpHost;
  readonly node: RunningJumpHost;
}

describe.skipIf(isSkipped)("a jump host", () => {
  let opened: Stage | undefined;
  const use = (): Stage => {
    if (opened === undefined) throw new Error("Cannot test: there is no jump host");
    return opened;
  };

  let started: JumpHostRig | undefined;
  beforeAll(async () => {
    const rig = await JumpHostRig.start();
    started = rig;
    const [jumpHost, nodeHost] = rig.network.hosts;
    if (!jumpHost || !nodeHost) throw new Error("there are no hosts");
    await rig.cluster.create(CRDS_PATH, await readBareMetalHostCrd());
    await rig.cluster.create("/api/v1/namespaces", { metadata: { name: "metal3" } });
    await waitUntil("BareMetalHosts are served", async () =>
      (await rig.cluster.adminFetch(HOSTS_PATH)).ok ? true : undefined,
    );
    const { apiVersion, kind } = BARE_METAL_HOSTS;
    for (const [name, labels] of Object.entries({ one: CLAIM, theirs: {} })) {
      await rig.cluster.create(HOSTS_PATH, { apiVersion, kind, metadata: { name, labels } });
    }
    const machine: Machine = {
      uid: "uid-one",
      namespace: "metal3",
      name: "one",
      role: "Worker",
      standby: false,
      addresses: new Map([[NETWORK, nodeHost.address]]),
    };
    // The same image plays a node of the cluster: it lets in who has the nodes' key.
    const options = { machines: [], nodeKeys: {} };
    const node = await rig.startJumpHost({
      ...options,
      name: "node",
      host: nodeHost,
      authorised: [NODES],
      usesProxy: true,
    });
    const jump = await rig.startJumpHost({
      name: "a",
      host: jumpHost,
      machines: [machine],
      authorised: [USER],
      nodeKeys: { "another-key": STRANGER.privateKey, "node-key": NODES.privateKey },
    });
    opened = { rig, jump, node };
  }, 600_000);
  afterAll(async () => {
    await started?.[Symbol.asyncDispose]();
  }, 60_000);

  const ssh = (command: string, options: Partial<SshOptions> = {}): Promise<Ended> =>
    use().rig.ssh(use().jump, command, { key: USER, ...options });
  const readAnnotations = async (name: string): Promise<object> => {
    const path = `${HOSTS_PATH}/${name}`;
    const { metadata } = await use().rig.cluster.read<{ metadata: { annotations?: object } }>(path);
    return metadata.annotations ?? {};
  };

  test("has an image for one user, without keys, passwords and kubectl", async () => {
    const { config, root } = await use().rig.readImage();
    expect(config.User).toBe("1000:1000");
    expect(config.Entrypoint).toEqual(["/bin/sh", "/opt/sip/bin/start"]);
    const files = await readdir(join(root, "etc", "ssh"));
    expect(files.filter((name) => name.startsWith("ssh_host_"))).toEqual([]);
    const shadow = await readFile(join(root, "etc", "shadow"), "utf8");
    const passwords = shadow
      .trim()
      .split("\n")
      .map((line) => line.split(":")[1]);
    expect(passwords.filter((one) => one !== "*" && one !== "!")).toEqual([]);
    const programs = await readdir(join(root, "usr", "bin"));
    expect(programs).toContain("jq");
    expect(programs.filter((name) => /kubectl|sudo/.test(name))).toEqual([]);
  });

  test("lets in a user with an authorised key, who is not root and can change nothing of it", async () => {
    expect(await ssh("id -un; id -u")).toMatchObject({ code: 0, stdout: "ubuntu\n1000\n" });
    const { stdout: capabilities } = await ssh("grep -hE 'Cap(Eff|Bnd)' /proc/self/status");
    expect(capabilities).toMatch(/^(Cap(Eff|Bnd):\t0{16}\n){2}$/);
    expect((await ssh("touch /usr/bin/x /etc/opt/sip/config/x")).stderr).toMatch(
      /^(touch: .*Read-only file system\n){2}$/,
    );
    expect((await ssh("touch ~/x /tmp/x && echo kept")).stdout).toBe("kept\n");
  });

  test("goes around the proxy of its container unless bmc.proxy allows it", async () => {
    const { rig, node } = use();
    const show = 'echo "$HTTPS_PROXY, $NO_PROXY, $no_proxy"';
    expect((await ssh(show)).stdout).toBe(`${PROXY}, *, *\n`);
    expect((await rig.ssh(node, show, { key: NODES })).stdout).toBe(`${PROXY}, , \n`);
  });

  test("gives a terminal", async () => {
    const { stdout } = await ssh("test -t 0 && tty", { args: ["-tt"] });
    expect(stdout.trim()).toMatch(/^\/dev\/pts\/\d+$/);
  });

  test("copies files", async () => {
    expect(await ssh("sftp", { args: ["-s"] })).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  const refused: Readonly<Record<string, Partial<SshOptions>>> = {
    "another key": { key: STRANGER },
    "a password": { args: ["-o", "PreferredAuthentications=password,keyboard-interactive"] },
    "the user root": { user: "root" },
    "the user nobody": { user: "nobody" },
  };
  for (const [what, options] of Object.entries(refused)) {
    test(`refuses ${what}`, async () => {
      const { code, stdout, stderr } = await ssh("id", options);
      expect([code, stdout]).toEqual([255, ""]);
      expect(stderr).toContain("Permission denied (publickey)");
    });
  }

  test("opens no port for others", async () => {
    const args = ["-o", "ExitOnForwardFailure=yes", "-R", "0:127.0.0.1:22"];
    expect((await ssh("id", { args })).code).toBe(255);
  });

  test("shows the key of the Secret, also after a restart", async () => {
    const { jump } = use();
    const scan = async (): Promise<string> => {
      const { stdout } = await run("ssh-keyscan", ["-t", "ed25519", "-p", `${PORT}`, jump.address]);
      return stdout.trim().split(" ").slice(1).join(" ");
    };
    const key = await scan();
    expect(jump.knownHosts).toBe(`jumphost-${jump.cluster.metadata.name}.tenant ${key}\n`);
    await jump.restart();
    expect(await scan()).toBe(key);
    expect((await ssh("true")).code).toBe(0);
  });

  test("leads on to a node by the nodes' key, and knows the node by its name", async () => {
    const node = `ssh -p ${PORT} ubuntu@one.metal3 cat /etc/opt/sip/config/requests`;
    expect(await ssh(node)).toMatchObject({
      code: 0,
      stdout: "/api/v1/namespaces/tenant/configmaps/jumphost-node-requests",
    });
    // From now on the node must show the same key.
    expect((await ssh("cat ~/.ssh/known_hosts")).stdout).toContain("ssh-ed25519");
    expect((await ssh("getent hosts one.metal3")).stdout).toContain("one");
  });

  test("carries the connection of a client that has a key of the node itself", async () => {
    const { rig, jump, node } = use();
    const through = await rig.toSshWords(jump, { key: USER, args: ["-W", "%h:%p"] });
    const { stdout } = await rig.ssh(node, "cat /etc/opt/sip/config/requests", {
      key: NODES,
      args: ["-o", `ProxyCommand=${through.join(" ")}`],
    });
    expect(stdout).toEndWith("jumphost-node-requests");
  });

  test("lists the hosts of the cluster", async () => {
    const { stdout } = await ssh("host list");
    expect(stdout).toBe(`one.metal3\tWorker\tactive\t${use().rig.network.hosts[1]?.address}\n`);
    expect((await ssh("host")).code).toBe(64);
    expect((await ssh("host reboot")).code).toBe(64);
  });

  test("has a host of the cluster rebooted, and prints the answer", async () => {
    const { rig, jump } = use();
    const [ended, outcomes] = await rig.answerWhile(jump, ssh("host reboot one.metal3"));
    expect(ended).toEqual({
      code: 0,
      stdout: "metal3 has been asked to reboot the host\n",
      stderr: "",
    });
    expect(outcomes).toMatchObject([{ host: "metal3/one", isDone: true }]);
    expect(await readAnnotations("one")).toMatchObject({ "reboot.metal3.io": '{"mode":"soft"}' });
  });

  test("prints why a reboot is refused", async () => {
    const { rig, jump } = use();
    await rig.cluster.patch(`${HOSTS_PATH}/one`, {
      metadata: { annotations: { "baremetalhost.metal3.io/paused": "" } },
    });
    const [{ code, stdout }] = await rig.answerWhile(jump, ssh("host reboot one.metal3"));
    expect([code, stdout]).toEqual([1, "Landfall refused: the host is paused\n"]);
    const { code: other, stderr } = await ssh("host reboot theirs");
    expect([other, stderr]).toEqual([
      1,
      "host: no host of this cluster has the name theirs. See: host list\n",
    ]);
  });

  test("gives its user no other right, and no way to a host of others", async () => {
    const { rig, jump } = use();
    const ask = async (path: string, ...more: readonly string[]): Promise<string> => {
      const account = "/var/run/secrets/kubernetes.io/serviceaccount";
      const curl = [
        `curl --silent --output /dev/null --write-out '%{http_code}' --cacert ${account}/ca.crt`,
        `--header "Authorization: Bearer $(cat ${account}/token)"`,
        ...more,
        `https://$KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT${path}`,
      ];
      return (await ssh(curl.join(" "))).stdout;
    };
    const maps = `/api/v1/namespaces/${TENANT}/configmaps`;
    const patch = "--request PATCH --header 'Content-Type: application/merge-patch+json'";
    const time = Math.floor(Date.now() / 1_000);
    const value = JSON.stringify({ host: "metal3/theirs", time });
    const id = "00000000-0000-4000-8000-000000000001";
    const request = JSON.stringify({ data: { [`request.${id}`]: value } });
    expect(await ask(`${maps}/jumphost-a-requests`, patch, `--data '${request}'`)).toBe("200");
    for (const path of [
      maps,
      `${maps}/jumphost-a`,
      `${maps}/jumphost-node-requests`,
      `/api/v1/namespaces/${TENANT}/secrets/jumphost-a-host-keys`,
      `${HOSTS_PATH}/one`,
    ]) {
      expect([path, await ask(path)]).toEqual([path, "403"]);
      expect([path, await ask(path, patch, "--data '{}'")]).toEqual([path, "403"]);
    }
    const [, outcomes] = await rig.answerWhile(jump, Bun.sleep(500));
    expect(outcomes).toMatchObject([{ host: "metal3/theirs", isDone: false }]);
    expect(await readAnnotations("theirs")).toEqual({});
  });

  test("withdraws a request when its user hangs up, and when no answer comes", async () => {
    const { rig, jump } = use();
    const count = async (): Promise<number> =>
      Object.keys(await rig.readRequests(jump)).filter((key) => key.startsWith("request.")).length;
    const leaving = new AbortController();
    const left = ssh("host reboot one.metal3", { args: ["-tt"], signal: leaving.signal });
    const startMs = performance.now();
    const patient = ssh("host reboot one.metal3");
    await waitUntil("both requests are there", async () =>
      (await count()) === 2 ? true : undefined,
    );
    leaving.abort();
    await left;
    await waitUntil("one is gone", async () => ((await count()) === 1 ? true : undefined));
    expect(await patient).toEqual({
      code: 1,
      stdout: "",
      stderr: "host: no answer within 60 s. The request is withdrawn\n",
    });
    // A machine that is busy makes each look longer, and not the wait.
    expect(performance.now() - startMs).toBeWithin(60_000, 80_000);
    expect(await count()).toBe(0);
  }, 120_000);

  test("ends only when its sessions have ended", async () => {
    const { pod } = use().jump;
    const order: string[] = [];
    const session = ssh("sleep 9; echo over").then(({ stdout }) => order.push(stdout.trim()));
    const find = "grep -qs '^sshd[^:]*: ubuntu' /proc/[0-9]*/cmdline && echo found";
    await waitUntil("the session is there", async () => {
      const found = await pod.exec(["/bin/sh", "-c", find]).catch(() => "");
      return found === "" ? undefined : found;
    });
    await pod.exec(["/bin/sh", "/opt/sip/bin/drain"]);
    order.push("drained");
    await session;
    expect(order).toEqual(["over", "drained"]);
  }, 60_000);
});
