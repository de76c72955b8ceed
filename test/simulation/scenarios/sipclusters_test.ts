import { TELLINGS } from "./sipclusters.ts";
import { tellAll } from "./tell_all.ts";

tellAll(TELLINGS);
