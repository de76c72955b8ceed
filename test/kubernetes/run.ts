/**
 * Runs the tests of test/cluster: all with the servers in KUBEBUILDER_ASSETS, and with those in
 * KUBEBUILDER_ASSETS_OLDEST what Landfall relies on and one story of each controller.
 * @module
 */
import { join } from "node:path";
import { installJudges } from "../judges/install.ts";
import { saySkipped } from "../support/skip.ts";

const TIMEOUT_S = 2_400;
/** The contracts of the API and of CRDs, and a story of each controller. */
const OLDEST = [
  "contract",
  "nodes/initialise",
  "nodes/deletion",
  "nodes/out_of_service",
  "services/story",
  "sipcluster/crd",
  "sipcluster/story",
  "vino/crd",
  "vino/story",
].map((name) => `test/cluster/${name}_test.ts`);

const { KUBEBUILDER_ASSETS, KUBEBUILDER_ASSETS_OLDEST } = process.env;

let child: Bun.Subprocess | undefined;
for (const [name, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const) {
  process.once(name, () => {
    child?.kill(name);
    process.exit(code);
  });
}

/** Runs tests, and says first on which Kubernetes. Returns whether all is well. */
async function runTests(assets: string | undefined, args: readonly string[]): Promise<boolean> {
  if (assets) {
    const asked = Bun.spawn([join(assets, "kube-apiserver"), "--version"]);
    console.error(`Cluster tests: ${(await new Response(asked.stdout).text()).trim()}`);
  }
  const flags = ["test", "--parallel=4", "--timeout", "180000"];
  // In the foreground, so that Ctrl-C reaches the tests, too.
  child = Bun.spawn(
    ["timeout", "--foreground", "-k", "5", `${TIMEOUT_S}`, process.execPath, ...flags, ...args],
    {
      env: { ...process.env, KUBEBUILDER_ASSETS: assets },
      stdio: ["inherit", "inherit", "inherit"],
    },
  );
  return (await child.exited) === 0;
}

await installJudges();
const given = process.argv.slice(2);
const all = given.length > 0 ? given : ["--timings", "test/cluster/timings.json", "test/cluster"];
let isWell = await runTests(KUBEBUILDER_ASSETS, all);
if (given.length === 0) {
  if (KUBEBUILDER_ASSETS_OLDEST)
    isWell = (await runTests(KUBEBUILDER_ASSETS_OLDEST, OLDEST)) && isWell;
  else {
    saySkipped(
      "tests on the oldest Kubernetes. Run: " +
        "export KUBEBUILDER_ASSETS_OLDEST=$(npm run --silent kubernetes oldest)",
    );
  }
}
process.exit(isWell ? 0 : 1);
