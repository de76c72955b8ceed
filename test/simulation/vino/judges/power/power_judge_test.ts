import { expect, test } from "bun:test";
import { type Case, listSaid, type RightWorld, VINO } from "../right_world.ts";

/** For so long a change that was asked for while a VM was off may be on its way. */
const LATE_MS = 60_000;

/** Something asks a hypervisor to do something with a VM. */
function call(right: RightWorld, method: string): Promise<void> {
  return right.call(method, right.vm(0).id, right.toName(0));
}

/** A VM is switched by a person. */
function put({ world }: RightWorld, id: string, power: "Halted" | "Running"): void {
  world.powerJudge.note();
  world.cloud.state.setPower(id, power);
}

/** A VM that has run for a while. */
async function run(right: RightWorld): Promise<void> {
  put(right, right.vm(0).id, "Running");
  await right.world.timeline.advance(LATE_MS + 1);
}

const CHANGES: readonly Case[] = ["VM.set_cpus", "VM.set_memory"].flatMap((method): Case[] => [
  [
    `${method} of a VM that runs`,
    async (right) => {
      await run(right);
      await call(right, method);
    },
    `gets ${method} while it runs`,
  ],
  [
    `${method} of a VM that was switched on a moment ago`,
    async (right) => {
      put(right, right.vm(0).id, "Halted");
      put(right, right.vm(0).id, "Running");
      await call(right, method);
    },
    "",
  ],
  [
    `${method} of a VM that is off`,
    async (right) => {
      await run(right);
      put(right, right.vm(0).id, "Halted");
      await call(right, method);
    },
    "",
  ],
]);

const DISKS: readonly Case[] = [
  [
    "a disk that grows while its VM runs",
    async (right) => {
      await run(right);
      await right.call("VDI.resize", right.attachDisk(0), right.toName(0));
    },
    "gets VDI.resize while it runs",
  ],
  [
    "a new name of a disk while its VM runs",
    async (right) => {
      await run(right);
      await right.call("VDI.set_name_label", right.attachDisk(0), right.toName(0));
    },
    "",
  ],
];

const STOPS: readonly Case[] = [
  "VM.hard_shutdown",
  "VM.clean_shutdown",
  "VM.hard_reboot",
  "VM.clean_reboot",
  "VM.pause",
  "VM.suspend",
].flatMap((method): Case[] => [
  [
    `${method} of a VM whose host is used`,
    async (right) => {
      right.use(0);
      await call(right, method);
    },
    `gets ${method}, and something uses its host`,
  ],
  [
    `${method} of a VM whose host another one uses`,
    async (right) => {
      right.use(1);
      await call(right, method);
    },
    "",
  ],
]);

/** A client asks for something that no process answers: it may be done all the same. */
function ask(right: RightWorld): void {
  right.world.ironic.resetAny(right.vm(0).id, "off");
}

/** A person takes all tags from a VM. */
async function spoil(right: RightWorld): Promise<void> {
  right.world.powerJudge.note();
  right.vm(0)["tags"] = [];
  await right.world.timeline.advance(1);
}

const ASKED: readonly Case[] = [
  [
    "a stop of a VM whose host is used, which a client asked for",
    async (right) => {
      right.use(0);
      ask(right);
      await call(right, "VM.hard_shutdown");
    },
    "",
  ],
  [
    "a stop of a VM whose host is used, which a client asked for long ago",
    async (right) => {
      right.use(0);
      ask(right);
      await right.world.timeline.advance(2 * LATE_MS + 1);
      await call(right, "VM.hard_shutdown");
    },
    "something uses its host",
  ],
  [
    "a stop of a VM that lost its tags, and whose host is gone",
    async (right) => {
      await spoil(right);
      ask(right);
      const path = { namespace: VINO.namespace, name: `${VINO.name}-worker-0` };
      right.world.objects.delete("baremetalhosts", path);
      await call(right, "VM.clean_shutdown");
    },
    "",
  ],
  ...["VM.hard_shutdown", "VM.pause", "VM.unpause", "VM.resume"].flatMap((method): Case[] => [
    [
      `${method} that a client asked for after the VM lost its tags`,
      async (right) => {
        await spoil(right);
        ask(right);
        await call(right, method);
      },
      `gets ${method}, and was not complete`,
    ],
    [
      `${method} that a client asked for before the VM lost its tags`,
      async (right) => {
        ask(right);
        await right.world.timeline.advance(1);
        await spoil(right);
        await call(right, method);
      },
      "",
    ],
  ]),
];

test.each([...CHANGES, ...DISKS, ...STOPS, ...ASKED])(
  "PowerJudge judges %s",
  async (_, act, say) => {
    expect(await listSaid(act)).toEqual(say === "" ? [] : [expect.stringContaining(say)]);
  },
);
