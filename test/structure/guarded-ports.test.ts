import { describe, expect, test } from "vitest";
import { type SourceFile, sourceFiles } from "./source-files.ts";

/** Interfaces of ports with methods that have no rules, with the reasons. */
const UNGUARDED_PORTS = new Map([
  ["FrameSource", "the core is the port: legs call it"],
  ["AheadSource", "the core is the port: legs call it"],
  ["FrameSink", "the core is the port: legs call it"],
  ["LineHost", "the core is the port: lines call it"],
  ["CredentialStore", "the core is the port: lines call it"],
  ["LineRecords", "the core is the port: lines call it"],
  ["OfferedTool", "the core is the port: agents call it"],
  ["WebApp", "the core is the port: servers call it"],
  ["Socket", "of the server adapters"],
  ["Logger", "guarded by guardedLogger"],
  ["System", "guarded by guardedSystem"],
  ["Authenticate", "guarded as TokenChecks"],
]);
const EXEMPT_FILES = /^src\/ports\/(?:storage|whatsapp-client)/; // the storage has its own retries
/** Places where the core gets its ports. */
const DEPENDENCIES = [
  "src/application/context.ts",
  "src/application/port-guards/guarded-ports.ts",
  "src/http/dependencies.ts",
];

const files = sourceFiles();
const guards = files.filter(({ path }) => path.startsWith("src/application/port-guards/"));
const guardedPorts = new Set(
  guards.flatMap(({ text }) => [...text.matchAll(/: Rules<(\w+)>/g)].map((match) => match[1]!)),
);

/** Exported interfaces of a file that have a method. */
function portsOf({ text }: SourceFile): readonly string[] {
  return [...text.matchAll(/^export interface (\w+)[^{]*\{\n(.*?)^\}/gms)]
    .filter(([, , body]) => /^ {2}\w+\??\(|^ {2}\(/m.test(body!))
    .map(([, name]) => name!);
}

/** Members of interfaces whose type is an unguarded port. */
function unguardedMembers({ path, text }: SourceFile): readonly string[] {
  return [...text.matchAll(/^export interface (\w+)[^{]*\{\n(.*?)^\}/gms)]
    .filter(([, name]) => name !== "CallPorts" && name !== "HttpPorts") // the guarded port
    .flatMap(([, name, body]) =>
      [...body!.replaceAll(/Guarded<.*>/g, "").matchAll(/^ {2}readonly (\w+)\??: (.*);/gm)]
        .filter(([, , type]) =>
          [...type!.matchAll(/\w+/g)].some(([word]) => guardedPorts.has(word) || word === "Authenticate"),
        )
        .map(([, member]) => `${path}: ${name}.${member}`),
    );
}

test("every port that the core calls has rules", () => {
  const ports = files.filter(({ path }) => path.startsWith("src/ports/") && !EXEMPT_FILES.test(path)).flatMap(portsOf);
  expect(ports.length).toBeGreaterThan(20);
  expect(ports.filter((port) => !guardedPorts.has(port) && !UNGUARDED_PORTS.has(port))).toEqual([]);
  expect([...UNGUARDED_PORTS.keys()].filter((port) => !ports.includes(port))).toEqual([]);
});

test("the core gets guarded ports only", () => {
  const dependencies = files.filter(({ path }) => DEPENDENCIES.includes(path));
  expect(dependencies.map(({ path }) => path).sort()).toEqual([...DEPENDENCIES].sort());
  expect(dependencies.flatMap(unguardedMembers)).toEqual([]);
});

test("the composition root calls no unguarded method of a port, except close", () => {
  const root = files.find(({ path }) => path === "src/ringport.ts")!.text;
  const calls = root.matchAll(
    /\b(speech|decoder|transcription|agent|recordings|bodies|passwords|network)\??\.(\w+)\(/g,
  );
  expect([...calls].map(([, port, method]) => `${port}.${method}`).filter((call) => !/\.close$/.test(call))).toEqual(
    [],
  );
});

describe("the rule", () => {
  test("finds a port that is not guarded", () => {
    const text =
      "export interface Context {\n  readonly speech: Speech;\n  readonly decoder: Guarded<AudioDecoder>;\n}\n";
    expect(unguardedMembers({ path: "src/x.ts", text })).toEqual(["src/x.ts: Context.speech"]);
  });
});
