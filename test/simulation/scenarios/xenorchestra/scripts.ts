/**
 * What happens around a pool that is lost or was removed, around a new process, and around copies of VMs.
 * @module
 */
import { DEFAULT_DELETION } from "../../../../lib/cloud/deletion/guard.ts";
import { PROOF_ALONE } from "../outage.ts";
import { check } from "../scenario.ts";
import { type Care, MINUTE_MS, type PartName, REFRESH_MS } from "../stage.ts";
import { findPool, findServer, losePool, move, type XoScript, type XoStage } from "./tellings.ts";

/** The Node whose machine is deleted in another pool than the one that is lost. */
const GONE = "beta-gone";
/** One whose machine is there, and whose kubelet is silent. */
const SILENT = "alpha-3";
/** Time for three observations, and the deletion. */
const DELETION_MS = 3 * MINUTE_MS;
/** The stay of a VM in its pool, and a question after a minute. */
const STAY_MS = 3 * MINUTE_MS;
const HOLD_OFF_MS = 10 * MINUTE_MS;
/** For so long the connection must be gone, and a little more for reads once a minute. */
const REMOVED_MS = 12 * MINUTE_MS;
/** For so long a VM must stay in its own pool after that, and a little more until the connection is missed. */
const REMOVED_STAY_MS = 4 * MINUTE_MS;
const TOLERANT: Care = { deletion: { ...DEFAULT_DELETION, whileOtherPartsAreLost: true } };
const REGION = "topology.kubernetes.io/region";

/** Each script with events and, where all tests run, without: what a stream changes shows in others, too. */
function withAndWithoutEvents(script: XoScript): XoScript[] {
  return [script, { ...script, name: `${script.name}/no-events`, hasEvents: false, isOfCi: true }];
}

/** While a pool is lost, a Node of another goes only if the settings say so and its machine stayed in its pool. */
const LOST: readonly XoScript[] = [
  {
    name: "vm-deleted-while-another-pool-is-lost",
    act: async (stage) => {
      losePool(stage, "alpha");
      stage.fall(SILENT);
      await stage.pass(STAY_MS);
      stage.remove(GONE);
      await stage.pass(3 * HOLD_OFF_MS);
      stage.expectBlocked(GONE, "deletion.whileOtherPoolsAreLost");
      stage.expectBlocked(GONE, "delete the Node by hand");
    },
  },
  {
    name: "vm-deleted-while-another-pool-is-lost-and-that-is-tolerated",
    care: TOLERANT,
    act: async (stage) => {
      losePool(stage, "alpha");
      stage.fall(SILENT);
      await stage.pass(STAY_MS);
      stage.remove(GONE);
      await stage.pass(HOLD_OFF_MS - REFRESH_MS);
      stage.expectBlocked(GONE, "missing for 10m");
      await stage.pass(2 * MINUTE_MS);
      stage.expectGone(GONE);
      stage.expectKept(SILENT);
    },
  },
  {
    name: "vm-deleted-while-another-pool-is-lost-and-a-process-started",
    care: TOLERANT,
    act: async (stage) => {
      losePool(stage, "alpha");
      stage.fall(SILENT);
      await stage.restart();
      await stage.pass(STAY_MS + REFRESH_MS);
      stage.remove(GONE);
      await stage.pass(HOLD_OFF_MS + 2 * MINUTE_MS);
      stage.expectGone(GONE);
      stage.expectKept(SILENT);
    },
  },
  {
    name: "vm-deleted-long-before-its-kubelet-is-silent",
    isOfCi: true,
    care: TOLERANT,
    act: async (stage) => {
      losePool(stage, "alpha");
      await stage.pass(STAY_MS);
      // Its machine was moved without Xen Orchestra, and its kubelet lives.
      stage.cloud.removeVm(stage.toVmId(GONE));
      await stage.pass(2 * HOLD_OFF_MS);
      stage.fall(GONE);
      await stage.pass(HOLD_OFF_MS - REFRESH_MS);
      stage.expectKept(GONE);
    },
  },
  ...(
    [
      ["too-soon-after-the-loss", (stage) => stage.pass(MINUTE_MS)],
      [
        "before-an-inventory-failed",
        async (stage) => {
          await stage.pass(STAY_MS);
          stage.cloud.faults.set({ kind: "status", status: 502 }, { times: 1 });
          await stage.pass(REFRESH_MS);
        },
      ],
      [
        "while-its-own-pool-was-lost",
        async (stage) => {
          await stage.pass(STAY_MS);
          stage.cloud.state.dropPool(findPool(stage, "beta").id, REFRESH_MS);
        },
      ],
      [
        "while-it-was-migrated",
        async (stage) => {
          await stage.pass(STAY_MS);
          stage.cloud.state.beginMigration(stage.toVmId(GONE));
          await stage.pass(REFRESH_MS);
        },
      ],
    ] satisfies [string, (stage: XoStage) => Promise<void>][]
  ).map(([name, leave]): XoScript => ({
    name: `vm-left-${name}`,
    isOfCi: name !== "too-soon-after-the-loss",
    care: TOLERANT,
    act: async (stage) => {
      const restore = losePool(stage, "alpha");
      await leave(stage);
      stage.remove(GONE);
      await stage.pass(3 * HOLD_OFF_MS);
      stage.expectKept(GONE);
      restore();
      await stage.pass(3 * MINUTE_MS);
      stage.expectGone(GONE);
    },
  })),
];

