/**
 * One look at CloudStack, for an operator who sets it up.
 * @module
 */
import { CloudError } from "../../../cloud/errors.ts";
import { type Finding, inspectInventory, type Inspection } from "../../../cloud/inspection.ts";
import type { Inventory } from "../../../cloud/inventory/inventory.ts";
import { diagnoseConnection, diagnoseSilence, toFailure } from "../../../cloud_http/diagnosis.ts";
import { isTimeout, withDeadline } from "../../../core/clock.ts";
import { formatHostPort } from "../../../core/net/connection_problem.ts";
import { ApiError } from "../session/errors.ts";
import { SERVER_NAMES } from "../session/session.ts";
import type { CloudStackSettings } from "../settings/config.ts";

/** What {@linkcode inspectCloudStack} looks with. */
export interface InspectOptions {
  readonly settings: CloudStackSettings;
  /** Lists all VMs. */
  readonly listInventory: (signal: AbortSignal) => Promise<Inventory>;
}

/** Longest wait for the list, in milliseconds; a person is waiting, too. */
const LIST_MS = 15_000;

const WORDS = {
  instances: "vms",
  instance: "VM",
  part: "zone",
  noneAdvice:
    "check the account of the keys and project-id: CloudStack silently leaves out what the account may not see",
  incompleteAdvice: "try again; the list may have changed while Landfall read it",
} as const;

/** Codes of refusals, in words for programs. Other codes are `refused`. */
const CODES: ReadonlyMap<number, string> = new Map([
  [401, "unauthorized"],
  [431, "invalid"],
  [432, "forbidden"],
  [531, "forbidden"],
]);

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
    const shown = inspectInventory(endpoint, inventory, WORDS);
    const message = `CloudStack at ${endpoint} answers and accepts the keys`;
    return {
      ...shown,
      findings: [
        { level: "ok", code: "answers", message },
        ...listSafetyFindings(settings),
        ...shown.findings,
      ],
    };
  } catch (error) {
    signal.throwIfAborted();
    const finding = await diagnose(error, settings, signal);
    return { endpoint, counts: {}, parts: [], findings: [finding] };
  }
}

async function diagnose(
  error: unknown,
  server: CloudStackSettings,
  signal: AbortSignal,
): Promise<Finding> {
  if (!(error instanceof CloudError) && !isTimeout(error)) throw error;
  // Its message says what to do.
  if (error instanceof ApiError) return toFinding(CODES.get(error.code) ?? "refused", error);
  const asked = { server, names: SERVER_NAMES, signal };
  const found = await diagnoseConnection(error, asked);
  if (found) return found;
  if (!(error instanceof CloudError) || error.kind === "unreachable") {
    return error instanceof CloudError && error.status !== undefined
      ? toFinding("serverError", error)
      : await diagnoseSilence(asked);
  }
  if (error.kind !== "protocol") return toFinding(error.kind, error);
  const advice =
    "api-url must be that of the API itself, such as https://<host>/client/api; " +
    "check that no proxy or sign-in page stands in front of it";
  return toFailure("wrongService", error.message, advice);
}

function toFinding(code: string, { message }: CloudError): Finding {
  return { level: "failure", code, message };
}

function listSafetyFindings({ insecure, url }: CloudStackSettings): Finding[] {
  if (!insecure || !url.startsWith("https:")) return [];
  const message = "the certificate is not checked (ssl-no-verify)";
  const advice =
    "an attacker on the network can change the answers; use ca-file or certificate-fingerprint";
  return [{ level: "warning", code: "insecure", message, advice }];
}
