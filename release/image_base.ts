/**
 * The base of the image: the C library, certificate authorities and a user, and no program.
 * @module
 */
import type { ArchiveEntry, ArchiveFolder } from "./archive.ts";
import type { DebianPackage } from "./debian_packages.ts";

/** Packages of Debian that the base has files of. */
export const BASE_PACKAGES: readonly string[] = ["base-files", "ca-certificates", "libc6"];

/** What is taken of a package, by its name. */
const WANTED: Readonly<Record<string, RegExp>> = {
  "base-files": /^(etc\/(debian_version|os-release)|usr\/lib\/os-release)$/,
  "ca-certificates": /^$/,
  libc6: /^(lib|lib64)\//,
};
const AUTHORITY = /^usr\/share\/ca-certificates\/.*\.crt$/;
const COPYRIGHT = /^usr\/share\/doc\/[^/]+\/copyright$/;
/** As in distroless images. */
const TEXTS: Readonly<Record<string, string>> = {
  "etc/group": "root:x:0:\nnonroot:x:65532:\n",
  "etc/nsswitch.conf": "hosts: files dns\n",
  "etc/passwd":
    "root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n",
};
const FOLDERS: readonly ArchiveFolder[] = [
  // Runtimes mount into these.
  { path: "dev/" },
  { path: "proc/" },
  { path: "sys/" },
  { path: "home/nonroot/", mode: 0o700, owner: 65_532 },
  { path: "tmp/", mode: 0o1777 },
];

/**
 * Files, links and folders of the base, sorted by path.
 *
 * Scanners find the packages in `var/lib/dpkg/status.d`, where distroless images list theirs, too.
 *
 * @throws Error when a package is missing, or one has nothing of what is wanted
 */
export function createImageBase(packages: readonly DebianPackage[]): ArchiveEntry[] {
  const missing = BASE_PACKAGES.filter((name) => !packages.some((one) => one.name === name));
  if (missing.length > 0) throw new Error(`Cannot find packages of Debian: ${missing.join(", ")}`);
  const used = packages.filter(({ name }) => BASE_PACKAGES.includes(name));
  const files = [
    ...used.flatMap(pickFiles),
    toFile("etc/ssl/certs/ca-certificates.crt", joinAuthorities(used)),
    ...Object.entries(TEXTS).map(([path, text]) => toFile(path, text)),
    ...used.map(({ name, control }) => toFile(`var/lib/dpkg/status.d/${name}`, control)),
  ];
  return [...files, ...FOLDERS, ...listParents([...files, ...FOLDERS])].sort(byPath);
}

function pickFiles({ name, entries }: DebianPackage): ArchiveEntry[] {
  return entries.filter(({ path }) => WANTED[name]?.test(path) || COPYRIGHT.test(path));
}

function joinAuthorities(packages: readonly DebianPackage[]): string {
  const found = packages
    .flatMap(({ entries }) => entries)
    .filter((entry) => "content" in entry && AUTHORITY.test(entry.path))
    .sort(byPath);
  if (found.length === 0) throw new Error("Cannot find any certificate authority");
  return found.map((entry) => ("content" in entry ? entry.content.toString() : "")).join("");
}

/** The folders that entries are in, down from the root. */
function listParents(entries: readonly ArchiveEntry[]): ArchiveFolder[] {
  const known = new Set(entries.map(({ path }) => path));
  const parents = new Set(
    entries.flatMap(({ path }) => {
      const parts = path.replace(/\/$/, "").split("/").slice(0, -1);
      return parts.map((_, at) => `${parts.slice(0, at + 1).join("/")}/`);
    }),
  );
  return [...parents].filter((path) => !known.has(path)).map((path) => ({ path }));
}

function toFile(path: string, text: string): ArchiveEntry {
  return { path, content: Buffer.from(text) };
}

function byPath(one: ArchiveEntry, other: ArchiveEntry): number {
  return one.path < other.path ? -1 : 1;
}
