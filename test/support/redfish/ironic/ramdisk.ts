/**
 * A double of the small system that Ironic boots on a machine to look at it, to clean it and to install it. It says
 * that it did all of that. So a real Ironic asks a management controller for everything that it asks for in between.
 * @module
 */
/** The only disk of each machine, as the driver of Xen names it. */
const DISK = "/dev/xvda";
const DISK_BYTES = 20 * 1024 ** 3;
/** States in which Ironic waits for the system to report. */
const WAITING: ReadonlySet<unknown> = new Set(["inspect wait", "clean wait", "wait call-back"]);
const ROUND_MS = 500;

type Command = Readonly<Record<string, unknown>>;

/** A node as Ironic shows it. */
export type IronicNode = Readonly<Record<string, unknown>>;

/** Asks its API. @returns The answer; `undefined` without one. @throws Error with what it says */
export type AskIronic = (method: string, path: string, body?: unknown) => Promise<unknown>;

/** Where Ironic finds it, and how it is played. */
interface Ramdisk {
  /** Answers a request of Ironic. @param path Behind the beginning that `callbackUrl` has */
  handle(request: Request, path: string): Promise<Response>;
  /** Boots what was started until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

/** One start of a machine. */
interface Boot {
  readonly count: number;
  /** What Ironic let it do. */
  readonly done: Command[];
  /** By which Ironic knows it, and no other start. */
  token?: string;
}

/**
 * Creates one for all machines.
 *
 * @param callbackUrl Where Ironic reaches {@linkcode Ramdisk.handle}
 * @param countStarts How often the machine with a MAC address was started; `undefined` while it is off
 */
export function createRamdisk(
  ask: AskIronic,
  callbackUrl: string,
  countStarts: (mac: string) => number | undefined,
): Ramdisk {
  /** The last one of each machine, by its ID. */
  const boots = new Map<string, Boot>();

  const visit = async ({ uuid, provision_state: state }: IronicNode): Promise<void> => {
    const id = String(uuid);
    const { ports } = Object(await ask("GET", `/v1/ports?node=${id}`));
    const macs: readonly string[] = ports.map(({ address }: { address: string }) => address);
    const count = countStarts(macs[0] ?? "");
    if (count === undefined) return;
    const last = boots.get(id);
    const boot: Boot = last?.count === count ? last : { count, done: [] };
    boots.set(id, boot);
    if (state === "inspect wait") {
      const found = { inventory: toInventory(macs), boot_interface: macs[0], root_disk: toDisk() };
      await ask("POST", `/v1/continue_inspection?node_uuid=${id}`, found);
      return;
    }
    // Ironic shows the token of a start only once.
    boot.token ??= Object(
      await ask("GET", `/v1/lookup?addresses=${macs.join()}`),
    ).config.agent_token;
    await ask("POST", `/v1/heartbeat/${id}`, {
      callback_url: `${callbackUrl}/${id}`,
      agent_version: "11.0.0",
      agent_token: boot.token,
    });
  };

  const look = async (): Promise<void> => {
    const { nodes } = Object(await ask("GET", "/v1/nodes?fields=uuid,provision_state"));
    for (const node of nodes) {
      // A node that is locked, or that goes right now, is visited again in the next round.
      if (WAITING.has(node.provision_state)) await visit(node).catch(() => undefined);
    }
  };

  return {
    async handle(request, path) {
      const id = path.split("/").find((part) => part !== "") ?? "";
      const done = boots.get(id)?.done ?? [];
      if (request.method === "GET") return Response.json({ commands: done });
      const asked = Object(await request.json());
      const name = String(asked.name).split(".").at(-1) ?? "";
      const params = Object(asked.params);
      const problem = name === "prepare_image" ? await findDiskProblem(ask, id) : undefined;
      const command = {
        id: crypto.randomUUID(),
        command_name: name,
        command_params: params,
        command_status: problem === undefined ? "SUCCEEDED" : "FAILED",
        command_error: problem ?? null,
        command_result: toResult(name, params),
      };
      if (!name.startsWith("get_")) done.push(command);
      return Response.json(command);
    },
    async run(signal) {
      while (!signal.aborted) {
        await look().catch(() => undefined);
        await Bun.sleep(ROUND_MS);
      }
    },
  };
}

/** The real one installs only on the disk that it is told, and on none that it does not have. */
async function findDiskProblem(ask: AskIronic, id: string): Promise<object | undefined> {
  const { instance_info: info, properties } = Object(await ask("GET", `/v1/nodes/${id}`));
  const hint = (info.root_device ?? properties.root_device)?.name;
  if (hint === undefined || hint === `s== ${DISK}`) return undefined;
  const message = `No suitable device was found for deployment using these hints ${hint}`;
  return { type: "DeviceNotFound", code: 404, message, details: message };
}

function toResult(name: string, { step }: Readonly<Record<string, unknown>>): object {
  const own = { interface: "deploy", reboot_requested: false };
  const version = { hardware_manager_version: { double: "1" } };
  const clean = { ...own, step: "erase_devices_metadata", priority: 10, abortable: true };
  switch (name) {
    case "get_clean_steps":
      return { clean_steps: { Double: [clean] }, ...version };
    case "get_deploy_steps":
      return { deploy_steps: { Double: [] }, ...version };
    case "execute_clean_step":
      return { clean_result: null, clean_step: step };
    case "execute_deploy_step":
      return { deploy_result: null, deploy_step: step };
    case "get_partition_uuids":
      return { partitions: {}, "root uuid": null };
    default:
      return {};
  }
}

function toDisk(): object {
  const unknown = { model: "", wwn: null, serial: null, vendor: null };
  return { name: DISK, size: DISK_BYTES, rotational: false, ...unknown };
}

function toInventory(macs: readonly string[]): object {
  return {
    interfaces: macs.map((mac, at) => ({ name: `eth${at}`, mac_address: mac, has_carrier: true })),
    disks: [toDisk()],
    memory: { physical_mb: 4_096, total: 4 * 1024 ** 3 },
    cpu: { count: 4, architecture: "x86_64", model_name: "double", frequency: "2000", flags: [] },
    system_vendor: { product_name: "HVM domU", serial_number: "", manufacturer: "Xen" },
    hostname: "double",
    bmc_address: null,
    boot: { current_boot_mode: "uefi", pxe_interface: macs[0] },
  };
}
