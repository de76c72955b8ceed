import { TELLINGS } from "./cloudstack/mod.ts";
import { tellAll } from "./tell_all.ts";

tellAll(TELLINGS);
