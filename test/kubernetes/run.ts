/**
 * Runs the tests of test/cluster: all with the servers in KUBEBUILDER_ASSETS, and with those in
 * KUBEBUILDER_ASSETS_OLDEST what Landfall relies on and one story of each controller.
 *
 * With files or folders as arguments it runs only these, with the servers in KUBEBUILDER_ASSETS.
 * @module
 */
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, normalize } from "node:path";
import { parseArgs } from "node:util";
import { TESTED_WITH } from "../../lib/kube/api/version.ts";
import { installJudges } from "../judges/install.ts";
import { toBound } from "../support/process/server_process.ts";
import { saySkipped } from "../support/skip.ts";

const FOLDER = "test/cluster";
const BINARY = "dist/landfall";
const TIMEOUT_MS = 2_400_000;
/** The contracts of the API and of CRDs, what accounts can become, and a story of each controller. */
const OLDEST = [
  "contract",
  "accounts",
  "nodes/initialise",
  "nodes/deletion",
  "nodes/out_of_service",
  "services/story",
  "sipcluster/crd",
  "sipcluster/namespaces",
  "sipcluster/story",
  "vino/crd",
  "vino/story",
].map((name) => `${FOLDER}/${name}_test.ts`);

/** A Kubernetes that tests run on. */
interface Servers {
  readonly variable: "KUBEBUILDER_ASSETS" | "KUBEBUILDER_ASSETS_OLDEST";
  readonly age: keyof typeof TESTED_WITH;
}

const NEWEST_SERVERS: Servers = { variable: "KUBEBUILDER_ASSETS", age: "newest" };
const OLDEST_SERVERS: Servers = { variable: "KUBEBUILDER_ASSETS_OLDEST", age: "oldest" };

/** What the tests write. They cannot remove it when a signal ends them. */
const scratch = mkdtempSync(join(tmpdir(), "landfall-tests-"));
// Some programs run as other users.
chmodSync(scratch, 0o755);
let child: Bun.Subprocess | undefined;

process.once("exit", () => {
  child?.kill("SIGKILL");
  rmSync(scratch, { recursive: true, force: true });
});
for (const [name, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const) {
  process.once(name, () => {
    child?.kill(name);
    // Tests end their servers when they get the signal; what is left after that is killed.
    setTimeout(() => process.exit(code), 2_000);
    void child?.exited.then(() => process.exit(code));
  });
}

/** Ends with a message about something that would leave tests out, or test something else. */
function refuse(problem: string): never {
  console.error(`test:cluster: ${problem}`);
  process.exit(2);
}

/** The files and folders to run, and the titles of their tests. */
function readArguments(): { readonly paths: string[]; readonly pattern: string | undefined } {
  try {
    const { values, positionals } = parseArgs({
      args: process.argv.slice(2),
      options: { "test-name-pattern": { type: "string", short: "t" } },
      allowPositionals: true,
    });
    return { paths: positionals, pattern: values["test-name-pattern"] };
  } catch (error) {
    refuse(error instanceof Error ? error.message : String(error));
  }
}

/** The newest file that goes into the program. */
function findNewestSource(): { readonly path: string; readonly ms: number } {
  const names = readdirSync("lib", { recursive: true, encoding: "utf8" });
  const paths = ["main.ts", "package-lock.json", ...names.map((name) => join("lib", name))];
  return paths
    .map((path) => ({ path, ms: statSync(path).mtimeMs }))
    .reduce((newest, one) => (one.ms > newest.ms ? one : newest));
}

/** The folder of the servers; `undefined` if the variable is not set. */
function findServers({ variable, age }: Servers): string | undefined {
  const folder = process.env[variable];
  if (!folder) return undefined;
  const how = `Run: export ${variable}=$(npm run --silent kubernetes ${age})`;
  const program = join(folder, "kube-apiserver");
  if (!existsSync(program)) refuse(`${variable}: "${folder}" has no kube-apiserver. ${how}`);
  let said = "";
  try {
    said = Bun.spawnSync([program, "--version"]).stdout.toString().trim();
  } catch (error) {
    refuse(`${variable}: cannot run ${program}: ${error instanceof Error ? error.message : error}`);
  }
  console.error(`${variable}: ${said}`);
  const wanted = `Kubernetes v${TESTED_WITH[age]}`;
  if (said === wanted) return folder;
  const problem = `${variable}: must be ${wanted}, but is "${said}". ${how}`;
  // A person may want to know how another version fares.
  if (process.env["CI"]) refuse(problem);
  process.stderr.write(`\n*** ${problem} ***\n\n`);
  return folder;
}

/** Runs tests. Returns whether all is well. */
async function runTests(assets: string | undefined, args: readonly string[]): Promise<boolean> {
  const flags = ["test", "--parallel=4", "--timeout", "180000"];
  const { file, args: rest } = toBound([process.execPath, ...flags, ...args]);
  child = Bun.spawn([file, ...rest], {
    // The servers collect their garbage less often: it takes a tenth of their time.
    env: { ...process.env, KUBEBUILDER_ASSETS: assets, TMPDIR: scratch, GOGC: "400" },
    stdio: ["inherit", "inherit", "inherit"],
    timeout: TIMEOUT_MS,
  });
  return (await child.exited) === 0;
}

const { pattern, paths } = readArguments();
const named = pattern === undefined ? [] : ["--test-name-pattern", pattern];
for (const path of [...paths, ...OLDEST]) {
  const isInside = normalize(path).startsWith(FOLDER) && existsSync(path);
  if (!isInside) refuse(`there is no file or folder "${path}" below ${FOLDER}`);
}
if (existsSync(BINARY)) {
  const newest = findNewestSource();
  if (newest.ms > statSync(BINARY).mtimeMs) {
    refuse(`${BINARY} is older than ${newest.path}. Run: npm run build`);
  }
} else {
  saySkipped(`tests of the compiled binary: there is no ${BINARY}. Run: npm run build`);
}
const assets = findServers(NEWEST_SERVERS);
const isAll = paths.length === 0;
const oldest = isAll ? findServers(OLDEST_SERVERS) : undefined;
await installJudges();
const files = isAll ? ["--timings", `${FOLDER}/timings.json`, FOLDER] : paths;
let isWell = await runTests(assets, [...named, ...files]);
if (isAll) {
  if (oldest) isWell = (await runTests(oldest, [...named, ...OLDEST])) && isWell;
  else {
    saySkipped(
      "tests on the oldest Kubernetes. Run: " +
        "export KUBEBUILDER_ASSETS_OLDEST=$(npm run --silent kubernetes oldest)",
    );
  }
}
process.exit(isWell ? 0 : 1);
