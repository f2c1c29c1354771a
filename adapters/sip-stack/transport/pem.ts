import { readFile } from "node:fs/promises";
import { TransportError } from "./transport.ts";

/** TLS towards the server. */
export interface TlsOptions {
  /** The authority of the server's certificate: PEM text, or the path of a file. Default: the runtime's authorities. */
  readonly ca?: string | undefined;
  /** The name in the server's certificate. Default: the host of `outboundProxy`, else of `server`. */
  readonly servername?: string | undefined;
  /** Accepts any certificate. For tests. */
  readonly insecure?: boolean | undefined;
  /** Our own certificate, if the server requires one: PEM text, or the path of a file. */
  readonly cert?: string | undefined;
  /** The key of `cert`: PEM text, or the path of a file. */
  readonly key?: string | undefined;
}

/** The texts of a trunk's certificates. */
export interface TlsTexts {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

/** Reads the certificate files, again for every connection, since certificates are renewed. @throws {TransportError} */
export async function readTls(tls: TlsOptions): Promise<TlsTexts> {
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
