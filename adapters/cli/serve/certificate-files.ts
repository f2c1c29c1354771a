import { readFile } from "node:fs/promises";
import type { Logger } from "../../../src/ports/logger.ts";
import type { Listening, Tls } from "../../server/listening.ts";
import { UsageError } from "../usage-error.ts";

/** Paths of the PEM files of a certificate and its key. */
export type CertificateFiles = Tls;

const VARIABLES = { cert: "RINGPORT_TLS_CERT", key: "RINGPORT_TLS_KEY" } as const;
/** Interval for comparing the files with the certificate in use, ms. */
const CHECK_INTERVAL_MS = 60_000;

/** Reads and checks the files. @throws {UsageError} a file cannot be read, or its contents cannot be used */
export async function readCertificate(files: CertificateFiles): Promise<Tls> {
  const [cert, key] = await Promise.all([readPem(files, "cert"), readPem(files, "key")]);
  const { tlsFault } = await import("../../server/tls-fault.ts");
  const fault = tlsFault({ cert, key });
  if (fault) throw refusal(files, fault.part, fault.sentence);
  return { cert, key };
}

/** Dependencies of {@link followCertificate}. */
export interface CertificateFilesOptions {
  /** Certificate and key in use. */
  readonly initial: Tls;
  readonly listening: Pick<Listening, "setCertificate">;
  readonly log: Logger;
  /** Interval between checks, ms. Default: one minute. */
  readonly intervalMs?: number;
}

/** Replaces a server's certificate when its files change. Returns a function that stops the checks. */
export function followCertificate(
  files: CertificateFiles,
  { initial, listening, log, intervalMs = CHECK_INTERVAL_MS }: CertificateFilesOptions,
): () => void {
  let current = initial;
  let faults: string[] = [];
  const check = async (): Promise<void> => {
    try {
      const certificate = await readCertificate(files);
      if (certificate.cert !== current.cert || certificate.key !== current.key) {
        listening.setCertificate?.(certificate);
        current = certificate;
        if (listening.setCertificate) log.info({ file: files.cert }, "new connections use the renewed certificate");
        else log.warn({ file: files.cert }, "the certificate was renewed; restart the server to use it");
      }
      faults = [];
    } catch (err) {
      // The two files are not replaced at the same moment, so a fault is logged only if the next check finds it too.
      const { message } = err as Error;
      faults = faults[0] === message ? [...faults, message] : [message];
      if (faults.length === 2)
        log.error({ err }, "the certificate files cannot be used; the old certificate stays in use");
    }
  };
  let timer: NodeJS.Timeout;
  const checkLater = (): void => {
    timer = setTimeout(() => void check().then(checkLater), intervalMs);
    timer.unref();
  };
  checkLater();
  return () => clearTimeout(timer);
}

async function readPem(files: CertificateFiles, part: keyof Tls): Promise<string> {
  try {
    return await readFile(files[part], "utf8");
  } catch (cause) {
    const { code = "unknown" } = cause as { code?: string };
    throw refusal(files, part, READ_FAULTS.get(code) ?? `the file cannot be read (${code})`, cause);
  }
}

function refusal(files: CertificateFiles, part: keyof Tls, sentence: string, cause?: unknown): UsageError {
  return new UsageError(`${VARIABLES[part]} is ${JSON.stringify(files[part])}: ${sentence}`, { cause });
}

const READ_FAULTS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ENOENT: "there is no such file; name a PEM file",
    ENOTDIR: "there is no such file; name a PEM file",
    EISDIR: "it is a folder; name a PEM file",
    EACCES: "this user may not read the file; change its owner or its permissions",
    EPERM: "this user may not read the file; change its owner or its permissions",
  }),
);
