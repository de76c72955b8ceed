/**
 * The `install` commands of the guides, run as if another folder were the host's root.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import {
  copyFile,
  cp,
  mkdir,
  mkdtemp,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { listCodeBlocks } from "./support/markdown_links.ts";
import { readSource, ROOT } from "./support/sources.ts";

const run = promisify(execFile);
/** Folders that a host has. */
const FOLDERS = ["etc/kubernetes/manifests", "etc/systemd/system", "usr/local/bin"];
/** Credentials for which the unit has a value if there is no file. */
const OPTIONAL = "token";

/** Each page, the level of its headings, and the files that it has copied to the host. */
const PAGES = [
  {
    page: "install.md",
    level: "##",
    copied: ["landfall", "landfall.yaml", "token", "landfall.kubeconfig"],
  },
  {
    page: "install-cloudstack.md",
    level: "###",
    copied: ["landfall", "cloud-config", "landfall.kubeconfig"],
  },
] as const;

test("without a registry, the command of install.md names the image in every manifest", async () => {
  const folder = await mkdtemp(join(tmpdir(), "landfall-install-"));
  try {
    await cp(join(ROOT, "deploy"), join(folder, "deploy"), { recursive: true });
    const blocks = listCodeBlocks(await readSource("docs/guides/install.md"), "sh");
    const command = blocks.find((block) => block.includes("registry.invalid")) ?? "";
    await run("sh", ["-euc", command], { cwd: folder });
    const list = (image: string): string[] =>
      ["manifests", "static-pod"].flatMap((part) =>
        [...new Bun.Glob(`deploy/${part}/**/*.yaml`).scanSync(folder)].filter((path) =>
          readFileSync(join(folder, path), "utf8").includes(image),
        ),
      );
    expect(list("registry.invalid/landfall:")).toEqual([]);
    expect(list("image: localhost/landfall:").length).toBeGreaterThan(7);
  } finally {
    await rm(folder, { recursive: true });
  }
});

describe.skipIf(process.getuid?.() !== 0).each(PAGES)(
  "the commands of $page",
  ({ page, level, copied }) => {
    let folder = "";
    /** Runs the `install` commands of a section as if `root` were the host's root folder. */
    const runSection = async (title: string): Promise<string> => {
      const root = join(folder, title.replaceAll(" ", "-"));
      for (const one of FOLDERS) await mkdir(join(root, one), { recursive: true });
      const text = await readSource(`docs/guides/${page}`);
      const [, section = ""] = text.split(`\n${level} ${title}\n`);
      const blocks = listCodeBlocks(section.split(/\n##+ /)[0] ?? "", "sh");
      const lines = blocks.flatMap((block) => block.split("\n"));
      const commands = lines.filter((line) => line.startsWith("install "));
      expect(commands.length, title).toBeGreaterThan(3);
      const script = commands.join("\n").replaceAll(/(?<=\s)\/(?=etc|usr)/g, `${root}/`);
      await run("sh", ["-euc", script], { cwd: folder });
      return root;
    };
    const readMode = async (path: string): Promise<string> =>
      ((await stat(path)).mode & 0o777).toString(8);

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "landfall-install-"));
      await symlink(join(ROOT, "deploy"), join(folder, "deploy"));
      await copyFile(
        join(ROOT, "deploy/systemd/landfall.service"),
        join(folder, "landfall.service"),
      );
      for (const name of copied) await writeFile(join(folder, name), name);
    });
    afterAll(() => rm(folder, { recursive: true, force: true }));

    test("put the files of the static pod where its manifest looks for them", async () => {
      const root = await runSection("Static pod");
      const pod = await readFile(join(root, "etc/kubernetes/manifests/landfall.yaml"), "utf8");
      const [, hostPath = ""] = /hostPath:\n\s+path: (\S+)/.exec(pod) ?? [];
      const [, mountPath = ""] = /mountPath: (\S+)/.exec(pod) ?? [];
      for (const [, flag, file = ""] of pod.matchAll(/--(kubeconfig|cloud-config)=(\S+)/g)) {
        expect(file, flag).toStartWith(`${mountPath}/`);
        const path = join(root, hostPath, file.slice(mountPath.length));
        expect(await readMode(path), path).toBe("640");
        expect((await stat(path)).gid, path).toBe(65_532);
      }
      expect(pod.match(/--(kubeconfig|cloud-config)=/g)).toHaveLength(2);
    });

    test("put the files of the unit where it looks for them, for root alone", async () => {
      const root = await runSection("systemd");
      const unit = await readFile(join(root, "etc/systemd/system/landfall.service"), "utf8");
      const [, program = ""] = /^ExecStart=(\S+)/m.exec(unit) ?? [];
      expect(await readMode(join(root, program))).toBe("755");
      const credentials = [...unit.matchAll(/^LoadCredential=([\w.]+):(\S+)$/gm)];
      expect(credentials).toHaveLength(3);
      expect(unit).toContain(`\nSetCredential=${OPTIONAL}:`);
      const needed = credentials.filter(
        ([, name]) => name !== OPTIONAL || copied.some((file) => file === OPTIONAL),
      );
      for (const [, , file = ""] of needed) {
        expect(await readMode(join(root, file)), file).toBe("600");
      }
      expect(await readMode(join(root, "etc/landfall"))).toBe("700");
    });
  },
);
