import { describe, expect, test } from "bun:test";
import type { MachineStart } from "../../../../lib/controllers/vino/machines/steps/tasks.ts";
import { readSeed } from "../../../../lib/controllers/vino/machines/seed.ts";
import type { RoleForm } from "../../../../lib/controllers/vino/resource/role_form.ts";
import type { KubeClient } from "../../../../lib/kube/api/client.ts";
import { KubeError } from "../../../../lib/kube/api/errors.ts";
import { toSecretData } from "../../../../lib/kube/kinds/secret.ts";

const { signal } = new AbortController();
const FORM: RoleForm = {
  template: "debian",
  cpus: 2,
  memoryBytes: 1,
  disks: [],
  countPer: "Host",
  boot: "Template",
  hosts: {},
};
const SECRET = { name: "user-data", key: "userData" };
const STATIC = {
  name: "eth0",
  network: "oam",
  mac: "02:00:00:00:00:01",
  addresses: [{ ip: "192.0.2.10", prefixLength: 24 }],
  routes: [],
  dnsServers: [],
};

function read(
  start: MachineStart | undefined,
  texts?: Record<string, string>,
): ReturnType<typeof readSeed> {
  const client: Pick<KubeClient, "read"> = {
    read: async () => {
      if (texts === undefined) throw new KubeError("notFound", "404");
      return JSON.parse(
        JSON.stringify({ metadata: { name: "user-data" }, data: toSecretData(texts) }),
      );
    },
  };
  const names = { namespace: "metal", machine: "vino-1-worker-0", host: "edge-worker-0" };
  return readSeed(client, { ...names, start }, signal);
}

describe("readSeed()", () => {
  test("reads user data, and adds names and networks", async () => {
    const form = { ...FORM, userDataSecret: SECRET };
    expect(
      await read({ form, interfaces: [STATIC] }, { userData: "#cloud-config\nusers: []\n" }),
    ).toEqual({
      label: "cidata",
      files: {
        "user-data": "#cloud-config\nusers: []\n",
        "meta-data": expect.stringContaining('"edge-worker-0"'),
        "network-config": expect.stringContaining("192.0.2.10"),
      },
    });
  });

  test("gives static addresses to a machine without user data", async () => {
    const seed = await read({ form: FORM, interfaces: [STATIC] });
    expect(seed?.files["user-data"]).toBe("#cloud-config\n{}\n");
  });

  test("refuses user data that cloud-init would ignore, without a part of it", async () => {
    const start = { form: { ...FORM, userDataSecret: SECRET }, interfaces: [] };
    await expect(read(start, { userData: "password=hunter2" })).rejects.toThrow(
      /^Cannot use user data: key userData of Secret user-data must begin with[^2]+$/,
    );
  });

  test.each<[string, MachineStart | undefined]>([
    ["goes", undefined],
    [
      "is installed by metal3",
      { form: { ...FORM, boot: "Network", userDataSecret: SECRET }, interfaces: [STATIC] },
    ],
    ["has neither user data nor a static address", { form: FORM, interfaces: [] }],
  ])("reads nothing for a machine that %s", async (_title, start) => {
    expect(await read(start)).toBeUndefined();
  });

  test("says which Secret or key is missing, and nothing of its content", async () => {
    const start = { form: { ...FORM, userDataSecret: SECRET }, interfaces: [] };
    await expect(read(start)).rejects.toThrow('there is no Secret "user-data"');
    await expect(read(start, { other: "hunter2" })).rejects.toThrow(
      /^Cannot read user data: Secret "user-data" has no key "userData"$/,
    );
  });
});
