import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../tools.ts";

/** A CA and its certificates, as files. */
export interface Certificates {
  /** The certificate of the CA that has signed the server's certificate; a trunk trusts it. */
  readonly ca: string;
  readonly key: string;
  readonly certificate: string;
  /** Key and certificate in one file. */
  readonly keyAndCertificate: string;
}

const NAMES = "subjectAltName=DNS:sip.test.local,DNS:localhost,IP:127.0.0.1";

/** Creates a new CA and a server certificate, for `localhost`, `sip.test.local` and 127.0.0.1. */
export function makeCertificates(folder: string, { expired = false } = {}): Certificates {
  const pathOf = (name: string): string => join(folder, name);
  const newKey = ["-newkey", "rsa:2048", "-nodes"];
  run(
    "openssl",
    "req",
    "-x509",
    ...newKey,
    "-days",
    "2",
    "-subj",
    "/CN=test-ca",
    "-keyout",
    pathOf("ca.key"),
    "-out",
    pathOf("ca.pem"),
  );
  run(
    "openssl",
    "req",
    ...newKey,
    "-subj",
    "/CN=sip.test.local",
    "-keyout",
    pathOf("server.key"),
    "-out",
    pathOf("server.csr"),
  );
  writeFileSync(pathOf("names"), NAMES);
  const signOptions = [
    "-CA",
    pathOf("ca.pem"),
    "-CAkey",
    pathOf("ca.key"),
    "-CAcreateserial",
    "-extfile",
    pathOf("names"),
  ];
  // A certificate valid for no days has expired when it is created.
  const days = expired ? "0" : "2";
  run(
    "openssl",
    "x509",
    "-req",
    "-in",
    pathOf("server.csr"),
    ...signOptions,
    "-days",
    days,
    "-out",
    pathOf("server.crt"),
  );
  run("bash", "-c", 'cat "$0" "$1" > "$2"', pathOf("server.key"), pathOf("server.crt"), pathOf("server.pem"));
  return {
    ca: pathOf("ca.pem"),
    key: pathOf("server.key"),
    certificate: pathOf("server.crt"),
    keyAndCertificate: pathOf("server.pem"),
  };
}
