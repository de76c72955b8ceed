import { describe, expect, test } from "bun:test";
import {
  formatConfig,
  formatHealthFrontend,
} from "../../../../../lib/controllers/sipcluster/services/load_balancer/haproxy_config.ts";

const API = [{ name: "http", port: 6443 }];
const WORKER = [30002, 30003].map((port) => ({ name: `port-${port}`, port }));
const SERVERS = [
  { name: "node-a", address: "10.0.0.1" },
  { name: "node-b", address: "2001:db8::2" },
];

function linesOf(text: string, section: string): string[] {
  const [, ...lines] = text.slice(text.indexOf(section)).split("\n\n")[0]?.split("\n") ?? [];
  return lines.map((line) => line.trim()).filter((line) => line !== "");
}

describe("formatConfig()", () => {
  const config = formatConfig({ kind: "loadBalancerControlPlane", ports: API, servers: SERVERS });

  test("brings connections to the API servers", () => {
    expect(linesOf(config, "listen http")).toEqual([
      'bind "${POD_IP}:6443"',
      "server node-a 10.0.0.1:6443",
      "server node-b [2001:db8::2]:6443",
    ]);
  });

  test("asks API servers whether they are ready", () => {
    const defaults = linesOf(config, "defaults");
    expect(defaults).toContain("option httpchk GET /readyz");
    expect(defaults).toContain("http-check expect ! rstatus ^5");
    expect(defaults.find((line) => line.startsWith("default-server"))).toContain("check-ssl");
  });

  test("keeps silent connections as long as a shell in a Pod may be silent", () => {
    const defaults = linesOf(config, "defaults");
    for (const side of ["client", "server"]) expect(defaults).toContain(`timeout ${side} 4h`);
  });

  test("brings connections to each node port of workers, and checks each", () => {
    const text = formatConfig({ kind: "loadBalancerWorker", ports: WORKER, servers: SERVERS });
    for (const { name, port } of WORKER) {
      expect(linesOf(text, `listen ${name}\n`)).toEqual([
        `bind "\${POD_IP}:${port}"`,
        `server node-a 10.0.0.1:${port}`,
        `server node-b [2001:db8::2]:${port}`,
      ]);
    }
    expect(linesOf(text, "defaults")).toContain(
      "default-server check inter 5s fastinter 2s fall 2 rise 2",
    );
    expect(text).not.toContain("httpchk");
  });

  test("names no server if there is none", () => {
    const text = formatConfig({ kind: "loadBalancerControlPlane", ports: API, servers: [] });
    expect(linesOf(text, "listen http")).toEqual(['bind "${POD_IP}:6443"']);
    expect(text).not.toMatch(/^ *server /m);
  });

  test("opens no page with statistics, and no socket for commands", () => {
    expect(config).not.toContain("stats");
  });

  for (const [servers, interval] of [
    [10, "5s"],
    [50, "25s"],
  ] as const) {
    test(`checks 100 ports of ${servers} workers every ${interval}`, () => {
      const ports = Array.from({ length: 100 }, (_, at) => ({ name: `p${at}`, port: 30000 + at }));
      const many = Array.from({ length: servers }, (_, at) => ({
        name: `n${at}`,
        address: `10.0.0.${at + 1}`,
      }));
      const text = formatConfig({ kind: "loadBalancerWorker", ports, servers: many });
      expect(text).toContain(`check inter ${interval} `);
    });
  }

  test("ends in a line feed, also before the frontend for probes", () => {
    for (const servers of [[], SERVERS]) {
      for (const kind of ["loadBalancerControlPlane", "loadBalancerWorker"] as const) {
        const text = formatConfig({ kind, ports: API, servers });
        for (const one of [text, text + formatHealthFrontend(8404)]) {
          expect(one).toMatch(/[^\n]\n$/);
          expect(one).not.toMatch(/ $|\n\n\n/m);
        }
      }
    }
  });
});

test("formatHealthFrontend() answers on a port of its own", () => {
  expect(linesOf(formatHealthFrontend(8404), "frontend landfall-health")).toEqual([
    'bind "${POD_IP}:8404"',
    "monitor-uri /healthz",
  ]);
});
