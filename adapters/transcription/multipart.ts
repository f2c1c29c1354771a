import { concatBytes } from "../../src/base/concat-bytes.ts";

/**
 * A form with one file as bytes (RFC 7578). Node's FormData ends the process if a server answers before it has read the
 * whole body.
 * @param boundary letters and digits that no part contains
 */
export function multipart(
  boundary: string,
  fields: readonly (readonly [name: string, value: string])[],
  file: { readonly name: string; readonly type: string; readonly bytes: readonly Uint8Array[] },
): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  const parts: Uint8Array[] = fields.map(([name, value]) =>
    encoder.encode(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`),
  );
  const head =
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${file.name}"\r\n` +
    `Content-Type: ${file.type}\r\n\r\n`;
  parts.push(encoder.encode(head), ...file.bytes, encoder.encode(`\r\n--${boundary}--\r\n`));
  return concatBytes(parts);
}
