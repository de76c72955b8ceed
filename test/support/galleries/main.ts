/**
 * The program with one more controller and one more cloud: a line each.
 * @module
 */
import { main } from "../../../lib/cli/main.ts";
import { CONTROLLERS } from "../../../lib/controllers/mod.ts";
import { PROVIDERS } from "../../../lib/providers/mod.ts";
import { EXAMPLE } from "../cloud/example_provider.ts";
import { galleryController, listeningController, twinController } from "./definition.ts";

const code = await main(process.argv.slice(2), {
  env: process.env,
  print: (text) => void process.stdout.write(text),
  complain: (text) => void process.stderr.write(text),
  controllers: [...CONTROLLERS, galleryController, twinController, listeningController],
  providers: [...PROVIDERS, EXAMPLE],
});
process.exit(code);
