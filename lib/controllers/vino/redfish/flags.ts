/**
 * Flags of the management controllers of machines.
 * @module
 */
import type { MachinesUse } from "../../../cloud/capabilities/machines.ts";
import { ConfigError, type ConfigIssue } from "../../../core/errors.ts";
import { parseIp } from "../../../core/net/ip.ts";
import { parseListenAddress } from "../../../core/net/listen_address.ts";
import { mustBe, parseList } from "../../../core/text/values.ts";
import {
  type FlagsJudgement,
  type FlagValues,
  type ManagementPlace,
  readTextFlag,
  type TextFlag,
} from "../../definition.ts";
import type { ServiceEndpoint } from "./leader_endpoint.ts";
import type { MediaSettings } from "./media.ts";

const anyText = (): undefined => undefined;

/** Where Landfall serves Redfish. */
export const REDFISH_ADDRESS_FLAG: TextFlag = {
  name: "vino-redfish-address",
  type: "string",
  default: "",
  help:
    "Address at which Landfall serves Redfish with TLS, so that Ironic can switch the machines of Vinos, such as " +
    "0.0.0.0:8443; empty: it does not",
  findProblem: (text) =>
    text === "" || isTcp(text) ? undefined : "host:port with a port up to 65535",
};

/** How metal3 reaches it. */
export const REDFISH_URL_FLAG: TextFlag = {
  name: "vino-redfish-url",
  type: "string",
  default: "",
  help: "URL at which Ironic reaches --vino-redfish-address, such as https://landfall-redfish.kube-system.svc:8443",
  findProblem: (text) =>
    text === "" || parseUrl(text) ? undefined : "an https URL without a path",
};

/** The file with its certificate. */
const REDFISH_CERT_FLAG: TextFlag = {
  name: "vino-redfish-tls-cert-file",
  type: "string",
  default: "",
  help:
    "File with the certificate of --vino-redfish-address; empty: Landfall makes one, and hosts tell Ironic not to " +
    "check it",
  findProblem: anyText,
};

/** The file with its key. */
const REDFISH_KEY_FLAG: TextFlag = {
  name: "vino-redfish-tls-private-key-file",
  type: "string",
  default: "",
  help: "File with the private key of --vino-redfish-tls-cert-file",
  findProblem: anyText,
};

/** The Service that leads to it. */
export const REDFISH_SERVICE_FLAG: TextFlag = {
  name: "vino-redfish-service",
  type: "string",
  default: "",
  help:
    "Namespace and name of a Service without selector, such as kube-system/landfall-redfish: the process that leads " +
    "makes itself its only endpoint; empty: it does not",
  findProblem: (text) =>
    text === "" || parseService(text) ? undefined : "the namespace and the name of a Service: a/b",
};

/** Where that Service leads. */
export const REDFISH_POD_IP_FLAG: TextFlag = {
  name: "vino-redfish-pod-ip",
  type: "string",
  default: "",
  help: "IP address of this Pod, for --vino-redfish-service: $(POD_IP) in a manifest",
  findProblem: (text) => (text === "" || parseIp(text) ? undefined : "an IP address"),
};

/** Where images of CDs are copied to. */
const ISO_STORAGE_FLAG: TextFlag = {
  name: "vino-redfish-iso-storage",
  type: "string",
  default: "",
  help:
    "Name or ID of the storage for ISOs, in the pool of each machine, to which Landfall copies images for virtual " +
    "media; empty: machines have no virtual media",
  findProblem: anyText,
};

/** Where they come from. */
const ISO_SOURCES_FLAG: TextFlag = {
  name: "vino-redfish-iso-sources",
  type: "string",
  default: "",
  help:
    "URLs below which Landfall may fetch images for --vino-redfish-iso-storage, with commas between them, such as " +
    "http://ironic.metal3.svc:6180/",
  findProblem: (text) =>
    parseList(text).every((one) => parseSource(one) !== undefined)
      ? undefined
      : "http or https URLs that end with a slash, with commas between them",
};

/** All of them. */
export const REDFISH_FLAGS: readonly TextFlag[] = [
  REDFISH_ADDRESS_FLAG,
  REDFISH_URL_FLAG,
  REDFISH_CERT_FLAG,
  REDFISH_KEY_FLAG,
  REDFISH_SERVICE_FLAG,
  REDFISH_POD_IP_FLAG,
  ISO_STORAGE_FLAG,
  ISO_SOURCES_FLAG,
];

/** The service, and how hosts name it. */
export interface RedfishSettings {
  readonly address: string;
  readonly url: URL;
  /** Both or none. */
  readonly certFile?: string;
  readonly keyFile?: string;
  /** Of the Service that leads to this process while it leads. Absent: there is none. */
  readonly endpoint?: ServiceEndpoint;
  /** Absent: machines have no virtual media. */
  readonly media?: MediaSettings;
}

/**
 * Reads the flags together.
 *
 * @returns `undefined` if the service is off
 * @throws {ConfigError} for flags that do not fit together
 */
