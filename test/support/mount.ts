import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";

/** Mounts a file system in memory, with options of mount(8); returns the reason if that is impossible. */
export function mountInMemory(folder: string, options: string): string | undefined {
  if (process.platform !== "linux" || process.getuid?.() !== 0)
    return "a file system can be mounted on Linux as root only";
  mkdirSync(folder, { recursive: true });
  const { status, stderr } = spawnSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder], { encoding: "utf8" });
  return status === 0 ? undefined : `no tmpfs can be mounted: ${stderr.trim()}`;
}

/** Undoes {@link mountInMemory}; without a mount, it only removes the folder. */
export function unmount(folder: string): void {
  spawnSync("umount", [folder]);
  rmSync(folder, { recursive: true, force: true });
}

/** Fills the remaining space with one file. */
export function fillDisk(path: string): void {
  for (const size of [1 << 20, 1 << 16, 1 << 12])
    for (;;)
      try {
        writeFileSync(path, Buffer.alloc(size), { flag: "a" });
      } catch {
        break;
      }
}
