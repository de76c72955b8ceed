/**
 * Breaks of who gets a host, what is given back, and what is made for a tenant's cluster.
 * @module
 */
import { type Break, edit } from "../break.ts";

const FOLDER = "lib/controllers/sipcluster";
const TESTS = "test/controllers/sipcluster";
const CLAIMS = `${FOLDER}/hosts/claims.ts`;
const SCHEDULE = `${FOLDER}/schedule/schedule.ts`;
const CONTRACTION = `${FOLDER}/schedule/contraction.ts`;
const RECONCILE = `${FOLDER}/reconcile.ts`;
const MEMBERSHIP = `${FOLDER}/membership.ts`;

export const SIP_CLUSTER_BREAKS: readonly Break[] = [
  {
    id: "take-host-of-another-cluster",
    invariant: "a host that another cluster took after the decision is not taken",
    edits: edit(
      CLAIMS,
      'if (isTaken(now)) return { kind: "lost", why: `taken by ${findOwner(now) ?? "another"}` };',
      "",
    ),
    tests: [`${TESTS}/hosts/claims_test.ts`],
  },
  {
    id: "write-labels-without-version",
    invariant: "labels are written only for the host as it was read",
    edits: edit(
      CLAIMS,
      "const body = { metadata: { resourceVersion, labels } };",
      "const body = { metadata: { labels } };",
    ),
    tests: [`${TESTS}/hosts/claims_test.ts`],
  },
  {
    id: "give-back-host-in-use",
    invariant: "a host that got a consumer after the decision keeps its labels",
    edits: edit(CLAIMS, 'if (hasConsumer(host)) return "used by a consumer";', ""),
    tests: [`${TESTS}/hosts/claims_test.ts`],
  },
  {
    id: "give-back-what-is-used",
    invariant: "a cluster that shrinks keeps hosts in use, unless the spec says otherwise",
    edits: edit(
      CONTRACTION,
      "const leave = removeSome(crowd, [...loose, ...(releasesUsed ? used : [])], surplus);",
      "const leave = removeSome(crowd, [...loose, ...(releasesUsed ? used : used)], surplus);",
    ),
    tests: [`${TESTS}/schedule/contraction_test.ts`, `${TESTS}/schedule/schedule_test.ts`],
  },
  {
    id: "take-some-of-what-is-wanted",
    invariant: "hosts are taken only if every role gets all that it wants",
    edits: edit(
      SCHEDULE,
      "const chosen = new Set(isFull ? picks[at] : []);",
      "const chosen = new Set(picks[at]);",
      "const { isFull, picks } = search.matching;",
    ),
    tests: [`${TESTS}/schedule/schedule_test.ts`],
  },
  {
    id: "forget-domains-in-use",
    invariant: "hosts that the cluster has count for anti-affinity",
    edits: edit(
      SCHEDULE,
      "const held = [...staying, ...stuck];",
      "const held: Member[] = stuck;",
      "const staying: Member[]",
    ),
    tests: [`${TESTS}/schedule/schedule_test.ts`],
  },
  {
    id: "give-back-before-replacements",
    invariant: "a broken host is not given back before its replacement is labelled",
    edits: edit(MEMBERSHIP, "if (isOvertaken) return true; for", "for"),
    tests: [`${TESTS}/membership_test.ts`],
  },
  {
    id: "label-before-finalizer",
    invariant: "no host is labelled for a SIPCluster without the finalizer",
    edits: edit(
      RECONCILE,
      "await this.#writer.setFinalizers(cluster, [...finalizers, FINALIZER], signal); return {};",
      "",
    ),
    tests: [`${TESTS}/mod_test.ts`],
  },
  {
    id: "take-over-objects-of-others",
    invariant: "an object of the same name that belongs to something else is never overwritten",
    edits: edit(
      `${FOLDER}/services/apply/object_applier.ts`,
      "if (!ownership.isOurs) return refused(REASONS.notOurs, `${what} ${ownership.why}`);",
      "",
    ),
    tests: [`${TESTS}/services/apply_test.ts`],
  },
  {
    id: "delete-objects-of-others",
    invariant: "only objects that the SIPCluster owns are deleted",
    edits: edit(
      `${FOLDER}/services/apply/object_applier.ts`,
      "if (live === undefined || !isOwnedBy(live, cluster)) return false;",
      "if (live === undefined) return false;",
    ),
    tests: [`${TESTS}/services/apply_test.ts`],
  },
  {
    id: "reboot-hosts-of-others",
    invariant: "a jump host reboots only hosts of its own cluster",
    edits: edit(
      `${FOLDER}/services/jump_host/reboot_requests.ts`,
      "if (findOwner(labels) !== cluster) return { answer: NOT_OURS };",
      "",
    ),
    tests: [`${TESTS}/services/jump_host/reboot_requests_test.ts`],
  },
  {
    id: "read-failure-is-missing-address",
    invariant: "a Secret that cannot be read says nothing about its host",
    edits: edit(
      `${FOLDER}/hosts/address_reader.ts`,
      'if (isKubeError(error, "notFound"))',
      'if (isKubeError(error, "notFound") || isKubeError(error, "forbidden"))',
    ),
    tests: [`${TESTS}/hosts/address_reader_test.ts`],
  },
];
