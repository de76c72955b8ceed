/**
 * Breaks of how the load balancers of CloudStack are changed.
 * @module
 */
import { type Break, edit } from "../../break.ts";

const FOLDER = "lib/providers/cloudstack/load_balancers";
const APPLY = `${FOLDER}/apply`;
const TESTS = "test/providers/cloudstack/load_balancers";
const TAKE_TESTS = `${TESTS}/apply/take_address_test.ts`;
const RELEASE_TESTS = `${TESTS}/apply/release_address_test.ts`;
const APPLY_TESTS = `${TESTS}/apply/apply_test.ts`;

export const LOAD_BALANCER_STEP_BREAKS: readonly Break[] = [
  {
    id: "ask-before-recording",
    invariant: "an address is recorded before CloudStack is asked for it",
    edits: edit(`${APPLY}/take_address.ts`, "await record.keepAddress(asked);", "void asked;"),
    tests: [TAKE_TESTS],
  },
  {
    id: "take-any-address",
    invariant: "no address is asked for but the one that was recorded",
    edits: edit(
      `${APPLY}/take_address.ts`,
      "...(asked.ip !== undefined && { ipaddress: asked.ip }),",
      "...(asked.ip === undefined && {}),",
    ),
    tests: [TAKE_TESTS],
  },
  {
    id: "take-another-instead",
    invariant: "a recorded address that is still free is asked for again before any other",
    edits: edit(
      `${APPLY}/take_address.ts`,
      "if (isFree(shown)) return toAsked(shown, place, acting);",
      "if (isFree(shown)) return undefined;",
    ),
    tests: [TAKE_TESTS],
  },
  {
    id: "forget-chosen-by-server",
    invariant: "an address that CloudStack chose is recorded as soon as its ID is known",
    edits: edit(
      `${APPLY}/take_address.ts`,
      "if (id !== asked.id) await record.keepAddress(toChosenByServer(id, asked));",
      "if (id === asked.id) await record.keepAddress(toChosenByServer(id, asked));",
    ),
    tests: [TAKE_TESTS],
  },
  {
    id: "remember-refused-address",
    invariant: "an address that CloudStack refused is not recorded any more",
    edits: edit(
      `${APPLY}/take_address.ts`,
      'if (isNew && error.kind === "denied") await record.keepAddress();',
      'if (isNew && error.kind === "denied") void record.keepAddress;',
    ),
    tests: [TAKE_TESTS],
  },
  {
    id: "take-two-at-once",
    invariant: "no other address is taken while the job of a recorded one runs",
    edits: edit(
      `${APPLY}/take_address.ts`,
      'if (known !== undefined) return isNowhere(known) ? "lookAgain" : undefined;',
      "if (known !== undefined) return isNowhere(known) ? undefined : undefined;",
    ),
    tests: [TAKE_TESTS],
  },
  {
    id: "release-foreign-address",
    invariant: "an address without the tags of its Service is never released",
    edits: edit(
      `${APPLY}/release_address.ts`,
      "return isTaggedFor(tags, view.clusterIds, owner.uid) || ",
      "return isTaggedFor(tags, view.clusterIds, owner.uid) || tags.size >= 0 || ",
    ),
    tests: [RELEASE_TESTS],
  },
  {
    id: "release-without-asking-again",
    invariant:
      "an address is not released for another Service if its own gets a load balancer again",
    edits: edit(
      `${APPLY}/release_address.ts`,
      "if (!isOurs(address, acting)) return store.invalidate();",
      "if (!isOurs(address, acting)) void store.invalidate;",
    ),
    tests: [RELEASE_TESTS],
  },
  {
    id: "release-used-address",
    invariant: "an address is not released while a rule is on it that no look shows",
    edits: edit(
      `${APPLY}/release_address.ts`,
      "if (use !== undefined) return store.putAddress({ ...address, usedBy: use });",
      "if (use !== undefined) void store.putAddress({ ...address, usedBy: use });",
    ),
    tests: [RELEASE_TESTS],
  },
  {
    id: "release-nat-address",
    invariant: "an address with source NAT or static NAT is not released",
    edits: edit(
      `${APPLY}/release_address.ts`,
      "if (address.isSourceNat || address.isStaticNat) return store.putAddress(address);",
      "if (address.isSourceNat || address.isStaticNat) void store.putAddress(address);",
    ),
    tests: [RELEASE_TESTS],
  },
  {
    id: "open-rule-for-everyone",
    invariant: "an empty list of clients never reaches a load-balancer rule of CloudStack",
    edits: edit(
      `${APPLY}/rules.ts`,
      'assert(cidrs.length > 0, "a rule that restricts its clients names at least one block");',
      "void cidrs;",
    ),
    tests: [`${TESTS}/apply/rules_test.ts`],
  },
  {
    id: "open-firewall-for-everyone",
    invariant: "an empty list of clients never reaches a firewall rule of CloudStack",
    edits: edit(
      `${APPLY}/firewall_rules.ts`,
      'assert(cidrs.length > 0, "a firewall rule names at least one block");',
      "void cidrs;",
    ),
    tests: [`${TESTS}/apply/rules_test.ts`],
  },
  {
    id: "trust-look-after-loss",
    invariant: "after a change whose outcome is not known, CloudStack is looked at again",
    edits: edit(
      `${APPLY}/apply.ts`,
      "if (!isWithoutEffect(error)) store.invalidate();",
      "if (isWithoutEffect(error)) store.invalidate();",
    ),
    tests: [APPLY_TESTS],
  },
  {
    id: "look-again-for-ever",
    invariant: "a step that CloudStack refuses twice fails with CloudStack's words",
    edits: edit(
      `${APPLY}/apply.ts`,
      "if (!isOutdated(step.change, error) || this.#refused.delete(key)) throw error;",
      "if (!isOutdated(step.change, error) || (this.#refused.delete(key), false)) throw error;",
    ),
    tests: [`${TESTS}/apply/rules_test.ts`],
  },
  {
    id: "lose-slow-job",
    invariant: "a job that takes long is recorded while it runs",
    edits: edit(
      `${APPLY}/acting.ts`,
      "return await session.call({ ...sent, hooks }, signal);",
      "return await session.call({ ...sent, ...(hooks === undefined && { hooks }) }, signal);",
    ),
    tests: [APPLY_TESTS],
  },
  {
    id: "wait-for-ended-job",
    invariant: "a job that is over is not waited for because the record still names it",
    edits: edit(
      `${APPLY}/apply.ts`,
      "if (job !== undefined) store.endJob(job.id);",
      "if (job === undefined) store.endJob(job.id);",
    ),
    tests: [APPLY_TESTS],
  },
  {
    id: "believe-copied-record",
    invariant: "a record that was copied to another Service says nothing",
    edits: edit(
      `${FOLDER}/record.ts`,
      'if (fields?.["v"] !== VERSION || fields["uid"] !== uid) return undefined;',
      'if (fields?.["v"] !== VERSION || (false && fields["uid"] !== uid)) return undefined;',
    ),
    tests: [`${TESTS}/record_test.ts`],
  },
  {
    id: "take-others-job-for-ours",
    invariant: "an address that another API user took is not ours",
    edits: edit(
      `${FOLDER}/reading/takers.ts`,
      'return users.size === 1 && users.has(userId) ? "us" : "others";',
      'return users.size > 0 || users.has(userId) ? "us" : "others";',
    ),
    tests: [`${TESTS}/reading/takers_test.ts`],
  },
  {
    id: "trust-unsigned-record",
    invariant: "a record that Landfall did not sign proves nothing",
    edits: edit(
      `${FOLDER}/record.ts`,
      "return read?.isSigned === true ? read.record : undefined;",
      "return read?.record;",
    ),
    tests: [`${TESTS}/record_test.ts`, "test/bad_input/services/record_test.ts"],
  },
  {
    id: "trust-any-signature",
    invariant: "the signature of a record is made with the keys in use, for its content",
    edits: edit(
      `${FOLDER}/record.ts`,
      'typeof signature === "string" && signer.isValid(signature, content)',
      'typeof signature === "string"',
    ),
    tests: [`${TESTS}/record_test.ts`],
  },
];
