/**
 * Judges that are made by others: parts of the real surroundings of Landfall, each of a pinned version. They are
 * installed once into a cache, from PyPI or by the Go module proxy; nothing of them is in this repository.
 * @module
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { withLock } from "../kubernetes/lock.ts";
import { toBound } from "../support/process/server_process.ts";
import { saySkipped } from "../support/skip.ts";

const execute = promisify(execFile);
/** Runs a program, which ends with this process. */
const run = (command: readonly string[], options: { cwd?: string } = {}) => {
  const { file, args } = toBound(command);
  return execute(file, args, { ...options, timeout: INSTALL_MS });
};
/** A cold cache of Go on a busy machine takes the longest. */
const INSTALL_MS = 900_000;
const CACHE = join(
  process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"),
  "landfall",
  "judges",
);

const UNFINISHED = "work-";

/** A judge. */
interface Judge {
  readonly name: string;
  /** Where it is, once it is installed. */
  readonly folder: string;
  /** The program that installs it. */
  readonly needs: "go" | "python3";
  /** @param folder Where it will be; empty */
  install(folder: string): Promise<void>;
}

/** Ironic, which metal3 uses to manage hardware. 290 MiB. */
export const IRONIC: Judge = toPythonJudge("Ironic", "ironic", ["ironic==39.0.0"]);

/** DMTF's own checkers of Redfish services. */
export const REDFISH_CHECKERS: Judge = toPythonJudge(
  "DMTF's Redfish checkers",
  "redfish-checkers",
  ["redfish-protocol-validator==1.3.2", "redfish-use-case-checkers==2.1.1"],
);

/** metal3's types of objects, and the program that makes CustomResourceDefinitions of them. */
const METAL3 = "github.com/metal3-io/baremetal-operator/apis";
const METAL3_VERSION = "v0.13.2";
const GENERATOR = "sigs.k8s.io/controller-tools/cmd/controller-gen@v0.20.0";

/** The CustomResourceDefinitions of metal3. */
export const METAL3_CRDS: Judge = {
  name: "metal3's CustomResourceDefinitions",
  folder: join(CACHE, `metal3-crds-${METAL3_VERSION}`),
  needs: "go",
  async install(folder) {
    const work = await mkdtemp(join(CACHE, UNFINISHED));
    const go = async (...args: string[]): Promise<string> =>
      (await run(["go", ...args], { cwd: work })).stdout.trim();
    try {
      const lines = ["module crds", "go 1.25.0", `require ${METAL3} ${METAL3_VERSION}`];
      await writeFile(join(work, "go.mod"), `${lines.join("\n")}\n`);
      await writeFile(
        join(work, "crds.go"),
        `package crds\n\nimport _ "${METAL3}/metal3.io/v1alpha1"\n`,
      );
      await go("mod", "tidy");
      const types = await go("list", "-m", "-f", "{{.Dir}}", METAL3);
      const paths = `paths=${types}/metal3.io/v1alpha1`;
      const kind = "crd:crdVersions=v1,allowDangerousTypes=true";
      await go("run", GENERATOR, kind, paths, `output:crd:dir=${folder}`);
    } finally {
      await rm(work, { recursive: true });
    }
  },
};

const JUDGES: readonly Judge[] = [METAL3_CRDS, IRONIC, REDFISH_CHECKERS];

/** Installs what is not there yet. What cannot be installed is said: its tests are skipped, or fail in CI. */
export async function installJudges(): Promise<void> {
  for (const judge of JUDGES) {
    if (isInstalled(judge)) continue;
    console.error(`Installs ${judge.name} into ${judge.folder}: this takes minutes`);
    try {
      await withLock(CACHE, { unfinished: UNFINISHED, work: () => install(judge) });
    } catch (error) {
      process.stderr.write(`\n*** Cannot install ${judge.name}: ${String(error)} ***\n\n`);
    }
  }
}

/** Installs a judge, unless it is. @throws Error that says why it cannot be */
async function install(judge: Judge): Promise<void> {
  if (isInstalled(judge)) return;
  if (Bun.which(judge.needs) === null) throw new Error(`${judge.needs} is missing`);
  await rm(judge.folder, { recursive: true, force: true });
  await mkdir(judge.folder, { recursive: true });
  await judge.install(judge.folder);
  await writeFile(toMark(judge), "");
}

/** Whether a judge is missing, which is said loudly. @throws Error instead when `CI` is set */
export function lacks(judge: Judge): boolean {
  if (isInstalled(judge)) return false;
  const text = `${judge.name}: not installed. \`npm run test:cluster\` does it, and says why it cannot`;
  saySkipped(`tests with ${text}`);
  return true;
}

function isInstalled(judge: Judge): boolean {
  return existsSync(toMark(judge));
}

/** It is written last. */
function toMark({ folder }: Judge): string {
  return join(folder, "installed");
}

/** A judge in an environment of Python of its own. */
function toPythonJudge(name: string, folder: string, packages: readonly string[]): Judge {
  const versions = packages.map((one) => one.split("==")[1]).join("-");
  return {
    name,
    folder: join(CACHE, `${folder}-${versions}`),
    needs: "python3",
    async install(place) {
      await run(["python3", "-m", "venv", place]);
      const pip = [join(place, "bin", "pip"), "install", "--quiet", "--disable-pip-version-check"];
      await run([...pip, ...packages]);
    },
  };
}
