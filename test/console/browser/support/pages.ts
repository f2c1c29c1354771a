import { fileURLToPath } from "node:url";
import { buildConsole } from "../../../../.ci/console.ts";

/** Global setup: the pages as their sources are now, where a server that runs from the sources looks for them. */
export default async function pages(): Promise<void> {
  await buildConsole(fileURLToPath(new URL("../../../../adapters/console/assets", import.meta.url)));
}
