import { TELLINGS } from "./xenorchestra/mod.ts";
import { tellAll } from "./tell_all.ts";

tellAll(TELLINGS);
