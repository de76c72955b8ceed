import { describe, expect, test } from "bun:test";
import { ADDRESS_COMMANDS } from "../../../../../lib/simulator/cloudstack/commands/addresses/mod.ts";
import { useCloudStack } from "../../../../support/cloud/cloudstack_rig.ts";

describe("ADDRESS_COMMANDS", () => {
  const rig = useCloudStack();

  test.each(Object.keys(ADDRESS_COMMANDS))("a role without %s is refused it", async (command) => {
    const { user, settings } = rig.simulator;
    user.role = {
      name: "none",
      commands: Object.keys(ADDRESS_COMMANDS).filter((one) => one !== command),
    };
    const codes: number[] = [];
    for (const refusesBy of [432, 401] as const) {
      settings.refusesBy = refusesBy;
      codes.push((await rig.ask(command, {}, { method: "POST" })).status);
    }
    user.role = { name: "all", commands: ["*"] };
    codes.push((await rig.ask(command, {}, { method: "POST" })).status);
    expect(codes.slice(0, 2)).toEqual([432, 401]);
    expect([200, 431]).toContain(codes[2] ?? 0);
  });

  test.each(Object.keys(ADDRESS_COMMANDS))("%s comes by GET only if it reads", async (command) => {
    rig.simulator.settings.enforcesPostAndTimestamps = true;
    const options = { expiresMs: rig.clock.now() + 60_000 };
    const { status } = await rig.ask(command, {}, options);
    expect(status === 405).toBe(!command.startsWith("list"));
  });
});
