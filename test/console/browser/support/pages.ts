import { fileURLToPath } from "node:url";
import { buildConsole } from "../../../../.ci/console.ts";

/** Global setup: builds the pages from their current sources, into the folder of a server that runs from the sources. */
export default async function pages(): Promise<void> {
  await buildConsole(fileURLToPath(new URL("../../../../adapters/console/assets", import.meta.url)));
}
