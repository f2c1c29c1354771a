/** A request as the bytes that go over the wire; a body is sent as JSON. */
export function requestBytes(method: string, path: string, token?: string, body?: unknown): Buffer {
  const lines = [`${method} ${path} HTTP/1.1`, "Host: localhost"];
  if (token !== undefined) lines.push(`Authorization: Bearer ${token}`);
  const text = body === undefined ? "" : JSON.stringify(body);
  if (body !== undefined) lines.push("Content-Type: application/json", `Content-Length: ${Buffer.byteLength(text)}`);
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n${text}`);
}
