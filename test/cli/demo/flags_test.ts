import { expect, test } from "bun:test";
import { parseDemoFlags } from "../../../lib/cli/demo/flags.ts";

test("parseDemoFlags() stays up and serves its debug pages on loopback by default", () => {
  expect(parseDemoFlags([])).toEqual({
    story: "cloud",
    cloud: "xenorchestra",
    once: false,
    verbose: false,
    debugAddress: { kind: "tcp", host: "127.0.0.1", port: 10_260 },
  });
});

test("parseDemoFlags() takes all flags", () => {
  const argv = [
    "--cloud=cloudstack",
    "--once",
    "--verbose",
    "--kubeconfig",
    "/a/../b",
    "--debug-address=/run/x.sock",
  ];
  expect(parseDemoFlags(argv)).toEqual({
    story: "cloud",
    cloud: "cloudstack",
    once: true,
    verbose: true,
    kubeconfig: "/b",
    debugAddress: { kind: "unix", path: "/run/x.sock" },
  });
});

test.each([["--help"], ["-h"]])("parseDemoFlags() gives nothing for %s", (flag) => {
  expect(parseDemoFlags([flag])).toBeUndefined();
});

test.each([
  ["--twice", "--twice"],
  [
    "--cloud=clodstack",
    'must be xenorchestra or cloudstack, but is "clodstack"; did you mean cloudstack?',
  ],
  ["--cloud=", "must be xenorchestra or cloudstack, but is empty"],
  ["--cloudstack", "did you mean --cloud=cloudstack?"],
  ["--debug-address=0.0.0.0:0", 'must be a loopback address or a unix socket, but is "0.0.0.0:0"'],
  ["--debug-address=nowhere", "nowhere"],
])("parseDemoFlags() refuses %s", (flag, message) => {
  expect(() => parseDemoFlags([flag])).toThrow(message);
});

test.each(["sipcluster", "vino"])("parseDemoFlags() takes the story %s", (story) => {
  expect(parseDemoFlags([story, "--once"])).toMatchObject({ story, once: true });
});

test.each(["sipcluster", "vino"])("parseDemoFlags() refuses a cloud for %s", (story) => {
  expect(() => parseDemoFlags([story, "--cloud=cloudstack"])).toThrow(
    `--cloud: cannot be used with ${story}: that demo has no choice of clouds`,
  );
});

test("parseDemoFlags() takes no other story", () => {
  expect(() => parseDemoFlags(["other"])).toThrow(
    'there is no demo "other"; there are sipcluster and vino',
  );
  expect(() => parseDemoFlags(["vinos"])).toThrow('there is no demo "vinos"; did you mean vino?');
  for (const cloud of ["cloudstack", "xenorchestra"]) {
    expect(() => parseDemoFlags([cloud])).toThrow(`; did you mean --cloud=${cloud}?`);
  }
});
