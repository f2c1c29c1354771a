import { type FileHandle, open } from "node:fs/promises";

/**
 * Opens files that accept this many bytes after their start, and then fail; the start, such as a header, can be rewritten at any time.
 * @param code error code of the system
 */
export function fullDisk(bytes: number, code = "ENOSPC"): typeof open {
  return async (...args) => {
    const file = await open(...args);
    let remaining = bytes;
    return new Proxy(file, {
      get(_, name) {
        const member = Reflect.get(file, name);
        if (name !== "write") return typeof member === "function" ? member.bind(file) : member;
        return async (data: Uint8Array, from: number, length: number, position: number) => {
          if (position > 0 && remaining === 0) throw Object.assign(new Error(code), { code });
          const grantedBytes = position > 0 ? Math.min(remaining, length) : length;
          if (position > 0) remaining -= grantedBytes;
          return file.write(data, from, grantedBytes, position);
        };
      },
    }) as FileHandle;
  };
}
