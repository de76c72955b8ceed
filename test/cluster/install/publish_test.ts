/**
 * The commands of release/README.md and of the workflow that publish and sign a release, on a registry of Debian.
 *
 * cosign and GitHub are not here: what needs them is not run.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import * as v from "valibot";
import { parse } from "yaml";
import manifest from "../../../package.json" with { type: "json" };
import { createTar } from "../../../release/archive.ts";
import { createChart, createChartLayout } from "../../../release/chart.ts";
import { createImage } from "../../../release/image.ts";
import { signSums } from "../../../release/sign.ts";
import { skipsImages } from "../../support/deploy/image.ts";
import { findHelm } from "../../support/kube/kubectl.ts";
import { listCodeBlocks } from "../../support/markdown_links.ts";
import { createAuthority, createCertificate } from "../../support/net/certificates.ts";
import {
  findFreePort,
  type ServerProcess,
  startProcess,
  waitUntilReady,
} from "../../support/process/server_process.ts";
import { readSource, ROOT } from "../../support/sources.ts";

const run = promisify(execFile);
const TIMEOUT_MS = 60_000;
const EPOCH_SECONDS = 1_700_000_000;
const NAME = `landfall-${manifest.version}`;
const isSkipped = skipsImages(["skopeo", "docker-registry", "gpg", "ssh-keygen", "openssl"]);
const helm = isSkipped ? undefined : await findHelm();
const blocks = listCodeBlocks(await readSource("release/README.md"), "sh");

describe.skipIf(helm === undefined)("publishing a release", () => {
  let folder = "";
  let host = "";
  let registry: ServerProcess | undefined;
  const inFolder = (...path: readonly string[]): string => join(folder, ...path);

  /** Runs a script in a folder of a person whose home is the folder of this test. */
  const runScript = async (script: string, cwd = folder, more = {}): Promise<string> => {
    const env = {
      PATH: `${inFolder("bin")}:${process.env["PATH"]}`,
      HOME: folder,
      XDG_RUNTIME_DIR: folder,
      SSL_CERT_FILE: inFolder("registry-ca.crt"),
      ...more,
    };
    const { stdout } = await run("bash", ["-euc", script], { cwd, env, timeout: TIMEOUT_MS });
    return stdout;
  };
  /** The block of release/README.md that has this word, for the registry of this test. */
  const findBlock = (word: string): string => {
    const found = blocks.filter((text) => text.includes(word));
    expect(found, word).toHaveLength(1);
    return found
      .join("\n")
      .replaceAll(
        /^(skopeo|helm registry) login (.+)$/gm,
        "echo secret | $& -u me --password-stdin",
      )
      .replaceAll("registry.example.org", host);
  };
  const readDigest = async (name: string): Promise<string> => {
    const raw = await runScript(`skopeo inspect --raw docker://${host}/${name}`);
    return `sha256:${createHash("sha256").update(raw).digest("hex")}`;
  };
  const imageDigest = async (): Promise<string> =>
    (await readFile(inFolder("dist/release", `${NAME}-image.digest`), "utf8")).trim();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "landfall-publish-"));
    await mkdir(inFolder("bin"));
    await mkdir(inFolder("dist/release"), { recursive: true });
    await symlink(Bun.which(helm ?? "") ?? helm ?? "", inFolder("bin", "helm"));
    await writeRelease(inFolder("dist/release"));
    const port = await findFreePort();
    host = `127.0.0.1:${port}`;
    registry = await startDockerRegistry(folder, host);
  }, 120_000);
  afterAll(async () => {
    await registry?.stop();
    // gpg leaves an agent behind.
    await runScript("gpgconf --kill all").catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  });

  test("release/README.md pushes image and chart, which keep their digests", async () => {
    await runScript(findBlock("skopeo login"));
    expect(await readDigest(`landfall:${manifest.version}`)).toBe(await imageDigest());
    const byHelm = await runScript(`helm show chart oci://${host}/charts/landfall`);
    await runScript(findBlock("chart.oci.tar").replaceAll("/charts/", "/skopeo/"));
    expect(await runScript(`helm show chart oci://${host}/skopeo/landfall`)).toBe(byHelm);
    const install = findBlock("helm install").replace("helm install", "helm template");
    expect(await runScript(install)).toContain(`image: "${host}/landfall@${await imageDigest()}"`);
  }, 120_000);

  test("pin-bases.sh pins a base by the digest that the registry has, and nothing without an answer", async () => {
    const file = inFolder("Containerfile");
    const script = join(ROOT, "release/pin-bases.sh");
    const base = `ARG BASE=${host}/landfall:${manifest.version}`;
    await writeFile(file, `${base}\nFROM $\{BASE}\n`);
    await runScript(`${script} ${file}`);
    expect(await readFile(file, "utf8")).toBe(`${base}@${await imageDigest()}\nFROM $\{BASE}\n`);
    const unknown = `ARG BASE=${host}/landfall:unknown\n`;
    await writeFile(file, unknown);
    await expect(runScript(`${script} ${file}`)).rejects.toThrow("manifest unknown");
    expect(await readFile(file, "utf8")).toBe(unknown);
  }, 60_000);

  test("the workflow pushes the same image and chart", async () => {
    const steps = await readSteps();
    const env = {
      GITHUB_REF_NAME: `v${manifest.version}`,
      GITHUB_REPOSITORY: "Owner/Landfall",
      GITHUB_ENV: inFolder("github-env"),
      REGISTRY: host,
    };
    await symlink(inFolder("dist/release"), inFolder("release"));
    await runScript(steps.get("Check the sums") ?? "", inFolder("release"));
    await runScript(steps.get("Name the image and the chart") ?? "", folder, env);
    const named = await readFile(env.GITHUB_ENV, "utf8");
    await runScript(`${named}\n${steps.get("Push the image and the chart")}`, folder, env);
    const pushed = await readFile(env.GITHUB_ENV, "utf8");
    expect(pushed).toContain(`DIGEST=${await imageDigest()}\n`);
    expect(await readDigest(`owner/landfall:${manifest.version}`)).toBe(await imageDigest());
    const chart = await readDigest(`owner/landfall/charts/landfall:${manifest.version}`);
    expect(pushed).toContain(`CHART_DIGEST=${chart}\n`);
  }, 120_000);

  test("release/README.md signs with SSH and with GnuPG, and both notice a change", async () => {
    const release = inFolder("dist/release");
    const key = "ssh-keygen -q -t ed25519 -N '' -f ~/.ssh/id_ed25519";
    await runScript(`mkdir ~/.ssh && ${key}`);
    expect(findBlock("--key=$HOME")).toContain("--key=$HOME/.ssh/id_ed25519");
    signSums(release, inFolder(".ssh/id_ed25519"));
    await runScript(findBlock("ssh-keygen -Y"), release);
    const user = "--quick-gen-key release@example.org ed25519 sign 1d";
    await runScript(`gpg --quiet --batch --passphrase '' ${user}`);
    await runScript(findBlock("gpg --verify"), release);
    const [verifySsh = "", verifyGpg = ""] = ["ssh-keygen -Y", "gpg --verify"].map(
      (word) => findBlock(word).split("\n\n").at(-1) ?? "",
    );
    await runScript("echo more >>SHA256SUMS", release);
    await expect(runScript(verifySsh, release)).rejects.toThrow("incorrect signature");
    await expect(runScript(verifyGpg, release)).rejects.toThrow("BAD signature");
  }, 60_000);
});

