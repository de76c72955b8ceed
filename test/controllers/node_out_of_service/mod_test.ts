import { describe, expect, test } from "bun:test";
import { lose } from "../../support/nodes/lifecycle_rig.ts";
import { startOutOfService } from "../../support/nodes/out_of_service_rig.ts";

const MINUTE_MS = 60_000;
const RECORD = "landfall.dev/out-of-service";
const TAINT = {
  key: "node.kubernetes.io/out-of-service",
  value: "nodeshutdown",
  effect: "NoExecute",
};

describe("the out-of-service controller", () => {
  test("lets the cloud remember what its proofs need", async () => {
    await using rig = await startOutOfService();
    expect(rig.provider.isPrepared).toBe(true);
  });

  test("taints a Node whose machine is proven off, not before the grace period, and records it", async () => {
    await using rig = await startOutOfService();
    rig.halt("n1");
    const startMs = rig.clock.monotonic();
    expect(await rig.until(() => rig.isTainted("n1"), 2 * MINUTE_MS)).toBe(true);
    expect(rig.clock.monotonic() - startMs).toBeGreaterThanOrEqual(30_000);
    expect(rig.clock.monotonic() - startMs).toBeLessThanOrEqual(60_000);
    expect(rig.server.find("n1")?.metadata.annotations?.[RECORD]).toMatch(/^2\d{3}-.*Z boot-1$/);
    expect(rig.listReasons("n1")).toEqual(["OutOfServiceTaintSet"]);
    expect(rig.provider.powerReads).toBe(1);
  });

  test("leaves a Node whose machine is gone and has no volumes to its deletion", async () => {
    await using rig = await startOutOfService();
    lose(rig, "n1");
    expect(await rig.until(() => rig.isTainted("n1"), 5 * MINUTE_MS)).toBe(false);
  });

  test("taints the same Node where Nodes are not deleted", async () => {
    await using rig = await startOutOfService({ deletion: { enabled: false } });
    lose(rig, "n1");
    expect(await rig.until(() => rig.isTainted("n1"), 3 * MINUTE_MS)).toBe(true);
  });

  test("taints a Node whose machine is proven gone, as soon as it could be deleted", async () => {
    await using rig = await startOutOfService();
    rig.attach("a", "n1");
    lose(rig, "n1");
    expect(await rig.until(() => rig.isTainted("n1"), 3 * MINUTE_MS)).toBe(true);
    expect(rig.provider.reads).toBeGreaterThan(0);
  });

  test("leaves a Node alone whose machine runs, is suspended, or whose kubelet is Ready", async () => {
    await using rig = await startOutOfService();
    rig.server.setReady("n1", "Unknown");
    rig.halt("n2");
    rig.provider.setPower("n2", "Suspended");
    rig.provider.setPower("n3", "Halted");
    expect(await rig.until(() => rig.server.writes.length > 0, 15 * MINUTE_MS)).toBe(false);
  });

  test("leaves a Node alone that the label excludes, and takes it when the label goes", async () => {
    await using rig = await startOutOfService();
    const node = rig.server.find("n1");
    if (!node) throw new Error("it is there");
    const labels = { "landfall.dev/exclude-from-out-of-service": "" };
    rig.server.put({ ...node, metadata: { ...node.metadata, labels } });
    rig.halt("n1");
    expect(await rig.until(() => rig.isTainted("n1"), 5 * MINUTE_MS)).toBe(false);
    const later = rig.server.find("n1");
    if (!later) throw new Error("it is there");
    rig.server.put({ ...later, metadata: { ...later.metadata, labels: {} } });
    expect(await rig.until(() => rig.isTainted("n1"), 2 * MINUTE_MS)).toBe(true);
  });

  test.each([
    ["the label excludes", { labels: { "landfall.dev/exclude-from-out-of-service": "" } }, []],
    ["has the taint of a user", {}, [TAINT]],
    [
      "Landfall took out of service",
      { annotations: { [RECORD]: "2026-01-01T00:00:00Z b" } },
      [TAINT],
    ],
  ])(
    "asks for no more inventories than usual for a missing machine whose Node %s",
    async (_title, more, taints) => {
      await using rig = await startOutOfService({ deletion: { enabled: false } });
      rig.loseMachines("n1");
      // The inventory lacks it before the kubelet falls silent.
      await rig.clock.advance(31_000);
      const node = rig.server.find("n1");
      if (!node) throw new Error("it is there");
      rig.server.put({
        ...node,
        metadata: { ...node.metadata, ...more },
        spec: { ...node.spec, taints },
      });
      rig.server.setReady("n1", "Unknown");
      const before = rig.provider.lists;
      await rig.until(() => false, 10 * MINUTE_MS);
      expect(rig.provider.lists - before).toBeLessThanOrEqual(21);
      expect(rig.describe("n1")).not.toMatchObject({ outOfService: { state: "waiting" } });
    },
  );

  test("sets nothing while too many machines are off, and says why on each", async () => {
    await using rig = await startOutOfService({ nodes: 6 });
    rig.halt("n1", "n2", "n3");
    expect(await rig.until(() => rig.server.writes.length > 0, 30 * MINUTE_MS)).toBe(false);
    for (const name of ["n1", "n2", "n3"]) {
      expect(rig.listReasons(name)).toContain("OutOfServiceTaintBlocked");
    }
    rig.boot("n3");
    rig.report("n3", "True", "boot-2");
    expect(await rig.until(() => rig.isTainted("n1") && rig.isTainted("n2"), 2 * MINUTE_MS)).toBe(
      true,
    );
  });

  test("counts those tainted within the window, so that no more follow one by one", async () => {
    await using rig = await startOutOfService({ nodes: 6 });
    rig.halt("n1", "n2");
    await rig.until(() => rig.isTainted("n1") && rig.isTainted("n2"), 2 * MINUTE_MS);
    rig.halt("n3");
    expect(await rig.until(() => rig.isTainted("n3"), 8 * MINUTE_MS)).toBe(false);
    expect(await rig.until(() => rig.isTainted("n3"), 5 * MINUTE_MS)).toBe(true);
  });

  test("counts them for the rest of the window when their machines are back, too", async () => {
    await using rig = await startOutOfService({ nodes: 6 });
    rig.halt("n1", "n2");
    await rig.until(() => rig.isTainted("n1") && rig.isTainted("n2"), 2 * MINUTE_MS);
    for (const name of ["n1", "n2"]) {
      rig.restart(name);
    }
    await rig.until(() => !rig.isTainted("n1") && !rig.isTainted("n2"), MINUTE_MS);
    rig.halt("n3");
    expect(await rig.until(() => rig.isTainted("n3"), 8 * MINUTE_MS)).toBe(false);
    expect(await rig.until(() => rig.isTainted("n3"), 5 * MINUTE_MS)).toBe(true);
  });

  test("sets nothing while machines are shown as off whose kubelets are Ready: the cloud may be wrong", async () => {
    await using rig = await startOutOfService({ nodes: 6 });
    rig.halt("n1");
    rig.provider.setPower("n2", "Halted");
    rig.provider.setPower("n3", "Halted");
    expect(await rig.until(() => rig.isTainted("n1"), 10 * MINUTE_MS)).toBe(false);
    expect(rig.listReasons("n1")).toContain("OutOfServiceTaintBlocked");
    rig.boot("n3");
    expect(await rig.until(() => rig.isTainted("n1"), 2 * MINUTE_MS)).toBe(true);
  });

  test("starts the count again when an inventory fails", async () => {
    await using rig = await startOutOfService();
    rig.halt("n1");
    // The first inventory that shows it as off.
    await rig.clock.advance(35_000);
    rig.provider.failure = new Error("no answer");
    rig.source.requestRefresh();
    await rig.clock.advance(2_000);
    rig.provider.failure = undefined;
    await rig.clock.advance(28_000);
    expect(rig.isTainted("n1")).toBe(false);
    expect(await rig.until(() => rig.isTainted("n1"), MINUTE_MS)).toBe(true);
  });

  test("believes the direct answer, not the inventory", async () => {
    await using rig = await startOutOfService();
    rig.provider.power = { kind: "on" };
    rig.halt("n1");
    expect(await rig.until(() => rig.isTainted("n1"), 5 * MINUTE_MS)).toBe(false);
    expect(rig.provider.powerReads).toBeGreaterThan(1);
    rig.provider.power = { kind: "unproven", message: "its host is gone" };
    expect(await rig.until(() => rig.isTainted("n1"), 5 * MINUTE_MS)).toBe(false);
    expect(rig.events.at(-1)?.message).toContain("its host is gone");
  });

  test("writes nothing when the kubelet reports while the cloud is asked", async () => {
    await using rig = await startOutOfService();
    rig.provider.onPower = () => rig.report("n1", "False", "boot-2");
    rig.halt("n1");
    await rig.until(() => rig.provider.powerReads > 0, 2 * MINUTE_MS);
    expect(rig.isTainted("n1")).toBe(false);
  });

  test("leaves a Node alone whose kubelet reports, even that it is not ready: so its machine runs", async () => {
    await using rig = await startOutOfService();
    rig.halt("n1");
    rig.report("n1", "False");
    expect(await rig.until(() => rig.isTainted("n1"), 10 * MINUTE_MS)).toBe(false);
    rig.server.setReady("n1", "Unknown");
    expect(await rig.until(() => rig.isTainted("n1"), 2 * MINUTE_MS)).toBe(true);
  });

  test("writes nothing when the kubelet reported while the watch was behind", async () => {
    await using rig = await startOutOfService();
    rig.halt("n1");
    rig.server.isWatchHeld = true;
    rig.report("n1", "True", "boot-2");
    expect(await rig.until(() => rig.isTainted("n1"), 5 * MINUTE_MS)).toBe(false);
    expect(rig.provider.powerReads).toBe(0);
  });

  test("writes nothing when an inventory shows the machine running while the cloud is asked", async () => {
    await using rig = await startOutOfService();
    rig.provider.power = { kind: "off", evidence: "it is off" };
    rig.provider.onPower = async () => {
      rig.boot("n1");
      rig.source.requestRefresh();
      await rig.clock.sleep(3_000, new AbortController().signal);
    };
    rig.halt("n1");
    expect(await rig.until(() => rig.provider.powerReads > 0, 2 * MINUTE_MS)).toBe(true);
    await rig.clock.advance(5_000);
    expect(rig.isTainted("n1")).toBe(false);
  });

  test("writes nothing by an inventory of more than two minutes ago, whatever it showed", async () => {
    await using rig = await startOutOfService({ nodes: 6 });
    rig.halt("n1", "n2", "n3");
    await rig.clock.advance(2 * MINUTE_MS);
    // The next inventory never comes; meanwhile fewer are off, so only its age speaks against the taint.
    rig.provider.listInventory = (_interest, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("stopped")));
      });
    await rig.clock.advance(3 * MINUTE_MS);
    rig.server.remove("n3");
    rig.server.remove("n2");
    expect(await rig.until(() => rig.isTainted("n1"), 15 * MINUTE_MS)).toBe(false);
  });

  test("does not set a taint again that a person removed, until the machine has run", async () => {
    await using rig = await startOutOfService();
    await rig.taint("n1");
    rig.server.setTaints("n1", []);
    expect(await rig.until(() => rig.isTainted("n1"), 15 * MINUTE_MS)).toBe(false);
    rig.restart("n1");
    await rig.clock.advance(MINUTE_MS);
    expect(rig.server.find("n1")?.metadata.annotations?.[RECORD]).toBeUndefined();
    rig.halt("n1");
    expect(await rig.until(() => rig.isTainted("n1"), 2 * MINUTE_MS)).toBe(true);
  });

  test("leaves the same taint of somebody else, and says so once the Node is Ready", async () => {
    await using rig = await startOutOfService();
    rig.halt("n1");
    rig.server.setTaints("n1", [TAINT]);
    await rig.clock.advance(2 * MINUTE_MS);
    rig.restart("n1");
    await rig.clock.advance(10 * MINUTE_MS);
    expect(rig.isTainted("n1")).toBe(true);
    expect(rig.server.find("n1")?.metadata.annotations?.[RECORD]).toBeUndefined();
    expect(rig.listReasons("n1")).toContain("OutOfServiceTaintForeign");
  });

  test("leaves the taint of a person who removed it before and set it again", async () => {
    await using rig = await startOutOfService();
    await rig.taint("n1");
    rig.server.setTaints("n1", []);
    await rig.clock.advance(MINUTE_MS);
    rig.server.setTaints("n1", [TAINT]);
    rig.restart("n1");
    await rig.clock.advance(10 * MINUTE_MS);
    expect(rig.isTainted("n1")).toBe(true);
    expect(rig.server.find("n1")?.metadata.annotations?.[RECORD]).toBeUndefined();
    expect(rig.listReasons("n1").at(-1)).toBe("OutOfServiceTaintForeign");
  });

  describe("takes the taint away", () => {
    test("when the machine runs, its kubelet was restarted, and no volume of before is attached", async () => {
      await using rig = await startOutOfService();
      rig.attach("a", "n1");
      await rig.taint("n1");
      rig.boot("n1");
      await rig.clock.advance(MINUTE_MS);
      expect(rig.isTainted("n1")).toBe(true);
      rig.report("n1", "False", "boot-2");
      await rig.clock.advance(MINUTE_MS);
      expect(rig.isTainted("n1")).toBe(true);
      // One that is attached since does not count.
      rig.attach("b", "n1");
      rig.detach("a");
      expect(await rig.until(() => !rig.isTainted("n1"), 30_000)).toBe(true);
      expect(rig.listReasons("n1")).toEqual(["OutOfServiceTaintSet", "OutOfServiceTaintRemoved"]);
      expect(rig.server.find("n1")?.metadata.annotations?.[RECORD]).toBeUndefined();
    });

    test("six minutes after the machine started, whatever is still attached", async () => {
      await using rig = await startOutOfService();
      rig.attach("a", "n1");
      await rig.taint("n1");
      rig.restart("n1");
      expect(await rig.until(() => !rig.isTainted("n1"), 5.8 * MINUTE_MS)).toBe(false);
      expect(await rig.until(() => !rig.isTainted("n1"), MINUTE_MS)).toBe(true);
    });

    test("six minutes after the last start, when the machine went off again before its kubelet reported", async () => {
      await using rig = await startOutOfService();
      rig.attach("a", "n1");
      await rig.taint("n1");
      rig.boot("n1");
      await rig.clock.advance(MINUTE_MS);
      rig.provider.setPower("n1", "Halted");
      await rig.clock.advance(10 * MINUTE_MS);
      rig.restart("n1");
      expect(await rig.until(() => !rig.isTainted("n1"), 5.8 * MINUTE_MS)).toBe(false);
      expect(await rig.until(() => !rig.isTainted("n1"), MINUTE_MS)).toBe(true);
    });

    test("six minutes after the start, counted again for a Node that came again under its name", async () => {
      await using rig = await startOutOfService();
      rig.attach("a", "n1");
      await rig.taint("n1");
      rig.restart("n1");
      await rig.clock.advance(5.8 * MINUTE_MS);
      const node = rig.server.find("n1");
      if (!node) throw new Error("it is there");
      rig.server.put({ ...node, metadata: { ...node.metadata, uid: "another" } });
      expect(await rig.until(() => !rig.isTainted("n1"), 5.5 * MINUTE_MS)).toBe(false);
      expect(await rig.until(() => !rig.isTainted("n1"), MINUTE_MS)).toBe(true);
    });

    test("six minutes after the start where VolumeAttachments cannot be read", async () => {
      await using rig = await startOutOfService({ hasAttachments: false });
      await rig.taint("n1");
      rig.restart("n1");
      expect(await rig.until(() => !rig.isTainted("n1"), 5.8 * MINUTE_MS)).toBe(false);
      expect(await rig.until(() => !rig.isTainted("n1"), MINUTE_MS)).toBe(true);
    });

    test.each(["True", "False"] as const)(
      "at once when a kubelet that was never restarted reports Ready=%s",
      async (status) => {
        await using rig = await startOutOfService();
        rig.attach("a", "n1");
        await rig.taint("n1");
        expect(rig.metrics.render()).toContain("landfall_nodes_out_of_service 1\n");
        rig.report("n1", status);
        expect(await rig.until(() => !rig.isTainted("n1"), 2_000)).toBe(true);
        expect(rig.listReasons("n1").at(-1)).toBe("OutOfServiceTaintWithdrawn");
        for (const action of ["set", "withdrawn"]) {
          const line = `landfall_out_of_service_taints_total{action="${action}"} 1`;
          expect(rig.metrics.render()).toContain(line);
        }
      },
    );

    test("and leaves other taints of the Node", async () => {
      await using rig = await startOutOfService();
      const other = { key: "example.com/theirs", effect: "NoSchedule" };
      rig.server.setTaints("n1", [other]);
      await rig.taint("n1");
      expect(rig.server.find("n1")?.spec?.taints).toEqual([other, TAINT]);
      rig.restart("n1");
      await rig.until(() => !rig.isTainted("n1"), MINUTE_MS);
      expect(rig.server.find("n1")?.spec?.taints).toEqual([other]);
    });
  });

  describe("holds up the deletion of a Node", () => {
    test("until its volumes are detached", async () => {
      await using rig = await startOutOfService();
      rig.attach("a", "n1");
      const node = rig.server.find("n1");
      if (!node) throw new Error("it is there");
      expect(rig.holds.find(node)).toContain("1 of its volumes are still attached");
      rig.detach("a");
      expect(rig.holds.find(node)).toBeUndefined();
    });

    test("for six minutes at most, from the record on, which another process may have written", async () => {
      await using rig = await startOutOfService();
      rig.attach("a", "n1");
      lose(rig, "n1");
      await rig.clock.advance(31_000);
      const time = new Date(rig.clock.now() - 350_000).toISOString();
      rig.server.annotate("n1", { [RECORD]: `${time} boot-1` });
      const find = (): string | undefined => {
        const node = rig.server.find("n1");
        return node && rig.holds.find(node);
      };
      expect(find()).toBeDefined();
      await rig.clock.advance(10_000);
      expect(find()).toBeUndefined();
    });

    test.each(["2999-01-01T00:00:00Z boot-1", "nonsense", ""])(
      "for six minutes at most, whatever a record says: %p",
      async (record) => {
        await using rig = await startOutOfService();
        rig.attach("a", "n1");
        lose(rig, "n1");
        await rig.clock.advance(31_000);
        rig.server.annotate("n1", { [RECORD]: record });
        const node = rig.server.find("n1");
        if (!node) throw new Error("it is there");
        expect(rig.holds.find(node)).toBeDefined();
        await rig.clock.advance(6 * MINUTE_MS);
        expect(rig.holds.find(node)).toBeUndefined();
      },
    );

    test("for six minutes of its own when it came again under its name, and no watch told of that", async () => {
      await using rig = await startOutOfService();
      rig.attach("a", "n1");
      lose(rig, "n1");
      await rig.clock.advance(31_000);
      const node = rig.server.find("n1");
      if (!node) throw new Error("it is there");
      expect(rig.holds.find(node)).toBeDefined();
      await rig.clock.advance(5.8 * MINUTE_MS);
      const again = { ...node, metadata: { ...node.metadata, uid: "another" } };
      expect(rig.holds.find(again)).toBeDefined();
      await rig.clock.advance(MINUTE_MS);
      expect(rig.holds.find(again)).toBeDefined();
    });

    test("for six minutes from each time that its machine is gone", async () => {
      await using rig = await startOutOfService();
      const find = (): string | undefined => {
        const node = rig.server.find("n1");
        return node && rig.holds.find(node);
      };
      rig.attach("a", "n1");
      rig.loseMachines("n1");
      await rig.clock.advance(31_000);
      expect(find()).toBeDefined();
      rig.boot("n1");
      await rig.clock.advance(6 * MINUTE_MS);
      rig.loseMachines("n1");
      await rig.clock.advance(31_000);
      expect(find()).toBeDefined();
    });
  });
});
