/**
 * What the manifests come to on one, two and three Nodes, by the arithmetic of Kubernetes' controllers: all can be
 * upgraded and drained.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { renderFiles } from "../../deploy/files.ts";
import { readManifests } from "../support/deploy/deploy_tools.ts";
import { readWorkload, RolloutModel, type Workload } from "../support/deploy/rollout_model.ts";

const files = renderFiles();
const DAEMON_SET = read("daemonset");
const DEPLOYMENT = read("deployment");
/** A Deployment as people may set it where each replica has a Node. */
const CAREFUL: Workload = {
  ...DEPLOYMENT,
  maxUnavailable: 1,
  budget: { maxUnavailable: 1, evictsUnready: true },
};

function read(name: string): Workload {
  return readWorkload(readManifests(files.get(`manifests/${name}.yaml`) ?? ""));
}

describe("an upgrade", () => {
  test.each<[string, Workload, number, { ready: number; fewest: number; isComplete: boolean }]>([
    ["the DaemonSet", DAEMON_SET, 1, { ready: 1, fewest: 0, isComplete: true }],
    ["the DaemonSet", DAEMON_SET, 2, { ready: 2, fewest: 1, isComplete: true }],
    ["the DaemonSet", DAEMON_SET, 3, { ready: 3, fewest: 2, isComplete: true }],
    // The second replica waits for a Node, before as after: Kubernetes never calls that complete.
    ["the Deployment", DEPLOYMENT, 1, { ready: 1, fewest: 0, isComplete: false }],
    ["the Deployment", DEPLOYMENT, 2, { ready: 2, fewest: 0, isComplete: true }],
    ["the Deployment", DEPLOYMENT, 3, { ready: 2, fewest: 0, isComplete: true }],
    [
      "one replica of it",
      { ...DEPLOYMENT, replicas: 1 },
      1,
      { ready: 1, fewest: 0, isComplete: true },
    ],
    ["the Deployment with 1", CAREFUL, 2, { ready: 2, fewest: 1, isComplete: true }],
    ["the Deployment with 1", CAREFUL, 3, { ready: 2, fewest: 1, isComplete: true }],
  ])(
    "of %s reaches every replica that a Node has room for (%#)",
    (_title, workload, nodes, wanted) => {
      const model = new RolloutModel(workload, nodes);
      expect({ ready: model.updated, isComplete: model.isComplete }).toEqual({
        ready: wanted.ready,
        isComplete: wanted.isComplete,
      });
      const fewest = model.roll();
      expect({ ready: model.updated, fewest, isComplete: model.isComplete }).toEqual(wanted);
    },
  );

  test.each<[string, Workload, number, number]>([
    ["the DaemonSet", DAEMON_SET, 1, 0],
    ["the DaemonSet", DAEMON_SET, 2, 1],
    ["the DaemonSet", DAEMON_SET, 3, 2],
    ["the Deployment", DEPLOYMENT, 2, 0],
    ["the Deployment with 1", CAREFUL, 2, 1],
  ])("of %s that does not start leaves the others alone (%#)", (_title, workload, nodes, left) => {
    const model = new RolloutModel(workload, nodes);
    expect(model.roll(false)).toBe(left);
    expect(model.isComplete).toBe(false);
    // And the next one mends it.
    model.roll();
    expect(model.isComplete).toBe(true);
  });
});

describe("a drain", () => {
  test.each<[string, Workload, number, number]>([
    ["the DaemonSet", DAEMON_SET, 1, 1],
    ["the DaemonSet", DAEMON_SET, 2, 2],
    ["the DaemonSet", DAEMON_SET, 3, 3],
    ["the Deployment", DEPLOYMENT, 1, 0],
    ["the Deployment", DEPLOYMENT, 2, 1],
    ["the Deployment", DEPLOYMENT, 3, 2],
    ["one replica of it", { ...DEPLOYMENT, replicas: 1 }, 1, 0],
    // Of two Nodes one is left, and its replica must stay until the other one is back.
    ["the Deployment with 1 and a budget", CAREFUL, 2, 0],
    ["the Deployment with 1 and a budget", CAREFUL, 3, 2],
    ["the Deployment on the pod network", { ...DEPLOYMENT, hasHostPort: false }, 1, 0],
  ])("of each Node in turn ends, with %s, and so does an upgrade then (%#)", (...row) => {
    const [, workload, nodes, whileDrained] = row;
    const model = new RolloutModel(workload, nodes);
    const before = model.updated;
    for (let node = 0; node < nodes; node += 1) {
      expect(model.drain(node)).toBe(true);
      model.roll();
      expect(model.updated).toBe(whileDrained);
      model.uncordon(node);
      expect(model.updated).toBe(before);
    }
  });
});

test("two replicas of which one must stay, with one Node, can be neither upgraded nor drained", () => {
  const model = new RolloutModel(CAREFUL, 1);
  expect(model.updated).toBe(1);
  expect(model.drain(0)).toBe(false);
  model.uncordon(0);
  expect(model.roll()).toBe(1);
  expect(model.updated).toBe(0);
});
