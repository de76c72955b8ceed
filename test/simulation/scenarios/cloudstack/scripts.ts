/**
 * What still deceives Landfall on CloudStack, as docs/explanation/deletion.md says, and that its Node comes back.
 * @module
 */
import { check } from "../scenario.ts";
import { MINUTE_MS, REFRESH_MS } from "../stage.ts";
import { assign } from "./outages.ts";
import { type CsScript, type CsStage, SMALL_PAGE, writeKeys } from "./tellings.ts";

/** Time for three observations, and the deletion. */
const DELETION_MS = 3 * MINUTE_MS;
const NODE = "alpha-3";

type Change = (stage: CsStage, vmId: string) => () => void;

const TAKEN: readonly (readonly [string, Change])[] = [
  [
    "hidden",
    ({ cloud: { state } }, id) => {
      state.hide(id);
      return () => state.hide(id, false);
    },
  ],
  ["assigned-to-another-account", assign],
  [
    "destroyed",
    ({ cloud: { state } }, id) => {
      state.setState(id, "Destroyed");
      return () => state.setState(id, "Running");
    },
  ],
];

/** All of them. */
export const SCRIPTS: readonly CsScript[] = [
  ...TAKEN.flatMap(([name, take]): CsScript[] => [
    {
      name: `vm-${name}-while-its-kubelet-reports`,
      act: async (stage) => {
        const giveBack = take(stage, stage.toVmId(NODE));
        await stage.pass(4 * DELETION_MS);
        stage.expectKept(NODE);
        giveBack();
      },
    },
    {
      name: `vm-${name}-and-given-back`,
      act: async (stage) => {
        const before = stage.read(NODE);
        const giveBack = take(stage, stage.toVmId(NODE));
        stage.fall(NODE);
        await stage.pass(DELETION_MS);
        stage.expectGone(NODE);
        giveBack();
        stage.register(NODE);
        await stage.pass(2 * REFRESH_MS);
        const after = stage.read(NODE);
        check("provider ID", after.spec?.providerID, before.spec?.providerID);
        const { "example.com/theirs": _theirs, ...labels } = before.metadata.labels ?? {};
        check("labels", after.metadata.labels, labels);
        await stage.pass(4 * DELETION_MS);
        check("UID", stage.read(NODE).metadata.uid, after.metadata.uid);
      },
    },
  ]),
  {
    name: "vm-hidden-and-empty-answers-are-not-trusted",
    how: { trustsEmptyAnswer: false },
    act: async (stage) => {
      const vmId = stage.toVmId(NODE);
      stage.cloud.state.hide(vmId);
      stage.fall(NODE);
      await stage.pass(4 * DELETION_MS);
      stage.expectBlocked(NODE);
    },
  },
  {
    name: "kubelet-registers-while-every-list-changes",
    act: async (stage) => {
      const { server } = stage.cloud;
      const before = stage.read(NODE);
      server.settings.defaultPageSize = SMALL_PAGE;
      server.faults.set({ kind: "shrinkingList" });
      stage.world.server.objects.deleteNode(NODE);
      await stage.pass(REFRESH_MS);
      stage.register(NODE);
      await stage.pass(2 * REFRESH_MS);
      check("provider ID", stage.read(NODE).spec?.providerID, before.spec?.providerID);
    },
  },
  {
    name: "user-gets-new-keys",
    act: async (stage) => {
      stage.cloud.changeKeys("another");
      await writeKeys(stage, "another");
      await stage.pass(REFRESH_MS);
      stage.remove(NODE);
      await stage.pass(DELETION_MS);
      stage.expectGone(NODE);
    },
  },
  {
    name: "process-starts-after-a-vm-was-expunged",
    act: async (stage) => {
      const { state } = stage.cloud;
      await stage.stop();
      state.expunge(stage.toVmId("alpha-4"));
      stage.start();
      await stage.pass(2 * REFRESH_MS);
      state.expunge(stage.toVmId(NODE));
      for (const name of [NODE, "alpha-4"]) stage.fall(name);
      await stage.pass(20 * MINUTE_MS);
      stage.expectGone(NODE);
      stage.expectBlocked("alpha-4");
      // What no process saw, people delete.
      stage.world.server.objects.deleteNode("alpha-4");
    },
  },
];