/** A VM of another pool is deleted while one looks removed and is not: its Node stays for as long as that is away. */
function toAway(name: string, lose: (stage: XoStage) => (() => void) | void): XoScript {
  return {
    name: `pool-away-and-${name}`,
    isOfCi: !name.startsWith("hidden"),
    act: async (stage) => {
      const find = lose(stage);
      await stage.pass(REFRESH_MS);
      stage.remove(GONE);
      await stage.pass(REMOVED_MS + DELETION_MS);
      stage.expectBlocked(GONE);
      find?.();
    },
  };
}

/** Nobody knows any more whether a VM is in the pool that was removed. @param leave How it went there */
function toUnseen(name: string, leave: (stage: XoStage) => Promise<void>): XoScript {
  return {
    name: `vm-went-to-a-pool-before-that-was-removed-${name}`,
    isOfCi: name === "while-it-was-lost",
    act: async (stage) => {
      await stage.pass(5 * MINUTE_MS);
      await leave(stage);
      await stage.pass(REMOVED_MS);
      stage.fall(GONE);
      await stage.pass(20 * MINUTE_MS);
      stage.expectBlocked(GONE);
    },
  };
}

/** A pool that was removed for good does not hold up deletions in other pools for ever. One that is lost does. */
const REMOVED: readonly XoScript[] = [
  ...withAndWithoutEvents({
    name: "pool-removed-for-good",
    act: async (stage) => {
      const { id } = findPool(stage, "alpha");
      stage.cloud.forgetPool(id);
      await stage.pass(REMOVED_STAY_MS);
      for (const name of [GONE, "alpha-gone"]) stage.remove(name);
      stage.fall(SILENT);
      await stage.pass(9 * MINUTE_MS - REMOVED_STAY_MS);
      stage.expectBlocked(GONE);
      await stage.pass(DELETION_MS + REMOVED_MS - 9 * MINUTE_MS);
      stage.expectGone(GONE);
      // Nobody can say of these whether they are gone.
      stage.expectKept("alpha-gone", SILENT);
      check("series of the pool", stage.process.metrics.render().includes(`part="${id}"`), false);
    },
  }),
  ...withAndWithoutEvents({
    name: "pool-removed-and-added-again-after-12-min",
    act: async (stage) => {
      const { state } = stage.cloud;
      const server = findServer(stage, "alpha");
      const { id } = findPool(stage, "alpha");
      state.forgetPool(id);
      await stage.pass(REMOVED_MS);
      state.put("servers", server);
      stage.remove(GONE);
      await stage.pass(DELETION_MS);
      stage.expectKept(GONE);
      state.restorePool(id);
      await stage.pass(DELETION_MS);
      stage.expectGone(GONE);
      stage.expectKept(SILENT);
    },
  }),
  toAway("its-connection-cut", (stage) => void losePool(stage, "alpha")),
  toAway("another-entry-names-no-pool", (stage) => {
    const { state } = stage.cloud;
    const { poolId: _poolId, ...rest } = findServer(stage, "alpha");
    stage.cloud.forgetPool(findPool(stage, "alpha").id);
    state.put("servers", { ...rest, id: "new", enabled: false, status: "disconnected" });
  }),
  toAway("hidden-from-the-user-with-its-connection", (stage) => {
    const { state } = stage.cloud;
    const { id: poolId } = findPool(stage, "alpha");
    const inPool = (["pools", "hosts", "vms", "vm-controllers"] as const).flatMap((collection) =>
      [...state.all(collection).values()].filter(
        ({ id, $pool }) => id === poolId || $pool === poolId,
      ),
    );
    const hidden = [findServer(stage, "alpha"), ...inPool].map(({ id }) => id);
    for (const id of hidden) state.forbid(id);
    return () => hidden.forEach((id) => state.forbid(id, false));
  }),
  toAway("the-list-of-connections-empty", (stage) => {
    losePool(stage, "alpha");
    stage.cloud.hideConnections();
  }),
  {
    name: "vm-left-its-pool-as-another-was-removed",
    act: async (stage) => {
      move(stage, GONE, "alpha");
      stage.cloud.forgetPool(findPool(stage, "alpha").id);
      stage.fall(GONE);
      await stage.pass(REMOVED_MS + DELETION_MS);
      stage.expectKept(GONE);
    },
  },
  ...[
    toUnseen("while-it-was-lost", async (stage) => {
      losePool(stage, "alpha");
      await stage.pass(2 * MINUTE_MS);
      move(stage, GONE, "alpha");
      await stage.pass(2 * MINUTE_MS);
      stage.cloud.forgetPool(findPool(stage, "alpha").id);
    }),
    toUnseen("and-showed-in-its-old-pool-for-longer", async (stage) => {
      stage.cloud.forgetPool(findPool(stage, "alpha").id);
      await stage.pass(66_000);
      move(stage, GONE, "alpha");
    }),
  ].flatMap(withAndWithoutEvents),
  {
    name: "connections-are-read-once",
    act: async (stage) => {
      check("reads", stage.cloud.counter.count("GET /servers"), 1);
      await stage.pass(30 * MINUTE_MS);
      check("reads", stage.cloud.counter.count("GET /servers"), 1);
    },
  },
  ...[403, 500].map((status): XoScript => ({
    name: `connections-are-read-once-in-10-min-while-they-are-${status}`,
    isOfCi: status === 500,
    act: async (stage) => {
      stage.cloud.faults.set({ kind: "status", status }, { route: "/servers" });
      stage.cloud.state.restorePool(findPool(stage, "alpha").id);
      await stage.pass(60 * MINUTE_MS);
      const reads = stage.cloud.counter.count("GET /servers");
      check(`${reads} reads in an hour are at most 8`, reads <= 8, true);
    },
  })),
];

