import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { atFileEnd } from "./file-end.ts";

/** A fresh folder that is gone after the test file that asked for it. */
export function temporaryFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `ringport-${name}-`));
  atFileEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
