/**
 * Breaks of what stands between a Node and its deletion.
 * @module
 */
import { type Break, edit } from "../break.ts";

const ABSENCE = "lib/providers/xenorchestra/proof/absence.ts";
const CONNECTIONS = "lib/providers/xenorchestra/proof/connections.ts";
const DIRECT_READS = "lib/providers/xenorchestra/proof/direct_reads.ts";
const GUARD = "lib/cloud/deletion/guard.ts";
const STREAK = "lib/cloud/deletion/streak.ts";
const STAYS = "lib/providers/xenorchestra/proof/stays.ts";
const DELETER = "lib/controllers/node_lifecycle/deleter.ts";
const FLEET = "lib/controllers/fleet/fleet_watch.ts";
const WHEREABOUTS = "lib/providers/xenorchestra/proof/whereabouts.ts";
const CONNECTION_HISTORY = "lib/providers/xenorchestra/proof/connection_history.ts";
const DECODE = "lib/cloud_http/decode.ts";

export const DELETION_BREAKS: readonly Break[] = [
  {
    id: "trust-404",
    invariant: "a 404 for a VM is no proof that it is gone",
    edits: edit(
      DIRECT_READS,
      "return await proveAbsence(api, question, signal);",
      'return { kind: "absent" };',
      'judged.kind === "present"',
    ),
    tests: ["test/providers/xenorchestra/simulator_test.ts"],
    simulated: "nodes",
  },
  {
    id: "trust-any-404",
    invariant: "a 404 that does not name the object (from a proxy, for a wrong path) is no answer",
    edits: edit(
      "lib/providers/xenorchestra/wire/api.ts",
      'if (reply.status === 404 && isMissing(reply, type, id)) return { kind: "missing" };',
      'if (reply.status === 404) return { kind: "missing" };',
    ),
    tests: ["test/providers/xenorchestra/wire/api_test.ts"],
  },
  {
    id: "trust-any-404-page",
    invariant: "a server has no collection only by its own page for that very path",
    edits: edit(
      "lib/providers/xenorchestra/session/reply_error.ts",
      "return page !== undefined && path !== undefined && new URL(page.url).pathname.endsWith(path);",
      "return page !== undefined && (path === undefined || page.url.endsWith(path) || true);",
    ),
    tests: ["test/providers/xenorchestra/proof/absence_test.ts"],
  },
  {
    id: "skip-pools-without-dom0",
    invariant: "if a server cannot show the dom0 of a pool, it must show another VM of the pool",
    edits: edit(
      ABSENCE,
      'if (dom0?.kind === "hidden" && mayHideVms) return undefined;',
      'if ((dom0?.kind === "hidden" || dom0?.kind === "noCollection") && mayHideVms) return undefined;',
    ),
    tests: ["test/providers/xenorchestra/proof/absence_test.ts"],
  },
  {
    id: "trust-first-404",
    invariant: "the VM is requested again after Landfall knows that the pool is loaded",
    edits: edit(
      ABSENCE,
      'const again = await api.readVm(vmId, signal); if (again.kind !== "missing")',
      'const again = await api.readVm(vmId, signal); if (again.kind === "undecodable")',
    ),
    tests: ["test/providers/xenorchestra/proof/absence_test.ts"],
  },
  {
    id: "trust-empty-pool",
    invariant: "a pool that shows no machine at all proves nothing",
    edits: edit(
      ABSENCE,
      "if (objects.some((vm) => vm.$pool === poolId && vm.id !== vmId)) return undefined;",
      "if (objects.every((vm) => vm.id !== vmId)) return undefined;",
    ),
    tests: ["test/providers/xenorchestra/proof/absence_test.ts"],
  },
  {
    id: "forget-other-pools",
    invariant: "a VM may be in another pool that is lost",
    edits: edit(ABSENCE, "if (mayPartsBeLost && doubt === undefined) continue;", "continue;"),
    tests: ["test/providers/xenorchestra/proof/absence_test.ts"],
  },
  {
    id: "trust-pools-that-hide",
    invariant: "a VM may have moved, unseen, to a pool that does not show its VMs",
    edits: edit(
      ABSENCE,
      "const others = listOthers(question, true);",
      "const others: string[] = [];",
    ),
    tests: ["test/providers/xenorchestra/proof/absence_test.ts"],
  },
  {
    id: "forget-connections",
    invariant: "a VM may be in a pool whose connection is down",
    edits: edit(
      CONNECTIONS,
      'if (server.status !== "connected")',
      'if (server.status === "disconnected")',
    ),
    tests: ["test/providers/xenorchestra/proof/absence_test.ts"],
  },
  {
    id: "trust-no-connections",
    invariant: "an empty list of connections counts as unreadable",
    edits: edit(
      CONNECTIONS,
      'return toUnreadable("it is empty");',
      'return { kind: "clear" };',
      'return { kind: "doubtful", why, advice: "report this with the version of Xen Orchestra" };',
    ),
    tests: ["test/providers/xenorchestra/proof/absence_test.ts", "test/outages/restart_test.ts"],
  },
  {
    id: "trust-some-connections",
    invariant:
      "if a list of connections lacks one to a pool that is shown, it may lack others, too",
    edits: edit(
      CONNECTIONS,
      "if (!complete || connected.has(id)) continue;",
      "if (!complete || connected.size > 0) continue;",
    ),
    tests: ["test/providers/xenorchestra/proof/absence_test.ts"],
  },
  {
    id: "trust-who-never-saw",
    invariant:
      "if Landfall cannot read the connections, it proves nothing about a VM that it never saw",
    edits: edit(ABSENCE, "if (isSeen) return undefined;", "return undefined;"),
    tests: ["test/providers/xenorchestra/proof/absence_test.ts", "test/outages/restart_test.ts"],
  },
  {
    id: "ignore-coverage",
    invariant: "a machine does not count as missing while its pool is not shown in full",
    edits: edit(
      "lib/providers/xenorchestra/proof/observation.ts",
      "const pool = coverage.get(poolId); if (pool?.complete) continue;",
      "const pool = coverage.get(poolId); if (pool?.complete || poolId) continue;",
    ),
    tests: ["test/providers/xenorchestra/proof/observation_test.ts"],
  },
  {
    id: "pool-without-master",
    invariant: "a pool without its master host is still loading",
    edits: edit(
      "lib/providers/xenorchestra/model/inventory.ts",
      "const complete = master !== undefined && master !== null && hosts.has(master);",
      "const complete = hosts.size >= 0;",
    ),
    tests: ["test/providers/xenorchestra/provider_test.ts"],
  },
  {
    id: "forget-lost-pool",
    invariant: "a pool that was seen once and is not shown is lost, not gone",
    edits: edit(
      "lib/providers/xenorchestra/model/inventory.ts",
      "for (const id of [...known.keys(), ...vms.map(",
      "for (const id of [...vms.map(",
    ),
    tests: ["test/providers/xenorchestra/model/inventory_test.ts"],
  },
  {
    id: "forget-move",
    invariant: "a VM that moved is looked for in the pool where it was seen last",
    edits: edit(
      WHEREABOUTS,
      "const all = [poolId, seenIn, labelledPoolId, regionPoolId].filter((one) => one !== undefined);",
      "const all = [poolId];",
    ),
    tests: ["test/providers/xenorchestra/provider_test.ts"],
  },
  {
    id: "forget-migration",
    invariant: "a VM that vanished during a migration does not count as missing",
    edits: edit(
      "lib/providers/xenorchestra/proof/migrations.ts",
      "return seenMs !== undefined && atMs - seenMs < DOUBT_MS;",
      "return seenMs !== undefined && atMs - seenMs < 0;",
    ),
    tests: ["test/providers/xenorchestra/proof/migrations_test.ts"],
  },
  {
    id: "miss-unasked",
    invariant: "a VM that was not part of the request does not count as missing",
    edits: edit(
      "lib/providers/xenorchestra/proof/observation.ts",
      "if (lookedFor?.has(vmId) === false) {",
      "if (lookedFor?.size === -1) {",
    ),
    tests: ["test/providers/xenorchestra/proof/observation_test.ts"],
  },
  {
    id: "skip-hold-off",
    invariant: "a machine is missing for as long as the hold-off before it counts",
    edits: edit(STREAK, "lastMs - firstMs >= holdOffMs)) {", "lastMs - firstMs >= 0)) {"),
    tests: ["test/cloud/deletion/guard_test.ts"],
    simulated: "nodes",
  },
  {
    id: "one-confirmation",
    invariant: "as many inventories in a row lack a machine as the settings say",
    edits: edit(STREAK, "const wanted = Math.max(1, settings.confirmations);", "const wanted = 1;"),
    tests: ["test/cloud/deletion/guard_test.ts"],
    simulated: "nodes",
  },
  {
    id: "count-one-inventory-twice",
    invariant: "one inventory is one observation, however often it is looked at",
    edits: edit(
      GUARD,
      "const streak = isNew ? extendStreak(before?.streak, nowMs, observedAtMs) : before?.streak;",
      "const streak = extendStreak(before?.streak, nowMs, observedAtMs);",
    ),
    tests: ["test/cloud/deletion/guard_test.ts"],
    simulated: "nodes",
  },
  {
    id: "count-over-failures",
    invariant: "a failed refresh resets every count",
    edits: edit(FLEET, "if (source.lastError) this.#state = breakStreaks(this.#state);", ""),
    tests: ["test/controllers/fleet/fleet_watch_test.ts"],
    simulated: "nodes",
  },
  {
    id: "count-over-ready",
    invariant: "a Node that was Ready resets its count",
    edits: edit(GUARD, "streak: isReady ? undefined : streak };", "streak };"),
    tests: ["test/cloud/deletion/guard_test.ts"],
  },
  {
    id: "ignore-never-seen",
    invariant:
      "for ten minutes after a start, a machine that was never seen does not count as missing",
    edits: edit(
      "lib/cloud/deletion/first_sightings.ts",
      "if (passedMs >= NEVER_SEEN_WAIT_MS || shown.has(uid)) return undefined;",
      "if (passedMs >= 0 || shown.has(uid)) return undefined;",
    ),
    tests: ["test/cloud/deletion/first_sightings_test.ts"],
  },
  {
    id: "limit-by-deletions-alone",
    invariant: "missing Nodes count against the fleet limit before any Node is deleted",
    edits: edit(
      "lib/cloud/deletion/fleet_limit.ts",
      "let affected = missing;",
      "let affected = 0;",
    ),
    tests: ["test/cloud/deletion/fleet_limit_test.ts"],
    simulated: "nodes",
  },
  {
    id: "limit-rounded-up",
    invariant: "the fleet limit is never more than the share that was set, except for one Node",
    edits: edit(
      "lib/cloud/deletion/fleet_limit.ts",
      "Math.floor(settings.fleetShare * sizeAtStart + 1e-9)",
      "Math.ceil(settings.fleetShare * sizeAtStart + 1e-9)",
    ),
    tests: ["test/cloud/deletion/fleet_limit_test.ts"],
    simulated: "nodes",
  },
  {
    id: "limit-forgets-deletions",
    invariant: "a deletion counts against the fleet limit for as long as the window lasts",
    edits: edit(
      DELETER,
      "fleet.noteDeletion(node); " +
        "const message = `Deleting node ${name} because its machine is gone: ${evidence}`;",
      "const message = `Deleting node ${name} because its machine is gone: ${evidence}`;",
    ),
    tests: ["test/controllers/node_lifecycle/fleet_limit_test.ts"],
  },
  {
    id: "unknown-is-gone",
    invariant: "only the answer that a machine is absent lets its Node be deleted",
    edits: edit(
      DELETER,
      'if (answer.kind !== "absent") return this.#keep(node, answer, options);',
      'if (answer.kind === "present") return this.#keep(node, answer, options);',
    ),
    tests: ["test/controllers/node_lifecycle/deleter_test.ts"],
    simulated: "nodes",
  },
  {
    id: "skip-last-read",
    invariant: "a Node that is a new one, is being deleted, or is Ready again is not deleted",
    edits: edit(DELETER, "!isSameNode(node, fresh) || isReady(fresh) ||", ""),
    tests: ["test/controllers/node_lifecycle/deleter_test.ts"],
  },
  {
    id: "skip-last-judgement",
    invariant: "changes during the request to the cloud count",
    edits: edit(DELETER, '|| fleet.judge(node).kind !== "confirm") {', ") {"),
    tests: ["test/controllers/node_lifecycle/deleter_test.ts"],
  },
  {
    id: "delete-without-precondition",
    invariant: "a deletion carries UID and resourceVersion",
    edits: edit(
      DELETER,
      "client.delete(NODES, { name }, { uid, resourceVersion }, signal)",
      "client.delete(NODES, { name }, {}, signal)",
    ),
    tests: ["test/controllers/node_lifecycle/deleter_test.ts"],
    simulated: "nodes",
  },
  {
    id: "trust-unread-vm",
    invariant: "no VM is proven gone while a list shows one that cannot be read",
    edits: edit(ABSENCE, "if (nameless !== undefined) {", 'if (nameless === "") {'),
    tests: ["test/providers/xenorchestra/proof/absence_test.ts"],
  },
  {
    id: "trust-damaged-id",
    invariant: "a VM with a damaged ID may be any VM",
    edits: edit(DECODE, 'return parseUuid(id ?? "");', "return id;"),
    tests: ["test/cloud_http/decode_test.ts"],
  },
  {
    id: "trust-double-vm",
    invariant: "if a list shows a VM twice with different content, neither counts",
    edits: edit(
      DECODE,
      "else if (!isDeepStrictEqual(other, value)) undecodable",
      "else if (other === value) undecodable",
    ),
    tests: ["test/cloud_http/decode_test.ts"],
  },
  {
    id: "prove-while-moving",
    invariant: "a VM that was migrating when it was last listed is not proven gone",
    edits: edit(
      ABSENCE,
      'if (isMoving) return toUnknown("notCovered", vmId,',
      'if (isMoving && vmId === "") return toUnknown("notCovered", vmId,',
    ),
    tests: ["test/providers/xenorchestra/proof/absence_test.ts"],
  },
  {
    id: "skip-last-pool",
    invariant: "every pool must still answer after the second 404, which its loss may have caused",
    edits: edit(
      ABSENCE,
      'if (pool.kind !== "found") return toUnknown("notCovered", vmId, describeLoss(poolId)); ' +
        "} const names = new Map(removed",
      "void pool; } const names = new Map(removed",
    ),
    tests: ["test/providers/xenorchestra/proof/absence_test.ts"],
  },
  {
    id: "trust-unseen-pool",
    invariant: "a VM may be in a pool that is connected and was never shown",
    edits: edit(
      CONNECTIONS,
      "const isShown = Boolean(poolId && coverage.get(poolId)?.complete);",
      "const isShown = Boolean(poolId);",
    ),
    tests: ["test/providers/xenorchestra/proof/absence_test.ts"],
  },
  {
    id: "trust-dom0-elsewhere",
    invariant: "a dom0 of another pool does not show that a pool is loaded",
    edits: edit(
      ABSENCE,
      "if (dom0.value.$pool === poolId) return undefined;",
      'if (dom0.value.$pool !== "") return undefined;',
    ),
    tests: ["test/providers/xenorchestra/proof/absence_test.ts"],
  },
  {
    id: "count-from-question",
    invariant: "a late answer to the first list proves no time of absence",
    edits: edit(
      STREAK,
      "observedAtMs: number): Streak { const before = last ?? { ...NO_STREAK, firstMs: nowMs };",
      "observedAtMs: number): Streak { " +
        "const before = last ?? { ...NO_STREAK, firstMs: observedAtMs };",
    ),
    tests: ["test/cloud/deletion/guard_test.ts"],
  },
  {
    id: "count-other-cloud",
    invariant: "machines that were seen in another cloud do not count in this one",
    edits: edit(
      FLEET,
      "this.#state = { ...this.#state, sightings: NO_SIGHTINGS }; this.#seen.clear();",
      "this.#seen.clear();",
    ),
    tests: ["test/controllers/fleet/fleet_watch_test.ts"],
  },
  {
    id: "count-while-standing-by",
    invariant: "a standby counts no observation of absence",
    edits: edit(
      FLEET,
      "const noted = noteSightings(sightings, this.#listFleet(), observedAtMs); " +
        "this.#state = { ...this.#state, sightings: noted };",
      "const _look = { fleet: this.#listFleet(), observedAtMs, nowMs: observedAtMs }; " +
        "this.#state = observeFleet(this.#state, _look, this.#settings);",
      "const look = { fleet, observedAtMs, nowMs: clock.monotonic() }; " +
        "this.#state = observeFleet(this.#state, look, this.#settings);",
    ),
    tests: ["test/controllers/fleet/fleet_watch_test.ts"],
  },
  {
    id: "forget-deletions-of-leader",
    invariant: "the deletions of a leader count for the next leader, which was a standby",
    edits: edit(
      FLEET,
      "if (member === undefined || member.isReady) return;",
      "if (member) return;",
    ),
    tests: ["test/controllers/fleet/fleet_watch_test.ts"],
  },
  {
    id: "see-other-cloud",
    invariant:
      "right after a change of settings, an old inventory says nothing about the new cloud",
    edits: edit(
      FLEET,
      "if (uid !== undefined && spec?.providerID && isOfThisCloud)",
      "if (uid !== undefined && spec?.providerID)",
    ),
    tests: ["test/controllers/fleet/fleet_watch_test.ts"],
  },
  {
    id: "see-the-unnamed",
    invariant: "a machine does not count as seen before the provider ID of its Node names it",
    edits: edit(
      FLEET,
      "if (uid !== undefined && spec?.providerID && isOfThisCloud)",
      "if (uid !== undefined && isOfThisCloud)",
    ),
    tests: ["test/controllers/node_lifecycle/mod_test.ts"],
  },
  {
    id: "see-all-while-standing-by",
    invariant: "a machine that a standby did not see does not count as missing at once",
    edits: edit(
      FLEET,
      "const noted = noteSightings(sightings, this.#listFleet(), observedAtMs);",
      'const _all = this.#listFleet().map((_one) => ({ ..._one, sighting: "present" as const })); ' +
        "const noted = noteSightings(sightings, _all, observedAtMs);",
      '({ isReady, sighting }) => !isReady && sighting === "missing"',
    ),
    tests: ["test/controllers/fleet/fleet_watch_test.ts"],
  },
  {
    id: "name-pools-by-moved-nodes",
    invariant: "the first pool of a VM that moved no longer counts after its removal",
    edits: edit(
      "lib/providers/xenorchestra/scope/named_pools.ts",
      "if (inventory.instances.has(vmId) || inventory.undecodable.has(vmId)) continue;",
      "",
    ),
    tests: ["test/providers/xenorchestra/scope/named_pools_test.ts"],
  },
  {
    id: "block-by-named-pool",
    invariant: "a pool that only Nodes name does not keep the Nodes of other pools",
    edits: edit(ABSENCE, "=== isComplete && !pool.isOnlyNamed);", "=== isComplete);"),
    tests: ["test/providers/xenorchestra/scope/named_pools_test.ts"],
  },
  {
    id: "own-all-pools",
    invariant: "a Node whose pool belongs to another Landfall is not changed",
    edits: edit(
      "lib/providers/xenorchestra/scope/pool_scope.ts",
      "if (poolId !== undefined && this.owns(poolId, known)) return undefined;",
      "if (poolId !== undefined) return undefined;",
    ),
    tests: ["test/providers/xenorchestra/provider_pools_test.ts"],
  },
  {
    id: "own-unnamed-pools",
    invariant: "a pool whose name is not known yet is not ours",
    edits: edit(
      "lib/providers/xenorchestra/scope/pool_scope.ts",
      "return name !== undefined && this.#wanted.has(name);",
      "return name === undefined || this.#wanted.has(name);",
    ),
    tests: ["test/providers/xenorchestra/scope/pool_scope_test.ts"],
  },
  {
    id: "forget-names-of-pools",
    invariant: "a removed pool that is named by its name keeps its Nodes when settings change",
    edits: edit(
      "lib/providers/xenorchestra/generation.ts",
      "this.scope = new PoolScope(settings.pools, memory.knownPools);",
      "this.scope = new PoolScope(settings.pools, new Map());",
    ),
    tests: ["test/providers/xenorchestra/provider_pools_test.ts"],
  },
  {
    id: "leave-strays",
    invariant: "a Node of ours stays ours if its VM moves to any pool",
    edits: edit(
      "lib/providers/xenorchestra/scope/pool_scope.ts",
      'if (identity.kind !== "providerId") return toForeign(where);',
      "if (where) return toForeign(where);",
    ),
    tests: ["test/providers/xenorchestra/provider_pools_test.ts"],
  },
  {
    id: "count-part-of-fleet",
    invariant: "the fleet is judged only after all Nodes are known",
    edits: edit(FLEET, "if (!nodes.synced) return false;", ""),
    tests: ["test/controllers/fleet/fleet_watch_test.ts"],
  },
  {
    id: "forget-read-move",
    invariant: "if a single read shows a VM in another pool, Landfall looks for it there",
    edits: edit(DIRECT_READS, "if (region !== undefined) memory.noteRead(vmId, region);", ""),
    tests: ["test/providers/xenorchestra/provider_test.ts"],
  },
  {
    id: "prove-without-reported",
    invariant:
      "if the VM that the kubelet reports exists, the VM of the provider ID is not proven gone",
    edits: edit(
      DIRECT_READS,
      "for (const other of identity.reported ?? []) {",
      "for (const other of [] as string[]) {",
    ),
    tests: ["test/providers/xenorchestra/simulator_test.ts"],
  },
  {
    id: "take-lost-for-removed",
    invariant: "a pool is removed once its connection is gone for ten minutes, and not before",
    edits: edit(
      CONNECTION_HISTORY,
      "return gone !== undefined && gone.untilMs - gone.sinceMs >= GONE_MS;",
      "return gone !== undefined;",
    ),
    tests: ["test/providers/xenorchestra/proof/connection_history_test.ts"],
  },
  {
    id: "trust-nameless-connection",
    invariant: "a connection that names no pool may belong to the pool that looks removed",
    edits: edit(CONNECTION_HISTORY, "servers.objects.every(({ poolId }) => poolId)", "true"),
    tests: ["test/providers/xenorchestra/proof/connection_history_test.ts"],
  },
  {
    id: "trust-part-of-connections",
    invariant: "only complete lists of connections show that a pool was removed",
    edits: edit(CONNECTION_HISTORY, 'judgeConnections(servers, pools).kind === "clear" &&', ""),
    tests: ["test/providers/xenorchestra/proof/connection_history_test.ts"],
  },
  {
    id: "take-hidden-for-removed",
    invariant: "a pool does not count as removed if the user only lost the right to see it",
    edits: edit(
      "lib/providers/xenorchestra/proof/connection_watch.ts",
      'if (pool.kind !== "missing") connections.noteExists(poolId);',
      "void pool;",
    ),
    tests: ["test/providers/xenorchestra/proof/connection_watch_test.ts"],
  },
  {
    id: "prove-without-stay",
    invariant: "a VM that was not seen after a pool was removed may be there",
    edits: edit(
      ABSENCE,
      "const doubt = explainPossibleMove(stay, goneMs); if (doubt === undefined) continue;",
      "const doubt = explainPossibleMove(stay, goneMs) && undefined; if (doubt === undefined) continue;",
    ),
    tests: ["test/providers/xenorchestra/proof/absence_test.ts"],
  },
  {
    id: "trust-removed-for-good",
    invariant: "a pool that looks removed is requested once more",
    edits: edit(
      ABSENCE,
      'if (pool.kind !== "missing") return toUnknown("notCovered", vmId, why);',
      "void [pool, why];",
    ),
    tests: ["test/providers/xenorchestra/proof/absence_test.ts"],
  },
  {
    id: "lose-pools-unasked",
    invariant: "by default no Node is deleted while another pool is lost",
    edits: edit(GUARD, "return settings.whileOtherPartsAreLost && isLong;", "return isLong;"),
    tests: ["test/cloud/deletion/guard_test.ts"],
  },
  {
    id: "prove-without-long-stay",
    invariant: "a VM that did not stay in its own pool after another was lost may be there",
    edits: edit(
      STAYS,
      "if (isLong && stay.untilMs - shownMs >= STAY_MS) return undefined;",
      "if (shownMs < Infinity) return undefined;",
    ),
    tests: ["test/providers/xenorchestra/proof/stays_test.ts"],
    simulated: "nodes",
  },
  {
    id: "trust-broken-stay",
    invariant: "a stay that was interrupted by a failed inventory or a migration proves nothing",
    edits: edit(
      STAYS,
      "const isLong = stay.untilMs - stay.sinceMs >= STAY_MS;",
      "const isLong = true;",
    ),
    tests: ["test/providers/xenorchestra/proof/stays_test.ts"],
  },
  {
    id: "skip-long-hold-off",
    invariant: "while another pool is lost, a machine is missing for ten minutes first",
    edits: edit(
      STREAK,
      "return isPartLost ? Math.max(holdOffMs, PART_LOST_HOLD_OFF_MS) : holdOffMs;",
      "return isPartLost ? holdOffMs : holdOffMs;",
    ),
    tests: ["test/cloud/deletion/streak_test.ts"],
    simulated: "nodes",
  },
  {
    id: "lose-shown-pools",
    invariant: "a pool that is shown, with its connection down, is not another one that is lost",
    edits: edit(
      ABSENCE,
      'const isLost = judgeConnections(withoutLost(servers), inventory.coverage).kind === "clear";',
      'const isLost = typeof withoutLost(servers) !== "string";',
    ),
    tests: ["test/providers/xenorchestra/proof/absence_test.ts"],
  },
];
