import { randomBytes } from "node:crypto";
import { link, lstat, open, rm } from "node:fs/promises";

/**
 * Creates a file that only its owner can read. It exists completely or not at all, even after a power failure, and
 * never replaces an existing file.
 * @param text called once the folder is known to be writable
 * @throws {Error} of the file system, with its `code`; `EEXIST`: the file exists
 */
export async function createFile(path: string, text: () => Promise<string>): Promise<void> {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString("hex")}.tmp`;
  try {
    const file = await open(draft, "wx", 0o600);
    let whole: string;
    try {
      if (await isThere(path)) throw Object.assign(new Error(`${path} exists`), { code: "EEXIST" });
      whole = await text();
      await file.writeFile(whole);
      await file.sync();
    } finally {
      await file.close();
    }
    // Unlike a rename, a link never replaces a file that another process has created in the meantime.
    await link(draft, path).catch((error: { code?: string }) => {
      if (!NO_LINKS.has(error.code ?? "")) throw error;
      return writeNew(path, whole);
    });
  } finally {
    await rm(draft, { force: true });
  }
}

/** Errors of file systems without hard links. */
const NO_LINKS: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

async function writeNew(path: string, text: string): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
