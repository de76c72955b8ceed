/**
 * Draws many inputs of each budget, and prints those that are too much work: a list in JSON.
 * @module
 */
import { Random } from "../../support/random.ts";
import { BUDGETS } from "./budgets.ts";
import { countWork } from "./counter.ts";

const draws = Number(process.argv[2]);
const found: object[] = [];
for (const [name, { workMax, draw }] of Object.entries(BUDGETS)) {
  for (let seed = 1; seed <= draws; seed += 1) {
    const work = Math.round(await countWork(draw(new Random(seed))));
    if (work > workMax) found.push({ name, seed, work, workMax });
  }
}
console.log(JSON.stringify(found));
