import { randomBytes } from "node:crypto";
import { link, lstat, open, rm } from "node:fs/promises";

/**
 * Creates a file that only its owner can read. The file is either complete or absent, even after a power failure, and
 * never replaces an existing file.
 * @param makeText called once the folder is known to be writable
 * @throws {Error} a file system error, with a `code`; `EEXIST` if the file exists
 */
export async function createFile(path: string, makeText: () => Promise<string>): Promise<void> {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString("hex")}.tmp`;
  try {
    const file = await open(draft, "wx", 0o600);
    let content: string;
    try {
      if (await exists(path)) throw Object.assign(new Error(`${path} exists`), { code: "EEXIST" });
      content = await makeText();
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    // Unlike a rename, a link never replaces a file that another process has created in the meantime.
    await link(draft, path).catch((error: { code?: string }) => {
      if (!NO_LINK_CODES.has(error.code ?? "")) throw error;
      return writeNewFile(path, content);
    });
  } finally {
    await rm(draft, { force: true });
  }
}

/** Error codes of file systems without hard links. */
const NO_LINK_CODES: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

async function writeNewFile(path: string, text: string): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
