import { join } from "node:path";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** The path of a database file in a separate folder, which is deleted after the test file. */
export function scratchPath(): string {
  return join(temporaryFolder("storage"), "ringport.db");
}
