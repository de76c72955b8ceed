/**
 * What a machine from a template reads at its first start.
 * @module
 */
import type { MachineSeed } from "../../../cloud/capabilities/machines.ts";
import { type KubeClient, readIfPresent } from "../../../kube/api/client.ts";
import { findSecretText, SECRETS } from "../../../kube/kinds/secret.ts";
import { toCloudInit, type UserData } from "../guest/cloud_init.ts";
import type { RoleForm } from "../resource/role_form.ts";
import type { MachineStart } from "./steps/tasks.ts";

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
