/**
 * What the base of the image takes of Debian's packages.
 * @module
 */
import { describe, expect, test } from "bun:test";
import type { ArchiveEntry } from "../../release/archive.ts";
import type { DebianPackage } from "../../release/debian_packages.ts";
import { createImageBase } from "../../release/image_base.ts";

const file = (path: string, text = path): ArchiveEntry => ({ path, content: Buffer.from(text) });
const one = (name: string, entries: readonly ArchiveEntry[]): DebianPackage => ({
  name,
  version: "1",
  architecture: "amd64",
  digest: "sha256:0",
  control: `Package: ${name}\n`,
  entries: [...entries, file(`usr/share/doc/${name}/copyright`), file(`usr/share/man/${name}.gz`)],
});
const PACKAGES = [
  one("base-files", [file("usr/lib/os-release"), file("etc/issue"), file("bin/sh")]),
  one("ca-certificates", [
    file("usr/share/ca-certificates/mozilla/B.crt", "b\n"),
    file("usr/share/ca-certificates/mozilla/A.crt", "a\n"),
    file("usr/sbin/update-ca-certificates"),
  ]),
  one("libc6", [
    file("lib/x86_64-linux-gnu/libc.so.6"),
    { path: "lib64/ld.so", target: "/lib/ld.so" },
    file("usr/lib/x86_64-linux-gnu/gconv/UTF-7.so"),
  ]),
];

describe("createImageBase()", () => {
  const entries = createImageBase(PACKAGES);
  const paths = entries.map(({ path }) => path);

  test("takes the C library, the release of Debian, licenses, and nothing that could be run", () => {
    expect(paths.filter((path) => !path.endsWith("/"))).toEqual([
      "etc/group",
      "etc/nsswitch.conf",
      "etc/passwd",
      "etc/ssl/certs/ca-certificates.crt",
      "lib/x86_64-linux-gnu/libc.so.6",
      "lib64/ld.so",
      "usr/lib/os-release",
      "usr/share/doc/base-files/copyright",
      "usr/share/doc/ca-certificates/copyright",
      "usr/share/doc/libc6/copyright",
      "var/lib/dpkg/status.d/base-files",
      "var/lib/dpkg/status.d/ca-certificates",
      "var/lib/dpkg/status.d/libc6",
    ]);
  });

  test("joins the certificate authorities in the order of their names", () => {
    const found = entries.find(({ path }) => path === "etc/ssl/certs/ca-certificates.crt");
    expect(found && "content" in found && found.content.toString()).toBe("a\nb\n");
  });

  test("has each folder before what is in it, and once", () => {
    expect(new Set(paths).size).toBe(paths.length);
    for (const [at, path] of paths.entries()) {
      const parent = path.replace(/[^/]+\/?$/, "");
      if (parent !== "") expect(paths.slice(0, at)).toContain(parent);
    }
    expect(entries).toContainEqual({ path: "tmp/", mode: 0o1777 });
    expect(entries).toContainEqual({ path: "home/nonroot/", mode: 0o700, owner: 65_532 });
  });

  test.each<[string, DebianPackage[], string]>([
    ["a package is missing", PACKAGES.slice(1), "base-files"],
    [
      "there is no certificate authority",
      [...PACKAGES.filter(({ name }) => name !== "ca-certificates"), one("ca-certificates", [])],
      "certificate authority",
    ],
  ])("throws when %s", (_title, packages, word) => {
    expect(() => createImageBase(packages)).toThrow(word);
  });
});
