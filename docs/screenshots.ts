/**
 * Takes the pictures of docs/images: the pages as they show the world of the demo, with a few things gone wrong.
 * @module
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { startBrowser } from "../test/support/page/browser.ts";
import { type PageStage, startPageStage } from "../test/support/page/page_stage.ts";

/** One picture. */
interface Shot {
  readonly file: string;
  readonly path: string;
  readonly scheme: "light" | "dark";
  /** In CSS pixels. Nothing below it is shown. */
  readonly size: { readonly width: number; readonly height: number };
  readonly scale: number;
}

const FOLDER = join(import.meta.dirname, "images");
const DESKTOP = { width: 1_200, height: 1_208 };
const PHONE = { width: 390, height: 844 };

const SHOTS: readonly Shot[] = [
  { file: "page-light.png", path: "", scheme: "light", size: DESKTOP, scale: 1 },
  { file: "page-dark.png", path: "", scheme: "dark", size: DESKTOP, scale: 1 },
  { file: "page-phone.png", path: "", scheme: "light", size: PHONE, scale: 2 },
  {
    file: "page-node.png",
    path: "nodes/worker-uefi",
    scheme: "light",
    size: { width: 1_200, height: 1_000 },
    scale: 1,
  },
];

async function takeShot(browser: Browser, stage: PageStage, shot: Shot): Promise<void> {
  const { scheme, size, scale } = shot;
  const context = await browser.newContext({
    colorScheme: scheme,
    viewport: size,
    deviceScaleFactor: scale,
  });
  const page = await context.newPage();
  await page.goto(`${stage.url}/debug/${shot.path}`);
  await page.screenshot({ path: join(FOLDER, shot.file) });
  await context.close();
}

/** A machine that is off, a Node whose provider ID cannot be read, one of another cloud, and a pool out of sight. */
async function setTheScene(stage: PageStage): Promise<void> {
  const { cloud, kubelets, world } = stage;
  cloud.state.setPower(world.machines.get("worker-2")?.vmId ?? "", "Halted");
  kubelets.silence("worker-2");
  stage.addStranger("edge-paris", { providerID: "xenorchestra://paris/edge-paris" });
  stage.addStranger("ip-10-3-7-12", { providerID: "aws:///eu-west-3a/i-0abc" });
  const lyon = cloud.state.list("pools").find((pool) => pool["name_label"] === "lyon");
  if (lyon) cloud.state.dropPool(lyon.id);
  for (const text of ["stopped", "no match", "Foreign"]) {
    await stage.waitFor(text);
  }
  await stage.waitFor("4 unknown");
}

if (import.meta.main) {
  await mkdir(FOLDER, { recursive: true });
  await using stage = await startPageStage();
  await using browser = await startBrowser();
  await setTheScene(stage);
  for (const shot of SHOTS) await takeShot(browser, stage, shot);
}
