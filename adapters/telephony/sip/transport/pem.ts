import { readFile } from "node:fs/promises";
import type { TrunkTls } from "../config/trunk.ts";
import { TransportError } from "./transport.ts";

/** The texts of a trunk's certificates. */
export interface TlsTexts {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

/** Reads the certificate files, again for every connection, since certificates are renewed. @throws {TransportError} */
export async function readTls(tls: TrunkTls): Promise<TlsTexts> {
  const [ca, cert, key] = await Promise.all([
    pemText("tls.ca", tls.ca),
    pemText("tls.cert", tls.cert),
    pemText("tls.key", tls.key),
  ]);
  return { ca, cert, key };
}

async function pemText(option: string, textOrPath: string | undefined): Promise<string | undefined> {
  if (textOrPath === undefined || textOrPath.includes("-----BEGIN")) return textOrPath;
  let text: string;
  try {
    text = await readFile(textOrPath, "utf8");
  } catch (cause) {
    const { code } = cause as { code?: string };
    const why = code === "ENOENT" ? "there is no such file" : `it cannot be read (${code ?? String(cause)})`;
    throw new TransportError("tls", `${option} names the file ${textOrPath}: ${why}`, { cause, lasting: true });
  }
  if (text.includes("-----BEGIN")) return text;
  throw new TransportError("tls", `${option} names the file ${textOrPath}: it is not in PEM format`, { lasting: true });
}
