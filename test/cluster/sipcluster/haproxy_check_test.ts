/**
 * What the real HAProxy says of the configurations that load balancers get.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hashContent } from "../../../lib/core/text/label.ts";
import { connect } from "node:net";
import { planLoadBalancers } from "../../../lib/controllers/sipcluster/services/load_balancer/plan.ts";
import type { ServicePlan } from "../../../lib/controllers/sipcluster/services/types.ts";
import { until } from "../../support/nodes/rig.ts";
import { startProcess } from "../../support/process/server_process.ts";
import { planPod } from "../../../lib/controllers/sipcluster/services/load_balancer/objects.ts";
import type { SipServices } from "../../../lib/controllers/sipcluster/resource/sip_cluster.ts";
import {
  type Answer,
  planConfigs,
  runProgram,
  skipsHaproxy,
} from "../../support/sipcluster/haproxy.ts";
import { machine } from "../../support/sipcluster/machines.ts";

const SERVICES: SipServices = {
  loadBalancerControlPlane: [{ nodePort: 30001, nodeInterfaceId: "oam" }],
  loadBalancerWorker: [{ nodePortRange: { start: 30002, end: 30011 }, nodeInterfaceId: "oam" }],
};
/** Newer versions of HAProxy say nothing. */
const VALID = { code: 0, output: expect.stringMatching(/^(Configuration file is valid\n)?$/) };

/** Written like those of users of the original operator. */
const TEMPLATE = `global
  daemon
  maxconn 256

defaults
  mode tcp
  timeout connect 30s
  timeout client 600s
  timeout server 600s

{{- $servers := .Servers }}
{{- range .ContainerPorts }}
{{- $port := . }}

frontend {{ .Name }}-front
  bind *:{{ .ContainerPort }}
  default_backend {{ .Name }}-back

backend {{ .Name }}-back
  balance roundrobin
  {{- range $servers }}
  {{- $server := . }}
  server {{ $server.Name }} {{ $server.IP }}:{{ $port.ContainerPort }} check
  {{- end }}
{{- end }}`;

function machines(count: number, toAddress: (at: number) => string): ReturnType<typeof machine>[] {
  return Array.from({ length: count }, (_, at) => [
    machine(`cp-${at}`, toAddress(at + 1)),
    machine(`worker-${at}`, toAddress(at + 100), { role: "Worker", standby: at === 0 }),
  ]).flat();
}

/** The plan of a load balancer with a template. */
function planOne(template: string): ServicePlan {
  const services = { loadBalancerControlPlane: [{ nodePort: 30001, nodeInterfaceId: "oam" }] };
  const cluster = { metadata: { name: "acme", namespace: "infra" }, spec: { services } };
  const templates = { loadBalancerControlPlane: { "loadBalancerControlPlane.cfg": template } };
  const [plan] = planLoadBalancers({ cluster, machines: [], tolerations: [] }, { templates });
  if (plan === undefined || plan.problem) throw new Error(plan?.problem?.message);
  return plan;
}

/** What HAProxy answers on its stats socket. */
async function askSocket(path: string, question: string): Promise<string> {
  const socket = connect(path).setEncoding("utf8");
  socket.write(`${question}\n`);
  return (await socket.toArray()).join("");
}

