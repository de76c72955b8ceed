/**
 * The image as an OCI layout, against the specification and against Containerfile.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import * as v from "valibot";
import { createImage, type ImageOptions } from "../../release/image.ts";
import { LayoutReader } from "../support/deploy/layouts.ts";
import { readSource } from "../support/sources.ts";

const OPTIONS: ImageOptions = {
  version: "1.2.3",
  revision: "0123abc",
  license: Buffer.from("free"),
  epochSeconds: 1_700_000_000,
};
const BASE = [{ path: "etc/" }, { path: "etc/passwd", content: Buffer.from("root") }];
const PLATFORMS = ["amd64", "arm64"].map((architecture) => ({
  architecture,
  base: [...BASE, { path: `lib.${architecture}`, content: Buffer.from(architecture) }],
  binary: Buffer.from(`program for ${architecture}`),
}));
const Config = v.object({
  created: v.string(),
  architecture: v.string(),
  os: v.string(),
  variant: v.optional(v.string()),
  config: v.object({
    User: v.string(),
    ExposedPorts: v.record(v.string(), v.object({})),
    Env: v.array(v.string()),
    Entrypoint: v.array(v.string()),
    WorkingDir: v.string(),
    Labels: v.record(v.string(), v.string()),
  }),
  rootfs: v.object({ type: v.literal("layers"), diff_ids: v.array(v.string()) }),
  history: v.array(v.object({ created: v.string(), created_by: v.string() })),
});

interface Read {
  readonly platform: Readonly<Record<string, string>> | undefined;
  readonly config: v.InferOutput<typeof Config>;
  readonly layers: readonly { readonly digest: string; readonly tar: Buffer }[];
}

function read(options: ImageOptions = OPTIONS): { reader: LayoutReader; images: Read[] } {
  const { files, digest } = createImage(PLATFORMS, options);
  const reader = new LayoutReader(files);
  const root = reader.readRoot(options.version);
  expect(root.digest).toBe(digest);
  const images = reader.readIndex(root).manifests.map((descriptor) => {
    const { config, layers } = reader.readManifest(descriptor);
    expect(config.mediaType).toBe("application/vnd.oci.image.config.v1+json");
    return {
      platform: descriptor.platform,
      config: v.parse(Config, reader.readJson(config)),
      layers: layers.map((layer) => {
        expect(layer.mediaType).toBe("application/vnd.oci.image.layer.v1.tar+gzip");
        return { digest: layer.digest, tar: gunzipSync(reader.readBlob(layer)) };
      }),
    };
  });
  return { reader, images };
}

describe("createImage()", () => {
  test("has an image for each platform, every blob as its descriptor says, and no other blob", () => {
    const { reader, images } = read();
    expect(images.map(({ platform }) => platform)).toEqual([
      { architecture: "amd64", os: "linux" },
      { architecture: "arm64", os: "linux", variant: "v8" },
    ]);
    for (const { platform, config } of images) {
      const { architecture, os, variant } = config;
      const known: Record<string, string> = { architecture, os, ...(variant && { variant }) };
      expect(known).toEqual({ ...platform });
    }
    expect(reader.listUnread()).toEqual([]);
  });

  test("says of each layer what it is unpacked", () => {
    for (const { config, layers } of read().images) {
      const ids = layers.map(({ tar }) => createHash("sha256").update(tar).digest("hex"));
      expect(config.rootfs.diff_ids).toEqual(ids.map((id) => `sha256:${id}`));
      expect(config.history).toHaveLength(layers.length);
      expect(config.created).toBe("2023-11-14T22:13:20Z");
    }
  });

  test("puts the binary of a platform into its image", () => {
    const [amd64, arm64] = read().images.map(({ layers }) => layers.at(-1)?.tar.toString("latin1"));
    expect(amd64).toContain("program for amd64");
    expect(arm64).toContain("program for arm64");
  });

  test("keeps the layer of the base from version to version", () => {
    const [one, other] = [read(), read({ ...OPTIONS, version: "2.0.0", epochSeconds: 1 })];
    for (const [at, { layers }] of one.images.entries()) {
      expect(other.images[at]?.layers.map(({ digest }) => digest)[0]).toBe(layers[0]?.digest ?? "");
      expect(other.images[at]?.layers[1]?.digest).not.toBe(layers[1]?.digest);
    }
  });

  test("is run as the image of Containerfile is", async () => {
    const text = (await readSource("Containerfile")).replaceAll(/\\\n\s*/g, "");
    const last = text.slice(text.lastIndexOf("\nFROM "));
    const find = (word: string): string =>
      new RegExp(`^${word} (.*)$`, "m").exec(last)?.[1] ?? `no ${word}`;
    const labels = [...find("LABEL").matchAll(/([\w.]+)="([^"]*)"/g)]
      .map(([, key = "", value = ""]) => [key, value] as const)
      .filter(([key]) => key !== "org.opencontainers.image.base.name");
    for (const { config } of read().images) {
      const { User, ExposedPorts, Env, Entrypoint, Labels } = config.config;
      expect(User).toBe(find("USER"));
      expect(ExposedPorts).toEqual({ [`${find("EXPOSE")}/tcp`]: {} });
      expect(Env).toEqual(["PATH=/usr/local/bin", ...find("ENV").split(" ")]);
      expect(Entrypoint).toEqual(JSON.parse(find("ENTRYPOINT")));
      expect(Labels).toEqual({
        ...Object.fromEntries(labels),
        "org.opencontainers.image.version": OPTIONS.version,
        "org.opencontainers.image.revision": OPTIONS.revision,
      });
    }
  });
});
