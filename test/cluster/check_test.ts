/**
 * `landfall check` on a real kube-apiserver with RBAC.
 * @module
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { listRights, needAll, toPolicy } from "../../lib/app/rights.ts";
import type { CheckReport } from "../../lib/cli/check/report.ts";
import { PROGRAM, type Program, runLandfall } from "../support/process/landfall_process.ts";
import { skipsCluster } from "../support/process/cluster.ts";
import { ClusterRig } from "../support/process/cluster_rig.ts";

const ACCOUNT = { namespace: "kube-system", name: "checked" } as const;
const RIGHTS = listRights(needAll({ namespace: "kube-system", name: "cloud-controller-manager" }));

describe.skipIf(skipsCluster())("landfall check on a real API server", () => {
  let rig: ClusterRig;
  let token: string;
  let kubeconfig: string;

  beforeAll(async () => {
    rig = await ClusterRig.start();
    token = await rig.cluster.createServiceAccountToken(ACCOUNT, 600);
    kubeconfig = await rig.cluster.writeTokenKubeconfig(token);
    rig.addVm("checked-1");
    await rig.register("checked-1");
  });
  afterAll(() => rig?.stop());

  async function check(
    program: Program,
    config: string = kubeconfig,
    ...flags: readonly string[]
  ): Promise<CheckReport & { code: number | null }> {
    const args = ["check", `--kubeconfig=${config}`, "--output=json", ...flags];
    const env = { XOA_URL: rig.cloud.url, XOA_TOKEN: rig.cloud.token };
    const { code, stdout, stderr } = await runLandfall(program, args, env);
    expect(stderr).toBe("");
    for (const secret of [token, rig.cloud.token]) expect(stdout).not.toContain(secret);
    return { ...JSON.parse(stdout), code };
  }

  test("is well with all rights", async () => {
    await rig.cluster.applyRbac(ACCOUNT, toPolicy(RIGHTS));
    const before = await rig.readNode("checked-1");
    const found = await check(PROGRAM);
    const { version, findings } = found.kubernetes;
    expect(version).toMatch(/^v1\.\d+/);
    expect(findings).toMatchObject([{ level: "ok", code: "answers" }]);
    expect(found).toMatchObject({ code: 0, failures: 0, warnings: 1 });
    // It has no control plane.
    expect(found.nodes.findings).toMatchObject([{ level: "warning", code: "replicas" }]);
    expect(found.permissions.permissions.map(({ allowed }) => allowed)).toEqual(
      found.permissions.permissions.map(() => "yes"),
    );
    expect(found.nodes.nodes).toMatchObject([
      { name: "checked-1", presence: "present", matchedBy: "systemUuid" },
    ]);
    expect(await rig.readNode("checked-1")).toEqual(before);
  });

  test("L-16 tells each right that is missing, that to delete Nodes among them", async () => {
    const some = RIGHTS.filter(
      ({ access }) =>
        access.resource === "nodes" && access.subresource === undefined && access.verb !== "delete",
    );
    await rig.cluster.applyRbac(ACCOUNT, toPolicy(some));
    const { code, permissions } = await check(PROGRAM);
    expect(code).toBe(1);
    const missing = permissions.permissions.filter(({ allowed }) => allowed === "no");
    const shown = missing.map(({ level, verb, resource, subresource = "" }) =>
      [level, verb, resource, subresource].join(" ").trim(),
    );
    expect(shown).toEqual([
      "failure patch nodes status",
      "warning list services",
      "warning watch services",
      "failure delete nodes",
      "warning create events",
      "warning patch events",
      "failure get leases",
      "failure create leases",
      "failure update leases",
      "warning create tokenreviews",
      "warning create subjectaccessreviews",
    ]);
  });

  const AS = `system:serviceaccount:${ACCOUNT.namespace}:${ACCOUNT.name}`;

  test("asks as an administrator for the permissions of the account, with its groups and its Lease", async () => {
    const lease = { namespace: "kube-system", name: "cloud-controller-manager-xenorchestra" };
    const rights = listRights(needAll(lease)).filter(({ access }) => access.verb !== "delete");
    await rig.cluster.applyRbac(ACCOUNT, toPolicy(rights));
    const { code, permissions } = await check(
      PROGRAM,
      rig.cluster.adminKubeconfigPath,
      `--as=${AS}`,
    );
    expect(code).toBe(1);
    expect(permissions).toMatchObject({
      user: AS,
      findings: [{ code: "lease", message: expect.stringContaining(lease.name) }],
    });
    const missing = permissions.permissions.filter(({ level }) => level !== "ok");
    expect(missing).toMatchObject([{ verb: "delete", resource: "nodes", allowed: "no" }]);
    // Without the flag the administrator's own permissions count.
    expect((await check(PROGRAM, rig.cluster.adminKubeconfigPath)).permissions.status).toBe("ok");
  });

  test("acts in several groups, of flags and of a kubeconfig", async () => {
    const { adminKubeconfigPath: admin, folder } = rig.cluster;
    const groups = ["system:serviceaccounts:none", "system:masters"];
    const flags = groups.map((group) => `--as-group=${group}`);
    const { permissions } = await check(PROGRAM, admin, "--as=jane", ...flags);
    expect(permissions).toMatchObject({ user: "jane", status: "ok" });
    const alone = await check(PROGRAM, admin, "--as=jane", ...flags.slice(0, 1));
    expect(alone.permissions.status).toBe("failure");

    const config = join(folder, "groups.kubeconfig");
    const own = JSON.parse(await readFile(admin, "utf8"));
    const user = { ...own.users[0].user, as: "jane", "as-groups": groups };
    await writeFile(config, JSON.stringify({ ...own, users: [{ ...own.users[0], user }] }));
    const found = await check(PROGRAM, config);
    expect([found.permissions.status, found.nodes.nodes.length]).toEqual(["ok", 1]);
  });

  test("tells whom the account may not act as, and what to do", async () => {
    const { permissions } = await check(PROGRAM, kubeconfig, "--as=jane");
    expect(permissions.permissions.every(({ allowed }) => allowed === "unknown")).toBe(true);
    expect(permissions.advice).toContain("impersonate");
  });

  test("acts as the user that a kubeconfig names, for everything", async () => {
    const { adminKubeconfigPath: admin, folder } = rig.cluster;
    const config = join(folder, "as.kubeconfig");
    const own = JSON.parse(await readFile(admin, "utf8"));
    const users = [{ ...own.users[0], user: { ...own.users[0].user, as: AS } }];
    await writeFile(config, JSON.stringify({ ...own, users }));
    const { permissions, nodes } = await check(PROGRAM, config);
    expect(permissions.permissions.filter(({ level }) => level !== "ok")).toMatchObject([
      { verb: "delete" },
    ]);
    expect(nodes.nodes).toHaveLength(1);
  });

  test("tells a token that is not accepted", async () => {
    const wrong = await rig.cluster.writeTokenKubeconfig("not-a-token");
    const { code, kubernetes, permissions, nodes } = await check(PROGRAM, wrong);
    expect(code).toBe(1);
    expect(kubernetes.findings).toMatchObject([{ level: "failure", code: "unauthorized" }]);
    expect([permissions.status, nodes.status]).toEqual(["skipped", "skipped"]);
  });

  test("tells an API server that does not answer", async () => {
    await rig.cluster.stopApiServer();
    const { code, kubernetes, cloud } = await check(PROGRAM);
    await rig.cluster.startApiServer();
    expect(code).toBe(1);
    expect(kubernetes.findings).toMatchObject([{ level: "failure", code: "refused" }]);
    expect(cloud.status).toBe("ok");
  });
});
