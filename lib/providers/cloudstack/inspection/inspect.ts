/**
 * One look at CloudStack, for an operator who sets it up.
 * @module
 */
import { CloudError } from "../../../cloud/errors.ts";
import { type Finding, inspectInventory, type Inspection } from "../../../cloud/inspection.ts";
import type { Inventory } from "../../../cloud/inventory/inventory.ts";
import {
  diagnoseConnection,
  diagnoseSilence,
  diagnoseTlsPort,
  toFailure,
} from "../../../cloud_http/diagnosis.ts";
import { isTimeout, withDeadline } from "../../../core/clock.ts";
import { formatHostPort } from "../../../core/http/connection.ts";
import { isNetworkMissing, NETWORK_ADVICE, toNoNetwork } from "../model/inventory.ts";
import { ExplainedError } from "../session/errors.ts";
import { SERVER_NAMES } from "../session/session.ts";
import type { CloudStackSettings } from "../settings/config.ts";

/** What {@linkcode inspectCloudStack} looks with. */
interface InspectOptions {
  readonly settings: CloudStackSettings;
  /** Lists all VMs. */
  readonly listInventory: (signal: AbortSignal) => Promise<Inventory>;
}

/** Longest wait for the list, in milliseconds; a person is waiting, too. */
const LIST_MS = 15_000;

const REDIRECT_ADVICE =
  "api-url must be that of the API itself, such as https://<host>/client/api: Landfall sends no signed request to " +
  "another address";
const PROTOCOL_ADVICE = "try again; if the message stays, report it with the version of CloudStack";

const WORDS = {
  instances: "vms",
  instance: "VM",
  part: "zone",
  noneAdvice:
    "check whose keys api-key and secret-key are, the domain of that account, and project-id: CloudStack silently " +
    "leaves out what the account may not see",
  incompleteAdvice: "try again; the list may have changed while Landfall read it",
} as const;

/**
 * Takes one inventory, and says why when that fails.
 *
 * @throws the signal's reason
 */
export async function inspectCloudStack(
  { settings, listInventory }: InspectOptions,
  signal: AbortSignal,
): Promise<Inspection> {
  const endpoint = formatHostPort(settings.url);
  try {
    const inventory = await listInventory(withDeadline(signal, LIST_MS));
    const shown = inspectInventory(endpoint, toShown(inventory), WORDS);
    const message = `CloudStack at ${endpoint} answers and accepts the keys`;
    return {
      ...shown,
      inventory,
      strangersAdvice: WORDS.noneAdvice,
      findings: [
        { level: "ok", code: "answers", message },
        ...listSafetyFindings(settings),
        ...listNetworkFindings(inventory, settings),
        ...shown.findings,
      ],
    };
  } catch (error) {
    signal.throwIfAborted();
    const finding = await diagnose(error, settings, signal);
    return { endpoint, counts: {}, parts: [], findings: [finding] };
  }
}

/** CloudStack names zones only with their VMs: an empty list shows none, although it is whole. */
function toShown(inventory: Inventory): Inventory {
  const { instances, undecodable } = inventory;
  return instances.size + undecodable.size > 0 ? inventory : { ...inventory, coverage: new Map() };
}

async function diagnose(
  error: unknown,
  server: CloudStackSettings,
  signal: AbortSignal,
): Promise<Finding> {
  const asked = { server, names: SERVER_NAMES, signal };
  if (error instanceof ExplainedError) {
    const { word, problem, advice } = error.explanation;
    const isOtherServer = word === "wrongService" && error.status === 400;
    const found = isOtherServer ? await diagnoseTlsPort(asked) : undefined;
    return found ?? toFailure(word, problem, advice);
  }
  if (!(error instanceof CloudError) && !isTimeout(error)) throw error;
  const found = await diagnoseConnection(error, asked);
  if (found) return found;
  if (!(error instanceof CloudError) || error.kind === "unreachable") {
    return await diagnoseSilence(asked);
  }
  const { status = 0, kind, message } = error;
  return status >= 300 && status < 400
    ? toFailure("redirect", message, REDIRECT_ADVICE)
    : toFailure(kind, message, PROTOCOL_ADVICE);
}

function listNetworkFindings(
  inventory: Inventory,
  { addresses: { network = "" } }: CloudStackSettings,
): Finding[] {
  if (!isNetworkMissing(inventory)) return [];
  const message = toNoNetwork(network);
  return [{ level: "warning", code: "noNetwork", message, advice: NETWORK_ADVICE }];
}

function listSafetyFindings({ insecure, url }: CloudStackSettings): Finding[] {
  if (!insecure || !url.startsWith("https:")) return [];
  const message = "the certificate is not checked (ssl-no-verify)";
  const advice =
    "an attacker on the network can change the answers; use ca-file or certificate-fingerprint";
  return [{ level: "warning", code: "insecure", message, advice }];
}