export function readRedfishSettings(values: FlagValues): RedfishSettings | undefined {
  const address = readTextFlag(values, REDFISH_ADDRESS_FLAG);
  const certFile = readTextFlag(values, REDFISH_CERT_FLAG);
  const keyFile = readTextFlag(values, REDFISH_KEY_FLAG);
  const url = parseUrl(readTextFlag(values, REDFISH_URL_FLAG));
  if (address === "") return undefined;
  const issues: ConfigIssue[] = [];
  if (url === undefined) {
    const message = mustBe("an https URL, because hosts have it as their address");
    issues.push({ source: `--${REDFISH_URL_FLAG.name}`, message });
  }
  for (const [one, other] of [
    [REDFISH_CERT_FLAG, REDFISH_KEY_FLAG],
    [REDFISH_KEY_FLAG, REDFISH_CERT_FLAG],
    [REDFISH_SERVICE_FLAG, REDFISH_POD_IP_FLAG],
    [REDFISH_POD_IP_FLAG, REDFISH_SERVICE_FLAG],
    [ISO_STORAGE_FLAG, ISO_SOURCES_FLAG],
    [ISO_SOURCES_FLAG, ISO_STORAGE_FLAG],
  ] as const) {
    if (readTextFlag(values, one) !== "" || readTextFlag(values, other) === "") continue;
    const message = `required together with --${other.name}`;
    issues.push({ source: `--${one.name}`, message });
  }
  if (url === undefined || issues.length > 0) throw new ConfigError(issues);
  const endpoint = readEndpoint(values, address);
  const files = certFile && keyFile ? { certFile, keyFile } : {};
  const storage = readTextFlag(values, ISO_STORAGE_FLAG);
  const sources = parseList(readTextFlag(values, ISO_SOURCES_FLAG)).flatMap(
    (one) => parseSource(one) ?? [],
  );
  const media = storage === "" ? {} : { media: { storage, sources } };
  return { address, url, ...files, ...(endpoint && { endpoint }), ...media };
}

/** Says which of the flags do not fit together, and which do nothing. */
export function judgeRedfishFlags(values: FlagValues): FlagsJudgement {
  const others = REDFISH_FLAGS.filter((one) => readTextFlag(values, one) !== "");
  const isOff = readTextFlag(values, REDFISH_ADDRESS_FLAG) === "";
  if (isOff && others.length > 0) {
    const names = others.map(({ name }) => `--${name}`).join(" ");
    const why = `without --${REDFISH_ADDRESS_FLAG.name}, Landfall serves no Redfish`;
    return { issues: [], warnings: [`flags without effect: ${names} (${why})`] };
  }
  try {
    readRedfishSettings(values);
    return { issues: [], warnings: [] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { issues: error.issues, warnings: [] };
  }
}

/** What the service does with machines. Flags that do not fit are judged elsewhere. */
export function findMachinesUse(values: FlagValues): MachinesUse {
  const isManaged = readTextFlag(values, REDFISH_ADDRESS_FLAG) !== "";
  const isoStorage = readTextFlag(values, ISO_STORAGE_FLAG);
  return { isManaged, ...(isManaged && isoStorage !== "" && { isoStorage }) };
}

/** Where the service is. */
export function toManagementPlace({
  address,
  url,
  certFile,
  keyFile,
}: RedfishSettings): ManagementPlace {
  return {
    address,
    ...(certFile !== undefined && keyFile !== undefined && { certFile, keyFile }),
    names: [url.hostname.replace(/^\[|\]$/g, "")],
    flags: {
      address: `--${REDFISH_ADDRESS_FLAG.name}`,
      certFile: `--${REDFISH_CERT_FLAG.name}`,
      keyFile: `--${REDFISH_KEY_FLAG.name}`,
    },
  };
}

/** Finds the Service that leads to this process, if there is one, and what is known of the address of the Pod. */
export function findRedfishService(
  values: FlagValues,
): (Pick<ServiceEndpoint, "namespace" | "service"> & { readonly ip?: string }) | undefined {
  if (readTextFlag(values, REDFISH_ADDRESS_FLAG) === "") return undefined;
  const service = parseService(readTextFlag(values, REDFISH_SERVICE_FLAG));
  const ip = parseIp(readTextFlag(values, REDFISH_POD_IP_FLAG))?.text;
  return service && { ...service, ...(ip !== undefined && { ip }) };
}

function readEndpoint(values: FlagValues, address: string): ServiceEndpoint | undefined {
  const found = findRedfishService(values);
  const port = Number(/:(\d+)$/.exec(address)?.[1]);
  return found?.ip !== undefined && port > 0 ? { ...found, ip: found.ip, port } : undefined;
}

function parseService(text: string): Pick<ServiceEndpoint, "namespace" | "service"> | undefined {
  const [, namespace, service] =
    /^([a-z0-9][-a-z0-9]{0,62})\/([a-z](?:[-a-z0-9]{0,56}[a-z0-9])?)$/.exec(text) ?? [];
  return namespace && service ? { namespace, service } : undefined;
}

/**
 * The address of the management controller of a machine, as a BareMetalHost has it. With virtual media metal3 boots
 * from them, and needs neither DHCP nor PXE.
 */
export function toBmcAddress(
  { url, media }: Pick<RedfishSettings, "media" | "url">,
  machineId: string,
): string {
  const driver = media === undefined ? "redfish" : "redfish-virtualmedia";
  return `${driver}+${url.origin}/redfish/v1/Systems/${machineId}`;
}

/** The slash behind the host is why `http://a.example` does not allow `http://a.example.org`. */
function parseSource(text: string): string | undefined {
  const url = URL.parse(text);
  const isHttp = url?.protocol === "http:" || url?.protocol === "https:";
  return isHttp && url.href === text && text.endsWith("/") ? text : undefined;
}

function isTcp(text: string): boolean {
  try {
    return parseListenAddress(text).kind === "tcp";
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function parseUrl(text: string): URL | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const isBare = `${url.origin}/` === url.href;
  return url.protocol === "https:" && isBare ? url : undefined;
}
