/**
 * Breaks of how Apache CloudStack is asked.
 * @module
 */
import { type Break, edit } from "../break.ts";

const ABSENCE = "lib/providers/cloudstack/proof/absence.ts";
const SESSION = "lib/providers/cloudstack/session";
const TESTS = "test/providers/cloudstack/session";

export const CLOUDSTACK_BREAKS: readonly Break[] = [
  {
    id: "start-job-twice",
    invariant: "a change whose job is not over is not started again",
    edits: edit(`${SESSION}/jobs.ts`, "if (known !== undefined) return known;", "void known;"),
    tests: [`${TESTS}/jobs_test.ts`],
  },
  {
    id: "trust-changed-list",
    invariant: "a list that changed between two pages is not whole",
    edits: edit(
      `${SESSION}/pages.ts`,
      "if (count !== first) {",
      "if (count !== first && count === undefined) {",
    ),
    tests: [`${TESTS}/pages_test.ts`],
  },
  {
    id: "trust-short-list",
    invariant: "a list with fewer objects than the server counts is not whole",
    edits: edit(
      `${SESSION}/pages.ts`,
      "if (count === undefined || objects.length === count) return { objects };",
      "if (count !== -1) return { objects };",
    ),
    tests: [`${TESTS}/pages_test.ts`],
  },
  {
    id: "change-cloud-while-standby",
    invariant: "a process that does not lead changes nothing in the cloud",
    edits: edit(
      `${SESSION}/request.ts`,
      "fence.check(); try { return { reply: await client.request(sent, fence.bind(signal)), secrets };",
      "try { return { reply: await client.request(sent, signal), secrets };",
    ),
    tests: [`${TESTS}/request_test.ts`],
  },
  {
    id: "show-signature",
    invariant: "no message shows the signature of a request",
    edits: edit(
      `${SESSION}/request.ts`,
      "[keys.apiKey, keys.secretKey, signature]",
      "[keys.apiKey, keys.secretKey]",
    ),
    tests: [`${TESTS}/session_test.ts`],
  },
  {
    id: "mix-keys",
    invariant: "new keys count when both files changed, or when the pair in use is refused",
    edits: edit(
      `${SESSION}/keys.ts`,
      "if (isApiKeyNew && isSecretNew)",
      "if (isApiKeyNew || isSecretNew)",
    ),
    tests: [`${TESTS}/keys_test.ts`],
  },
  {
    id: "cut-quoted-value",
    invariant: "in quotes, a character that begins a comment belongs to the value",
    edits: edit(
      "lib/providers/cloudstack/settings/ini_lines.ts",
      'else if (!isQuoted && (one === ";" || one === "#")) break;',
      'else if (one === ";" || one === "#") break;',
    ),
    tests: ["test/providers/cloudstack/settings/ini_lines_test.ts"],
  },
  {
    id: "match-destroyed-by-name",
    invariant: "a destroyed VM is never taken for a Node by its name",
    edits: edit(
      "lib/providers/cloudstack/model/matching.ts",
      'named.filter((one) => !("isDead" in one))',
      "named",
    ),
    tests: ["test/providers/cloudstack/model/matching_test.ts"],
  },
  {
    id: "prove-never-seen",
    invariant: "error 431 proves nothing of a VM that this process never saw",
    edits: edit(
      ABSENCE,
      'if (owner === undefined) return toDoubt("notCovered", vmId, NEVER_SEEN);',
      "void owner;",
    ),
    tests: ["test/providers/cloudstack/proof/absence_test.ts"],
  },
  {
    id: "prove-without-witness",
    invariant: "error 431 proves nothing while no other Node's VM is shown",
    edits: edit(
      ABSENCE,
      "if ([...nodeVmIds].some((id) => id !== vmId && instances.has(id))) {",
      "if (nodeVmIds.size > 0) {",
    ),
    tests: ["test/providers/cloudstack/proof/absence_test.ts"],
  },
  {
    id: "remember-for-other-user",
    invariant: "what one user saw proves nothing for another one",
    edits: edit(
      "lib/providers/cloudstack/provider.ts",
      "settings, memory: isSame ? memory : new Memory()",
      "settings, memory",
    ),
    tests: ["test/providers/cloudstack/provider_test.ts"],
  },
];
