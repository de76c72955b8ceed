/**
 * Hosts with a network of their own on this machine: namespaces behind a router that can drop what it should carry.
 *
 * A packet that the router drops is gone without a word, as on a cut cable: nobody is told, and nothing is reset.
 * @module
 */
import { execFile, execFileSync } from "node:child_process";
import { access } from "node:fs/promises";
import { promisify } from "node:util";
import { saySkipped } from "../skip.ts";

const run = promisify(execFile);
const IP = "ip";
const COMMAND_MS_MAX = 10_000;
/** Addresses for tests of network gear (RFC 2544), so that no real network is hidden. */
const RANGE = "198.18";
const NAME = /^landfall-(\d+)-/;

/** Which packets do not arrive: those to a host, those from it, or both. */
type Direction = "inbound" | "outbound" | "both";

/** A host of a {@linkcode TestNetwork}. */
export interface NetworkHost {
  /** Under which this machine and the other hosts reach it. */
  readonly address: string;
  /** The file of its network namespace. */
  readonly namespace: string;
  /** What a command begins with that is to run there; it keeps its process ID. */
  readonly prefix: readonly string[];
  /** Drops packets between the host and a TCP port of this machine, on connections old and new. */
  cut(port: number, direction?: Direction): Promise<void>;
  /** Drops packets, both ways, of the connections to a TCP port of this machine that there are now. New ones work. */
  forget(port: number): Promise<void>;
  /** Connections to a port of this machine with more bytes to send than that, those of dead processes included. */
  listUnsent(port: number, bytes: number): Promise<readonly string[]>;
  /** Lets everything through again. */
  mend(): Promise<void>;
}

/** Hosts behind one router, and the way to this machine. */
export interface TestNetwork extends AsyncDisposable {
  /** Address under which the hosts reach what listens there on this machine. */
  readonly address: string;
  readonly hosts: readonly NetworkHost[];
}

/** Whether namespaces cannot be made here, which is said loudly. @throws Error instead when `CI` is set */
export async function skipsNetworks(): Promise<boolean> {
  const problem = await findProblem();
  if (problem === undefined) return false;
  const text = `tests of a network that fails: ${problem}`;
  saySkipped(text);
  return true;
}

