import { describe, expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { useStaticClouds } from "../../support/cloud/static_cloud.ts";

const signal = new AbortController().signal;
const start = useStaticClouds();

describe("StaticProvider.inspect()", () => {
  test("names the file and counts its instances", async () => {
    const { provider, path } = await start("instances: [{ id: a, name: a }, { id: b, name: b }]\n");
    const found = await provider.inspect?.(signal);
    expect(found).toMatchObject({ endpoint: path, counts: { files: 1, instances: 2 } });
    expect(found?.parts).toEqual([{ kind: "file", id: "file", name: path, complete: true }]);
    expect(found?.findings.map(({ level }) => level)).toEqual(["ok", "ok"]);
  });

  test("warns of a file without instances", async () => {
    const { provider } = await start("instances: []\n");
    const found = await provider.inspect?.(signal);
    expect(found?.findings.at(-1)).toMatchObject({ level: "warning", code: "noInstances" });
  });

  test("says that the file is gone or wrong now", async () => {
    const cloud = await start("instances: []\n");
    await cloud.write("instances: 3\n");
    expect((await cloud.provider.inspect?.(signal))?.findings).toMatchObject([
      { level: "failure", code: "unreadable" },
    ]);
    await rm(cloud.path);
    const found = await cloud.provider.inspect?.(signal);
    expect(found?.findings[0]?.message).toContain("there is no such file");
    expect(found?.inventory).toBeUndefined();
  });
});
