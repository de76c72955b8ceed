import { describe, expect, test } from "bun:test";
import { toRoleForm } from "../../../../lib/controllers/vino/resource/role_form.ts";
import type { MachineForm, VinoSpec } from "../../../../lib/controllers/vino/resource/vino.ts";

const WHOLE: MachineForm = { template: "ubuntu", cpus: 2, memory: "8Gi" };

function toSpec(whole: MachineForm, role?: MachineForm): VinoSpec {
  return { xenOrchestra: whole, nodes: [{ name: "a", ...(role && { xenOrchestra: role }) }] };
}

describe("toRoleForm()", () => {
  test("takes what the whole Vino says, and defaults", () => {
    expect(toRoleForm(toSpec(WHOLE), 0)).toEqual({
      isComplete: true,
      form: {
        template: "ubuntu",
        cpus: 2,
        memoryBytes: 8 * 2 ** 30,
        disks: [],
        countPer: "Host",
        boot: "Template",
        hosts: {},
      },
    });
  });

  test("takes what the role says instead, lists as a whole", () => {
    const whole: MachineForm = {
      ...WHOLE,
      disks: [
        { name: "root", size: "1Gi" },
        { name: "data", size: "1Gi" },
      ],
      hosts: { tags: ["vino"] },
      userDataSecret: { name: "whole", key: "value" },
      countPer: "Total",
    };
    const role: MachineForm = {
      cpus: 4,
      disks: [{ name: "root", size: "2Gi", sr: "local" }],
      hosts: { ids: ["h1"] },
      userDataSecret: { name: "role" },
      boot: "Network",
    };
    expect(toRoleForm(toSpec(whole, role), 0)).toEqual({
      isComplete: true,
      form: {
        template: "ubuntu",
        cpus: 4,
        memoryBytes: 8 * 2 ** 30,
        disks: [{ name: "root", sizeBytes: 2 * 2 ** 30, sr: "local" }],
        countPer: "Total",
        boot: "Network",
        userDataSecret: { name: "role", key: "userData" },
        hosts: { ids: ["h1"] },
      },
    });
  });

  test("names what is missing, with its path", () => {
    const message = "must be set here or in spec.xenOrchestra, because a machine needs it";
    expect(
      toRoleForm({ nodes: [{ name: "a" }, { name: "b", xenOrchestra: { cpus: 1 } }] }, 1),
    ).toEqual({
      isComplete: false,
      missing: [
        { path: "spec.nodes[1].xenOrchestra.template", message },
        { path: "spec.nodes[1].xenOrchestra.memory", message },
      ],
    });
  });
});
