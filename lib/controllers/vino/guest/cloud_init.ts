/**
 * The files that cloud-init reads at the first start of a machine, in the form of its data source NoCloud, and
 * where they come from.
 * @module
 */
import type { MachineSeed } from "../../../cloud/capabilities/machines.ts";
import type { GuestAddress, GuestInterface, GuestRoute } from "./types.ts";
import { type KubeClient, readIfPresent } from "../../../kube/api/client.ts";
import { findSecretText, SECRETS } from "../../../kube/kinds/secret.ts";
import type { RoleForm } from "../resource/role_form.ts";
import type { MachineStart } from "../machines/steps/tasks.ts";

/** User data of a Secret. It may hold secrets itself: never show it. */
interface UserData {
  readonly text: string;
  /** Name of the Secret. */
  readonly secret: string;
  /** Which key of the Secret it is. */
  readonly key: string;
}

/** What the files are made from. */
interface CloudInitInput {
  /** Name of the machine, which never becomes that of another one: cloud-init knows a new machine by it. */
  readonly machine: string;
  /** @default {the name of the machine} */
  readonly hostname?: string;
  readonly interfaces: readonly GuestInterface[];
  /** Absent: only the networks are set up. */
  readonly userData?: UserData;
}

/** The files, or why there are none. The problem has no part of the user data. */
type CloudInit =
  | { readonly seed: MachineSeed; readonly problem?: undefined }
  | { readonly seed?: undefined; readonly problem: string };

/** How cloud-init finds the disk. Every version knows this label, old ones only in lower case. */
const LABEL = "cidata";
/** What cloud-init takes for user data: a header of its own, or a MIME message. It ignores anything else. */
const HEADER =
  /^(#cloud-config|#!|#include|#cloud-boothook|#part-handler|## template: ?jinja|content-type:|mime-version:)/i;
/** cloud-init needs a file of user data, although nothing is in it. */
const NOTHING = "#cloud-config\n{}\n";

/** Makes the files. */
export function toCloudInit({
  machine,
  hostname = machine,
  interfaces,
  userData,
}: CloudInitInput): CloudInit {
  if (userData !== undefined && !HEADER.test(userData.text)) {
    const where = `key ${userData.key} of Secret ${userData.secret}`;
    return {
      problem: `${where} must begin with a header of cloud-init, for example #cloud-config`,
    };
  }
  const files = {
    "meta-data": toJson({ "instance-id": machine, "local-hostname": hostname }),
    "user-data": userData?.text ?? NOTHING,
    "network-config": formatNetworkConfig(interfaces),
  };
  return { seed: { label: LABEL, files } };
}

/** Writes the network configuration of cloud-init, version 2. A guest finds interfaces by their MAC addresses. */
export function formatNetworkConfig(interfaces: readonly GuestInterface[]): string {
  const ethernets = Object.fromEntries(interfaces.map((one) => [one.name, toEthernet(one)]));
  return toJson({ version: 2, ethernets });
}

const IPV6_DEFAULT = "::/0";

function toEthernet({ mac, mtu, addresses, dhcp = 4, routes, dnsServers }: GuestInterface): object {
  const isStatic = addresses.length > 0;
  const gateway6 = toGateway6(addresses, routes);
  const others = routes.filter((route) => route !== gateway6);
  return {
    match: { macaddress: mac },
    ...(mtu !== undefined && { mtu }),
    dhcp4: !isStatic && dhcp === 4,
    dhcp6: !isStatic && dhcp === 6,
    ...(isStatic && {
      addresses: addresses.map(({ ip, prefixLength }) => `${ip}/${prefixLength}`),
    }),
    ...(gateway6 && { gateway6: gateway6.via }),
    ...(others.length > 0 && { routes: others.map(({ to, via }) => ({ to, via })) }),
    ...(dnsServers.length > 0 && { nameservers: { addresses: dnsServers } }),
  };
}

/**
 * The default route of IPv6 that needs the older form. cloud-init makes `::/64` of a route to `::/0` where there is no
 * netplan: https://github.com/canonical/cloud-init/issues/4600
 */
function toGateway6(
  addresses: readonly GuestAddress[],
  routes: readonly GuestRoute[],
): GuestRoute | undefined {
  const hasAddress = addresses.some(({ ip }) => ip.includes(":"));
  return hasAddress ? routes.find(({ to }) => to === IPV6_DEFAULT) : undefined;
}

/** YAML reads JSON, too, and never takes a text in quotes for a number, as it can take a MAC address. */
function toJson(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** What a seed is made from. */
interface SeedSource {
  readonly namespace: string;
  /** In the cloud. */
  readonly machine: string;
  /** Of the BareMetalHost. */
  readonly host: string;
  /** Absent: it goes, and is never started. */
  readonly start: MachineStart | undefined;
}

/**
 * Reads what a machine gets. Its content may be secret: it is never logged.
 *
 * @returns `undefined` if it needs none: metal3 installs it, or it has no user data and no static address
 * @throws {Error} if the Secret or its key is missing, or is not for cloud-init; {@linkcode KubeError} if Kubernetes
 * refuses
 */
export async function readSeed(
  client: Pick<KubeClient, "read">,
  { namespace, machine, host, start }: SeedSource,
  signal: AbortSignal,
): Promise<MachineSeed | undefined> {
  if (start === undefined) return undefined;
  const { form, interfaces } = start;
  if (form.boot !== "Template") return undefined;
  const isStatic = interfaces.some(({ addresses }) => addresses.length > 0);
  if (form.userDataSecret === undefined && !isStatic) return undefined;
  const userData = await readUserData(client, namespace, form, signal);
  const names = { machine, hostname: host };
  const { seed, problem } = toCloudInit({ ...names, interfaces, ...(userData && { userData }) });
  if (problem !== undefined) throw new Error(`Cannot use user data: ${problem}`);
  return seed;
}

async function readUserData(
  client: Pick<KubeClient, "read">,
  namespace: string,
  { userDataSecret }: RoleForm,
  signal: AbortSignal,
): Promise<UserData | undefined> {
  if (userDataSecret === undefined) return undefined;
  const { name, key } = userDataSecret;
  const secret = await readIfPresent(client, SECRETS, { namespace, name }, signal);
  if (secret === undefined) throw new Error(`Cannot read user data: there is no Secret "${name}"`);
  const text = findSecretText(secret, key);
  if (text === undefined) {
    throw new Error(`Cannot read user data: Secret "${name}" has no key "${key}"`);
  }
  return { text, secret: name, key };
}
