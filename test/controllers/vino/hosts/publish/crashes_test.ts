/**
 * A crash after every request, and before it was answered: what is left is a state to start from like any other.
 * @module
 */
import { expect, test } from "bun:test";
import type { PublishRequest } from "../../../../../lib/controllers/vino/hosts/publish/host_publisher.ts";
import { type PublisherRig, startPublisher } from "../../../../support/vino/publisher_rig.ts";
import { BMC, toWanted } from "../../../../support/vino/wanted_hosts.ts";

const HOST = "edge-worker-0";
const SECRETS = [`${HOST}-network-data`, `${HOST}-bmc-credentials`];
const FIRST = toWanted(0, { bmc: BMC });
const MOVED = { poolId: "p1", hostId: "h2", firstHostId: "h1" };

/** What a story asks for, one after another. */
const STORIES: Readonly<Record<string, readonly Partial<PublishRequest>[]>> = {
  "a new host with a management controller": [{ hosts: [FIRST] }],
  "a host whose machine moves, and gets a management controller": [
    { hosts: [toWanted()] },
    { hosts: [toWanted(0, { bmc: BMC }, { machine: MOVED, bmhLabels: { tier: "gold" } })] },
  ],
  "a host whose machine is another one": [
    { hosts: [FIRST] },
    { hosts: [toWanted(0, { bmc: BMC, machineId: "vm-new" })] },
  ],
  "a host that is taken back": [{ hosts: [FIRST] }, { unwanted: [HOST] }],
};

/** What must be the same, whatever happened on the way. */
function picture(rig: PublisherRig): unknown {
  const host = rig.host(HOST);
  return {
    host: host && {
      spec: host["spec"],
      labels: host.metadata["labels"],
      annotations: host.metadata["annotations"],
    },
    secrets: SECRETS.map((name) => {
      const secret = rig.secret(name);
      const owners = [secret?.metadata["ownerReferences"] ?? []]
        .flat()
        .map((one) => Object(one).uid);
      return (
        secret && { data: secret["data"], isOwned: owners.join() === (host?.metadata.uid ?? "") }
      );
    }),
    count: rig.kubernetes.objects.list("baremetalhosts").length,
  };
}

/** Plays a story; where an answer is lost, another process goes on without memory. */
async function play(rig: PublisherRig, story: readonly Partial<PublishRequest>[]): Promise<number> {
  let crashes = 0;
  for (const request of story) {
    try {
      await rig.publishAll(request);
    } catch {
      crashes += 1;
      await rig.restart();
      await rig.publishAll(request);
    }
  }
  return crashes;
}

test.each(Object.entries(STORIES))("%s: every crash ends the same", async (_title, story) => {
  await using whole = await startPublisher();
  await play(whole, story);
  const expected = picture(whole);
  const requests = whole.sent.length;
  expect(requests).toBeGreaterThan(5);
  let cuts = 0;
  for (let at = 0; at < requests; at += 1) {
    for (const isDone of [false, true]) {
      await using rig = await startPublisher({ lost: { at, isDone } });
      cuts += await play(rig, story);
      expect([at, isDone, picture(rig)]).toEqual([at, isDone, expected]);
    }
  }
  // Each of them is a crash, unless the client repeats a read by itself.
  expect(cuts).toBeGreaterThan(requests);
});
