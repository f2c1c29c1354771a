import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestProject } from "vitest/node";
import pack from "../package/support/pack.ts";
import { mustRun } from "../package/support/run.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** A folder with the examples, in which the packed package, the frameworks and a database are installed. */
    installed: string;
  }
}

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const FRAMEWORKS = ["express", "fastify", "hono", "@hono/node-server"];
/** An example that names its database's packages in its first lines. */
const WITH_DATABASE = "your-own-storage/server.ts";

/** Packs the package and installs it next to the examples, as a user would, once for all tests. */
export default async function installExamples(project: TestProject): Promise<() => Promise<void>> {
  const remove = await pack(project);
  try {
    const { tarball, folder } = project.getProvidedContext().packed;
    const examplesFolder = join(folder, "..", "examples");
    cpSync(join(ROOT, "examples"), examplesFolder, { recursive: true });
    const { devDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    const frameworks = FRAMEWORKS.map((name) => `${name}@${devDependencies[name]}`);
    const [, database = ""] =
      / npm install --no-save (.+)$/m.exec(readFileSync(join(examplesFolder, WITH_DATABASE), "utf8")) ?? [];
    await install(examplesFolder, tarball, ...frameworks, ...database.split(" "));
    project.provide("installed", examplesFolder);
  } catch (error) {
    await remove();
    throw error;
  }
  return remove;
}

/** Makes a folder a project and installs packages in it. */
export async function install(folder: string, ...packages: string[]): Promise<void> {
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  await mustRun(["npm", "install", "--prefer-offline", "--no-audit", "--no-fund", ...packages], { cwd: folder });
}
