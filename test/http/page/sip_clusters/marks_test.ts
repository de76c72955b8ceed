import { expect, test } from "bun:test";
import { HostBar, toClusterPath } from "../../../../lib/http/page/sip_clusters/marks.tsx";

test("toClusterPath() escapes namespace and name", () => {
  expect(toClusterPath("../", "a b/c?d")).toBe("../sipclusters/a%20b/c%3Fd");
});

test("HostBar() draws one share for each state, and nothing without hosts", async () => {
  const bar = HostBar({
    counts: [
      ["free", 3],
      ["used", 1],
    ],
  });
  expect(String(await bar?.toString()).match(/<rect/g)).toHaveLength(2);
  expect(HostBar({ counts: [] })).toBeNull();
});
