import { describe, expect, test } from "bun:test";
import type { SipServices } from "../../../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import {
  type LoadBalancerOptions,
  planLoadBalancers,
} from "../../../../../lib/controllers/sipcluster/services/load_balancer/plan.ts";
import type {
  Machine,
  ServicePlan,
} from "../../../../../lib/controllers/sipcluster/services/types.ts";
import { CONFIG_HASH } from "../../../../../lib/controllers/sipcluster/words.ts";
import { machine } from "../../../../support/sipcluster/machines.ts";

const API = { image: "haproxy:2.3.2", nodePort: 30001, nodeInterfaceId: "oam" };
const WORKER = {
  image: "haproxy:2.3.2",
  nodePortRange: { start: 30002, end: 30004 },
  nodeInterfaceId: "oam",
};
const MACHINES = [
  machine("cp-a", "10.0.0.1"),
  machine("w-a", "10.0.1.1", { role: "Worker" }),
  machine("w-b", "10.0.1.2", { role: "Worker", standby: true }),
];

function plan(
  services: SipServices,
  machines: readonly Machine[] = MACHINES,
  options?: LoadBalancerOptions,
): ServicePlan[] {
  const metadata = { name: "acme", namespace: "acme-infra" };
  const cluster = { metadata, spec: { services } };
  return [...planLoadBalancers({ cluster, machines, tolerations: [] }, options)];
}

/** The configuration in the ConfigMap of a plan. */
function configOf({ objects }: ServicePlan | undefined = { service: "", objects: [] }): string {
  const data = Object.entries(objects[0]?.body ?? {}).find(([key]) => key === "data")?.[1];
  return data?.["haproxy.cfg"] ?? "";
}

function listServers(of: ServicePlan | undefined): string[] {
  return configOf(of)
    .split("\n")
    .flatMap((line) => /^ *server (.*)$/.exec(line)?.[1] ?? []);
}