describe.skipIf(skipsHaproxy())("haproxy -c", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "landfall-haproxy-check-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function check(config: string): Promise<Answer> {
    const path = join(folder, "haproxy.cfg");
    await writeFile(path, config);
    return runProgram("haproxy", ["-c", "-f", path]);
  }

  const families = [
    ["IPv4", (at: number) => `10.0.0.${at}`],
    ["IPv6", (at: number) => `2001:db8::${at.toString(16)}`],
  ] as const;
  for (const count of [0, 1, 3, 50]) {
    for (const [family, toAddress] of families) {
      test(`accepts ${count} servers with ${family} addresses, without a warning`, async () => {
        for (const config of planConfigs(SERVICES, machines(count, toAddress))) {
          expect(await check(config)).toEqual(VALID);
        }
      });

      test(`accepts a template over ${count} servers with ${family} addresses`, async () => {
        const templates = {
          loadBalancerControlPlane: { "loadBalancerControlPlane.cfg": TEMPLATE },
          loadBalancerWorker: { "loadBalancerWorker.cfg": TEMPLATE },
        };
        const configs = planConfigs(SERVICES, machines(count, toAddress), { templates });
        expect(configs).toHaveLength(2);
        for (const config of configs) {
          expect(config.match(/^ {2}server .*$/gm) ?? []).toHaveLength(
            count * (config.match(/^backend .*-back$/gm)?.length ?? 0),
          );
          expect(await check(config)).toEqual(VALID);
        }
      });
    }
  }

  test("accepts servers whose hosts have the same name or one that HAProxy would not accept", async () => {
    const hosts = [
      machine("a", "10.0.0.1", { namespace: "east" }),
      machine("a", "10.0.0.2", { namespace: "west" }),
      machine("b c/d#e", "10.0.0.3"),
      machine("f.example.org", "10.0.0.4"),
    ];
    const [config = ""] = planConfigs(SERVICES, hosts);
    expect(config.match(/^ {2}server .*$/gm)).toHaveLength(4);
    expect(await check(config)).toEqual(VALID);
  });

  test.each([
    ["with the limit of its Pod", "", 4000],
    ["with a limit of its own", "  maxconn 256\n", 256],
  ])("a template runs %s", async (_what, line, expected) => {
    const socket = join(folder, "stats.sock");
    const template = `global\n  stats socket ${socket}\n${line}defaults\n  timeout client 1s\n`;
    const { objects } = planOne(template);
    const pod = JSON.stringify(objects.find(({ body }) => body.kind === "Deployment"));
    const command: string[] = JSON.parse(/"command":(\["haproxy".*?\])/.exec(pod)?.[1] ?? "[]");
    const path = join(folder, "haproxy.cfg");
    await writeFile(path, Object(objects[0]?.body).data["haproxy.cfg"]);
    const args = command.map((one) => (one.startsWith("/usr/") ? path : one));
    const haproxy = startProcess("env", ["POD_IP=127.0.0.1", ...args], join(folder, "log"));
    try {
      await until("HAProxy runs", () => existsSync(socket));
      expect(await askSocket(socket, "show info")).toContain(`\nMaxconn: ${expected}\n`);
    } finally {
      await haproxy.stop();
      rmSync(socket, { force: true });
    }
  });

  describe("in the init container", () => {
    /** Runs the command of the container, with files of this test. */
    function runCheck(configHash: string): Answer & { readonly copy: string | undefined } {
      const pod = planPod({
        image: "",
        configMap: "",
        configHash,
        ports: [],
        healthPort: 1,
        labels: {},
        tolerations: [],
      });
      const [program = "", ...args] = pod.initContainers?.[0]?.command ?? [];
      const [source, copy] = [join(folder, "source.cfg"), join(folder, "copy.cfg")];
      rmSync(copy, { force: true });
      const inTest = args.map((one) =>
        one.startsWith("/etc/") ? source : one.startsWith("/usr/") ? copy : one,
      );
      const answer = runProgram(program, inTest);
      return { ...answer, copy: existsSync(copy) ? readFileSync(copy, "utf8") : undefined };
    }
    const write = (config: string): void => writeFileSync(join(folder, "source.cfg"), config);

    test("lets a good configuration through", () => {
      const [config = ""] = planConfigs(SERVICES, []);
      write(config);
      expect(runCheck(hashContent(config))).toEqual({ ...VALID, copy: config });
    });

    test("stops one that HAProxy refuses", () => {
      const config = "defaults\n  timeout client soon\nlisten x\n  bind :6443\n";
      write(config);
      const { code, output, copy } = runCheck(hashContent(config));
      expect({ code, copy }).toEqual({ code: 1, copy: undefined });
      expect(output).toContain("timeout client");
    });

    test("stops one that is not that of the Pod", () => {
      const [config = ""] = planConfigs(SERVICES, []);
      write(config);
      const { code, output, copy } = runCheck(hashContent(`${config}# newer\n`));
      expect({ code, copy }).toEqual({ code: 1, copy: undefined });
      expect(output).toContain("another version of the ConfigMap");
    });
  });
});
