/**
 * The whole command for a controller that needs a cloud and is installed by itself.
 * @module
 */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { check } from "../../../../lib/cli/check/mod.ts";
import type { CheckReport } from "../../../../lib/cli/check/report.ts";
import { CONTROLLERS } from "../../../../lib/controllers/mod.ts";
import {
  CLOUD_TWIN_LEASE,
  CLOUD_TWIN_NAME,
  cloudTwinController,
} from "../../../support/galleries/definition.ts";
import { toRegistration } from "../../../support/nodes/nodes.ts";
import { type DemoServers, startDemoServers } from "../../../support/process/demo_servers.ts";

let servers: DemoServers;

beforeEach(async () => {
  servers = await startDemoServers();
});
afterEach(() => servers.stop());

async function report(controllers: string): Promise<CheckReport> {
  const { cloud, kubeconfig } = servers;
  let out = "";
  const print = (text: string): void => {
    out += text;
  };
  const argv = [`--kubeconfig=${kubeconfig}`, "--output=json", `--controllers=${controllers}`];
  const env = { XOA_URL: cloud.url, XOA_TOKEN: cloud.token };
  const registry = [...CONTROLLERS, cloudTwinController];
  await check(argv, { env, print, complain: print, controllers: registry });
  return JSON.parse(out);
}

test("check() judges no Node for it, because its cluster may be on other machines", async () => {
  servers.kubernetes.objects.createNode(toRegistration("of-another-cloud"));
  const { nodes, cloud, permissions } = await report(CLOUD_TWIN_NAME);
  expect(nodes).toMatchObject({ status: "skipped", nodes: [] });
  expect(nodes.skipped).toBe("no chosen controller works on Nodes");
  expect(cloud.status).toBe("ok");
  const asked = permissions.permissions.map(({ verb, resource, name = "" }) =>
    [verb, resource, name].join(" ").trim(),
  );
  expect(asked).toContain(`update leases ${CLOUD_TWIN_LEASE}`);
  expect(asked.filter((one) => / nodes/.test(one))).toEqual(["list nodes", "watch nodes"]);
});

test("check() judges Nodes if another controller works on them", async () => {
  const { nodes } = await report(`cloud-node,${CLOUD_TWIN_NAME}`);
  expect(nodes.skipped).toBeUndefined();
  expect(nodes.nodes.length).toBeGreaterThan(0);
});
