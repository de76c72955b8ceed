/**
 * How base images are named in the Containerfiles, and how release/pin-bases.sh pins them. A registry takes part in
 * test/cluster/install/publish_test.ts.
 * @module
 */
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readSource, ROOT } from "../support/sources.ts";

const FILES = ["Containerfile", "deploy/jump-host/Containerfile"];
const BASE = /^ARG (?:BUILD_)?BASE=([\w./-]+:[\w.-]+)(?:@sha256:[0-9a-f]{64})?$/gm;

test.each(FILES)(
  "%s names each image that it builds on by tag, and by digest once it is pinned",
  async (file) => {
    const text = await readSource(file);
    const bases = Array.from(text.matchAll(/^ARG \w*BASE=.*$/gm), ([line]) => line);
    expect(bases.length).toBeGreaterThan(0);
    expect(Array.from(text.matchAll(BASE), ([line]) => line)).toEqual(bases);
    const others = text.match(/^FROM (?!\$\{(?:BASE|BUILD_BASE|BINARY_FROM)\}|scratch ).*$/gm);
    expect(others).toBeNull();
  },
);

test("pin-bases.sh writes the digest of each base behind its tag, and renews it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "landfall-pin-"));
  try {
    // A registry whose manifests are the words of the question.
    const skopeo = `#!/bin/sh\nprintf %s "$*$AGAIN"\n`;
    await writeFile(join(folder, "skopeo"), skopeo, { mode: 0o755 });
    const file = join(folder, "Containerfile");
    const text = await readSource("Containerfile");
    await writeFile(file, text);
    for (const again of ["", " again"]) {
      const env = { PATH: `${folder}:${process.env["PATH"]}`, AGAIN: again };
      const { success } = Bun.spawnSync([join(ROOT, "release/pin-bases.sh"), file], { env });
      expect(success).toBe(true);
      const digest = (image: string): string =>
        createHash("sha256").update(`inspect --raw docker://${image}${again}`).digest("hex");
      const expected = text.replaceAll(BASE, (line, image: string) => {
        return `${line.split("@")[0]}@sha256:${digest(image)}`;
      });
      expect(await readFile(file, "utf8")).toBe(expected);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});
