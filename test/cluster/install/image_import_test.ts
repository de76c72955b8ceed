/**
 * The commands of the install guide that bring an image to a Node without a registry, on a real containerd.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { skipsImages } from "../../support/deploy/image.ts";
import { listCodeBlocks } from "../../support/markdown_links.ts";
import {
  type ServerProcess,
  startProcess,
  waitUntilReady,
} from "../../support/process/server_process.ts";
import { readSource, ROOT } from "../../support/sources.ts";

const run = promisify(execFile);
const COMMAND_MS_MAX = 60_000;
const isSkipped = skipsImages(["containerd", "ctr"]);

describe.skipIf(isSkipped)("an image without a registry", () => {
  let folder = "";
  let containerd: ServerProcess | undefined;
  const inFolder = (name: string): string => join(folder, name);
  const runScript = async (script: string): Promise<string> => {
    const env = {
      PATH: process.env["PATH"],
      HOME: folder,
      BUILDAH_ISOLATION: "chroot",
      CONTAINERS_STORAGE_CONF: inFolder("storage.conf"),
      CONTAINERD_ADDRESS: inFolder("containerd.sock"),
      // The one that works in any file system.
      CONTAINERD_SNAPSHOTTER: "native",
    };
    const options = { cwd: folder, env, timeout: COMMAND_MS_MAX };
    return (await run("sh", ["-euc", script], options)).stdout;
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "landfall-import-"));
    const storage = { driver: "vfs", graphroot: inFolder("storage"), runroot: inFolder("run") };
    await writeFile(inFolder("storage.conf"), `[storage]\n${toToml(storage)}`);
    const places = { version: 2, root: inFolder("root"), state: inFolder("state") };
    const cri = 'disabled_plugins = ["io.containerd.grpc.v1.cri"]\n';
    const [grpc, ttrpc] = [
      { address: inFolder("containerd.sock") },
      { address: inFolder("ttrpc") },
    ];
    await writeFile(
      inFolder("containerd.toml"),
      `${toToml(places)}${cri}[grpc]\n${toToml(grpc)}[ttrpc]\n${toToml(ttrpc)}`,
    );
    // Names are what is tested: any file will do for an image.
    await writeFile(inFolder("Containerfile"), "FROM scratch\nCOPY Containerfile /\n");
    await cp(join(ROOT, "deploy"), inFolder("deploy"), { recursive: true });
    const args = ["--config", inFolder("containerd.toml")];
    const server = startProcess("containerd", args, inFolder("containerd.log"));
    containerd = server;
    await waitUntilReady(server, {
      name: "containerd",
      timeoutMs: COMMAND_MS_MAX,
      signal: AbortSignal.timeout(COMMAND_MS_MAX),
      isReady: () => runScript("ctr version").then(() => true),
    });
  }, 120_000);
  afterAll(async () => {
    await containerd?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test("is there by the name that the manifests have in the end", async () => {
    const blocks = listCodeBlocks(await readSource("docs/guides/install.md"), "sh");
    for (const word of ["docker-archive", "ctr --namespace", "sed -i"]) {
      const found = blocks.filter((block) => block.includes(word));
      expect(found).toHaveLength(1);
      await runScript(found.join("\n"));
    }
    const listed = (await runScript("ctr --namespace k8s.io images ls -q")).trim().split("\n");
    expect(listed).toHaveLength(1);
    const wanted: string[] = [];
    for (const place of ["manifests", "static-pod"]) {
      // Folders in it are for other clouds.
      const entries = await readdir(inFolder(`deploy/${place}`), { withFileTypes: true });
      for (const { name } of entries.filter((entry) => entry.isFile())) {
        const text = await readFile(inFolder(`deploy/${place}/${name}`), "utf8");
        wanted.push(...Array.from(text.matchAll(/^ +image: (.+)$/gm), ([, image = ""]) => image));
      }
    }
    // Deployment, DaemonSet and static pod.
    expect(wanted).toEqual([...listed, ...listed, ...listed]);
  }, 120_000);
});

function toToml(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`)
    .join("");
}
