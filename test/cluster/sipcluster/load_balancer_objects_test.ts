import { pickWanted } from "../../../lib/controllers/kinds/compare.ts";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { planLoadBalancers } from "../../../lib/controllers/sipcluster/services/load_balancer/plan.ts";
import type { OwnedObject } from "../../../lib/controllers/sipcluster/services/types.ts";
import { type KubeObject, toPath } from "../../../lib/kube/kinds/resource.ts";
import { type Cluster, skipsCluster, startCluster } from "../../support/process/cluster.ts";
import { machine } from "../../support/sipcluster/machines.ts";

const NAMESPACE = "default";
const QUERY = "fieldManager=landfall-sipcluster&force=true";
const HEADERS = { "content-type": "application/apply-patch+yaml" };

/** The objects of two load balancers, of which one asks for every field. */
function planAll(nodePort: number): readonly OwnedObject[] {
  const common = { nodeInterfaceId: "oam", nodeLabels: { edge: "yes" } };
  const services = {
    loadBalancerControlPlane: [{ ...common, nodePort }],
    // Below those from which the API server chooses for the other one.
    loadBalancerWorker: [{ ...common, nodePortRange: { start: 30002, end: 30085 } }],
  };
  const metadata = { name: "acme", namespace: NAMESPACE };
  const machines = [machine("a", "10.0.0.1"), machine("b", "2001:db8::2", { role: "Worker" })];
  const cluster = { metadata, spec: { services } };
  const plans = planLoadBalancers({ cluster, machines, tolerations: [] });
  return [...plans].flatMap(({ objects }) => objects);
}

describe.skipIf(skipsCluster())("the objects of load balancers on a real API server", () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
  }, 120_000);
  afterAll(() => cluster.stop());

  async function apply({ resource, body }: OwnedObject): Promise<KubeObject> {
    const path = toPath(resource, { namespace: NAMESPACE, name: body.metadata.name });
    const init = { method: "PATCH", headers: HEADERS, body: JSON.stringify(body) };
    const answer = await cluster.adminFetch(`${path}?${QUERY}`, init);
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${text}`);
    return JSON.parse(text);
  }

  test("are accepted, keep what they say, and change nothing when they are applied again", async () => {
    const objects = planAll(0);
    for (const object of objects) {
      const first = await apply(object);
      // Whole: no field is unknown to the server. It leaves out fields that say nothing.
      const wanted = JSON.parse(JSON.stringify(object.body));
      expect(pickWanted(first, wanted)).toEqual(wanted);
      expect(await apply(object)).toEqual(first);
    }
    expect(objects).toHaveLength(8);
  });

  test("take the place of those of a version that kept the configuration in a Secret", async () => {
    const deployment = planAll(0).find(({ resource }) => resource.kind === "Deployment");
    if (deployment === undefined) throw new Error("no Deployment");
    const text = JSON.stringify(deployment);
    const { name } = deployment.body.metadata;
    const old = text.replace(`"configMap":{"name":"${name}"}`, `"secret":{"secretName":"${name}"}`);
    expect(old).toContain('{"name":"source","secret":');
    await cluster.adminFetch(toPath(deployment.resource, { namespace: NAMESPACE, name }), {
      method: "DELETE",
    });
    await apply(JSON.parse(old));
    expect(pickWanted(await apply(deployment), deployment.body)).toEqual(
      JSON.parse(JSON.stringify(deployment.body)),
    );
  });
});
