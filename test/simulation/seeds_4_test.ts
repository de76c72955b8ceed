import { describeSeeds } from "./seeds.ts";

describeSeeds(751, 250);
