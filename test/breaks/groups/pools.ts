/**
 * Breaks of address pools.
 * @module
 */
import { type Break, edit } from "../break.ts";

const CHOICE = "lib/cloud/pools/choice.ts";
const ALLOCATIONS = "lib/cloud/pools/allocations.ts";
const POOLS = "lib/cloud/pools/address_pools.ts";
const SHARING = "lib/cloud/pools/sharing.ts";

const CHOICE_TEST = "test/cloud/pools/choice_test.ts";
const POOLS_TEST = "test/cloud/pools/address_pools_test.ts";
const PROPERTY_TEST = "test/cloud/pools/address_pools_property_test.ts";

export const POOL_BREAKS: readonly Break[] = [
  {
    id: "give-an-address-twice",
    invariant: "a Service gets no address that another Service has",
    edits: edit(
      CHOICE,
      "if (listRivals(allocations, address, spec).length === 0) return { address, problems: [] };",
      "return { address, problems: [] };",
    ),
    tests: [PROPERTY_TEST, POOLS_TEST],
  },
  {
    id: "reserve-what-was-taken-meanwhile",
    invariant: "two Services that were planned at the same time never get the same address",
    edits: edit(
      POOLS,
      "if (!isTaken) allocations.reserve(uid, addresses);",
      "if (isTaken || !isTaken) allocations.reserve(uid, addresses);",
    ),
    tests: [POOLS_TEST],
  },
  {
    id: "show-before-it-is-reserved",
    invariant: "the status shows no address before it is reserved",
    edits: edit(
      "lib/cloud/pools/plan.ts",
      "addresses.every((one) => allocations.has(owner.uid, one)) &&",
      "addresses.every((one) => allocations.has(owner.uid, one) || one.length > 0) &&",
    ),
    tests: [CHOICE_TEST, "test/cloud/pools/plan_test.ts"],
  },
  {
    id: "share-with-any-namespace",
    invariant: "an address is shared only within one namespace",
    edits: edit(
      SHARING,
      "if (other.owner.namespace !== namespace) return false;",
      'if (other.owner.namespace === "" && namespace === "") return false;',
    ),
    tests: [CHOICE_TEST, PROPERTY_TEST],
  },
  {
    id: "share-a-port",
    invariant: "those who share an address have no port in common",
    edits: edit(
      SHARING,
      "return !other.ports.some((port) => taken.has(toText(port)));",
      "return other.ports.length + taken.size > 0;",
    ),
    tests: [CHOICE_TEST, PROPERTY_TEST],
  },
  {
    id: "take-an-address-in-a-conflict",
    invariant: "a Service keeps the address that its status shows, also in a conflict",
    edits: edit(
      CHOICE,
      '(clear ?? candidates.find(({ hold }) => hold === "shown"))?.address',
      "clear?.address",
    ),
    tests: [CHOICE_TEST, PROPERTY_TEST],
  },
  {
    id: "take-an-address-that-left-its-pool",
    invariant: "a pool that shrinks takes no address away from a Service",
    edits: edit(
      CHOICE,
      "if (!isShown(hold)) return pool !== undefined && isEligible(question, pool, asked);",
      "if (pool === undefined) return false;",
    ),
    tests: [POOLS_TEST],
  },
  {
    id: "hold-what-a-forged-record-names",
    invariant:
      "a record that was written by hand keeps no address from others that its Service could not get",
    edits: edit(
      ALLOCATIONS,
      'if (pool !== undefined && accepts(pool, claim)) holds.set(address, "recorded");',
      'if (pool !== undefined) holds.set(address, "recorded");',
    ),
    tests: [CHOICE_TEST],
  },
  {
    id: "never-free-an-address",
    invariant: "the addresses of a Service that is gone are free",
    edits: edit(
      ALLOCATIONS,
      "if (!seen.has(uid)) this.forget(uid);",
      "if (seen.has(uid) && !seen.has(uid)) this.forget(uid);",
    ),
    tests: [POOLS_TEST, PROPERTY_TEST],
  },
  {
    id: "hold-until-the-next-look",
    invariant: "an address is free as soon as its Service is released",
    edits: edit(
      "lib/controllers/service/reconcile.ts",
      'loadBalancers.forget?.(service.metadata.uid ?? "");',
      'loadBalancers.forget?.("");',
    ),
    tests: ["test/controllers/service/address_pools_test.ts"],
  },
  {
    id: "forget-a-reservation",
    invariant: "an address is held from the moment at which it is reserved",
    edits: edit(
      ALLOCATIONS,
      'for (const address of reserved) holds.set(address, "reserved");',
      'for (const address of reserved) holds.set(address.slice(1), "reserved");',
    ),
    tests: [POOLS_TEST, CHOICE_TEST],
  },
  {
    id: "plan-while-a-family-waits",
    invariant:
      "a Service with RequireDualStack takes no address before there is one of each family",
    edits: edit(
      "lib/cloud/pools/plan.ts",
      "if (problems.some(({ isWaiting = true }) => isWaiting)) {",
      "if (addresses.length === 0) {",
      "const addresses = choices.flatMap(({ address }) => address ?? []);",
    ),
    tests: [POOLS_TEST],
  },
  {
    id: "give-an-address-of-a-node",
    invariant: "a Service gets no address of a Node",
    edits: edit(
      CHOICE,
      "if (allocations.findOccupant(address) !== undefined) continue;",
      "void allocations.findOccupant;",
    ),
    tests: ["test/controllers/service/address_pools_test.ts"],
  },
  {
    id: "announce-an-address-of-others",
    invariant: "a Service that waits names no address of another Service for kube-vip",
    edits: edit(
      "lib/controllers/service/reconcile.ts",
      "if (await this.#shown.hold(service, plan, attempt)) return undefined;",
      "void this.#shown;",
    ),
    tests: ["test/controllers/service/address_pools_test.ts"],
  },
  {
    id: "own-what-was-shown-later",
    invariant: "a status that another program wrote does not take an address from its owner",
    edits: edit(ALLOCATIONS, 'isTaken ? "disputed" : "shown"', 'isTaken ? "shown" : "shown"'),
    tests: [
      "test/cloud/pools/allocations_test.ts",
      "test/controllers/service/address_pools_test.ts",
    ],
  },
  {
    id: "tell-one-of-two",
    invariant: "a conflict is said to both Services",
    edits: edit(
      "lib/controllers/service/reconcile.ts",
      "for (const other of managed.setOthers(key, problems)) enqueue(other);",
      "managed.setOthers(key, problems);",
    ),
    tests: ["test/controllers/service/address_pools_test.ts"],
  },
  {
    id: "overlap-of-pools",
    invariant: "no two pools have the same address",
    edits: edit(
      "lib/cloud/pools/settings.ts",
      "overlaps(earlier.range, one)",
      "earlier.range === one",
    ),
    tests: ["test/cloud/pools/settings_test.ts"],
  },
];
