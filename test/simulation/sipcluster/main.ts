import { runSipStory } from "./story.ts";
const first = Number(process.argv[2] ?? 1),
  count = Number(process.argv[3] ?? 1);
for (let seed = first; seed < first + count; seed += 1) {
  const t = performance.now();
  const ending = await runSipStory(seed);
  console.log(
    seed,
    ending.hash.slice(0, 8),
    Math.round(ending.virtualMs / 1000),
    "s",
    Math.round(performance.now() - t),
    "ms",
    ending.violations.join(" | "),
  );
  if (count === 1) console.log(ending.trace.join("\n"));
  else if (ending.violations.length > 0 && process.argv[4]) {
    console.log(ending.trace.slice(-60).join("\n"));
    break;
  }
}
process.exit(0);
