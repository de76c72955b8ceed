/**
 * The configuration of an Ironic that stands alone: no authentication, no message bus, SQLite, hardware by Redfish.
 * @module
 */

/** What differs from run to run. */
export interface IronicPlace {
  /** Its folder, as it sees it. */
  readonly folder: string;
  readonly apiPort: number;
  readonly rpcPort: number;
}

/** Writes the file. */
export function toIronicConfiguration({ folder, apiPort, rpcPort }: IronicPlace): string {
  const sections: Readonly<Record<string, Readonly<Record<string, string | number>>>> = {
    DEFAULT: {
      auth_strategy: "noauth",
      rpc_transport: "json-rpc",
      // Also where its parts reach each other.
      host: "127.0.0.1",
      my_ip: "127.0.0.1",
      state_path: folder,
      use_stderr: "true",
      enabled_hardware_types: "redfish",
      enabled_power_interfaces: "redfish",
      enabled_management_interfaces: "redfish",
      enabled_inspect_interfaces: "redfish",
      enabled_boot_interfaces: "pxe",
      enabled_deploy_interfaces: "ramdisk",
      enabled_network_interfaces: "noop",
      enabled_storage_interfaces: "noop",
      enabled_bios_interfaces: "no-bios",
      enabled_raid_interfaces: "no-raid",
      enabled_vendor_interfaces: "no-vendor",
      enabled_console_interfaces: "no-console",
      enabled_rescue_interfaces: "no-rescue",
    },
    database: { connection: `sqlite:///${folder}/ironic.sqlite` },
    json_rpc: { auth_strategy: "noauth", host_ip: "127.0.0.1", port: rpcPort },
    api: { host_ip: "127.0.0.1", port: apiPort, api_workers: 1 },
    conductor: {
      automated_clean: "false",
      workers_pool_size: 8,
      power_state_change_timeout: 60,
      soft_power_off_timeout: 10,
    },
    pxe: { tftp_root: `${folder}/tftp`, images_path: `${folder}/images` },
    deploy: { http_root: `${folder}/http`, http_url: "http://127.0.0.1:1" },
    oslo_concurrency: { lock_path: folder },
  };
  const toLine = ([key, value]: [string, string | number]): string => `${key} = ${value}\n`;
  return Object.entries(sections)
    .map(([name, values]) => `[${name}]\n${Object.entries(values).map(toLine).join("")}`)
    .join("\n");
}
