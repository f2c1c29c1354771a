import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../tools.ts";

/** An authority and its certificates, as files. */
export interface Certificates {
  /** The authority of the server's certificate, which a trunk trusts. */
  readonly ca: string;
  readonly key: string;
  readonly certificate: string;
  /** Key and certificate in one file. */
  readonly both: string;
}

const NAMES = "subjectAltName=DNS:sip.test.local,DNS:localhost,IP:127.0.0.1";

/** Makes a new authority and a server's certificate, for `localhost`, `sip.test.local` and 127.0.0.1. */
export function makeCertificates(folder: string, { expired = false } = {}): Certificates {
  const at = (name: string): string => join(folder, name);
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
    at("ca.key"),
    "-out",
    at("ca.pem"),
  );
  run(
    "openssl",
    "req",
    ...newKey,
    "-subj",
    "/CN=sip.test.local",
    "-keyout",
    at("server.key"),
    "-out",
    at("server.csr"),
  );
  writeFileSync(at("names"), NAMES);
  const signed = ["-CA", at("ca.pem"), "-CAkey", at("ca.key"), "-CAcreateserial", "-extfile", at("names")];
  // A certificate valid for no days has expired when it is created.
  const days = expired ? "0" : "2";
  run("openssl", "x509", "-req", "-in", at("server.csr"), ...signed, "-days", days, "-out", at("server.crt"));
  run("bash", "-c", 'cat "$0" "$1" > "$2"', at("server.key"), at("server.crt"), at("server.pem"));
  return { ca: at("ca.pem"), key: at("server.key"), certificate: at("server.crt"), both: at("server.pem") };
}
