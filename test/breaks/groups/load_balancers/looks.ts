/**
 * Breaks of how Landfall looks at the load balancers of CloudStack.
 * @module
 */
import { type Break, edit } from "../../break.ts";

const FOLDER = "lib/providers/cloudstack/load_balancers";
const WIRE = "lib/providers/cloudstack/wire";
const TESTS = "test/providers/cloudstack/load_balancers";
const WIRE_TESTS = "test/providers/cloudstack/wire";
const STORE = `${FOLDER}/store.ts`;
const TABLES = `${FOLDER}/tables.ts`;
const STORE_TESTS = `${TESTS}/store_test.ts`;
const LOOK = `${FOLDER}/look.ts`;
const LOOK_TESTS = `${TESTS}/look_test.ts`;

export const LOAD_BALANCER_LOOK_BREAKS: readonly Break[] = [
  {
    id: "look-brings-back",
    invariant:
      "a look that was being taken when a change ended does not bring back the state before",
    edits: edit(STORE, "for (const change of open.changes) change(tables);", ""),
    tests: [STORE_TESTS],
  },
  {
    id: "look-counts-after-refusal",
    invariant: "after a refusal, a look that began before it is not the newest",
    edits: edit(STORE, "this.#isValid = !open.isOutdated;", "this.#isValid = true;"),
    tests: [STORE_TESTS],
  },
  {
    id: "look-survives-other-keys",
    invariant: "a look of another connection never comes back",
    edits: edit(STORE, "    this.#open.clear();\n", ""),
    tests: [STORE_TESTS],
  },
  {
    id: "change-a-view",
    invariant: "a view never changes",
    edits: edit(`${FOLDER}/shared_map.ts`, "    this.#own = undefined;\n", ""),
    tests: [STORE_TESTS, `${TESTS}/shared_map_test.ts`],
  },
  {
    id: "guess-members",
    invariant: "members that could not be read stay unknown",
    edits: edit(
      TABLES,
      "const known = members.get(ruleId);\n  if (known === undefined) return;",
      "const known = members.get(ruleId) ?? new Set<string>();",
    ),
    tests: [STORE_TESTS],
  },
  {
    id: "cut-list-counts",
    invariant: "a list that is not whole proves no absence",
    edits: edit(
      `${WIRE}/load_balancing_api.ts`,
      "throw toGapError(gap);\n  return { objects,",
      "void gap;\n  return { objects,",
    ),
    tests: [`${WIRE_TESTS}/load_balancing_api_test.ts`],
  },
  {
    id: "unreadable-counts-as-absent",
    invariant: "an object that cannot be read does not count as absent",
    edits: edit(
      `${WIRE}/load_balancing_api.ts`,
      "unreadable: unreadable.map(describe)",
      "unreadable: unreadable.slice(0, 0).map(describe)",
    ),
    tests: [`${WIRE_TESTS}/load_balancing_api_test.ts`],
  },
  {
    id: "unreadable-cidrs-mean-everyone",
    invariant: "a list of CIDRs that cannot be read is not taken for an empty one",
    edits: edit(
      `${WIRE}/fields.ts`,
      "    if (blocks.length < entries.length) return undefined;\n",
      "",
    ),
    tests: [`${WIRE_TESTS}/fields_test.ts`, `${WIRE_TESTS}/load_balancing_test.ts`],
  },
  {
    id: "cidrs-by-blanks-only",
    invariant: "blocks of addresses are the same with commas as with blanks between them",
    edits: edit(`${WIRE}/fields.ts`, "text.split(/[\\s,]+/)", 'text.split(" ")'),
    tests: [`${WIRE_TESTS}/fields_test.ts`],
  },
  {
    id: "join-an-older-look",
    invariant: "a look that began before the question is not shared by those who ask for a new one",
    edits: edit(LOOK, "running.startedAtMs >= sinceMs", "running.startedAtMs >= 0"),
    tests: [LOOK_TESTS],
  },
  {
    id: "look-without-new-service",
    invariant: "rules of a Service that appeared since the look are looked at again",
    edits: edit(
      LOOK,
      "if (unclaimed.has(toLbName(owner.uid))) return false;",
      "unclaimed.has(toLbName(owner.uid));",
    ),
    tests: [LOOK_TESTS],
  },
  {
    id: "look-without-takers",
    invariant: "before an address of a new record counts, CloudStack is asked who took it",
    edits: edit(LOOK, "if (!askedIds.has(id)) return false;", "askedIds.has(id);"),
    tests: [LOOK_TESTS],
  },
  {
    id: "members-of-some-vms",
    invariant: "members are read VM by VM only if all VMs are known",
    edits: edit(
      `${FOLDER}/reading/memberships.ts`,
      "vmIds !== undefined && vmIds.length * pages < question.rules.size",
      "vmIds !== undefined",
    ),
    tests: [`${TESTS}/reading/memberships_test.ts`],
  },
  {
    id: "one-rule-fails-all",
    invariant: "a rule whose members CloudStack refuses to show is unknown, and the others are not",
    edits: edit(
      `${FOLDER}/reading/memberships.ts`,
      "if (!isAboutOne(error)) throw error;",
      "throw error;",
    ),
    tests: [`${TESTS}/reading/memberships_test.ts`],
  },
  {
    id: "forget-left-policies",
    invariant: "a stickiness policy that an earlier process left is found",
    edits: edit(
      `${FOLDER}/reading/policies.ts`,
      "if (before?.length === 0 && !isWanted)",
      "if ((before === undefined || before.length === 0) && !isWanted)",
    ),
    tests: [`${TESTS}/reading/policies_test.ts`],
  },
  {
    id: "step-to-another-cloud",
    invariant: "a step that was planned for another cloud or project is refused",
    edits: edit(
      `${FOLDER}/load_balancers.ts`,
      "if (origin !== undefined && origin !== store) {",
      "if (origin === undefined && origin !== store) {",
    ),
    tests: [`${TESTS}/load_balancers_test.ts`],
  },
  {
    id: "trust-any-cloud",
    invariant: "another CloudStack, in which a load balancer is missing, does not end its release",
    edits: edit(
      `${FOLDER}/doubts.ts`,
      "if (mustRecognize && !isRecognized(view, lbName))",
      "if (!mustRecognize && !isRecognized(view, lbName))",
    ),
    tests: [`${TESTS}/doubts_test.ts`, `${TESTS}/load_balancers_test.ts`],
  },
  {
    id: "believe-an-old-list",
    invariant: "only a list of VMs of the same look shows which CloudStack answered",
    edits: edit(
      LOOK,
      "await source.readBackends(taken.takenAtMs, signal)",
      "await source.readBackends(-Infinity, signal)",
    ),
    tests: [LOOK_TESTS],
  },
  {
    id: "keep-backends-unasked",
    invariant: "without load balancers no VM is kept for them",
    edits: edit(
      "lib/providers/cloudstack/memory.ts",
      "if (this.#followsBackends) this.#backends",
      "this.#backends",
    ),
    tests: ["test/providers/cloudstack/memory_test.ts"],
  },
];
