import { expect, test } from "bun:test";
import { describeAlike, type MachineLine } from "../../../../lib/controllers/vino/status/alike.ts";

const line = (index: number, message: string): MachineLine => ({
  name: `vino-a-${index}`,
  message,
});
const ID = "02f9029d-1f7c-4b3b-9d5e-2a5c0d3e4f10";
const OTHER_ID = "0e6f3c52-5a1d-4a55-8a3b-7f0f0c8c9d21";

test.each([
  ["one message with its machine", [line(0, "no room")], ["machine vino-a-0: no room"]],
  ["one message that names its machine", [line(0, "vino-a-0 is off")], ["vino-a-0 is off"]],
  [
    "the same of several machines once",
    [line(0, "no room"), line(1, "no room"), line(12, "no room")],
    ["machines vino-a-0, vino-a-1, vino-a-12: no room"],
  ],
  [
    "what differs only by the name of the machine once",
    [line(0, "disk of vino-a-0 is gone"), line(1, "disk of vino-a-1 is gone")],
    ["disk of vino-a-0 is gone, and the same for 1 more machine"],
  ],
  [
    "what has several sentences, and that others have the same, in a sentence of its own",
    [
      line(0, "disk of vino-a-0 is gone. Attach it"),
      line(1, "disk of vino-a-1 is gone. Attach it"),
    ],
    ["disk of vino-a-0 is gone. Attach it. The same is true of 1 more machine"],
  ],
  [
    "what differs only by an ID or a MAC address once",
    [
      line(0, `VM ${ID} has the MAC address 02:00:00:00:00:01`),
      line(1, `VM ${OTHER_ID} has the MAC address 02:00:00:00:00:0f`),
      line(2, `VM ${OTHER_ID} has the MAC address 02:00:00:00:00:0f`),
    ],
    [
      `machine vino-a-0: VM ${ID} has the MAC address 02:00:00:00:00:01, and the same for 2 more machines`,
    ],
  ],
  [
    "what differs only by an IP address once",
    [
      line(0, "eth0 has 192.0.2.10, not one of 192.0.2.0/24"),
      line(1, "eth0 has 192.0.2.11, not one of 192.0.2.0/24"),
      line(2, "eth0 has 2001:db8::1, not one of 192.0.2.0/24"),
      line(3, "eth0 has 192.0.2.12, not one of 192.0.3.0/24"),
    ],
    [
      "machine vino-a-0: eth0 has 192.0.2.10, not one of 192.0.2.0/24, and the same for 2 more machines",
      "machine vino-a-3: eth0 has 192.0.2.12, not one of 192.0.3.0/24",
    ],
  ],
  [
    "different things in the order of the first machines",
    [line(0, "no room"), line(1, "no template"), line(2, "no room")],
    ["machines vino-a-0, vino-a-2: no room", "machine vino-a-1: no template"],
  ],
  [
    "all that one machine has",
    [line(0, `network ${ID} is gone`), line(0, `network ${OTHER_ID} is gone`)],
    [`machine vino-a-0: network ${ID} is gone`, `machine vino-a-0: network ${OTHER_ID} is gone`],
  ],
  ["nothing", [], []],
])("describeAlike() says %s", (_title, lines, texts) => {
  expect(describeAlike(lines)).toEqual(texts);
});
