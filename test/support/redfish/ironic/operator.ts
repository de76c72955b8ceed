/**
 * What metal3's operator asks of Ironic for a BareMetalHost, in its order.
 * @module
 */
import type { KubeObject } from "../../../../lib/kube/kinds/resource.ts";
import type { Secret } from "../../../../lib/kube/kinds/secret.ts";
import { findCredentials } from "../../../../lib/controllers/vino/redfish/credentials.ts";
import type { Ironic } from "./ironic.ts";
import type { IronicNode } from "./ramdisk.ts";

/** What metal3 takes where a host says nothing. */
const DEFAULT_ROOT = "/dev/sda";
const BOOT_MODES: Readonly<Record<string, string>> = { UEFI: "uefi", legacy: "bios" };

/** A host, and where its Secret is. */
interface OperatorHost {
  /** As it is now. */
  readHost(): Promise<KubeObject & { readonly spec?: unknown }>;
  /** The Secret that the host names, as it is now. */
  readSecret(): Promise<Secret>;
}

/** The operator, for one host. */
export class Operator {
  /** How often it saw new credentials: a new version of the Secret, whatever changed in it. */
  credentialsSeen = 0;
  readonly #ironic: Ironic;
  readonly #host: OperatorHost;
  readonly #caFile: string;
  #uuid = "";
  #root = "";
  #version = "";

  /** @param caFile The authority that signed the certificate of the management controller */
  constructor(ironic: Ironic, host: OperatorHost, caFile: string) {
    this.#ironic = ironic;
    this.#host = host;
    this.#caFile = caFile;
  }

  /** Registers the host, and lets Ironic manage it. */
  async register(): Promise<void> {
    const { metadata, spec } = await this.#host.readHost();
    const { bmc, bootMode = "UEFI", bootMACAddress, rootDeviceHints } = Object(spec);
    this.#root = rootDeviceHints?.deviceName ?? DEFAULT_ROOT;
    const [, driver, address = ""] = /^(redfish[-a-z]*)\+(.*)$/.exec(String(bmc.address)) ?? [];
    const url = new URL(address);
    const { filesUrl } = this.#ironic;
    const hasMedia = driver === "redfish-virtualmedia";
    const node = {
      name: `metal~${metadata.name}`,
      driver: "redfish",
      boot_interface: hasMedia ? "redfish-virtual-media" : "ipxe",
      inspect_interface: "agent",
      firmware_interface: "redfish",
      raid_interface: "redfish",
      automated_clean: true,
      driver_info: {
        redfish_address: url.origin,
        redfish_system_id: url.pathname,
        redfish_verify_ca: this.#caFile,
        ...(hasMedia
          ? { deploy_iso: `${filesUrl}/deploy.iso` }
          : { deploy_kernel: `${filesUrl}/kernel`, deploy_ramdisk: `${filesUrl}/ramdisk` }),
        ...(await this.#readCredentials()),
      },
      properties: { capabilities: `boot_mode:${BOOT_MODES[bootMode]}`, cpu_arch: "x86_64" },
    };
    const { uuid } = Object(await this.#ironic.ask("POST", "/v1/nodes", node));
    this.#uuid = uuid;
    const port = { address: bootMACAddress, node_uuid: uuid, pxe_enabled: !hasMedia };
    await this.#ironic.ask("POST", "/v1/ports", port);
    await this.#provision("manage", "manageable");
  }

  /** Lets Ironic look at the hardware: `agent` boots its ramdisk for that, `redfish` only asks. */
  async inspect(by: "agent" | "redfish"): Promise<IronicNode> {
    await this.#patch([toAdded("inspect_interface", by)]);
    await this.#provision("inspect", "manageable");
    return Object(await this.#ironic.ask("GET", `/v1/nodes/${this.#uuid}/inventory`));
  }

  /** Lets Ironic clean the disks. Then an image can be installed. */
  async provide(): Promise<void> {
    await this.#provision("provide", "available");
  }

  /** Lets Ironic install an image. */
  async deploy(): Promise<void> {
    const info = {
      capabilities: {},
      root_device: { name: `s== ${this.#root}` },
      image_source: `${this.#ironic.filesUrl}/image`,
      image_disk_format: "raw",
      image_os_hash_algo: "sha256",
      image_os_hash_value: "0".repeat(64),
    };
    const patch = Object.entries(info).map(([key, value]) =>
      toAdded(`instance_info/${key}`, value),
    );
    await this.#patch([...patch, toAdded("driver_info/force_persistent_boot_device", "Default")]);
    // metal3 gives the parts. Ironic would need a program of the system to make a disk of them.
    const configdrive = Bun.gzipSync("a disk with the name of the host").toBase64();
    await this.#provision("active", "active", { configdrive });
  }

  /** Switches the host. @param target `power on`, `power off`, `soft power off`, `rebooting` */
  async power(target: string): Promise<void> {
    await this.#ironic.ask("PUT", `/v1/nodes/${this.#uuid}/states/power`, { target });
    const power_state = target.endsWith("off") ? "power off" : "power on";
    await this.#ironic.until(this.#uuid, { power_state, target_power_state: null });
  }

  /** Sets what the host boots from. @returns What Ironic reads of it then */
  async setBootDevice(device: string, persistent: boolean): Promise<unknown> {
    const path = `/v1/nodes/${this.#uuid}/management/boot_device`;
    await this.#ironic.ask("PUT", path, { boot_device: device, persistent });
    return await this.#ironic.ask("GET", path);
  }

  /** Removes the image, and cleans the disks. */
  async undeploy(): Promise<void> {
    await this.#provision("deleted", "available");
  }

  /** Looks at the Secret, as for each work on the host. @returns Whether it is another version */
  async renewCredentials(): Promise<boolean> {
    const before = this.#version;
    const credentials = await this.#readCredentials();
    if (this.#version === before) return false;
    const patch = Object.entries(credentials).map(([key, value]) =>
      toAdded(`driver_info/${key}`, value),
    );
    await this.#patch(patch);
    return true;
  }

  /** Deletes the host from Ironic. */
  async forget(): Promise<void> {
    const path = `/v1/nodes/${this.#uuid}`;
    await this.#ironic.ask("PUT", `${path}/maintenance`, { reason: "it is deleted" });
    await this.#ironic.ask("DELETE", path);
  }

  async #readCredentials(): Promise<Readonly<Record<string, string>>> {
    const secret = await this.#host.readSecret();
    const found = findCredentials(secret);
    if (found === undefined) throw new Error("The Secret has no credentials");
    const { resourceVersion = "" } = secret.metadata;
    if (resourceVersion !== this.#version) this.credentialsSeen += 1;
    this.#version = resourceVersion;
    return { redfish_username: found.username, redfish_password: found.password };
  }

  async #provision(target: string, state: string, more: object = {}): Promise<void> {
    await this.renewCredentials();
    const path = `/v1/nodes/${this.#uuid}/states/provision`;
    await this.#ironic.ask("PUT", path, { target, ...more });
    const done = { provision_state: state, target_provision_state: null };
    await this.#ironic.until(this.#uuid, done);
    await this.renewCredentials();
  }

  async #patch(patch: readonly object[]): Promise<void> {
    await this.#ironic.ask("PATCH", `/v1/nodes/${this.#uuid}`, patch);
  }
}

function toAdded(path: string, value: unknown): object {
  return { op: "add", path: `/${path}`, value };
}