/** Nobody asked for the deletion of the Node, and it shows that its machine is in the other pool. */
async function expectMoved(stage: XoStage): Promise<void> {
  await stage.pass(REFRESH_MS);
  stage.expectKept(SILENT);
  const { id } = findPool(stage, "beta");
  check("region", stage.read(SILENT).metadata.labels?.[REGION], id);
}

const CARES: readonly (readonly [string, Care])[] = [
  ["default", { deletion: DEFAULT_DELETION }],
  ["proof-alone", { deletion: PROOF_ALONE }],
];

/** What is known of machines ends with a process. The next one must not take for gone what it never saw. */
const STARTED: readonly XoScript[] = [
  {
    name: "process-starts-while-a-pool-is-cut",
    act: async (stage) => {
      const { id } = findPool(stage, "alpha");
      const list = (): string[] => stage.listMetrics(`landfall_inventory_covered{part="${id}"`);
      const restore = losePool(stage, "alpha");
      await stage.restart(2 * REFRESH_MS);
      check("series of the pool", list(), [`landfall_inventory_covered{part="${id}"} 0`]);
      restore();
      await stage.pass(3 * MINUTE_MS);
      check("series of the pool", list(), [`landfall_inventory_covered{part="${id}"} 1`]);
    },
  },
  ...CARES.flatMap(([title, care]): XoScript[] => [
    ...withAndWithoutEvents({
      name: `process-starts-while-a-vm-is-between-two-pools/${title}`,
      care,
      act: async (stage) => {
        stage.fall(SILENT);
        const gapMs = 9 * MINUTE_MS;
        // No list shows that it is being migrated.
        move(stage, SILENT, "beta", gapMs);
        await stage.restart(gapMs - 1);
        stage.expectBlocked(SILENT);
        const blocked = stage.listMetrics("landfall_node_deletions_blocked{");
        check("blocked", blocked, ['landfall_node_deletions_blocked{reason="neverSeen"} 1']);
        await expectMoved(stage);
      },
    }),
    ...(
      [
        ["refused", { kind: "status", status: 403 }],
        ["none", { kind: "json", body: [] }],
      ] as const
    ).map(([what, fault]): XoScript => ({
      isOfCi: what === "refused" || title === "default",
      name: `process-starts-while-a-vm-is-in-a-lost-pool-and-connections-are-${what}/${title}`,
      care,
      act: async (stage) => {
        await stage.stop();
        // Nobody saw it there: neither a list nor a label tells of it.
        move(stage, SILENT, "beta");
        const restore = losePool(stage, "beta");
        stage.cloud.hasConnections = false;
        stage.cloud.faults.set(fault, { route: "/servers" });
        stage.fall(SILENT);
        stage.start();
        // Longer than any time after which the program lets go of a Node.
        await stage.pass(30 * MINUTE_MS);
        stage.expectBlocked(SILENT);
        const blocked = stage.listMetrics("landfall_node_deletions_blocked{");
        check("blocked", blocked, ['landfall_node_deletions_blocked{reason="unconfirmed"} 1']);
        restore();
        await expectMoved(stage);
      },
    })),
    {
      name: `process-starts-and-cannot-read-connections/${title}`,
      isOfCi: title === "default",
      care,
      act: async (stage) => {
        stage.cloud.hideConnections();
        await stage.restart(20 * MINUTE_MS);
        stage.remove("alpha-gone");
        await stage.pass(10 * MINUTE_MS);
        stage.expectGone("alpha-gone");
      },
    },
    {
      name: `process-starts-after-a-vm-was-deleted/${title}`,
      isOfCi: title === "default",
      care,
      act: async (stage) => {
        stage.fall("alpha-gone");
        await stage.stop();
        stage.cloud.removeVm(stage.toVmId("alpha-gone"));
        stage.start();
        await stage.pass(10 * MINUTE_MS - 1);
        stage.expectKept("alpha-gone");
        await stage.pass(REFRESH_MS);
        stage.expectGone("alpha-gone");
      },
    },
  ]),
];

