/**
 * The CRD of SIPClusters and its samples, with a real kubectl, a real Helm and a real API server.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { loadKinds, renderCrdFiles } from "../../../deploy/crds.ts";
import { sipClusterController } from "../../../lib/controllers/sipcluster/definition.ts";
import { BARE_METAL_HOSTS } from "../../../lib/kube/kinds/bare_metal_host.ts";
import {
  SIP_CLUSTERS,
  type SipCluster,
} from "../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import { planStatus } from "../../../lib/controllers/sipcluster/resource/status.ts";
import { toPath } from "../../../lib/kube/kinds/resource.ts";
import {
  type Manifest,
  readManifests,
  renderChart,
  withChart,
} from "../../support/deploy/deploy_tools.ts";
import { KIND_SERVER_TIMEOUT_MS, KindServer } from "../../support/kinds/kind_server.ts";
import { SIP_CLUSTER_SAMPLES } from "../../support/kinds/samples.ts";
import { CRDS_PATH } from "../../support/kube/crd.ts";
import { findHelm, findKubectl } from "../../support/kube/kubectl.ts";
import { skipsCluster } from "../../support/process/cluster.ts";
import { readBareMetalHostCrd, toHostStatus } from "../../support/metal3/bare_metal_host_crd.ts";
import { RIGHT_SPECS, WRONG_SPECS } from "../../support/sipcluster/spec_cases.ts";

const CRD = "sipclusters.airship.airshipit.org";
const isSkipped = skipsCluster();
const kubectl = isSkipped ? undefined : await findKubectl();
const helm = (await findHelm()) ?? "";
const files = new Map(renderCrdFiles("Test.", await loadKinds([sipClusterController])));
const crdText = files.get("manifests/sipcluster/crd.yaml") ?? "";

describe.skipIf(kubectl === undefined)("a real API server with the CRD", () => {
  let server: KindServer;

  beforeAll(async () => {
    server = await KindServer.start(kubectl ?? "", crdText);
    await server.cluster.create(CRDS_PATH, await readBareMetalHostCrd());
    await server.run("wait", "--for=condition=Established", "--timeout=60s", "crd", "--all");
  }, KIND_SERVER_TIMEOUT_MS);

  afterAll(() => server.stop());

  test("accepts its names and its schema", () => server.expectAccepted(CRD));

  test.each(SIP_CLUSTER_SAMPLES.names)(
    "takes the sample %s, and keeps every value",
    async (name) => {
      await server.expectKept(
        SIP_CLUSTER_SAMPLES.toPath(name),
        await SIP_CLUSTER_SAMPLES.read(name),
      );
    },
  );

  test("sets defaults", async () => {
    const get = (path: string): Promise<string> =>
      server.run(
        "get",
        "sip",
        "--namespace=all-fields",
        "all-fields",
        `--output=jsonpath={${path}}`,
      );
    expect(await get(".spec.nodes.Worker.count")).toBe('{"active":1,"standby":0}');
    await server.run(
      "patch",
      "sip",
      "-nall-fields",
      "all-fields",
      "--type=merge",
      `-p={"spec":{"scheduling":{"spreadAcrossRoles":null}}}`,
    );
    expect(await get(".spec.scheduling.spreadAcrossRoles")).toBe("false");
  });

  test("keeps the whole status, and shows it at a glance under the short name", async () => {
    const path = toPath(SIP_CLUSTERS, { namespace: "wordpress-infra", name: "wordpress" });
    const read = (): Promise<SipCluster> => server.read(path);
    const toNext = (one: SipCluster, nowMs: number) =>
      planStatus(
        one,
        {
          kind: "served",
          errors: new Map([["metal/a", "2026-01-01T00:00:00Z"]]),
          schedule: {
            keep: [],
            add: [],
            giveBack: [],
            blocked: [{ host: "metal/a", role: "Worker", standby: false, why: "not wanted" }],
            reports: new Map([
              [
                "ControlPlane",
                {
                  wanted: 2,
                  have: 1,
                  eligible: 0,
                  missing: 1,
                  rejected: new Map(),
                  refused: new Map(),
                },
              ],
              [
                "Worker",
                {
                  wanted: 3,
                  have: 3,
                  eligible: 0,
                  missing: 0,
                  rejected: new Map(),
                  refused: new Map(),
                },
              ],
            ]),
            isSatisfied: false,
            isProven: true,
            notes: [],
            breaches: [],
          },
          unknownClaims: [],
          machines: [
            {
              uid: "uid-a",
              namespace: "metal",
              name: "a",
              role: "ControlPlane",
              standby: true,
              addresses: new Map([["management", "203.0.113.31"]]),
            },
          ],
          services: [],
          endpoints: [{ service: "jumpHost", nodePort: 30_102 }],
        },
        nowMs,
      );
    const status = toNext(await read(), Date.UTC(2026, 0, 1));
    expect(await server.patchStatus(path, status)).toBe(200);
    expect(await read()).toMatchObject({ status: { ...status } });
    expect(toNext(await read(), Date.UTC(2027, 0, 1))).toBeUndefined();
    const lines = (await server.run("get", "sip", "--namespace=wordpress-infra"))
      .trim()
      .split("\n");
    expect(lines.map((line) => line.split(/ {2,}/).slice(0, 5))).toEqual([
      ["NAME", "READY", "REASON", "CP", "WORKERS"],
      ["wordpress", "False", "Unschedulable", "1/2", "0/3"],
    ]);
    expect(lines[0]).toEndWith("AGE");
  });

  test("keeps the status of a host, as metal3 writes it", async () => {
    const path = toPath(BARE_METAL_HOSTS, { namespace: "metal", name: "cp-1" });
    const status = toHostStatus("provisioned");
    expect(await server.patchStatus(path, status)).toBe(200);
    expect(await server.read(path)).toMatchObject({ status });
    // The schema demands the rest.
    const part = { provisioning: { state: "available" } };
    const bare = toPath(BARE_METAL_HOSTS, { namespace: "metal", name: "cp-2" });
    expect(await server.patchStatus(bare, part)).toBe(422);
  });

  test("refuses a name that is no value of a label", async () => {
    const toName = (length: number): string => "a".repeat(length);
    expect(await server.trySpec(SIP_CLUSTERS, { services: {} }, toName(63))).toBe(201);
    expect(await server.trySpec(SIP_CLUSTERS, { services: {} }, toName(64))).toBe(422);
  });

  test("explains fields", async () => {
    const text = await server.run("explain", "sip.spec.services.jumpHost.nodePort");
    expect(text.replaceAll(/\s+/g, " ")).toContain("0: Kubernetes chooses one.");
  });

  test.each(RIGHT_SPECS.map(({ title, spec }) => [title, spec] as const))(
    "takes %s",
    async (_title, spec) => {
      expect(await server.trySpec(SIP_CLUSTERS, spec)).toBe(201);
    },
  );

  test.each(WRONG_SPECS.map(({ title, refusedBy, spec }) => [title, refusedBy, spec] as const))(
    "answers rightly to %s, which a %s refuses",
    async (_title, refusedBy, spec) => {
      expect(await server.trySpec(SIP_CLUSTERS, spec)).toBe(refusedBy === "check" ? 201 : 422);
    },
  );
});

describe.skipIf(helm === "")("the chart", () => {
  const render = async (values: object): Promise<Manifest[]> => {
    let objects: Manifest[] = [];
    await withChart(files, async (chart) => {
      const { code, stdout, stderr } = await renderChart(helm, values, undefined, chart);
      if (code !== 0) throw new Error(stderr);
      objects = readManifests(stdout);
    });
    return objects.filter(({ kind }) => kind === "CustomResourceDefinition");
  };

  const enabledControllers = ["sipcluster"];

  test("has no CRD unless asked, and none of controllers that the release does not run", async () => {
    expect(await render({ enabledControllers })).toEqual([]);
    expect(await render({ crds: { install: true } })).toEqual([]);
  });

  test("installs the CRD when asked, and keeps it on removal", async () => {
    const [plain] = readManifests(crdText);
    const [crd, ...others] = await render({ enabledControllers, crds: { install: true } });
    expect(others).toEqual([]);
    expect(crd?.spec).toEqual(plain?.spec ?? {});
    expect(crd?.metadata.name).toBe("sipclusters.airship.airshipit.org");
    expect(crd?.metadata.annotations).toEqual({ "helm.sh/resource-policy": "keep" });
    expect(crd?.metadata.labels).toMatchObject({ "app.kubernetes.io/managed-by": "Helm" });
  });

  test("removes it with the release if that is asked, too", async () => {
    const [crd] = await render({ enabledControllers, crds: { install: true, keep: false } });
    expect(crd?.metadata.annotations).toBeUndefined();
  });
});