describe("planLoadBalancers()", () => {
  test("plans nothing without an entry", () => {
    expect(plan({})).toEqual([]);
    const cluster = { metadata: { name: "acme" } };
    expect([...planLoadBalancers({ cluster, machines: [], tolerations: [] })]).toEqual([]);
  });

  test("plans a load balancer for the API servers and one for the workers", () => {
    const [api, worker, ...others] = plan({
      loadBalancerWorker: [WORKER],
      loadBalancerControlPlane: [API],
    });
    expect(others).toEqual([]);
    expect(api).toMatchObject({
      service: "loadBalancerControlPlane",
      deployment: "loadbalancer-controlplane-acme",
    });
    expect(worker).toMatchObject({
      service: "loadBalancerWorker",
      deployment: "loadbalancer-worker-acme",
    });
    expect(configOf(api)).toContain("  server cp-a 10.0.0.1:6443\n");
    expect(configOf(api)).not.toContain("10.0.1.");
    for (const port of [30002, 30003, 30004]) {
      expect(configOf(worker)).toContain(
        `  server w-a 10.0.1.1:${port}\n  server w-b 10.0.1.2:${port}\n`,
      );
    }
    expect(configOf(worker)).not.toContain("10.0.0.");
  });

  test("names the objects of every entry differently", () => {
    const plans = plan({ loadBalancerControlPlane: [API, { ...API, nodePort: 30009 }, API] });
    expect(plans.map(({ service, deployment }) => [service, deployment])).toEqual([
      ["loadBalancerControlPlane", "loadbalancer-controlplane-acme"],
      ["loadBalancerControlPlane[1]", "loadbalancer-controlplane-acme-2"],
      ["loadBalancerControlPlane[2]", "loadbalancer-controlplane-acme-3"],
    ]);
    const names = plans.flatMap(({ objects }) => objects.map(({ body }) => body.metadata.name));
    expect(new Set(names).size).toBe(3);
  });

  test("plans the same for the same, in any order, and for a host that becomes a standby host", () => {
    const services = { loadBalancerControlPlane: [API], loadBalancerWorker: [WORKER] };
    const wanted = JSON.stringify(plan(services));
    expect(JSON.stringify(plan(services, MACHINES.toReversed()))).toBe(wanted);
    const standby = MACHINES.map((one) => ({ ...one, standby: !one.standby }));
    expect(JSON.stringify(plan(services, standby))).toBe(wanted);
    expect(JSON.stringify(plan(services, MACHINES.slice(0, 2)))).not.toBe(wanted);
  });

  test("plans a load balancer without servers while there is no host", () => {
    const [api] = plan({ loadBalancerControlPlane: [API] }, []);
    expect(api?.problem).toBeUndefined();
    expect(configOf(api)).not.toMatch(/^ *server /m);
  });

  test.each(["", "node-a.example.org", "10.0.0.1/24", "10.0.0.1:22\n  server x 10.0.0.2"])(
    "leaves out a host with the address %j, and leaves all as it is if no host has one",
    (address) => {
      const lost = machine("cp-a", address);
      const [api] = plan({ loadBalancerControlPlane: [API] }, [lost, machine("cp-b", "10.0.0.2")]);
      expect(listServers(api)).toEqual(["cp-b 10.0.0.2:6443"]);
      const [left] = plan({ loadBalancerControlPlane: [API] }, [lost]);
      expect(left?.objects).toEqual([]);
      expect(left?.problem?.message).toContain("no host of role ControlPlane has an address");
      const other = { ...API, nodeInterfaceId: "pxe" };
      expect(plan({ loadBalancerControlPlane: [other] })).toMatchObject([{ objects: [] }]);
    },
  );

  test("tells hosts of one name in two namespaces apart, with addresses in canonical form", () => {
    const [api] = plan({ loadBalancerControlPlane: [API] }, [
      machine("a", "::ffff:10.0.0.1", { namespace: "west" }),
      machine("a", "2001:DB8:0::1", { namespace: "east" }),
      machine("b", "10.0.0.3", { namespace: "west" }),
      // It is not a server, so it does not change the name of another one.
      machine("b", "", { namespace: "east" }),
    ]);
    const servers = ["b 10.0.0.3:6443", "east_a [2001:db8::1]:6443", "west_a 10.0.0.1:6443"];
    expect(listServers(api)).toEqual(servers);
  });

  test("rolls its Pods when their configuration differs", () => {
    const read = (machines: readonly Machine[]): string => {
      const [api] = plan({ loadBalancerControlPlane: [API] }, machines);
      return JSON.stringify(api?.objects.find(({ body }) => body.kind === "Deployment"));
    };
    const more = [...MACHINES, machine("cp-b", "10.0.0.2")];
    expect(read(more)).not.toBe(read(MACHINES));
    const [, hash = ""] = new RegExp(`"${CONFIG_HASH}":"([0-9a-f]{16})"`).exec(read(more)) ?? [];
    // In the annotation, and for the container that checks it.
    expect(read(more).split(hash)).toHaveLength(3);
  });

  test("takes every image, and one of its own for an empty one", () => {
    const images = ["haproxy:2.3.2", "registry.example:5000/a/b@sha256:0123", "", undefined];
    const used = images.map((image) => {
      const { image: _, ...rest } = API;
      const entry = image === undefined ? rest : { ...rest, image };
      const text = JSON.stringify(plan({ loadBalancerControlPlane: [entry] }));
      return /"image":"([^"]*)"/.exec(text)?.[1];
    });
    expect(used).toEqual([
      "haproxy:2.3.2",
      "registry.example:5000/a/b@sha256:0123",
      expect.stringMatching(/^docker\.io\/library\/haproxy:\d+\.\d*[02468]\.\d+$/),
      expect.stringMatching(/^docker\.io\/library\/haproxy:\d+\.\d*[02468]\.\d+$/),
    ]);
  });

  test("answers probes on a port that no worker port takes", () => {
    const nodePortRange = { start: 8400, end: 8410 };
    const [worker] = plan({ loadBalancerWorker: [{ ...WORKER, nodePortRange }] });
    expect(configOf(worker)).toContain('frontend landfall-health\n  bind "${POD_IP}:8411"\n');
    const [api] = plan({ loadBalancerControlPlane: [API] });
    expect(configOf(api)).toContain('frontend landfall-health\n  bind "${POD_IP}:8404"\n');
  });

  test("uses a template for the entries of its list only", () => {
    const services = { loadBalancerControlPlane: [API, API], loadBalancerWorker: [WORKER] };
    const templates = { loadBalancerControlPlane: { "loadBalancerControlPlane.cfg": "# mine\n" } };
    const configs = plan(services, MACHINES, { templates }).map(configOf);
    expect(configs.map((text) => text.startsWith("# mine\n"))).toEqual([true, true, false]);
  });

  test.each([
    ["none", "defaults\n  maxconn 9\n", ["-n", "4000"]],
    ["one of its own", "global\n  daemon\n  maxconn 20000\ndefaults\n", []],
  ])("limits the connections of a template that has %s limit", (_what, template, args) => {
    const templates = { loadBalancerControlPlane: { "loadBalancerControlPlane.cfg": template } };
    const [api] = plan({ loadBalancerControlPlane: [API] }, MACHINES, { templates });
    const command = ["haproxy", "-db", ...args, "-f", "/usr/local/etc/haproxy/haproxy.cfg"];
    expect(JSON.stringify(api?.objects)).toContain(JSON.stringify(command));
  });

  test("changes nothing of a service with a wrong template", () => {
    const services = { loadBalancerControlPlane: [API], loadBalancerWorker: [WORKER] };
    const templates = { loadBalancerWorker: { "loadBalancerWorker.cfg": "{{ end }}" } };
    const [api, worker] = plan(services, MACHINES, { templates });
    expect(api?.objects).toHaveLength(4);
    expect(worker).toEqual({
      service: "loadBalancerWorker",
      objects: [],
      problem: {
        reason: "InfraServiceFailure",
        message:
          "ConfigMap loadbalancerworker: loadBalancerWorker.cfg, line 1: {{ end }} closes nothing",
      },
    });
  });
});