/** What `npm run release` makes, with an image that holds two small files instead of a program and a C library. */
async function writeRelease(to: string): Promise<void> {
  const options = { version: manifest.version, revision: "0123abc", license: Buffer.from("free") };
  const platforms = ["amd64", "arm64"].map((architecture) => ({
    architecture,
    base: [{ path: `lib.${architecture}`, content: Buffer.from(architecture) }],
    binary: Buffer.from(`program for ${architecture}`),
  }));
  const image = createImage(platforms, { ...options, epochSeconds: EPOCH_SECONDS });
  const chart = await createChart(ROOT, manifest.version, EPOCH_SECONDS);
  const layout = await createChartLayout(ROOT, chart, EPOCH_SECONDS);
  const files = new Map([
    [`${NAME}-image.tar`, createTar(image.files, EPOCH_SECONDS)],
    [`${NAME}-image.digest`, Buffer.from(`${image.digest}\n`)],
    [`${NAME}-chart.tgz`, chart],
    [`${NAME}-chart.oci.tar`, createTar(layout, EPOCH_SECONDS)],
  ]);
  for (const [name, content] of files) await writeFile(join(to, name), content);
  await run("sh", ["-c", "sha256sum * >sums && mv sums SHA256SUMS"], { cwd: to });
}

/** A registry that asks for a password, with TLS of an authority in the folder. */
async function startDockerRegistry(folder: string, host: string): Promise<ServerProcess> {
  const authority = await createAuthority(folder, "registry-ca");
  const { certPath, keyPath } = await createCertificate(authority, {
    folder,
    name: "registry",
    subject: "/CN=registry",
    extensions: ["subjectAltName=IP:127.0.0.1"],
  });
  const hash = await Bun.password.hash("secret", { algorithm: "bcrypt", cost: 4 });
  await writeFile(join(folder, "htpasswd"), `me:${hash}\n`);
  const config = {
    version: 0.1,
    storage: { filesystem: { rootdirectory: join(folder, "blobs") } },
    http: { addr: host, tls: { certificate: certPath, key: keyPath } },
    auth: { htpasswd: { realm: "test", path: join(folder, "htpasswd") } },
  };
  const path = join(folder, "registry.yml");
  await writeFile(path, JSON.stringify(config));
  const server = startProcess("docker-registry", ["serve", path], join(folder, "registry.log"));
  const ca = await readFile(authority.certPath, "utf8");
  await waitUntilReady(server, {
    name: "docker-registry",
    timeoutMs: TIMEOUT_MS,
    signal: AbortSignal.timeout(TIMEOUT_MS),
    isReady: async () => (await fetch(`https://${host}/v2/`, { tls: { ca } })).status === 401,
  });
  return server;
}

/** Scripts of the job that publishes, by name. */
async function readSteps(): Promise<ReadonlyMap<string, string>> {
  const Step = v.object({ name: v.optional(v.string()), run: v.optional(v.string()) });
  const Workflow = v.object({ jobs: v.object({ publish: v.object({ steps: v.array(Step) }) }) });
  const text = await readSource(".github/workflows/release.yaml");
  const { steps } = v.parse(Workflow, parse(text)).jobs.publish;
  return new Map(steps.map(({ name = "", run: script = "" }) => [name, script]));
}
