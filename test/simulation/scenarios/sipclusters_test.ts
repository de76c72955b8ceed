import { TELLINGS } from "./sipclusters/mod.ts";
import { tellAll } from "./tell_all.ts";

tellAll(TELLINGS);
