import { describe, expect, test } from "bun:test";
import { main } from "../../lib/cli/main.ts";
import { toProgramName } from "../../lib/cli/program_name.ts";
import { VERSION } from "../../lib/cli/version.ts";
import { listLoaded } from "../support/sources.ts";

async function call(line: string): Promise<{ code: number; out: string; err: string }> {
  let out = "";
  let err = "";
  const code = await main(line.split(" "), {
    env: {},
    print: (text) => (out += text),
    complain: (text) => (err += text),
  });
  return { code, out, err };
}

test.each(["version", "--version", "run --version"])(
  "main() prints the version for %s",
  async (line) => {
    expect(await call(line)).toEqual({ code: 0, out: `landfall ${VERSION}\n`, err: "" });
  },
);

test.each(["help", "--help", "-h"])("main() prints the commands for %s", async (line) => {
  const { code, out } = await call(line);
  expect(code).toBe(0);
  expect(out).toContain("demo");
  expect(out).toContain("landfall help COMMAND");
});

test.each(["help run", "run --help", "--help --cloud-config=x"])(
  "main() prints the flags of run for %s",
  async (line) => {
    const { code, out } = await call(line);
    expect(code).toBe(0);
    expect(out).toContain("--cloud-config");
  },
);

test("main() prints the demo's flags", async () => {
  const { code, out } = await call("demo --help");
  expect(code).toBe(0);
  expect(out).toContain("--once");
});

describe("main() ends with 2 and one line for each problem", () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ["fly", ['unknown command "fly"; see landfall --help']],
    ["chek", ['unknown command "chek"; did you mean check?']],
    ["help nods", ['unknown command "nods"; did you mean nodes?']],
    ["nodes a b --outptu=json", ['"b"', "did you mean --output?"]],
    ["completion tcsh", ['must be the name of a shell (bash, zsh, fish), but is "tcsh"']],
    ["--cloud-confg=x --leader-elect=maybe", ["--cloud-config", "--leader-elect"]],
    [
      "run --cloud-provider=azure",
      ['unknown provider "azure" (known: xenorchestra, static, external-cloudstack)'],
    ],
    ["run --cloud-config=/nowhere/config.yaml", ["/nowhere/config.yaml"]],
    ["demo --twice", ["--twice"]],
  ];
  test.each(cases)("%s", async (line, wanted) => {
    const { code, err } = await call(line);
    const lines = err.split("\n").filter((text) => text.startsWith("landfall: "));
    expect([code, lines.length]).toEqual([2, wanted.length]);
    for (const part of wanted) expect(lines.some((text) => text.includes(part))).toBe(true);
  });
});

test("P-05 P-06 main() names every problem of the settings and shows no secret", async () => {
  const secret = "s3cr3t-of-the-test";
  let err = "";
  const env = { XOA_URL: "ftp://xo", XOA_TOKEN: secret, XOA_USER: "u", XOA_PASSWORD: secret };
  const code = await main(["run"], { env, print: () => {}, complain: (text) => (err += text) });
  expect(code).toBe(2);
  expect(err).toContain("XOA_URL");
  expect(err.split("\n").filter((line) => line.startsWith("landfall: ")).length).toBeGreaterThan(1);
  expect(err).not.toContain(secret);
});

test.each(["print_version", "help"])(
  "main() loads for %s no controller, no cloud and no package",
  async (file) => {
    const loaded = await listLoaded("main.ts", "lib/cli/main.ts", `lib/cli/${file}.ts`);
    const quick = /^(main\.ts|package\.json|node:(fs|os|process)|lib\/(cli|core|host)\/.*)$/;
    expect(loaded.filter((one) => !quick.test(one))).toEqual([]);
  },
);

test("main() on a terminal shows help without a command, and runs no controllers", async () => {
  const call = async (columns?: number): Promise<{ code: number; out: string }> => {
    let out = "";
    const print = (text: string): void => void (out += text);
    const env = { KUBECONFIG: "/nowhere" };
    const context = { env, print, complain: print, columns: () => columns };
    return { code: await main([], context), out };
  };
  const { code, out } = await call(80);
  expect(code).toBe(0);
  expect(out).toStartWith(
    "landfall: on a terminal, no command means help. To run the controllers: landfall run\n",
  );
  expect(out).toContain("Usage:\n  landfall [command] [flags]");
  expect(await call()).toMatchObject({ code: 2, out: expect.not.stringContaining("Usage:") });
});

describe("main() as a plugin of kubectl", () => {
  const callPlugin = async (...argv: readonly string[]): Promise<{ code: number; out: string }> => {
    let out = "";
    const print = (text: string): void => void (out += text);
    const program = toProgramName("/usr/local/bin/kubectl-landfall", "/opt/landfall");
    return { code: await main(argv, { env: {}, program, print, complain: print }), out };
  };

  test("shows its commands as users type them, and runs no controllers without a command", async () => {
    const { code, out } = await callPlugin();
    expect(code).toBe(0);
    expect(out).toContain("Usage:\n  kubectl landfall [command] [flags]");
    expect(out).toContain('"kubectl landfall help COMMAND"');
    expect((await callPlugin("--cloud-config=x")).code).toBe(2);
  });

  test("shows the help of a command as users type it", async () => {
    const { out } = await callPlugin("sipclusters", "--help");
    expect(out).toContain("Usage:\n  kubectl landfall sipclusters [NAME] [flags]");
    expect(out).toContain("  kubectl landfall sipclusters tenants/blue");
  });
});

test.each([
  [["/usr/bin/landfall"], "landfall"],
  [["/usr/bin/bun", "main.ts"], "landfall"],
  [["kubectl-landfall", "/opt/landfall"], "kubectl landfall"],
])("toProgramName() of %p is %p", (paths, expected) => {
  expect(toProgramName(...paths)).toBe(expected);
});
