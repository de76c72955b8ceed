/**
 * Breaks of what is written on Nodes.
 * @module
 */
import { type Break, edit } from "../break.ts";

const PLAN = "lib/controllers/node/plan.ts";
const LABELS_PLAN = "lib/controllers/node_labels/plan.ts";
const XO_DIRECT_READS = "lib/providers/xenorchestra/proof/direct_reads.ts";
const XO_PROVIDER = "lib/providers/xenorchestra/provider.ts";
const XO_GENERATION = "lib/providers/xenorchestra/generation.ts";
const WRITER = "lib/controllers/node_writer.ts";
const LIFECYCLE_PLAN = "lib/controllers/node_lifecycle/plan.ts";

export const NODE_BREAKS: readonly Break[] = [
  {
    id: "forget-beta-twin",
    invariant: "every topology label is written together with its beta label",
    edits: edit(
      "lib/controllers/instance_labels.ts",
      "for (const key of keys) topology[key] = value;",
      "topology[keys[0]] = value;",
    ),
    tests: ["test/controllers/instance_labels_test.ts"],
    simulated: "nodes",
  },
  {
    id: "labels-follow-copy",
    invariant:
      "while the kubelet reports, the labels do not follow a VM that is off in another pool",
    edits: edit(
      LABELS_PLAN,
      'if (instance.state !== "stopped" || !isKubeletReporting(node)) return false;',
      'if (instance.state !== "stopped" || isKubeletReporting(node)) return false;',
    ),
    tests: ["test/controllers/node_labels/plan_test.ts"],
  },
  {
    id: "stable-ignores-beta",
    invariant: "if the cloud reports no value, the stable label gets the value of the beta label",
    edits: edit(
      LABELS_PLAN,
      "if (actual[stable] !== value) set[stable] = value;",
      "if (actual[stable] === value) set[stable] = value;",
    ),
    tests: ["test/controllers/node_labels/plan_test.ts"],
    simulated: "nodes",
  },
  {
    id: "write-equal-labels",
    invariant: "labels are written only where they differ",
    edits: edit(
      LABELS_PLAN,
      ".filter(([key, value]) => actual[key] !== value));",
      ".filter(([key, value]) => actual[key] !== value || value !== undefined));",
    ),
    tests: ["test/controllers/node_labels/plan_test.ts"],
    simulated: "nodes",
  },
  {
    id: "write-equal-addresses",
    invariant: "addresses are written only where they differ",
    edits: edit(PLAN, '"wanted" || hasAddresses(node, plan.addresses)) return', '"wanted") return'),
    tests: ["test/controllers/node/plan_test.ts"],
    simulated: "nodes",
  },
  {
    id: "write-twice-from-stale-store",
    invariant: "a store that has not seen our own write yet causes no second one",
    edits: edit(
      "lib/engine/written_versions.ts",
      'if (versions?.has(object.metadata.resourceVersion ?? "")) return true;',
      'if (versions?.has("")) return true;',
    ),
    tests: ["test/engine/written_versions_test.ts"],
  },
  {
    id: "change-provider-id",
    invariant: "a provider ID that is set never changes",
    edits: edit(
      PLAN,
      "...(node.spec?.providerID ? {} : { providerID: instance.providerId })",
      "providerID: instance.providerId",
    ),
    tests: ["test/controllers/node/plan_test.ts"],
  },
  {
    id: "ignore-left-addresses",
    invariant: "neither provider nor controller works on addresses that are left alone",
    edits: [
      ...edit(
        "lib/controllers/addresses.ts",
        'if (policy === "leave") return { kind: "keep" };',
        "",
      ),
      ...edit(
        "lib/providers/xenorchestra/model/inventory.ts",
        "settings.leavesAddresses ? { addresses: [] } : toAddresses(source, settings.addresses)",
        "toAddresses(source, settings.addresses)",
      ),
    ],
    tests: ["test/controllers/addresses_test.ts"],
    simulated: "nodes",
  },
  {
    id: "ignore-recovery",
    invariant: "a new Node is tried again once its cloud answers again",
    edits: edit(
      "lib/controllers/node/mod.ts",
      "if (!hasRecovered) return due;",
      "if (!hasRecovered || due) return due;",
    ),
    tests: ["test/controllers/node/mod_test.ts"],
  },
  {
    id: "recover-all-the-time",
    invariant: "a Node that waits is not tried after each refresh of a cloud that never failed",
    edits: edit("lib/controllers/node/mod.ts", "if (!hasRecovered) return due;", ""),
    tests: ["test/controllers/node/mod_test.ts"],
  },
  {
    id: "drop-foreign-taints",
    invariant: "taints of others stay when a Node is initialised",
    edits: edit(
      PLAN,
      ".filter(({ key }) => key !== UNINITIALIZED_TAINT);",
      ".filter(({ key }) => key === UNINITIALIZED_TAINT && key === undefined);",
    ),
    tests: ["test/controllers/node/plan_test.ts"],
    simulated: "nodes",
  },
  {
    id: "shutdown-drops-taints",
    invariant: "taints of others stay when a machine is off",
    edits: edit(
      LIFECYCLE_PLAN,
      "taints: [...taints, SHUTDOWN_TAINT], isOff: true",
      "taints: [SHUTDOWN_TAINT], isOff: true",
    ),
    tests: ["test/controllers/node_lifecycle/plan_test.ts"],
    simulated: "nodes",
  },
  {
    id: "shutdown-when-unknown",
    invariant: "only a machine that is known to be off causes the shutdown taint",
    edits: edit(
      LIFECYCLE_PLAN,
      'presence.instance.state === "stopped";',
      'presence.instance.state !== "running";',
    ),
    tests: ["test/controllers/node_lifecycle/plan_test.ts"],
  },
  {
    id: "untaint-foreign",
    invariant: "the taint of another cloud's Node stays",
    edits: edit(
      PLAN,
      'if (presence.kind === "foreign") return NOTHING;',
      'if (presence.kind === "foreign") ' +
        "return { ...NOTHING, initialises: true, patch: { metadata: {}, spec: { taints: null } } };",
      "return { ...NOTHING, initialises: true, patch: { metadata:",
    ),
    tests: ["test/controllers/node/plan_test.ts"],
    simulated: "nodes",
  },
  {
    id: "patch-without-version",
    invariant: "the patch that removes the taint has the resourceVersion",
    edits: edit(
      WRITER,
      "{ metadata: { ...metadata, resourceVersion }, ...patch };",
      "{ metadata, ...patch };",
    ),
    tests: ["test/controllers/node_writer_test.ts", "test/controllers/node/reconcile_test.ts"],
    simulated: "nodes",
  },
  {
    id: "taint-without-version",
    invariant: "the patch that replaces the taints has the resourceVersion",
    edits: edit(
      WRITER,
      "{ metadata: { ...metadata, resourceVersion }, ...patch };",
      "{ metadata: metadata && { ...metadata, resourceVersion }, ...patch };",
    ),
    tests: ["test/controllers/node_lifecycle/shutdown_taint_test.ts"],
    simulated: "nodes",
  },
  {
    id: "merge-addresses",
    invariant: "the list of addresses is replaced whole",
    edits: edit(WRITER, '[...addresses, { $patch: "replace" }]', "[...addresses]"),
    tests: ["test/controllers/node_writer_test.ts", "test/controllers/node/reconcile_test.ts"],
    simulated: "nodes",
  },
  {
    id: "overwrite-labels-of-others",
    invariant: "additional labels never replace existing ones when a Node is initialised",
    edits: edit(
      "lib/controllers/node/plan.ts",
      "if (!Object.hasOwn(actual, key)) set[key] = value;",
      "if (actual[key] !== value) set[key] = value;",
    ),
    tests: ["test/controllers/node/labels_test.ts"],
  },
  {
    id: "edit-counts-as-move",
    invariant: "whether a machine moved depends on what the cloud reported, not on a label",
    edits: edit(
      LABELS_PLAN,
      "const from = reported[key] ?? findTrusted(key, actual, wanted, origins);",
      "const from = actual[key] ?? findTrusted(key, actual, wanted, origins);",
    ),
    tests: ["test/controllers/node_labels/plan_test.ts"],
    simulated: "nodes",
  },
  {
    id: "swapped-uuid-unproven",
    invariant: "a byte-swapped UUID counts only after a 404 for the one that was reported",
    edits: edit(XO_PROVIDER, "if (swapped && memory.isNoVm(id))", "if (swapped)"),
    tests: ["test/providers/xenorchestra/provider_test.ts"],
  },
  {
    id: "lose-routable-address",
    invariant:
      "an address that is routable stays on its Node, for any interface that the kubelet names",
    edits: edit(
      "lib/controllers/addresses.ts",
      "? withExternalIps(addresses, addressesWithNodeIp?.externalIps)",
      "? withExternalIps(addresses, undefined)",
    ),
    tests: ["test/controllers/addresses_test.ts", "test/docs/addresses_page_test.ts"],
  },
  {
    id: "routable-first-internal",
    invariant: "a routable address is no InternalIP while its family has another",
    edits: edit(
      "lib/cloud/addresses.ts",
      "found.filter((one) => !outer.includes(one)); " +
        "const candidates = [...inner, ...outer.filter((one) => !isDeclared(one))];",
      "found.filter((one) => !outer.includes(one)); " +
        "const candidates = found.filter((one) => !isDeclared(one));",
    ),
    tests: [
      "test/providers/xenorchestra/model/addresses_test.ts",
      "test/docs/addresses_page_test.ts",
    ],
  },
  {
    id: "main-address-once",
    invariant: "with mainIpAsExternal the main address is ExternalIP also where it is the node IP",
    edits: edit(
      "lib/controllers/addresses.ts",
      "addressesWithNodeIp?.repeatsNodeIps ?? false",
      "addressesWithNodeIp === undefined && false",
    ),
    tests: ["test/controllers/addresses_test.ts", "test/docs/addresses_page_test.ts"],
  },
  {
    id: "type-changes-in-silence",
    invariant: "an address of an initialised Node never changes its type without an Event",
    edits: edit(PLAN, "changes.length === 0 ? []", "changes.length >= 0 ? []"),
    tests: ["test/controllers/node/plan_test.ts", "test/controllers/node/reconcile_test.ts"],
  },
  {
    id: "two-nodes-one-machine",
    invariant: "if two Nodes claim a machine, neither is initialised",
    edits: edit(
      "lib/controllers/node/reconcile.ts",
      "const presence = this.#claims.refuseRival(node, resolved);",
      "const presence = resolved;",
    ),
    tests: ["test/controllers/node/reconcile_test.ts"],
    simulated: "nodes",
  },
  {
    id: "mismatch-in-silence",
    invariant:
      "a Node whose kubelet reports another machine than its provider ID names gets an Event",
    edits: edit(
      PLAN,
      '["malformedProviderId", EVENTS.malformedProviderId], ' +
        '["ambiguous", EVENTS.providerIdMismatch], ]',
      '["malformedProviderId", EVENTS.malformedProviderId]]',
    ),
    tests: ["test/controllers/node/plan_test.ts", "test/controllers/node/reconcile_test.ts"],
  },
  {
    id: "mismatch-unlooked-at",
    invariant:
      "a machine that appears, and whose system UUID another Node reports, is noticed at once",
    edits: edit(
      "lib/controllers/node_presences.ts",
      "return isMismatched && !isUninitialized(node);",
      "return isMismatched && isUninitialized(node);",
    ),
    tests: ["test/controllers/node_presences_test.ts"],
  },
  {
    id: "hide-labels-out-of-sight",
    invariant: "the page shows the labels of a Node while the cloud does not show its machine",
    edits: edit(
      "lib/controllers/node_view.ts",
      'presence.kind !== "foreign" && (TOP',
      'presence.kind === "present" && (TOP',
    ),
    tests: ["test/controllers/node_view_test.ts"],
  },
  {
    id: "plan-on-old-node",
    invariant: "a Node that was created again while the cloud was asked is planned again",
    edits: edit(
      "lib/controllers/node/reconcile.ts",
      "if (current === undefined || current.metadata.uid !== node.metadata.uid) {",
      "if (current === undefined) {",
    ),
    tests: ["test/controllers/node/reconcile_test.ts"],
  },
  {
    id: "fight-without-end",
    invariant:
      "in a conflict with another program over labels or taints, Landfall writes at a slow rate",
    edits: edit(
      "lib/engine/contest.ts",
      "recent.length < ROUNDS_MAX) return 0;",
      "recent.length >= 0) return 0;",
    ),
    tests: ["test/engine/contest_test.ts"],
  },
  {
    id: "twins-by-text",
    invariant:
      "two machines whose UUIDs are each other's byte-swapped form both get their Nodes initialised",
    edits: edit(
      "lib/controllers/node/rivals.ts",
      'if (presence?.kind !== "present") return { name: other, isCertain: false }; ' +
        "if (presence.instance.id === instance.id) return",
      'if (presence?.kind !== "present" || presence.instance.id !== instance.id) ' +
        "return { name: other, isCertain: false }; if (presence.instance.id === instance.id) return",
    ),
    tests: ["test/controllers/node/rivals_test.ts"],
  },
  {
    id: "guess-at-rivals",
    invariant:
      "a machine is not given to a Node while another Node without a known machine may own it",
    edits: edit(
      "lib/controllers/node/rivals.ts",
      'if (presence?.kind !== "present") return { name: other, isCertain: false };',
      'if (presence?.kind !== "present") continue;',
    ),
    tests: ["test/controllers/node/rivals_test.ts"],
  },
  {
    id: "share-resolved-machine",
    invariant: "two Nodes that were resolved to one machine are not both initialised",
    edits: edit(
      "lib/controllers/node/rivals.ts",
      "if (presence.instance.id === instance.id) return { name: other,",
      "if (presence.instance.id === other) return { name: other,",
    ),
    tests: ["test/controllers/node/rivals_test.ts"],
  },
  {
    id: "rivals-by-spelling",
    invariant: "a system UUID in either byte order is a claim to the same machine",
    edits: edit("lib/controllers/node/rivals.ts", "uuid < swapped ? uuid : swapped", "uuid"),
    tests: ["test/controllers/node/rivals_test.ts"],
  },
  {
    id: "write-any-id",
    invariant: "only a UUID becomes part of a provider ID",
    edits: edit(
      "lib/providers/xenorchestra/wire/schema.ts",
      "id: uuid, $pool: uuid, name_label: text, power_state: text",
      "id, $pool: id, name_label: text, power_state: text",
      'v.pipe(id, v.check(isUuid, "a UUID"))',
    ),
    tests: ["test/providers/xenorchestra/wire/schema_test.ts"],
  },
  {
    id: "work-on-heartbeats",
    invariant: "a heartbeat is no reason to work on a Node",
    edits: edit(
      "lib/engine/object_loop.ts",
      "return !isDeepStrictEqual(inputs(before), inputs(after));",
      "return inputs(before) !== undefined;",
    ),
    tests: ["test/engine/object_loop_test.ts"],
  },
  {
    id: "tell-unknown-place",
    invariant: "a machine on a host that is not known yet is reported only by the next refresh",
    edits: edit(XO_GENERATION, "if (!isPlaceKnown(vm, surroundings)) continue;", ""),
    tests: ["test/providers/xenorchestra/provider_test.ts"],
  },
  {
    id: "check-nothing",
    invariant: "landfall check fails when the cloud shows nothing at all",
    edits: edit(
      "lib/cloud/inspection.ts",
      "return instances.size + coverage.size + undecodable.size === 0;",
      "return instances.size + coverage.size + undecodable.size < 0;",
    ),
    tests: ["test/cloud/inspection_test.ts"],
  },
  {
    id: "believe-copy",
    invariant:
      "a VM that shows up halted, while the pool that it is known in is lost, may be a copy",
    edits: edit(
      "lib/providers/xenorchestra/proof/whereabouts.ts",
      "const pool = coverage.get(poolId); if (pool?.complete) return presence;",
      "const pool = coverage.get(poolId); if (poolId) return presence;",
    ),
    tests: ["test/providers/xenorchestra/proof/whereabouts_test.ts", "test/outages/pools_test.ts"],
  },
  {
    id: "remember-copy",
    invariant: "a copy does not count as the VM that was seen",
    edits: edit(
      XO_GENERATION,
      "const copies = new Set([...suspects].filter(isLost).map(([vmId]) => vmId));",
      'const copies = new Set([...suspects].filter(isLost).map(() => ""));',
    ),
    tests: ["test/providers/xenorchestra/proof/direct_reads_test.ts"],
  },
  {
    id: "take-halted-copy",
    invariant: "a Node that was never matched gets no VM that is halted: it may be a copy",
    edits: edit(
      "lib/providers/xenorchestra/proof/whereabouts.ts",
      'return kind === "systemUuid" && state === "stopped";',
      'return kind === "systemUuid" && state !== state;',
    ),
    tests: ["test/providers/xenorchestra/proof/whereabouts_test.ts", "test/outages/copies_test.ts"],
  },
  {
    id: "remember-halted-copy",
    invariant: "a halted VM of a Node that was never matched does not count as seen",
    edits: edit(
      XO_GENERATION,
      "for (const vmId of listHalted(identities, instances)) copies.add(vmId);",
      "for (const vmId of listHalted(identities, instances)) copies.delete(vmId);",
    ),
    tests: ["test/providers/xenorchestra/proof/direct_reads_test.ts"],
  },
  {
    id: "forget-at-once",
    invariant: "a VM stays known while its kubelet is restarted and registers its Node again",
    edits: edit(
      "lib/cloud/inventory/last_seen.ts",
      "for (const id of before) if (!lookedFor.has(id)) keep(id);",
      "",
    ),
    tests: ["test/cloud/inventory/last_seen_test.ts"],
  },
  {
    id: "swapped-while-lost",
    invariant: "a byte-swapped UUID does not count while the VM itself may be in a lost pool",
    edits: edit(
      "lib/providers/xenorchestra/proof/whereabouts.ts",
      'matchedBy === "swappedSystemUuid" ? findGap(coverage) : undefined;',
      'matchedBy === "name" ? findGap(coverage) : undefined;',
    ),
    tests: ["test/providers/xenorchestra/proof/direct_reads_test.ts"],
  },
  {
    id: "trust-older-pools",
    invariant: "a pool may be lost since the list of pools that shows it",
    edits: edit(XO_DIRECT_READS, 'if (pool.kind !== "found") losses', "if (!pool) losses"),
    tests: ["test/providers/xenorchestra/proof/direct_reads_test.ts"],
  },
  {
    id: "tell-copy",
    invariant: "a VM that may be a copy is reported only by the next refresh",
    edits: edit(XO_GENERATION, "if (mayBeCopy(instance, before)) continue;", ""),
    tests: ["test/providers/xenorchestra/proof/direct_reads_test.ts"],
  },
  {
    id: "keep-swapped-uuid",
    invariant: "a byte-swapped UUID no longer counts if a VM with the reported UUID exists",
    edits: edit(
      XO_DIRECT_READS,
      'memory.rememberNoVm(direct, isNoVm); if (read !== "missing")',
      'if (isNoVm) memory.rememberNoVm(direct, true); if (read !== "missing")',
    ),
    tests: ["test/providers/xenorchestra/provider_test.ts"],
  },
  {
    id: "take-nil-uuid",
    invariant: "the nil UUID belongs to no machine, in any form",
    edits: edit(
      "lib/core/text/uuid.ts",
      "const uuid = `${a}-${b}-${c}-${d}-${e}`.toLowerCase(); " +
        "return uuid === NIL ? undefined : uuid;",
      "return `${a}-${b}-${c}-${d}-${e}`.toLowerCase();",
    ),
    tests: ["test/core/text/uuid_test.ts"],
  },
  {
    id: "take-any-node-ip",
    invariant: "an address that no host can have is not written, even if the kubelet names it",
    edits: edit(
      "lib/controllers/addresses.ts",
      "if (useless !== undefined)",
      'if (useless === "")',
    ),
    tests: ["test/controllers/addresses_test.ts"],
  },
];
