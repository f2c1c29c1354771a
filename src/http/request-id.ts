import type { System } from "../ports/system.ts";

/** Request ids with the prefix `req_` and 64 random bits. */
export function requestIds(system: System): () => string {
  const bytes = new Uint8Array(8);
  const view = new DataView(bytes.buffer);
  return () => {
    system.random(bytes);
    return `req_${hex(view.getUint32(0))}${hex(view.getUint32(4))}`;
  };
}

const hex = (value: number): string => value.toString(16).padStart(8, "0");

/** The client's own id, where it is 1 to 128 visible ASCII characters. */
export function givenRequestId(header: string | null): string | undefined {
  return header !== null && /^[!-~]{1,128}$/.test(header) ? header : undefined;
}
