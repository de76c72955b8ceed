/**
 * The whole command, on simulated servers and on a process.
 * @module
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { main } from "../../../lib/cli/main.ts";
import { createDemoWorld } from "../../../lib/simulator/xenorchestra/mod.ts";
import { type DemoServers, startDemoServers } from "../../support/process/demo_servers.ts";
import { toRegistration } from "../../support/nodes/nodes.ts";
import { toNodeView } from "../../support/page/node_views.ts";

let servers: DemoServers;
let kubernetes: DemoServers["kubernetes"];
let cloud: DemoServers["cloud"];
let folder: string;
let kubeconfig: string;

beforeEach(async () => {
  servers = await startDemoServers();
  ({ kubernetes, cloud, folder, kubeconfig } = servers);
});
afterEach(() => servers.stop());

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function run(argv: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  let [out, err] = ["", ""];
  const code = await main(["nodes", ...argv], {
    env: { XOA_URL: cloud.url, XOA_TOKEN: cloud.token, ...env },
    print: (text) => (out += text),
    complain: (text) => (err += text),
  });
  expect(out + err).not.toContain(cloud.token);
  return { code, out, err };
}

const look = (...argv: readonly string[]): Promise<Ended> =>
  run([`--kubeconfig=${kubeconfig}`, ...argv]);

describe("nodes(), which looks itself", () => {
  test("shows every Node with host and zone, and writes nothing", async () => {
    const { code, out, err } = await look();
    expect([code, err]).toEqual([0, "landfall: from the cluster and the cloud\n"]);
    const lines = out.trimEnd().split("\n");
    expect(lines[0]?.split(/ +/)).toEqual(
      "NAME READY PRESENCE REASON STATE ADDRESS HOST ZONE".split(" "),
    );
    expect(lines).toHaveLength(9);
    expect(lines[1]).toMatch(/^cp-1 +True +present +- +running +- +xcp-par-1 +[0-9a-f-]{36}$/);
    for (const { method } of kubernetes.requests.entries) expect(method).toBe("GET");
    for (const route of cloud.requests.byRoute.keys()) expect(route).toStartWith("GET ");
  });

  test("and check say which address a Node does not get, because a pool has it", async () => {
    kubernetes.objects.createNode(
      toRegistration("filed", {
        systemUuid: "",
        uninitialized: false,
        providerId: "static://filed",
        addresses: [["InternalIP", "10.0.0.7"]],
      }),
    );
    const config = join(folder, "inventory.yaml");
    await Bun.write(
      config,
      `instances:
  - id: filed
    name: filed
    addresses:
      - { type: InternalIP, address: 10.0.0.7 }
      - { type: ExternalIP, address: 192.0.2.7 }
loadBalancers: { pools: [{ name: main, addresses: [192.0.2.0/28] }] }
`,
    );
    const own = ["--cloud-provider=static", `--cloud-config=${config}`];
    const said = '192.0.2.7 of instance "filed" is in the address pool main';
    const { out } = await look("filed", ...own);
    expect(out.replaceAll(/\s+/g, " ")).toContain(`Conflict: ${said}, so the Node does not get it`);
    let checked = "";
    await main(["check", `--kubeconfig=${kubeconfig}`, ...own], {
      env: {},
      print: (text) => (checked += text),
      complain: () => undefined,
    });
    expect(checked.replaceAll(/\s+/g, " ")).toContain(said);
  });

  test("shows more columns with -o wide, and everything with -o json", async () => {
    expect((await look("-o", "wide")).out).toMatch(/PROVIDER-ID +DELETION +LAST/);
    const { nodes } = JSON.parse((await look("-ojson")).out);
    expect(nodes).toHaveLength(8);
    expect(nodes[0]).toMatchObject({ name: "cp-1", ready: "True", lastReconcile: null });
  });

  test("shows one Node in detail, and asks the cloud for its machine alone", async () => {
    const systemUuid = crypto.randomUUID();
    kubernetes.objects.createNode(toRegistration("lost", { systemUuid }));
    const { code, out } = await look("worker-uefi");
    expect(code).toBe(0);
    expect(cloud.requests.count("GET /vms/{id}")).toBe(1);
    expect(out).toMatch(/^Node: +worker-uefi\n/);
    expect(out).toMatch(
      /\nMachine: +present, running, matched by system UUID in reversed byte order\n/,
    );
    expect(out).toContain("+ provider ID: xenorchestra://");
    expect(JSON.parse((await look("cp-1", "--output=json")).out)).toMatchObject({ name: "cp-1" });
    expect((await look("cp-1", "--output=wide")).out.trimEnd().split("\n")).toHaveLength(2);
  });

  test("cuts the table where the terminal ends, and not with -o wide", async () => {
    const width = (text: string): number =>
      Math.max(...text.split("\n").map((line) => line.length));
    const argv = [`--kubeconfig=${kubeconfig}`];
    expect(width((await run(argv, { COLUMNS: "60" })).out)).toBe(60);
    expect(width((await run([...argv, "-o", "wide"], { COLUMNS: "60" })).out)).toBeGreaterThan(150);
  });

  test("ends with 1 and a suggestion for a Node that does not exist", async () => {
    expect(await look("worker-l")).toEqual({
      code: 1,
      out: "",
      err: 'landfall: from the cluster and the cloud\nlandfall: there is no Node "worker-l"; did you mean worker-1?\n',
    });
  });

  test("ends with 1 when the cloud refuses, and says what helps", async () => {
    const { code, err } = await run([`--kubeconfig=${kubeconfig}`], { XOA_TOKEN: "wrong" });
    expect(code).toBe(1);
    expect(err).toContain("landfall check with the same flags says what to do");
  });

  test("ends with 2 for --wide, and says how to write it", async () => {
    const { code, err } = await look("--wide");
    expect([code, err]).toEqual([2, "landfall: --wide: unknown flag; did you mean -o wide?\n"]);
  });

  test("asks for no token of a cloud that no flag names, and says which process is missing", async () => {
    const argv = [`--kubeconfig=${kubeconfig}`, "--debug-address=127.0.0.1:1"];
    let said = "";
    const code = await main(["nodes", "--debug-address=127.0.0.1:1"], {
      env: { KUBECONFIG: kubeconfig },
      print: () => undefined,
      complain: (text) => (said += text),
    });
    expect(code).toBe(1);
    expect(said).toContain("no Landfall process runs at 127.0.0.1:1, and no flag says which cloud");
    expect(said).toContain("--cloud-provider and --cloud-config that landfall run has");
    expect(said).not.toMatch(/token|XOA/i);
    // Half of the settings: the others are what is missing.
    const { err } = await run([...argv, "--cloud-provider=xenorchestra"], { XOA_TOKEN: "" });
    expect(err).toMatch(/token/i);
  });

  test("ends with 2 when settings cannot be used", async () => {
    const { code, err } = await run([`--kubeconfig=${kubeconfig}`], { XOA_URL: "ftp://x" });
    expect([code, err]).toEqual([2, expect.stringContaining("XOA_URL")]);
  });

  test("ends with 1 when there is no kubeconfig, and says what helps", async () => {
    const { code, err } = await run(["--kubeconfig=/nowhere/kubeconfig"]);
    expect(code).toBe(1);
    expect(err).toContain("/nowhere/kubeconfig: cannot read the file: there is no such file");
    expect(err).toContain("landfall check with the same flags says what to do");
  });

  test("says that there are no Nodes", async () => {
    for (const name of createDemoWorld().machines.keys()) {
      kubernetes.objects.delete("nodes", { name });
    }
    expect((await look()).out).toBe("There are no Nodes.\n");
  });
});

function serve(fetch: (request: Request) => Response): Bun.Server<undefined> {
  return Bun.serve({ port: 0, hostname: "127.0.0.1", fetch });
}

describe("nodes(), from a process", () => {
  test("shows the Nodes of the process, and says so", async () => {
    const nodes = [toNodeView("a")];
    using server = serve(() => Response.json({ nodes }));
    const { code, out, err } = await run([`--debug-address=127.0.0.1:${server.port}`]);
    expect([code, err]).toEqual([
      0,
      `landfall: from the Landfall process at 127.0.0.1:${server.port}\n`,
    ]);
    expect(out).toMatch(/\na +True/);
    expect(kubernetes.requests.entries).toEqual([]);
  });

  test.each([
    ["the last answers of a cloud that fell silent", 3, "this is older, because"],
    ["that a cloud never answered", null, "the machines are unknown"],
  ])("tells %s", async (_title, ageSeconds, words) => {
    using server = serve(({ url }) =>
      url.endsWith("/inventory")
        ? Response.json({ ageSeconds, lastError: "refused" })
        : Response.json({ nodes: [toNodeView("a")] }),
    );
    const { err } = await run([`--debug-address=127.0.0.1:${server.port}`]);
    expect(err).toContain(words);
    expect(err).toContain(": refused\n");
    expect(err.includes("this is older")).toBe(ageSeconds !== null);
  });

  test("asks at the address of LANDFALL_DEBUG_ADDRESS, unless a flag says where to look", async () => {
    using server = serve(() => Response.json({ nodes: [toNodeView("a")] }));
    const env = { LANDFALL_DEBUG_ADDRESS: `127.0.0.1:${server.port}`, KUBECONFIG: kubeconfig };
    expect((await run([], env)).out).toMatch(/\na +True/);
    for (const flag of ["--debug-address=", `--kubeconfig=${kubeconfig}`]) {
      expect((await run([flag], env)).out, flag).toContain("worker-1");
    }
    const { code, err } = await run([], { ...env, LANDFALL_DEBUG_ADDRESS: "192.0.2.1:1" });
    expect([code, err]).toEqual([2, expect.stringContaining("LANDFALL_DEBUG_ADDRESS: must be")]);
  });

  test("looks itself when no process answers, and says so", async () => {
    const path = join(folder, "none.sock");
    const { code, out, err } = await run([`--debug-address=${path}`, `--kubeconfig=${kubeconfig}`]);
    expect(code).toBe(0);
    expect(err).toBe(
      `landfall: from the cluster and the cloud, because no process answers at unix:${path}\n`,
    );
    expect(out).toContain("worker-1");
  });

  test("asks no process when the address is empty", async () => {
    const { code, err } = await run(["--debug-address="], { KUBECONFIG: kubeconfig });
    expect([code, err]).toEqual([0, "landfall: from the cluster and the cloud\n"]);
  });
});
