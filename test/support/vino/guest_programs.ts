/**
 * What guests do with a seed disk and with network data: programs of Debian.
 * @module
 */
import { execFile, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { GuestInterface } from "../../../lib/controllers/vino/guest/types.ts";
import { PYTHON } from "../cloud/python_client.ts";
import type { SeenInterface } from "./guests.ts";

const run = promisify(execFile);
const TIMEOUT_MS = 60_000;
const ENV = { ...process.env, PATH: `${process.env["PATH"]}:/usr/sbin:/sbin` };
const PACKAGES = {
  "fsck.vfat": "dosfstools",
  mcopy: "mtools",
  "cloud-init": "cloud-init",
} as const;

/** Whether a program is missing, which is said; in CI all must be there. */
export function lacksGuestPrograms(): boolean {
  const lacked = Object.entries(PACKAGES).flatMap(([program, name]) =>
    Bun.which(program, { PATH: ENV.PATH }) === null ? [name] : [],
  );
  if (lacked.length === 0) return false;
  const text = `seed disks with real programs: install Debian's packages ${lacked.join(" ")}`;
  saySkipped(text);
  return true;
}

/** A folder that is removed after use. */
interface Folder extends AsyncDisposable {
  readonly path: string;
}

/** Makes a folder. */
export async function makeFolder(): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), "landfall-guest-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Runs a program. @returns What it prints; the errors, too. @throws if it fails */
export async function runProgram(program: string, args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await run(program, args, { timeout: TIMEOUT_MS, env: ENV });
  return stdout + stderr;
}

/** What the checker of file systems says of an image. 0: nothing is wrong. */
export function checkVolume(path: string): {
  readonly code: number | null;
  readonly output: string;
} {
  const { status, stdout } = spawnSync("fsck.vfat", ["-n", path], { env: ENV, encoding: "utf8" });
  return { code: status, output: stdout };
}

/** Copies all files out of an image, with mtools. @returns Contents by path */
export async function readImage(path: string, folder: string): Promise<Record<string, string>> {
  await mkdir(folder);
  await runProgram("mcopy", ["-s", "-i", path, "::/*", folder]);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files: Record<string, string> = {};
  for (const entry of entries.filter((one) => one.isFile())) {
    const file = join(entry.parentPath, entry.name);
    files[file.slice(folder.length + 1)] = await readFile(file, "utf8");
  }
  return files;
}

/** What cloud-init finds in a folder with the files of a seed disk. */
interface FoundSeed {
  readonly found: boolean;
  readonly instance: string;
  readonly hostname: string;
  readonly userData: string;
  readonly network: unknown;
}

const READ_SEED = `
import json, sys
from cloudinit import helpers
from cloudinit.sources.DataSourceNoCloud import DataSourceNoCloud
seed, own = sys.argv[1:]
source = DataSourceNoCloud({}, None, helpers.Paths({"cloud_dir": own, "run_dir": own}))
source.seed_dirs = [seed + "/"]
source.ds_cfg = {"fs_label": None}
found = source._get_data()
user = source.get_userdata_raw()
print(json.dumps({
  "found": found,
  "instance": source.get_instance_id(),
  "hostname": source.get_hostname().hostname,
  "userData": user.decode() if isinstance(user, bytes) else user,
  "network": source.network_config,
}))`;
import { saySkipped } from "../skip.ts";

/** Reads the files of a seed disk with the data source NoCloud of cloud-init. */
export async function readSeed(folder: string): Promise<FoundSeed> {
  await using own = await makeFolder();
  const { stdout } = await run(PYTHON, ["-c", READ_SEED, folder, own.path], {
    timeout: TIMEOUT_MS,
  });
  return JSON.parse(stdout);
}

/** How cloud-init calls both formats. */
type NetworkForm = "network_data.json" | "yaml";

/** Converts network data with cloud-init for systemd-networkd, and reads what a guest then sets up. */
export async function convertForNetworkd(
  form: NetworkForm,
  text: string,
  guest: readonly GuestInterface[],
): Promise<SeenInterface[]> {
  await using folder = await makeFolder();
  const input = join(folder.path, "input");
  await writeFile(input, text);
  const output = join(folder.path, "output");
  const devices = guest.flatMap(({ mac }, at) => ["-m", `nic${at},${mac}`]);
  const target = ["-D", "debian", "-O", "networkd", ...devices];
  const args = ["devel", "net-convert", "-k", form, "-p", input, "-d", output, ...target];
  await runProgram("cloud-init", args);
  const networks = join(output, "etc/systemd/network");
  const files = await readdir(networks);
  const units = await Promise.all(
    files.map((name) => readFile(join(networks, name), "utf8").then(seeUnit)),
  );
  return units.toSorted((one, other) => (one.mac < other.mac ? -1 : 1));
}

/** Reads a unit of systemd-networkd: sections, of which some occur several times. */
function seeUnit(text: string): SeenInterface {
  const sections = text.split(/^(?=\[)/m).map((part) => {
    const [head = "", ...lines] = part.split("\n");
    const values = lines.flatMap((line) => {
      const at = line.indexOf("=");
      return at === -1 ? [] : [[line.slice(0, at), line.slice(at + 1)] as const];
    });
    return { head, values: new Map(values) };
  });
  const list = (head: string, key: string): string[] =>
    sections.flatMap((one) => (one.head === head ? (one.values.get(key) ?? []) : []));
  const families = { ipv4: [4], ipv6: [6], no: [], yes: [4, 6] } as const;
  const [dhcp = "no"] = list("[Network]", "DHCP");
  const [mtu] = list("[Link]", "MTUBytes");
  const routes = sections.flatMap(({ head, values }) => {
    const via = values.get("Gateway");
    if (head !== "[Route]" || via === undefined) return [];
    const toAll = via.includes(":") ? "::/0" : "0.0.0.0/0";
    return [`${values.get("Destination") ?? toAll} via ${via}`];
  });
  return {
    mac: list("[Match]", "MACAddress").join(),
    ...(mtu !== undefined && { mtu: Number(mtu) }),
    dhcp: Object.entries(families).flatMap(([name, all]) => (name === dhcp ? all : [])),
    addresses: list("[Address]", "Address"),
    routes: routes.toSorted(),
    dns: list("[Network]", "DNS").flatMap((servers) => servers.split(" ")),
  };
}
