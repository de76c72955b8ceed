import { describe, expect, test } from "bun:test";
import { formatCheckHelp, parseCheckFlags } from "../../../lib/cli/check/flags.ts";

describe("parseCheckFlags()", () => {
  test.each([
    ["", "text"],
    ["--output=json", "json"],
    ["--output json", "json"],
    ["-o json", "json"],
    ["-o=json", "json"],
    ["--output=json -o text", "text"],
  ])("reads the output of `%s`", (line, output) => {
    const argv = line.split(" ").filter((one) => one !== "");
    expect(parseCheckFlags(argv).output).toBe(output === "json" ? "json" : "text");
  });

  test("reads the flags of run around it", () => {
    const argv = ["--cloud-config=/c", "--output", "json", "--master", "http://m", "-v2"];
    const { settings, output } = parseCheckFlags(argv);
    expect(output).toBe("json");
    expect(settings).toMatchObject({ cloudConfig: "/c", master: "http://m" });
  });

  test.each([
    [["--output=xml"], ['--output: wanted text or json, found "xml"']],
    [["--output"], ['--output: wanted text or json, found ""']],
    [
      ["--frob", "-o", "yaml"],
      ['--output: wanted text or json, found "yaml"', "--frob: unknown flag; see --help"],
    ],
    [["--outptu=json"], ["--outptu: unknown flag; see --help"]],
  ])("refuses %j", (argv, problems) => {
    expect(() => parseCheckFlags(argv)).toThrow(problems.join("\n"));
  });

  test("complains of nothing beside --help", () => {
    expect(parseCheckFlags(["--output=xml", "--help"]).settings.isHelpWanted).toBe(true);
  });
});

test("formatCheckHelp() has the flags of run and its own", () => {
  expect(formatCheckHelp()).toMatch(/-o, --output=text .*\n[^]*--cloud-config=/);
});
