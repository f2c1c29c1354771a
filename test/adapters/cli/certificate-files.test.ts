import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { followCertificate, readCertificate } from "../../../adapters/cli/serve/certificate-files.ts";
import type { Tls } from "../../../adapters/server/listening.ts";
import type { Logger } from "../../../src/ports/logger.ts";
import { certificateAuthority } from "../../support/certificates.ts";
import { freshFolder } from "./run-cli.ts";

const authority = certificateAuthority();
const certificate = authority.issue();
let stopFollowing = (): void => {};

afterEach(() => stopFollowing());

/** Writes a certificate and its key to files. */
function createFiles({ cert, key }: Tls) {
  const folder = freshFolder();
  const files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  const write = (tls: Tls): void => {
    writeFileSync(files.cert, tls.cert);
    writeFileSync(files.key, tls.key);
  };
  write({ cert, key });
  return { folder, files, write };
}

describe("the files of a certificate", () => {
  test("are read unchanged", async () => {
    expect(await readCertificate(createFiles(certificate).files)).toEqual(certificate);
  });

  test("are named with their variable if unusable", async () => {
    const { folder, files } = createFiles(certificate);
    const otherKey = createFiles(authority.issue()).files.key;
    const missingFile = join(folder, "nothing.pem");
    for (const [unusableFiles, message] of [
      [{ ...files, cert: missingFile }, `RINGPORT_TLS_CERT is "${missingFile}": there is no such file`],
      [{ ...files, key: folder }, `RINGPORT_TLS_KEY is "${folder}": it is a folder`],
      [{ ...files, key: files.cert }, `RINGPORT_TLS_KEY is "${files.cert}": there is no private key in it`],
      [{ ...files, key: otherKey }, `RINGPORT_TLS_KEY is "${otherKey}": the key belongs to another certificate`],
    ] as const)
      await expect(readCertificate(unusableFiles)).rejects.toMatchObject({
        name: "UsageError",
        message: expect.stringContaining(message),
      });
  });

  test.skipIf(process.getuid?.() === 0)("are named when this user may not read them", async () => {
    const { files } = createFiles(certificate);
    chmodSync(files.key, 0);
    await expect(readCertificate(files)).rejects.toThrow("this user may not read the file");
  });
});

describe("a certificate that is renewed in its files", () => {
  /** Follows the files; returns the certificates used and the log. */
  function followFiles(canReplace = true, refuse = (_: Tls): void => {}) {
    const { files, write } = createFiles(certificate);
    const usedCertificates: Tls[] = [];
    const logLines: string[] = [];
    const logAt = (level: string) => (_: object, message: string) => void logLines.push(`${level} ${message}`);
    const log = { debug: logAt("debug"), info: logAt("info"), warn: logAt("warn"), error: logAt("error") } as Logger;
    const setCertificate = (tls: Tls): void => {
      refuse(tls);
      usedCertificates.push(tls);
    };
    const listening = canReplace ? { setCertificate } : {};
    stopFollowing = followCertificate(files, { initial: certificate, listening, log, intervalMs: 5 });
    return { files, write, usedCertificates, logLines };
  }

  test("is used for new connections, and logged once", async () => {
    const { write, usedCertificates, logLines } = followFiles();
    const renewedCertificate = authority.issue();
    write(renewedCertificate);
    await expect.poll(() => usedCertificates).toEqual([renewedCertificate]);
    await expect.poll(() => logLines).toEqual(["info new connections use the renewed certificate"]);
  });

  test("needs a restart if it cannot be replaced", async () => {
    const { write, logLines } = followFiles(false);
    write(authority.issue());
    await expect.poll(() => logLines).toEqual(["warn the certificate was renewed; restart the server to use it"]);
  });

  test("is reported a single time while it is unusable, and used as soon as it is valid", async () => {
    const { files, write, usedCertificates, logLines } = followFiles();
    writeFileSync(files.key, authority.issue().key);
    await expect
      .poll(() => logLines)
      .toEqual(["error the certificate files cannot be used; the old certificate stays in use"]);
    expect(usedCertificates).toEqual([]);
    const renewedCertificate = authority.issue();
    write(renewedCertificate);
    await expect.poll(() => usedCertificates).toEqual([renewedCertificate]);
    expect(logLines).toHaveLength(2);
  });

  test("is reported a single time if the server refuses it, and the next one is used", async () => {
    const refusedCertificate = authority.issue();
    let refusals = 0;
    const { write, usedCertificates, logLines } = followFiles(true, ({ cert }) => {
      if (cert !== refusedCertificate.cert) return;
      refusals++;
      throw new Error("the TLS library refuses it");
    });
    write(refusedCertificate);
    await expect.poll(() => refusals).toBeGreaterThan(3);
    expect(logLines).toEqual(["error the certificate files cannot be used; the old certificate stays in use"]);
    const renewedCertificate = authority.issue();
    write(renewedCertificate);
    await expect.poll(() => usedCertificates).toEqual([renewedCertificate]);
    await expect.poll(() => logLines).toHaveLength(2);
  });
});
