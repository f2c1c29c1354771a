import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { atFileEnd } from "./file-end.ts";

/** A fresh folder that is deleted after the test file that requested it. */
export function temporaryFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `ringport-${name}-`));
  atFileEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
