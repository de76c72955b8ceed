/**
 * The chart with a controller that can be installed by itself, with a real Helm.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DEFINITIONS } from "../../../deploy/clouds.ts";
import { renderFiles } from "../../../deploy/files.ts";
import { CONTROLLERS } from "../../../lib/controllers/mod.ts";
import {
  CHART,
  type Manifest,
  readManifests,
  RELEASE,
  renderChart,
  withChart,
} from "../../support/deploy/deploy_tools.ts";
import {
  CLOUD_TWIN_LEASE,
  CLOUD_TWIN_NAME,
  cloudTwinController,
  TWIN_LEASE,
  TWIN_NAME,
  twinController,
} from "../../support/galleries/definition.ts";
import { findHelm } from "../../support/kube/kubectl.ts";

const helm = (await findHelm()) ?? "";
const ALIAS = twinController.aliases[0] ?? "";
/** What is looked at of a pod. */
interface PodSpec {
  readonly containers: readonly { readonly args: readonly string[] }[];
  readonly volumes?: readonly object[];
}

const MAIN_LEASE = "cloud-controller-manager-xenorchestra";

describe.skipIf(helm === "")("deploy/chart with a controller that can run alone", () => {
  let chart = CHART;
  const over = Promise.withResolvers<void>();
  let used: Promise<void>;
  beforeAll(async () => {
    const made = Promise.withResolvers<string>();
    const registry = [...CONTROLLERS, twinController, cloudTwinController];
    const files = new Map(renderFiles(DEFINITIONS, registry));
    // The schema knows the names of the real registry only.
    files.set("chart/values.schema.json", "{}");
    used = withChart(files, (path) => (made.resolve(path), over.promise));
    chart = await made.promise;
  });
  afterAll(async () => {
    over.resolve();
    await used;
  });

  async function render(values: object): Promise<Manifest[]> {
    const { code, stdout, stderr } = await renderChart(helm, values, RELEASE, chart);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return readManifests(stdout);
  }

  function readPod(objects: readonly Manifest[]): PodSpec {
    return Object(objects.find(({ kind }) => kind === "DaemonSet")?.spec?.["template"]).spec;
  }

  function readArgs(objects: readonly Manifest[]): readonly string[] | undefined {
    return readPod(objects).containers[0]?.args;
  }

  function listRules(objects: readonly Manifest[], kind: string): string[] {
    const rules = [Object(objects.find((one) => one.kind === kind)?.["rules"])].flat();
    return rules.flatMap(({ resources, resourceNames = [""] }) =>
      resources.map((one: string) => [one, ...resourceNames].filter(Boolean).join(" ")),
    );
  }

  /** Of each rule for a resource. */
  function listVerbs(objects: readonly Manifest[], resource: string): string[][] {
    const rules = objects.flatMap((one) => [Object(one["rules"] ?? [])].flat());
    return rules.flatMap(({ resources, verbs }) => (resources.includes(resource) ? [verbs] : []));
  }

  const OWN = ["galleries", "configmaps"];
  const COMMON = ["events", "tokenreviews", "subjectaccessreviews"];

  test.each([TWIN_NAME, ALIAS])("runs %s alone, without a cloud", async (name) => {
    const objects = await render({ enabledControllers: [name] });
    expect(readArgs(objects)).toEqual([
      "run",
      `--controllers=${name}`,
      "--secure-port=10258",
      "--debug-address=127.0.0.1:10260",
      "--v=2",
    ]);
    expect(readPod(objects).volumes).toBeUndefined();
    expect(objects.some(({ kind }) => kind === "Secret")).toBe(false);
    expect(listRules(objects, "ClusterRole")).toEqual([...COMMON, ...OWN]);
    expect(listRules(objects, "Role")).toEqual([`leases ${TWIN_LEASE}`, "leases"]);
    expect(listVerbs(objects, "galleries")).toEqual([["list", "watch", "patch", "delete"]]);
    expect(listVerbs(objects, "leases")).toEqual([["get", "update"], ["create"]]);
  });

  test("runs one that needs a cloud with its settings, and without the rights and the Lease of others", async () => {
    const values = { enabledControllers: [CLOUD_TWIN_NAME], existingConfigSecret: "mine" };
    const objects = await render(values);
    expect(readArgs(objects)).toEqual([
      "run",
      "--cloud-provider=xenorchestra",
      "--cloud-config=/etc/landfall/config.yaml",
      `--controllers=${CLOUD_TWIN_NAME}`,
      "--secure-port=10258",
      "--debug-address=127.0.0.1:10260",
      "--v=2",
    ]);
    expect(readPod(objects).volumes).toMatchObject([{ secret: { secretName: "mine" } }]);
    expect(listRules(objects, "ClusterRole")).toEqual([...COMMON, "nodes", ...OWN]);
    expect(listVerbs(objects, "nodes")).toEqual([["list", "watch"]]);
    expect(listVerbs(objects, "galleries")).toEqual([["list", "watch", "patch", "delete"]]);
    expect(listRules(objects, "Role")).toEqual([`leases ${CLOUD_TWIN_LEASE}`, "leases"]);
  });

  test("runs it beside the controllers of a cloud", async () => {
    const objects = await render({ enabledControllers: ["cloud-node", TWIN_NAME] });
    const args = readArgs(objects);
    expect(args).toContain("--cloud-provider=xenorchestra");
    expect(args).toContain(`--leader-elect-resource-name=${MAIN_LEASE}`);
    expect(listRules(objects, "ClusterRole")).toEqual([
      "nodes",
      "nodes/status",
      "services",
      ...COMMON,
      ...OWN,
    ]);
    expect(listRules(objects, "Role")).toEqual(
      expect.arrayContaining([`leases ${MAIN_LEASE}`, `leases ${TWIN_LEASE}`, "leases"]),
    );
  });

  test("gives it a settings file, if values name one", async () => {
    const values = { enabledControllers: [TWIN_NAME], existingConfigSecret: "mine" };
    const objects = await render(values);
    expect(readPod(objects).volumes).toMatchObject([{ secret: { secretName: "mine" } }]);
    expect(readArgs(objects)).toContain("--cloud-provider=xenorchestra");
    expect(readArgs(objects)?.join()).not.toContain("--leader-elect-resource-name");
  });

  test("has alerts of leaders that need no metric of a cloud", async () => {
    const values = { enabledControllers: [TWIN_NAME], prometheusRule: { enabled: true } };
    const rule = (await render(values)).find(({ kind }) => kind === "PrometheusRule");
    const { groups } = Object(rule?.spec);
    const expressions: { alert: string; expr: string }[] = groups[0].rules;
    const ofLeaders = expressions.filter(({ expr }) => expr.includes("leader_election"));
    expect(ofLeaders.map(({ alert }) => alert)).toEqual(["LandfallNoLeader", "LandfallTwoLeaders"]);
    for (const { expr } of ofLeaders) {
      expect(expr).toContain("landfall_watch_last_event_timestamp_seconds");
      expect(expr).not.toContain("landfall_instances");
    }
  });

  test.each([[{}], [{ enabledControllers: ["*"] }], [{ cloudProvider: "external-cloudstack" }]])(
    "grants and runs without it what the chart does now (%j)",
    async (values) => {
      const { stdout } = await renderChart(helm, values);
      expect(await render(values)).toEqual(readManifests(stdout));
    },
  );
});
