/**
 * `landfall services`, `landfall sipclusters`, `landfall vinos`, and `--watch`, with the pages of a process.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { main } from "../../lib/cli/main.ts";
import { ManualClock } from "../support/manual_clock.ts";
import {
  toLoadBalancerSource,
  toLoadBalancerView,
  WAITING,
} from "../support/page/load_balancer_views.ts";
import { toInventoryView, toNodeView } from "../support/page/node_views.ts";
import { toPages } from "../support/page/pages.ts";
import { SHORT, toSipCluster, toSipSource } from "../support/page/sip_cluster_views.ts";
import { toVinoSource } from "../support/page/vino_views.ts";

let server: Bun.Server<undefined>;
const twin = toLoadBalancerView("shop", { namespace: "other" });
const sick = toSipCluster("\u001b[31mred");

beforeAll(() => {
  const pages = toPages({
    debug: {
      listNodes: () => [toNodeView("a")],
      findNode: () => undefined,
      readInventory: () => toInventoryView(),
    },
    loadBalancers: toLoadBalancerSource([toLoadBalancerView("api"), twin, WAITING]),
    sipClusters: toSipSource([SHORT, sick]),
    vinos: toVinoSource(),
  });
  server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: pages.fetch });
});
afterAll(() => server.stop(true));

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly problem: string;
}

async function landfall(...argv: string[]): Promise<Ran> {
  let [out, problem] = ["", ""];
  const code = await main(argv, {
    env: { LANDFALL_DEBUG_ADDRESS: `127.0.0.1:${server.port}` },
    print: (text) => void (out += text),
    complain: (text) => void (problem += text),
  });
  return { code, out, problem };
}

test.each([
  ["services", /^store +shop +waiting +- +tcp 80, tcp 443 +2 +7m /m],
  ["sipclusters", /^tenants +short +waiting +1 of 2 Worker/m],
  ["vinos", /^tenants +mixed +failing +2 of 9 ready/m],
])("landfall %s shows what the process knows", async (command, expected) => {
  const { code, out, problem } = await landfall(command);
  const source = `landfall: from the Landfall process at 127.0.0.1:${server.port}\n`;
  expect([code, problem]).toEqual([0, source]);
  expect(out).toMatch(expected);
});

test.each([
  [["services", "api"], /^Address +192\.0\.2\.10 +ours +ours$/m],
  [["services", "store/shop"], /^AddressNotOurs +the address/m],
  [["sipclusters", "short"], /^Worker +2 +1 +1 +1 paused$/m],
  [["vinos", "tenants/mixed"], /^vino-mixed-worker-3 +CPUs +4 +2$/m],
])("landfall %p shows one", async (argv, expected) => {
  expect((await landfall(...argv)).out).toMatch(expected);
});

test.each(["services", "sipclusters", "vinos"])(
  "landfall %s -o wide has whole lines in a narrow terminal",
  async (command) => {
    const env = { LANDFALL_DEBUG_ADDRESS: `127.0.0.1:${server.port}`, COLUMNS: "40" };
    const show = async (...argv: string[]): Promise<string> => {
      let out = "";
      const print = (text: string): void => void (out += text);
      expect(await main([command, ...argv], { env, print, complain: () => undefined })).toBe(0);
      return out;
    };
    expect(await show()).toMatch(/…\n/);
    const { out } = await landfall(command);
    expect(await show("-o", "wide")).toBe(out);
  },
);

test("landfall services -o json is what the page gives", async () => {
  const { out } = await landfall("services", "-o", "json");
  expect(JSON.parse(out).loadBalancers).toHaveLength(3);
  expect(JSON.parse((await landfall("services", "api", "-o", "json")).out)).toMatchObject({
    namespace: "default",
    name: "api",
  });
});

test.each([
  [["services", "shop"], 'several have the name "shop": other/shop, store/shop'],
  [
    ["services", "apy"],
    'there is no Service with a load balancer of Landfall "apy"; did you mean api?',
  ],
  [["vinos", "tenants/wel"], "did you mean tenants/well?"],
  [["sipclusters", "--debug-address="], "only a running process knows this"],
])("landfall %p says what is wrong", async (argv, expected) => {
  const { code, problem } = await landfall(...argv);
  expect(code).toBe(1);
  expect(problem).toContain(expected);
});

test("what other programs named does not move the cursor of a terminal", async () => {
  expect((await landfall("sipclusters")).out).not.toContain("\u001b");
  expect((await landfall("sipclusters", "-o", "json")).out).not.toContain("\u001b");
});

describe("without the process or its controller", () => {
  test.each([
    ["vinos", "vinoes", "deployment/landfall-vino"],
    ["sipclusters", "sipclusters", "deployment/landfall-sipcluster"],
    ["services", "services", "daemonset/landfall"],
  ])("the command says what to do: %s", async (command, resource, workload) => {
    const { code, problem } = await landfall(command, "--debug-address=127.0.0.1:1");
    expect(code).toBe(1);
    expect(problem).toContain("no Landfall process answers at 127.0.0.1:1.");
    expect(problem).toContain(`port-forward ${workload} 10260. `);
    expect(problem).toContain(`kubectl get -A ${resource}`);
  });

  test.each([
    ["sipclusters", "controller sipcluster: see its --controllers"],
    [
      "services",
      "controller service: to let it run, set address pools: loadBalancers.pools in the settings file, and restart " +
        "Landfall; if --controllers is not the default, name service in it first",
    ],
  ])("it names the controller of %s that does not run, and how to run it", async (kind, words) => {
    const { fetch } = toPages({});
    using other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch });
    const { problem } = await landfall(kind, `--debug-address=127.0.0.1:${other.port}`);
    expect(problem).toContain(`does not run the ${words}`);
  });
});

test("landfall services --watch prints nothing when only time has passed", async () => {
  const ages = ["3s", "12s", "2m", "2m"];
  const states = ["ready", "ready", "ready", "waiting"];
  let asked = 0;
  const fetch = (): Response => {
    const text = `NAME  STATE${" ".repeat(asked)}  AGO\na  ${states[asked]}  ${ages[asked]} ago\n`;
    asked = Math.min(asked + 1, ages.length - 1);
    return new Response(text);
  };
  using other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch });
  const clock = new ManualClock();
  const shown: string[] = [];
  const running = main(["services", "--watch", `--debug-address=127.0.0.1:${other.port}`], {
    env: {},
    clock,
    print: (text) => void shown.push(text),
    complain: () => undefined,
  });
  while (shown.length < 2) {
    await Bun.sleep(5);
    await clock.advance(2_000);
  }
  expect(shown[0]).toContain("ready  3s ago");
  expect(shown[1]).toContain("waiting  2m ago");
  process.emit("SIGINT");
  await clock.advance(2_000);
  expect(await running).toBe(0);
});

test("landfall nodes --watch ends when no program reads it any more", async () => {
  const shown: string[] = [];
  const code = await main(["nodes", "--watch", `--debug-address=127.0.0.1:${server.port}`], {
    env: {},
    print: (text) => void shown.push(text),
    complain: () => undefined,
    hasReader: () => shown.length === 0,
  });
  expect([code, shown.length]).toEqual([0, 1]);
});

test.each([["sipclusters"], ["nodes"]])(
  "landfall %s --watch prints again what changes, until it is stopped",
  async (command) => {
    const clusters = [SHORT];
    const nodes = [toNodeView("a")];
    const pages = toPages({
      debug: {
        listNodes: () => nodes,
        findNode: () => undefined,
        readInventory: () => toInventoryView(),
      },
      sipClusters: { ...toSipSource(), list: () => clusters, listHosts: () => [] },
    });
    using other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: pages.fetch });
    const clock = new ManualClock();
    const shown: string[] = [];
    const argv = [command, "--watch", `--debug-address=127.0.0.1:${other.port}`];
    const running = main(argv, {
      env: {},
      clock,
      print: (text) => void shown.push(text),
      complain: () => undefined,
    });
    const until = async (count: number): Promise<void> => {
      while (shown.length < count) {
        await Bun.sleep(5);
        await clock.advance(2_000);
      }
    };
    await until(1);
    for (let at = 0; at < 5; at += 1) {
      await Bun.sleep(5);
      await clock.advance(2_000);
    }
    expect(shown).toHaveLength(1);
    clusters.push(toSipCluster("later"));
    nodes.push(toNodeView("later"));
    await until(2);
    expect(shown[1]).toContain("later");
    process.emit("SIGINT");
    await clock.advance(2_000);
    expect(await running).toBe(0);
  },
);
