/**
 * What still deceives Landfall on CloudStack, as docs/explanation/deletion.md says, and that its Node comes back.
 */
import { describe, expect, test } from "bun:test";
import { DEFAULT_DELETION } from "../../lib/cloud/deletion/guard.ts";
import { toRegistration } from "../support/nodes/nodes.ts";
import { CloudStackRig, SMALL_PAGE } from "../support/outages/cloudstack_rig.ts";
import { REFRESH_MS } from "../support/outages/stage.ts";

const MINUTE_MS = 60_000;
/** Time for three observations, and the deletion. */
const DELETION_MS = 3 * MINUTE_MS;
const NODE = "alpha-3";

type Change = (rig: CloudStackRig, vmId: string) => void;

const assign: Change = ({ cloud, accountIds }, id) => cloud.state.assign(id, accountIds.ops);
const giveBack: Change = ({ cloud, accountIds }, id) => cloud.state.assign(id, accountIds.acme);

/** The kubelet starts again, and registers. */
async function register(rig: CloudStackRig): Promise<void> {
  const labels = { "kubernetes.io/hostname": NODE };
  const registration = toRegistration(NODE, { systemUuid: rig.toVmId(NODE), labels });
  rig.kubernetes.objects.createNode(registration);
  rig.setReady(NODE, true);
  await rig.clock.advance(2 * REFRESH_MS);
}

describe.each<[string, Change, Change]>([
  [
    "hidden by an administrator",
    ({ cloud }, id) => cloud.state.hide(id),
    ({ cloud }, id) => cloud.state.hide(id, false),
  ],
  ["assigned to another account", assign, giveBack],
  [
    "destroyed, and recovered",
    ({ cloud }, id) => cloud.state.setState(id, "Destroyed"),
    ({ cloud }, id) => cloud.state.setState(id, "Running"),
  ],
])("a VM that is %s", (_title, take, giveItBack) => {
  test("keeps its Node while the kubelet reports", async () => {
    await using rig = await CloudStackRig.start(DEFAULT_DELETION);
    take(rig, rig.toVmId(NODE));
    await rig.clock.advance(4 * DELETION_MS);
    expect(rig.readNode(NODE)).toBeDefined();
  });

  test("loses it when the kubelet is silent, and gets it again when the kubelet starts", async () => {
    await using rig = await CloudStackRig.start(DEFAULT_DELETION);
    const before = rig.readNode(NODE);
    take(rig, rig.toVmId(NODE));
    rig.setReady(NODE, false);
    await rig.clock.advance(DELETION_MS);
    expect(rig.readNode(NODE)).toBeUndefined();
    giveItBack(rig, rig.toVmId(NODE));
    await register(rig);
    const after = rig.readNode(NODE);
    expect(after?.spec?.providerID).toBe(before?.spec?.providerID);
    expect(after?.metadata.labels).toEqual(before?.metadata.labels);
    await rig.clock.advance(4 * DELETION_MS);
    expect(rig.readNode(NODE)).toBeDefined();
  });
});

test("deletion.trustEmptyAnswer: false keeps the Node of each of them, and says what to do", async () => {
  await using rig = await CloudStackRig.start(DEFAULT_DELETION, { trustsEmptyAnswer: false });
  rig.cloud.state.hide(rig.toVmId(NODE));
  rig.setReady(NODE, false);
  await rig.clock.advance(4 * DELETION_MS);
  expect(rig.readNode(NODE)).toBeDefined();
  expect(rig.listEvents(NODE)).toContain("NodeDeletionBlocked");
});

test("a Node that registers while every list changes is initialised all the same", async () => {
  await using rig = await CloudStackRig.start(DEFAULT_DELETION);
  const before = rig.readNode(NODE);
  rig.cloud.settings.defaultPageSize = SMALL_PAGE;
  rig.cloud.faults.set({ kind: "shrinkingList" });
  rig.kubernetes.objects.deleteNode(NODE);
  await rig.clock.advance(REFRESH_MS);
  await register(rig);
  expect(rig.readNode(NODE)?.spec?.providerID).toBe(before?.spec?.providerID);
});

test("new keys of the same user cost nothing but what went while they changed", async () => {
  await using rig = await CloudStackRig.start(DEFAULT_DELETION, { hasKeyFiles: true });
  const { user } = rig.cloud;
  Object.assign(user, { apiKey: "another-api-key", secretKey: "another-secret-key" });
  rig.writeKeys(user);
  await rig.clock.advance(2 * REFRESH_MS);
  rig.cloud.state.expunge(rig.toVmId(NODE));
  rig.setReady(NODE, false);
  await rig.clock.advance(DELETION_MS);
  expect(rig.readNode(NODE)).toBeUndefined();
});

test("a new process deletes what it saw, and keeps what was expunged before it started", async () => {
  await using rig = await CloudStackRig.start(DEFAULT_DELETION);
  await rig.stopApp();
  rig.cloud.state.expunge(rig.toVmId("alpha-4"));
  await rig.startApp();
  await rig.clock.advance(2 * REFRESH_MS);
  rig.cloud.state.expunge(rig.toVmId(NODE));
  for (const name of [NODE, "alpha-4"]) rig.setReady(name, false);
  await rig.clock.advance(20 * MINUTE_MS);
  expect(rig.readNode(NODE)).toBeUndefined();
  expect(rig.readNode("alpha-4")).toBeDefined();
  expect(rig.listEvents("alpha-4")).toContain("NodeDeletionBlocked");
});