const COPIED = "alpha-1";

/**
 * Loses the first pool, shows a halted copy of a VM in the second, and lets its kubelet register. Returns what makes
 * the copy the machine: the pool will not come back, and somebody starts it.
 */
async function showCopy(stage: XoStage, restarts: boolean): Promise<() => void> {
  const { server, timeline } = stage.world;
  if (restarts) await stage.stop();
  const id = stage.toVmId(COPIED);
  const there: PartName = "beta";
  move(stage, COPIED, there);
  stage.cloud.state.setPower(id, "Halted");
  losePool(stage, "alpha");
  // Else the Node is matched to what was shown until now: its own VM.
  if (!restarts) await stage.pass(2 * REFRESH_MS);
  server.objects.deleteNode(COPIED);
  if (!restarts) await stage.pass(5_000);
  stage.register(COPIED);
  if (restarts) stage.start();
  await timeline.advance(3 * MINUTE_MS);
  check("provider ID", stage.read(COPIED).spec?.providerID, undefined);
  check("region", stage.read(COPIED).metadata.labels?.[REGION], undefined);
  const [hostId] = findPool(stage, there).hostIds;
  return () => stage.cloud.state.setPower(id, "Running", hostId);
}

/** A kubelet registers while the pool of its VM is lost, and a halted copy shows in another: the Node waits. */
const COPIES: readonly XoScript[] = [false, true].flatMap((restarts): XoScript[] => {
  const end = restarts ? "-and-a-process-starts" : "";
  return [
    {
      name: `kubelet-registers-while-a-copy-shows${end}`,
      act: async (stage) => {
        // What nobody may read is no reason to keep a Node whose VM was seen.
        stage.cloud.faults.set({ kind: "status", status: 403 }, { route: "/servers" });
        await showCopy(stage, restarts);
        stage.remove(COPIED);
        await stage.pass(10 * MINUTE_MS);
        stage.read(COPIED);
      },
    },
    ...[true, false].map((hasEvents): XoScript => ({
      name: `copy-is-started-after-its-kubelet-registered${end}/${hasEvents ? "events" : "no-events"}`,
      isOfCi: restarts || !hasEvents,
      hasEvents,
      act: async (stage) => {
        const start = await showCopy(stage, restarts);
        start();
        await stage.pass(hasEvents ? REFRESH_MS / 2 : REFRESH_MS + 1_000);
        const { id } = findPool(stage, "beta");
        check("provider ID", stage.read(COPIED).spec?.providerID?.includes(id), true);
      },
    })),
  ];
});

/** All of them. */
export const SCRIPTS: readonly XoScript[] = [...LOST, ...REMOVED, ...STARTED, ...COPIES];
