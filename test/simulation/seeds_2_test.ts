import { describeSeeds } from "./seeds.ts";

describeSeeds(251, 250);
