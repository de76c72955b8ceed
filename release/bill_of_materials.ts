/**
 * Bills of materials as CycloneDX: what the binaries contain, and what the image contains.
 * @module
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import * as v from "valibot";
import type { DebianPackage } from "./debian_packages.ts";

const run = promisify(execFile);
const BUN = "node_modules/bun";

const Component = v.looseObject({
  "bom-ref": v.string(),
  properties: v.optional(v.array(v.looseObject({ name: v.string() }))),
});
const Bill = v.looseObject({
  metadata: v.looseObject({ component: Component }),
  components: v.array(Component),
  dependencies: v.array(v.looseObject({ ref: v.string(), dependsOn: v.array(v.string()) })),
});
const Locked = v.object({ version: v.optional(v.string()), integrity: v.optional(v.string()) });
const Lock = v.object({ packages: v.record(v.string(), Locked) });

/**
 * Creates a bill of materials as JSON: npm's list of the packages in the lock file, and Bun, which every binary
 * contains. The same content always gets the same serial number.
 *
 * @param debian Packages of Debian in the image. @default {none}
 */
export async function createBillOfMaterials(
  root: string,
  epochSeconds: number,
  debian: readonly DebianPackage[] = [],
): Promise<Buffer> {
  const args = ["sbom", "--sbom-format=cyclonedx", "--package-lock-only"];
  const { stdout } = await run("npm", args, { cwd: root, maxBuffer: 2 ** 26 });
  const bill = v.parse(Bill, JSON.parse(stdout));
  const lock = v.parse(Lock, JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")));
  const bun = toBun(lock.packages[BUN] ?? {});
  const packages = bill.components.filter((component) => !isForDevelopment(component));
  const components = [...packages, bun, ...debian.map(toDebian)].sort(byReference);
  const known = new Set(components.map((component) => component["bom-ref"]));
  const { component } = bill.metadata;
  const dependencies = bill.dependencies
    .filter(({ ref }) => known.has(ref) || ref === component["bom-ref"])
    .map((one) => ({ ...one, dependsOn: one.dependsOn.filter((ref) => known.has(ref)) }));
  const finished = {
    ...bill,
    serialNumber: "",
    metadata: {
      ...bill.metadata,
      timestamp: new Date(epochSeconds * 1_000).toISOString(),
      component: { ...component, name: "landfall", type: "application" },
    },
    components,
    dependencies,
  };
  finished.serialNumber = `urn:uuid:${toUuid(JSON.stringify(finished))}`;
  return Buffer.from(`${JSON.stringify(finished, undefined, 2)}\n`);
}

// npm 11 has --omit=dev, but it also omits packages that both need, for example yaml.
function isForDevelopment({ properties = [] }: v.InferOutput<typeof Component>): boolean {
  return properties.some(({ name }) => name === "cdx:npm:package:development");
}

function toBun(locked: v.InferOutput<typeof Locked>): v.InferOutput<typeof Component> {
  const { version, integrity } = locked;
  if (!version || !integrity) throw new Error(`Cannot find ${BUN} in package-lock.json`);
  const content = Buffer.from(integrity.replace(/^sha512-/, ""), "base64").toString("hex");
  return {
    "bom-ref": `bun@${version}`,
    type: "platform",
    name: "bun",
    version,
    scope: "required",
    purl: `pkg:npm/bun@${version}`,
    hashes: [{ alg: "SHA-512", content }],
    licenses: [{ license: { id: "MIT" } }],
  };
}

/** https://github.com/package-url/purl-spec/blob/main/types-doc/deb-definition.md */
function toDebian(one: DebianPackage): v.InferOutput<typeof Component> {
  const { name, version, architecture, digest } = one;
  const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}`;
  return {
    "bom-ref": purl,
    type: "library",
    name,
    version,
    scope: "required",
    purl,
    hashes: [{ alg: "SHA-256", content: digest.replace("sha256:", "") }],
  };
}

function byReference(
  one: v.InferOutput<typeof Component>,
  other: v.InferOutput<typeof Component>,
): number {
  return one["bom-ref"] < other["bom-ref"] ? -1 : 1;
}

/** A UUID of version 8, whose bits an application may choose (RFC 9562 §5.8). */
function toUuid(text: string): string {
  const hash = createHash("sha256").update(text).digest("hex");
  const parts = [hash.slice(0, 8), hash.slice(8, 12), `8${hash.slice(13, 16)}`];
  return [...parts, `8${hash.slice(17, 20)}`, hash.slice(20, 32)].join("-");
}
