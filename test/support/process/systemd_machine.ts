/**
 * A real systemd as process 1 of a machine of its own: namespaces over a throw-away copy of this one's files.
 * It shares this machine's network, so a service reaches what a test serves on 127.0.0.1.
 * @module
 */
import { execFile, spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { dlopen, FFIType, ptr } from "bun:ffi";
import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";

const run = promisify(execFile);
const UNSHARE = "unshare";
const SYSTEMD = "/lib/systemd/systemd";
const NAMESPACES = ["--mount", "--pid", "--fork", "--kill-child", "--uts", "--ipc", "--cgroup"];
const START_MS_MAX = 10_000;
const POLL_MS = 20;

/** A running systemd. */
export interface SystemdMachine extends AsyncDisposable {
  /** Runs a program inside; resolves with what it printed. @throws Error when it fails */
  run(...command: readonly string[]): Promise<string>;
  /** A property of a unit, as `systemctl show` tells it. */
  readProperty(unit: string, name: string): Promise<string>;
}

/** What the machine has more than this one. */
interface SystemdMachineOptions {
  /** Text of files by path. */
  readonly files: Readonly<Record<string, string>>;
  /** Executable files by their path inside, from their path here. */
  readonly programs: Readonly<Record<string, string>>;
  /** The units to start. */
  readonly units: readonly string[];
}

/** Whether one can be started here; if not, why. */
export async function findSystemdProblem(): Promise<string | undefined> {
  try {
    await run(SYSTEMD, ["--version"]);
  } catch {
    return `there is not a ${SYSTEMD}`;
  }
  // Everything that needs a right, and nothing else.
  const probe = `set -e; mount --make-rprivate /; mkdir "$0/m"; mount -t tmpfs tmpfs "$0/m"
    mkdir "$0/m/u" "$0/m/w" "$0/m/n"
    mount -t overlay overlay -o "lowerdir=/,upperdir=$0/m/u,workdir=$0/m/w" "$0/m/n"
    mount -t proc proc "$0/m/n/proc"; mount -t cgroup2 cgroup2 "$0/m/n/sys"`;
  const folder = await mkdtemp(join(tmpdir(), "landfall-systemd-"));
  try {
    await run(UNSHARE, [...NAMESPACES, "sh", "-c", probe, folder]);
    return undefined;
  } catch (error) {
    return `namespaces cannot be made: ${String(error)}`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Starts a machine; ends when it is disposed of, or with the test process. */
export async function startSystemdMachine(options: SystemdMachineOptions): Promise<SystemdMachine> {
  const folder = await mkdtemp(join(tmpdir(), "landfall-systemd-"));
  const target = `[Unit]\nDefaultDependencies=no\nWants=${options.units.join(" ")}\nAllowIsolate=yes\n`;
  const files = { ...options.files, "/etc/systemd/system/test.target": target };
  for (const [path, text] of Object.entries(files)) await put(join(folder, "files", path), text);
  for (const path of Object.keys(options.programs)) await put(join(folder, "files", path), "");
  const binds = Object.entries(options.programs).map(([inside, here]) => `${here}\t${inside}\n`);
  await writeFile(join(folder, "binds"), binds.join(""));
  const child = spawn(UNSHARE, [...NAMESPACES, "bash", "-c", BOOT, folder], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const kill = (): void => void child.kill("SIGKILL");
  process.once("exit", kill);
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const inside = async (command: readonly string[]): Promise<string> => {
    const pid = await findChild(child.pid ?? 0);
    return (await run("nsenter", ["--target", pid, "--all", ...command])).stdout;
  };
  const stop = async (): Promise<void> => {
    kill();
    await ended;
    process.off("exit", kill);
    await rm(folder, { recursive: true, force: true });
  };
  const deadline = performance.now() + START_MS_MAX;
  while (!(await inside(["systemctl", "is-active", "test.target"]).catch(() => ""))) {
    if (performance.now() > deadline || child.exitCode !== null) {
      await stop();
      throw new Error(`Cannot start systemd:\n${output}`);
    }
    await Bun.sleep(POLL_MS);
  }
  return {
    run: (...command) => inside(command),
    readProperty: async (unit, name) =>
      (await inside(["systemctl", "show", unit, "--property", name, "--value"])).trim(),
    [Symbol.asyncDispose]: stop,
  };
}

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

/** Process 1 of the machine is the only child of `unshare`. */
async function findChild(pid: number): Promise<string> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
  const [first] = children.trim().split(" ");
  if (!first) throw new Error("systemd has ended");
  return first;
}

// systemd makes mounts shared by itself, but not where it takes itself to be in a container; credentials need that.
const BOOT = `
set -e
mount --make-rprivate /
mkdir "$0/machine"
mount -t tmpfs tmpfs "$0/machine"
mkdir "$0"/machine/{upper,work,root}
root="$0/machine/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$0/machine/upper,workdir=$0/machine/work" "$root"
cp -a "$0/files/." "$root/"
while IFS=$'\\t' read -r here inside; do mount --bind "$here" "$root$inside"; done < "$0/binds"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys" -o ro
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs tmpfs "$root/run" -o mode=755
mount -t tmpfs tmpfs "$root/tmp" -o mode=1777
mount -t tmpfs tmpfs "$root/dev" -o mode=755
for device in null zero full random urandom tty; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/shm" "$root/dev/pts" "$root/machine-before"
mount -t devpts devpts "$root/dev/pts" -o newinstance,ptmxmode=0666
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
cd "$root"
pivot_root . machine-before
umount --lazy /machine-before
mount --make-rshared /
exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin ${SYSTEMD} --system --unit=test.target
`;

/** One datagram: its assignments. */
type NotifyMessage = Readonly<Record<string, string>>;

/** A socket that is listened at. */
interface NotifySocket extends Disposable {
  /** For `NOTIFY_SOCKET`: a path, or a name that begins with `@`. */
  readonly address: string;
  /** Everything told so far, without the barriers that only wait for it to be read. */
  readonly messages: readonly NotifyMessage[];
  /** Resolves with the first message, old or new, that fits. @throws Error with all of them after `ms` */
  waitFor(fits: (message: NotifyMessage) => boolean, ms?: number): Promise<NotifyMessage>;
}

const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const MSG_DONTWAIT = 0x40;
const MESSAGE_BYTES_MAX = 8_192;
const READ_MS = 5;

/** Listens at a path or, where the system has them, at a name that no file stands for. */
export function openNotifySocket(kind: "path" | "abstract"): NotifySocket {
  const { i32, i64, u32, u64 } = FFIType;
  const { symbols } = dlopen("libc.so.6", {
    socket: { args: [i32, i32, i32], returns: i32 },
    bind: { args: [i32, FFIType.ptr, u32], returns: i32 },
    recv: { args: [i32, FFIType.ptr, u64, i32], returns: i64 },
    close: { args: [i32], returns: i32 },
  });
  const name = `landfall-notify-${randomUUID()}`;
  const path = join(tmpdir(), name);
  const address = kind === "path" ? path : `@${name}`;
  const socket = symbols.socket(AF_UNIX, SOCK_DGRAM, 0);
  const where = Buffer.from(kind === "path" ? `${path}\0` : `\0${name}`);
  const bytes = Buffer.concat([Buffer.from(new Uint16Array([AF_UNIX]).buffer), where]);
  if (symbols.bind(socket, ptr(bytes), bytes.length) !== 0) {
    throw new Error(`Cannot listen at ${address}`);
  }
  const messages: NotifyMessage[] = [];
  const buffer = Buffer.alloc(MESSAGE_BYTES_MAX);
  const read = (): void => {
    for (;;) {
      const length = Number(symbols.recv(socket, ptr(buffer), buffer.length, MSG_DONTWAIT));
      if (length < 0) return;
      const message = parse(buffer.toString("utf8", 0, length));
      if (message["BARRIER"] === undefined) messages.push(message);
    }
  };
  const timer = setInterval(read, READ_MS);
  return {
    address,
    messages,
    waitFor: async (fits, ms = 10_000) => {
      const deadline = performance.now() + ms;
      for (;;) {
        const found = messages.find(fits);
        if (found) return found;
        if (performance.now() > deadline) {
          throw new Error(`Not told in ${ms} ms, but: ${JSON.stringify(messages)}`);
        }
        await Bun.sleep(READ_MS);
      }
    },
    [Symbol.dispose]: () => {
      clearInterval(timer);
      symbols.close(socket);
      if (kind === "path") rmSync(path, { force: true });
    },
  };
}

function parse(text: string): NotifyMessage {
  const lines = text.split("\n").filter((line) => line !== "");
  return Object.fromEntries(
    lines.map((line) => {
      const [name = "", ...value] = line.split("=");
      return [name, value.join("=")];
    }),
  );
}