async function findProblem(): Promise<string | undefined> {
  try {
    await using network = await createNetwork(1);
    await network.hosts[0]?.cut(1);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * Makes a network of so many hosts, 60 at most; one at a time in a process. It is gone when it is disposed of, or with
 * the test process.
 */
export async function createNetwork(count: number): Promise<TestNetwork> {
  await removeStale();
  const key = crypto.randomUUID().slice(0, 4);
  const id = `${process.pid}-${key}`;
  // Names of links have 15 characters at most.
  const link = `landfall-${key}`;
  const net = `${RANGE}.${process.pid % 256}`;
  const router = `landfall-${id}-router`;
  const names = Array.from({ length: count }, (_, at) => `landfall-${id}-${at}`);
  const remove = (): void => {
    // Namespaces go a while after they were deleted; this end of the link and its route go at once.
    removeQuietly("link", link);
    for (const name of [router, ...names]) removeQuietly("netns", name);
  };
  process.once("exit", remove);
  const dispose = (): Promise<void> => {
    remove();
    process.off("exit", remove);
    return Promise.resolve();
  };
  try {
    await addRouter(router, link, net);
    for (const [at, name] of names.entries()) await addHost({ router, name, net, at });
  } catch (error) {
    await dispose();
    throw error;
  }
  return {
    address: `${net}.1`,
    hosts: names.map((name, at) => toHost(name, router, `${net}.${toBase(at) + 1}`)),
    [Symbol.asyncDispose]: dispose,
  };
}

/** Each link is a network of four addresses; the first is that of the router to this machine. */
function toBase(at: number): number {
  return 4 * (at + 1);
}

async function addRouter(router: string, link: string, net: string): Promise<void> {
  await ip("netns", "add", router);
  await ip("link", "add", link, "type", "veth", "peer", "name", "wan", "netns", router);
  await ip("address", "add", `${net}.1/30`, "dev", link);
  await ip("link", "set", link, "up");
  await ip("route", "add", `${net}.0/24`, "via", `${net}.2`);
  await ip("-n", router, "address", "add", `${net}.2/30`, "dev", "wan");
  await ip("-n", router, "link", "set", "wan", "up");
  await inside(router, "sysctl", "-qw", "net.ipv4.ip_forward=1");
}

async function addHost(options: {
  readonly router: string;
  readonly name: string;
  readonly net: string;
  readonly at: number;
}): Promise<void> {
  const { router, name, net, at } = options;
  const base = toBase(at);
  const link = `to-${at}`;
  await ip("netns", "add", name);
  const peer = ["peer", "name", "wan", "netns", name];
  await ip("-n", router, "link", "add", link, "type", "veth", ...peer);
  await ip("-n", router, "address", "add", `${net}.${base + 2}/30`, "dev", link);
  await ip("-n", router, "link", "set", link, "up");
  await ip("-n", name, "address", "add", `${net}.${base + 1}/30`, "dev", "wan");
  await ip("-n", name, "link", "set", "lo", "up");
  await ip("-n", name, "link", "set", "wan", "up");
  await ip("-n", name, "route", "add", "default", "via", `${net}.${base + 2}`);
}

function toHost(name: string, router: string, address: string): NetworkHost {
  const rules: (readonly string[])[] = [];
  const filter = (...args: readonly string[]): Promise<void> =>
    inside(router, "iptables", "-w", ...args);
  const drop = async (rule: readonly string[]): Promise<void> => {
    await filter("-A", ...rule);
    rules.push(rule);
  };
  /** One line for each connection to a port: state, bytes to read, bytes to send, addresses. */
  const listConnections = async (port: number): Promise<readonly string[][]> => {
    const list = ["ss", "--tcp", "--numeric", "--no-header", `dport = :${port}`];
    const args = ["netns", "exec", name, ...list];
    const { stdout } = await run(IP, args, { timeout: COMMAND_MS_MAX });
    return stdout.split("\n").map((line) => line.trim().split(/\s+/));
  };
  return {
    address,
    namespace: `/run/netns/${name}`,
    prefix: [IP, "netns", "exec", name],
    cut: async (port, direction = "both") => {
      const inbound = ["FORWARD", "-p", "tcp", "-d", address, "--sport", `${port}`, "-j", "DROP"];
      const outbound = ["FORWARD", "-p", "tcp", "-s", address, "--dport", `${port}`, "-j", "DROP"];
      const wanted = { inbound: [inbound], outbound: [outbound], both: [inbound, outbound] };
      for (const rule of wanted[direction]) await drop(rule);
    },
    forget: async (port) => {
      for (const [, , , local = ""] of await listConnections(port)) {
        const at = local.split(":").at(-1) ?? "";
        if (at === "") continue;
        const [there, back] = [
          ["--sport", at, "--dport", `${port}`],
          ["--sport", `${port}`, "--dport", at],
        ];
        for (const ports of [there, back])
          await drop(["FORWARD", "-p", "tcp", ...ports, "-j", "DROP"]);
      }
    },
    listUnsent: async (port, bytes) => {
      const connections = await listConnections(port);
      return connections
        .filter((fields) => Number(fields[2]) > bytes)
        .map((fields) => fields.join(" "));
    },
    mend: async () => {
      for (const rule of rules.splice(0)) await filter("-D", ...rule);
    },
  };
}

/** Removes what processes left behind that were killed. */
async function removeStale(): Promise<void> {
  const { stdout } = await run(IP, ["netns", "list"], { timeout: COMMAND_MS_MAX });
  for (const line of stdout.split("\n")) {
    const pid = NAME.exec(line)?.[1];
    if (pid === undefined) continue;
    const isAlive = await access(`/proc/${pid}`).then(
      () => true,
      () => false,
    );
    if (!isAlive) await ip("netns", "delete", line.split(" ")[0] ?? "");
  }
}

function removeQuietly(what: "link" | "netns", name: string): void {
  // What was never made cannot be removed.
  try {
    execFileSync(IP, [what, "delete", name], { stdio: "ignore" });
  } catch {}
}

async function ip(...args: readonly string[]): Promise<void> {
  await run(IP, [...args], { timeout: COMMAND_MS_MAX });
}

async function inside(name: string, ...command: readonly string[]): Promise<void> {
  await ip("netns", "exec", name, ...command);
}

/** What a host has beside 127.0.0.1 and ::1. */
export interface LoneHost {
  /** Addresses with their prefixes: `fd00::11/128`. */
  readonly addresses: readonly string[];
  /** Settings of its kernel: `net.ipv6.bindv6only=1`. @default {none} */
  readonly sysctls?: readonly string[];
}

/** A command on such a host. */
interface PlacedCommand {
  /** Runs it there; it keeps its process ID. */
  readonly command: readonly string[];
  /** What a command begins with that is to run on the same host. */
  enter(pid: number): readonly string[];
}

/** Puts a command on a host of its own. */
export function placeOnLoneHost(
  { addresses, sysctls = [] }: LoneHost,
  command: readonly string[],
): PlacedCommand {
  const steps = [
    "ip link set lo up",
    ...sysctls.map((setting) => `sysctl -qw ${setting}`),
    ...addresses.map((address) => `ip address add ${address} dev lo`),
    'exec "$@"',
  ];
  return {
    command: ["unshare", "--net", "sh", "-c", steps.join(" && "), "sh", ...command],
    enter: (pid) => ["nsenter", `--target=${pid}`, "--net"],
  };
}
