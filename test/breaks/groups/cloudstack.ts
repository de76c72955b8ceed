/**
 * Breaks of how Apache CloudStack is asked.
 * @module
 */
import { type Break, edit } from "../break.ts";

const ABSENCE = "lib/providers/cloudstack/proof/absence.ts";
const SESSION = "lib/providers/cloudstack/session";
const TESTS = "test/providers/cloudstack/session";
const PROOF_TESTS = "test/providers/cloudstack/proof/absence_test.ts";
const ANSWERS = "test/outages/cloudstack_answers_test.ts";
const RIGHTS = "test/outages/cloudstack_rights_test.ts";

export const CLOUDSTACK_BREAKS: readonly Break[] = [
  {
    id: "trust-stopped-manager",
    invariant: "a program that stopped renewing its Lease manages no load balancers",
    edits: edit(
      "lib/cli/check/controllers/services.ts",
      "if (!isHeldNow(lease, nowMs)) return undefined;",
      "void isHeldNow(lease, nowMs);",
    ),
    tests: ["test/cli/check/controllers/services_test.ts"],
  },
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
      "if (count === undefined || total === count) return { pages };",
      "if (count !== -1) return { pages };",
    ),
    tests: [`${TESTS}/pages_test.ts`],
  },
  {
    id: "trust-one-known-page",
    invariant: "a list is unchanged only if all of its pages are",
    edits: edit(
      `${SESSION}/lists.ts`,
      "digest === known[at]?.digest",
      "at > 0 || digest === known[at]?.digest",
    ),
    tests: [`${TESTS}/lists_test.ts`],
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
    id: "match-in-old-list",
    invariant: "a VM is found by its name only in a list that is newer than the Node",
    edits: edit(
      "lib/providers/cloudstack/model/matching.ts",
      'if (found.kind === "present" && isTooOld && !isOwnId(found.instance, identity)) {',
      'if (found.kind === "present" && !found.kind) {',
    ),
    tests: ["test/providers/cloudstack/provider_test.ts"],
    simulated: "nodes",
  },
  {
    id: "keep-refused-keys",
    invariant:
      "a request that is refused is sent again with the keys that are in the files by then",
    edits: edit(
      `${SESSION}/session.ts`,
      "if (await route.keys.refuse(keys)) continue;",
      "void route.keys.refuse(keys);",
    ),
    tests: ["test/providers/cloudstack/rotation_test.ts"],
  },
  {
    id: "match-what-is-off",
    invariant: "a new Node gets no VM of its name that is off",
    edits: edit(
      "lib/providers/cloudstack/model/matching.ts",
      'return instance.state === "stopped" && !identity.isNameless && !isOwnId(instance, identity);',
      "return instance === undefined && isOwnId(instance, identity);",
    ),
    tests: ["test/providers/cloudstack/provider_test.ts"],
  },
  {
    id: "ask-projects-only",
    invariant: "a VM is gone only if it is in no project, and not outside of them either",
    edits: edit(
      "lib/providers/cloudstack/wire/api.ts",
      'return inProjects.kind === "empty" ? await this.readVm(id, undefined, signal) : inProjects;',
      "return inProjects;",
    ),
    tests: ["test/providers/cloudstack/provider_test.ts"],
  },
  {
    id: "open-key-files-again",
    invariant: "other settings with the same connection do not hide that key files changed",
    edits: edit(
      "lib/providers/cloudstack/provider.ts",
      "if (!isSame) this.#options.session.reconfigure(settings);",
      "this.#options.session.reconfigure(settings);",
    ),
    tests: ["test/providers/cloudstack/provider_test.ts"],
  },
  {
    id: "share-by-name",
    invariant: "of two Nodes that wait at once, and find one VM by their names, neither gets it",
    edits: edit(
      "lib/controllers/node/rivals.ts",
      '(this.findRival(node, instance, "") ?? this.#findNamesake(node, instance))',
      'this.findRival(node, instance, "")',
    ),
    tests: ["test/controllers/node/rivals_test.ts"],
  },
  {
    id: "match-destroyed-by-name",
    invariant: "a destroyed VM is never taken for a Node by its name",
    edits: edit(
      "lib/providers/cloudstack/model/matching.ts",
      "named.filter((one) => !isDeadInstance(one))",
      "named",
    ),
    tests: ["test/providers/cloudstack/model/matching_test.ts"],
    simulated: "nodes",
  },
  {
    id: "prove-never-seen",
    invariant: "error 431 proves nothing of a VM that this process never saw",
    edits: edit(
      ABSENCE,
      'if (owner === undefined) return toDoubt("notCovered", vmId, NEVER_SEEN);',
      "void owner;",
    ),
    tests: [PROOF_TESTS],
  },
  {
    id: "prove-without-witness",
    invariant: "error 431 proves nothing while no other Node's VM is shown",
    edits: edit(
      ABSENCE,
      "if ([...nodeVmIds].some((id) => id !== vmId && instances.has(id))) {",
      "if (nodeVmIds.size > 0) {",
    ),
    tests: [PROOF_TESTS],
  },
  {
    id: "prove-by-strange-witness",
    invariant: "a list proves an absence only if it shows another Node's VM of the same owner",
    edits: edit(
      ABSENCE,
      "return instance !== undefined && findOwner(instance) === owner;",
      "return instance !== undefined && owner !== undefined;",
    ),
    tests: [PROOF_TESTS, RIGHTS],
  },
  {
    id: "prove-without-owner",
    invariant: "an empty answer proves nothing of a VM whose owner the server never said",
    edits: edit(
      ABSENCE,
      'if (owner === undefined) { return toDoubt("notCovered", vmId, NEVER_SEEN); }',
      "void owner;",
    ),
    tests: [PROOF_TESTS],
  },
  {
    id: "look-in-one-project",
    invariant: "a VM that is shown in another project is not gone",
    edits: edit(ABSENCE, 'if (anywhere.kind === "found") {', "if (anywhere === undefined) {"),
    tests: [PROOF_TESTS, RIGHTS],
  },
  {
    id: "believe-any-page",
    invariant: "an answer that is not CloudStack's says nothing about VMs",
    edits: edit(
      `${SESSION}/reply.ts`,
      "if (json === undefined || !isFields(body) || more.length > 0) throw toStrange(reply, asked);",
      "if (json === undefined || !isFields(body) || more.length > 0) return {};",
    ),
    tests: [`${TESTS}/reply_test.ts`, ANSWERS],
  },
  {
    id: "believe-431-about-other",
    invariant: "error 431 about another object says nothing about a VM",
    edits: edit(
      "lib/providers/cloudstack/wire/api.ts",
      "return unknownId?.toLowerCase() === id;",
      "void id; return unknownId !== undefined;",
    ),
    tests: ["test/providers/cloudstack/wire/api_test.ts"],
  },
  {
    id: "take-destroyed-for-gone",
    invariant: "a VM that is destroyed, and can be recovered, is not gone",
    edits: edit(
      "lib/providers/cloudstack/model/power.ts",
      'const GONE: ReadonlySet<string> = new Set(["Expunging", "Expunged"]);',
      'const GONE: ReadonlySet<string> = new Set(["Expunging", "Expunged", "Destroyed"]);',
    ),
    tests: ["test/providers/cloudstack/model/power_test.ts"],
  },
  {
    id: "prove-by-old-database",
    invariant: "error 431 proves nothing of a VM whose removal the server did not know before",
    edits: edit(
      ABSENCE,
      'if (!wasRemoved) return toDoubt("notCovered", vmId, FORGOTTEN);',
      "void wasRemoved;",
    ),
    tests: [PROOF_TESTS, RIGHTS],
  },
  {
    id: "match-name-in-half-list",
    invariant: "a VM is not taken by its name while the list may hold another one of that name",
    edits: edit(
      "lib/providers/cloudstack/model/matching.ts",
      "if (doubt !== undefined) return doubt;",
      "void doubt;",
    ),
    tests: ["test/providers/cloudstack/model/matching_test.ts"],
  },
  {
    id: "keep-memory-for-new-keys",
    invariant:
      "what one user saw proves nothing for another one whose keys come from changed files",
    edits: edit(
      "lib/providers/cloudstack/session/keys.ts",
      'this.#log.info("The keys changed", { ...this.#paths }); this.#onChange();',
      'this.#log.info("The keys changed", { ...this.#paths });',
    ),
    tests: [
      RIGHTS,
      "test/providers/cloudstack/provider_test.ts",
      "test/providers/cloudstack/session/keys_test.ts",
    ],
  },
  {
    id: "keep-deleted-project",
    invariant: "the ID of a project is read again after the server no longer has it",
    edits: edit(
      `${SESSION}/facts.ts`,
      "if (isUnknown && this.#projectId === projectId) this.#projectId = undefined;",
      "void isUnknown;",
    ),
    tests: [`${TESTS}/facts_test.ts`],
  },
  {
    id: "hide-unknown-outcome",
    invariant: "a caller learns that a change may have been made whose answer was lost",
    edits: edit(`${SESSION}/session.ts`, "throw toChangeError(error, command);", "throw error;"),
    tests: [`${TESTS}/session_test.ts`],
  },
  {
    id: "show-keys-of-job",
    invariant: "no message about a failed job shows a key",
    edits: edit(
      `${SESSION}/job_reply.ts`,
      '{ command: toJobName(body["cmd"]), secrets }',
      '{ command: toJobName(body["cmd"]), secrets: [] }',
    ),
    tests: [`${TESTS}/session_test.ts`],
  },
  {
    id: "remember-for-other-user",
    invariant: "what one user saw proves nothing for another one",
    edits: edit(
      "lib/providers/cloudstack/provider.ts",
      "this.#replace(settings, isSame ? memory : new Memory());",
      "void isSame; this.#replace(settings, memory);",
    ),
    tests: ["test/providers/cloudstack/provider_test.ts"],
  },
];
