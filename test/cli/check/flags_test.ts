import { describe, expect, test } from "bun:test";
import { parseCheckFlags } from "../../../lib/cli/check/flags.ts";

describe("parseCheckFlags()", () => {
  test.each([
    ["", "text"],
    ["--output=json", "json"],
    ["--output json", "json"],
    ["-o json", "json"],
    ["-o=json", "json"],
    ["-ojson", "json"],
    ["--output=json -o text", "text"],
  ])("reads the output of `%s`", (line, output) => {
    const argv = line.split(" ").filter((one) => one !== "");
    expect(parseCheckFlags(argv).output).toBe(output === "json" ? "json" : "text");
  });

  test("reads the Lease of the flags, also without election", () => {
    const named = ["--leader-elect-resource-name=a", "--leader-elect-resource-namespace=b"];
    for (const argv of [named, [...named, "--leader-elect=false"]]) {
      expect(parseCheckFlags(argv).ownLease).toEqual({ namespace: "b", name: "a" });
    }
  });

  test("reads the flags of run around it", () => {
    const argv = ["--cloud-config=/c", "--output", "json", "--master", "http://m", "-v2"];
    const { settings, output } = parseCheckFlags(argv);
    expect(output).toBe("json");
    expect(settings).toMatchObject({ cloudConfig: "/c", master: "http://m" });
  });

  test.each([
    [["--output=xml"], ['--output: must be text or json, but is "xml"']],
    [["-oxml"], ["-oxml: unknown flag; see --help"]],
    [["--output"], ["--output: needs a value, but nothing follows; write --output=VALUE"]],
    [
      ["--frob", "-o", "yaml"],
      ["--frob: unknown flag; see --help", '--output: must be text or json, but is "yaml"'],
    ],
    [["--outptu=json"], ["--outptu: unknown flag; did you mean --output?"]],
  ])("refuses %j", (argv, problems) => {
    expect(() => parseCheckFlags(argv)).toThrow(problems.join("\n"));
  });

  test("complains of nothing beside --help", () => {
    expect(parseCheckFlags(["--output=xml", "--help"]).settings.isHelpWanted).toBe(true);
  });

  test("reads what the report has and what makes it fail", () => {
    expect(parseCheckFlags([])).toMatchObject({ isProblemsOnly: false, isStrict: false });
    expect(parseCheckFlags(["--problems-only", "--fail-on=warn"])).toMatchObject({
      isProblemsOnly: true,
      isStrict: true,
    });
    expect(() => parseCheckFlags(["--fail-on=never"])).toThrow("must be fail or warn");
  });

  test("reads whom to act as, and knows whether a flag names the Lease", () => {
    expect(parseCheckFlags([]).impersonation).toBeUndefined();
    const argv = ["--as=jane", "--as-group=a", "--as-group=b", "--as-uid=1"];
    expect(parseCheckFlags(argv).impersonation).toEqual({
      user: "jane",
      groups: ["a", "b"],
      uid: "1",
    });
    expect(() => parseCheckFlags(["--as-group=a", "--as-uid=1"])).toThrow(
      "--as-group: needs --as\n--as-uid: needs --as",
    );
    expect(parseCheckFlags([]).isLeaseNamed).toBe(false);
    expect(parseCheckFlags(["--leader-elect-resource-name=l"]).isLeaseNamed).toBe(true);
  });
});
