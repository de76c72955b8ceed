import { TELLINGS } from "./services/mod.ts";
import { tellAll } from "./tell_all.ts";

tellAll(TELLINGS.filter(({ name }) => name.endsWith("/long-jobs")));
