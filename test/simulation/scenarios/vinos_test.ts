import { TELLINGS } from "./vinos/mod.ts";
import { tellAll } from "./tell_all.ts";

tellAll(TELLINGS);
