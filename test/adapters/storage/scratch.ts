import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** The path of a database file that is removed with its folder when the test ends. */
export function scratchPath(): string {
  const folder = mkdtempSync(join(tmpdir(), "ringport-storage-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "ringport.db");
}
