/**
 * The configuration of an Ironic that stands alone: no authentication, no message bus, SQLite, hardware by Redfish.
 * @module
 */

/** What differs from run to run. */
interface IronicPlace {
  readonly folder: string;
  readonly apiPort: number;
  readonly rpcPort: number;
  /** Where machines get the files of a boot from. */
  readonly filesUrl: string;
}

/** Writes the file. */
export function toIronicConfiguration({ folder, apiPort, rpcPort, filesUrl }: IronicPlace): string {
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
      enabled_boot_interfaces: "ipxe,redfish-virtual-media",
      enabled_deploy_interfaces: "direct",
      enabled_inspect_interfaces: "agent,redfish,no-inspect",
      enabled_network_interfaces: "noop",
      enabled_storage_interfaces: "noop",
      enabled_bios_interfaces: "redfish,no-bios",
      enabled_firmware_interfaces: "redfish,no-firmware",
      enabled_raid_interfaces: "redfish,no-raid",
      enabled_vendor_interfaces: "redfish,no-vendor",
      enabled_console_interfaces: "no-console",
      enabled_rescue_interfaces: "no-rescue",
      default_inspect_interface: "agent",
    },
    database: { connection: `sqlite:///${folder}/ironic.sqlite` },
    json_rpc: { auth_strategy: "noauth", host_ip: "127.0.0.1", port: rpcPort },
    api: { host_ip: "127.0.0.1", port: apiPort, api_workers: 1 },
    conductor: {
      workers_pool_size: 64,
      sync_power_state_interval: 15,
      power_state_change_timeout: 60,
      soft_power_off_timeout: 10,
    },
    agent: {
      require_tls: "false",
      deploy_logs_collect: "never",
      post_deploy_get_power_state_retries: 1,
      post_deploy_get_power_state_retry_interval: 1,
    },
    pxe: {
      tftp_root: `${folder}/tftp`,
      tftp_master_path: `${folder}/tftp/master`,
      images_path: `${folder}/images`,
      instance_master_path: `${folder}/images/master`,
    },
    deploy: {
      http_root: `${folder}/http`,
      http_url: filesUrl,
      // Management controllers fetch images where they are.
      ramdisk_image_download_source: "http",
    },
    dhcp: { dhcp_provider: "none" },
    inspector: { require_managed_boot: "false" },
    oslo_concurrency: { lock_path: folder },
    service_catalog: { auth_type: "none", endpoint_override: `http://127.0.0.1:${apiPort}` },
  };
  const toLine = ([key, value]: [string, string | number]): string => `${key} = ${value}\n`;
  return Object.entries(sections)
    .map(([name, values]) => `[${name}]\n${Object.entries(values).map(toLine).join("")}`)
    .join("\n");
}
