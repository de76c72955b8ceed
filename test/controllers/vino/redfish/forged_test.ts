/**
 * A tenant writes the ID of another Vino's machine into the status of a VinoMachine of his own.
 * @module
 */
import { describe, expect, test } from "bun:test";
import { toMachineName } from "../../../../lib/cloud/capabilities/machines.ts";
import type { Vino } from "../../../../lib/controllers/vino/resource/vino.ts";
import { MachinePowerDouble, makeMachine } from "../../../support/cloud/machine_power_double.ts";
import { ManualClock } from "../../../support/manual_clock.ts";
import { toEntry, toObject, VINO_OWNER } from "../../../support/vino/known.ts";
import { MachineObjects } from "../../../support/vino/machine_objects.ts";
import { openRedfish, SecretsDouble } from "../../../support/vino/management_rig.ts";
import { toWanted } from "../../../support/vino/wanted_hosts.ts";

const { signal } = new AbortController();
const OTHER = { namespace: "other", name: "mine", uid: "aaaaaaaa-2fa1-11d2-883f-0016d3cca427" };
const OWNER_LOGIN = { username: "owner", password: "right" };
const OTHER_LOGIN = { username: "other", password: "own" };
const OFF = { ResetType: "ForceOff" };
const RESET = "/Actions/ComputerSystem.Reset";
const BOOT = { Boot: { BootSourceOverrideTarget: "Pxe", BootSourceOverrideEnabled: "Continuous" } };

type Login = typeof OWNER_LOGIN;

/** @param order Which Vino is listed first */
function create(order: readonly string[], isOwnerListed = true) {
  const name = toMachineName({ owner: OTHER, role: "worker", index: 0 });
  const own = toObject(toEntry("worker", 0, { machineId: "vm-0" }));
  const entry = { name, role: "worker", index: 0, state: "Ready", machineId: "vm-0" } as const;
  const objects = new MachineObjects([...(isOwnerListed ? [own] : []), toObject(entry, OTHER)]);
  const all = new Map<string, Vino>([
    ["owner", { metadata: VINO_OWNER, spec: {} }],
    ["other", { metadata: OTHER, spec: {} }],
  ]);
  const vinoes = new Map<string, Vino>();
  for (const one of order) {
    const vino = all.get(one);
    if (vino) vinoes.set(`${vino.metadata.namespace}/${vino.metadata.name}`, vino);
  }
  const secrets = new SecretsDouble();
  secrets.set("edge-worker-0-bmc-credentials", OWNER_LOGIN);
  secrets.set("mine-worker-0-bmc-credentials", OTHER_LOGIN);
  const machine = makeMachine("vm-0", { name: toEntry("worker", 0).name, power: "running" });
  const power = new MachinePowerDouble([machine]);
  const clock = new ManualClock();
  const world = { vinoes, objects: objects.open({ vinoes }), power, client: secrets, clock };
  const { redfish, service } = openRedfish(world, signal);
  const { management } = redfish.listener;
  const ask = async ({ username, password }: Login, path: string, body?: object) => {
    const authorization = `Basic ${btoa(`${username}:${password}`)}`;
    const request = new Request(`https://bmc/redfish/v1/Systems/vm-0${path}`, {
      headers: { authorization, "content-type": "application/json" },
      ...(body && { method: path === "" ? "PATCH" : "POST", body: JSON.stringify(body) }),
    });
    const asked = Promise.resolve(service.fetch(request, { address: "192.0.2.1" }));
    await clock.advance(5_000);
    return (await asked).status;
  };
  return { ask, power, secrets, redfish, management, clock };
}

describe.each([[["owner", "other"]], [["other", "owner"]]])("with the Vinos %j", (order) => {
  test("a forged ID opens nothing, and costs the owner nothing", async () => {
    const { ask, power, management } = create(order);
    expect(await ask(OWNER_LOGIN, "")).toBe(200);
    for (let round = 0; round < 3; round += 1) {
      expect(await ask(OTHER_LOGIN, "")).toBe(401);
      expect(await ask(OTHER_LOGIN, RESET, OFF)).toBe(401);
      expect(await ask(OTHER_LOGIN, "", BOOT)).toBe(401);
    }
    expect(await management.findSystems(OTHER_LOGIN, signal)).toMatchObject({ value: [] });
    expect(power.calls).toEqual([]);
    expect(await ask(OWNER_LOGIN, "")).toBe(200);
    expect(await ask(OWNER_LOGIN, "", BOOT)).toBe(204);
    expect(await ask(OWNER_LOGIN, RESET, OFF)).toBe(204);
    expect(power.get("vm-0").power).toBe("stopped");
  });

  test("the boot override of the owner is not taken for that of the other", async () => {
    const { ask, power, secrets, redfish, clock } = create(order);
    expect(await ask(OWNER_LOGIN, "", BOOT)).toBe(204);
    const ended = new AbortController();
    const running = redfish.run(ended.signal);
    await clock.advance(120_000);
    expect(secrets.override("edge-worker-0")).toContain("network");
    expect(await ask(OWNER_LOGIN, "", { Boot: { BootSourceOverrideEnabled: "Disabled" } })).toBe(
      204,
    );
    expect(power.get("vm-0").bootOrder).toEqual(["disk", "cd"]);
    ended.abort();
    await running;
  });

  test("a new password of the other Vino is not expected of the owner's machine", async () => {
    const { ask, redfish, secrets } = create(order);
    expect(await ask(OWNER_LOGIN, "")).toBe(200);
    const next = { ...OWNER_LOGIN, password: "newer" };
    const own = toWanted(0, { machineName: toEntry("worker", 0).name, machineId: "vm-0" });
    const other = { ...own, name: "mine-worker-0", machineName: "vino-aaaaaaaa-worker-0" };
    secrets.set("edge-worker-0-bmc-credentials", next);
    await redfish.bmcs.add(own, VINO_OWNER, signal);
    await redfish.bmcs.add(other, OTHER, signal);
    expect(await ask(next, "")).toBe(200);
  });
});

test("a forged ID opens nothing while the owner's machine is not listed", async () => {
  const { ask, power } = create(["owner", "other"], false);
  expect(await ask(OTHER_LOGIN, "")).toBe(401);
  expect(await ask(OTHER_LOGIN, RESET, OFF)).toBe(401);
  expect(power.calls).toEqual([]);
});
