import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { RpcSession } from "../../../../lib/simulator/xenorchestra/rpc/session.ts";
import { Rig } from "../writes/rig.ts";

describe("RpcSession", () => {
  let rig: Rig;
  let session: RpcSession;
  beforeEach(() => {
    rig = new Rig();
    session = rig.cloud.openSession();
  });
  afterEach(() => rig.stop());

  const call = async (method: string, params: object = {}): Promise<unknown> => {
    const message = JSON.stringify({ jsonrpc: "2.0", id: 7, method, params });
    const { result, error } = Object(JSON.parse((await session.answer(message)) ?? ""));
    return error === undefined ? result : error.code;
  };
  const signIn = () => call("session.signIn", { token: rig.cloud.token });

  test("sets the boot order of a machine, whatever the text", async () => {
    const vm = await rig.make("vino-1");
    await signIn();
    expect(await call("vm.setBootOrder", { vm: vm.id, order: "ncd" })).toBe(true);
    expect(vm["boot"]).toEqual({ order: "ncd", firmware: "bios" });
    expect(await call("vm.setBootOrder", { vm: vm.id, order: "zz" })).toBe(true);
  });

  test("refuses strangers, other methods, other parameters and unknown machines", async () => {
    expect(await call("vm.setBootOrder", { vm: "a", order: "n" })).toBe(2);
    expect(await call("session.signIn", { token: "nope" })).toBe(3);
    expect(await call("session.signIn", { email: "admin@admin.net", password: "no" })).toBe(3);
    expect(await signIn()).toMatchObject({ permission: "admin" });
    expect(await call("vm.create")).toBe(-32_601);
    expect(await call("vm.setBootOrder", { vm: "a", order: "n" })).toBe(1);
    expect(await call("vm.setBootOrder", { vm: "a", order: "n", x: 1 })).toBe(10);
  });

  test("knows no roles, only old ACLs on the machine or its pool", async () => {
    const vm = await rig.make("vino-1");
    const set = { vm: vm.id, order: "n" };
    rig.cloud.auth.setPrivileges("admin@admin.net", [{ resource: "vm", action: "update" }]);
    await signIn();
    expect(await call("vm.setBootOrder", set)).toBe(2);
    rig.cloud.auth.setPrivileges("admin@admin.net", [], [rig.site.poolIds.paris]);
    await signIn();
    expect(await call("vm.setBootOrder", set)).toBe(true);
  });

  test("gives no answer if the process dies meanwhile", async () => {
    const vm = await rig.make("vino-1");
    await signIn();
    rig.cloud.hypervisor.operationMs = 1_000;
    const asked = call("vm.setBootOrder", { vm: vm.id, order: "n" });
    rig.cloud.kill();
    await expect(asked).rejects.toThrow("killed");
  });
});
