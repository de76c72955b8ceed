import {
  type Act,
  call,
  type Case,
  make,
  pass,
  testCases,
  use,
  VINO,
  want,
} from "./right_world.ts";
import { NEWS_MS } from "./wishes.ts";

/** For so long a change that was asked for while a VM was off may be on its way. */
const LATE_MS = 60_000;

/** A VM is switched by a person. */
function put(power: "Halted" | "Running"): Act {
  return (right) => {
    right.world.powerJudge.note();
    right.world.cloud.state.setPower(right.vm(0).id, power);
  };
}

const ON = put("Running");
const OFF = put("Halted");
/** A VM has run for a while. */
const RUN: readonly Act[] = [ON, pass(LATE_MS + 1)];

/** A hypervisor changes a disk of a VM. */
function callDisk(method: string): Act {
  return (right) => right.call(method, right.attachDisk(0), right.toName(0));
}

/** A client asks for something that no process answers: it may be done all the same. */
const ask: Act = (right) => right.world.ironic.resetAny(right.vm(0).id, "off");

/** A person takes all tags from a VM. */
const spoil: Act = (right) => {
  right.world.powerJudge.note();
  right.vm(0)["tags"] = [];
  return right.world.timeline.advance(1);
};

const deleteHost: Act = ({ world }) =>
  world.objects.delete("baremetalhosts", { ...VINO, name: `${VINO.name}-worker-0` });

const STOPS = [
  "VM.hard_shutdown",
  "VM.clean_shutdown",
  "VM.hard_reboot",
  "VM.clean_reboot",
  "VM.pause",
  "VM.suspend",
];
const ASKED = ["VM.hard_shutdown", "VM.pause", "VM.unpause", "VM.resume"];

testCases("PowerJudge judges", [
  ...["VM.set_cpus", "VM.set_memory"].flatMap((method): Case[] => [
    [`${method} of a VM that runs`, [...RUN, call(method)], `gets ${method} while it runs`],
    [`${method} of a VM that was switched on a moment ago`, [OFF, ON, call(method)]],
    [`${method} of a VM that is off`, [...RUN, OFF, call(method)]],
  ]),
  [
    "a disk that grows while its VM runs",
    [...RUN, callDisk("VDI.resize")],
    "gets VDI.resize while it runs",
  ],
  ["a new name of a disk while its VM runs", [...RUN, callDisk("VDI.set_name_label")]],
  ...STOPS.flatMap((method): Case[] => [
    [
      `${method} of a VM whose host is used`,
      [use(0), call(method)],
      `gets ${method}, and something uses its host`,
    ],
    [
      `${method} of a VM that its Vino wants, and whose host nothing uses`,
      [use(1), call(method)],
      `gets ${method}, and nobody asked for that`,
    ],
    [
      `${method} of a VM that its Vino wants, and whose host is gone`,
      [deleteHost, call(method)],
      `gets ${method}, and nobody asked for that`,
    ],
    [
      `${method} of a VM of a Vino that keeps those that it does not want`,
      [
        want({ deletes: false }),
        pass(NEWS_MS + 1),
        want({ deletes: false, count: 1 }),
        call(method),
      ],
      `gets ${method}, and nobody asked for that`,
    ],
    [`${method} of a VM of a Vino that wants fewer`, [want({ count: 1 }), call(method)]],
    [`${method} of a VM that was never complete`, [make(2, []), call(method, 2)]],
  ]),
  [
    "a stop of a VM whose host is used, which a client asked for",
    [use(0), ask, call("VM.hard_shutdown")],
  ],
  [
    "a stop of a VM whose host is used, which a client asked for long ago",
    [use(0), ask, pass(2 * LATE_MS + 1), call("VM.hard_shutdown")],
    "something uses its host",
  ],
  [
    "a stop of a VM that lost its tags, and whose host is gone",
    [spoil, ask, deleteHost, call("VM.clean_shutdown")],
  ],
  ...ASKED.flatMap((method): Case[] => [
    [
      `${method} that a client asked for after the VM lost its tags`,
      [spoil, ask, call(method)],
      `gets ${method}, and was not complete`,
    ],
    [
      `${method} that a client asked for before the VM lost its tags`,
      [ask, pass(1), spoil, call(method)],
    ],
  ]),
]);
