import { expect, test } from "bun:test";
import { startCloud } from "../../../../lib/cli/demo/clouds/mod.ts";
import { DEMO_FLAGS } from "../../../../lib/cli/flags/command_flags.ts";
import { systemClock } from "../../../../lib/core/clock.ts";

const { choices = [] } = DEMO_FLAGS.find(({ name }) => name === "cloud") ?? {};

test.each([...choices])(
  "startCloud() starts %s, and hides and shows its machines",
  async (name) => {
    const { cloud } = await startCloud(name, systemClock);
    try {
      const [worker] = ["worker-3"].map((one) => cloud.machines.get(one));
      if (worker === undefined) throw new Error("there is no worker-3");
      expect(cloud.isShown(worker)).toBe(true);
      cloud.loss.begin([worker]);
      expect(cloud.isShown(worker)).toBe(false);
      cloud.loss.end([worker]);
      expect(cloud.isShown(worker)).toBe(true);
      cloud.remove(worker);
      expect(cloud.isShown(worker)).toBe(false);
      expect(cloud.countPasses()).toBe(0);
      expect(cloud.countRequests().size).toBe(0);
    } finally {
      await cloud.stop();
    }
  },
);

test("startCloud() has a cloud for each choice of the flag, and no other", async () => {
  expect(choices).toEqual(["xenorchestra", "cloudstack"]);
  await expect(startCloud("openstack", systemClock)).rejects.toThrow("openstack");
});
