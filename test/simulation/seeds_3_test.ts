import { describeSeeds } from "./seeds.ts";

describeSeeds(501, 250);
