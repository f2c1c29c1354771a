import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { beforeAll, describe, expect, test } from "vitest";
import { runtimes } from "../support/runtimes.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { Consumer } from "./support/consumer.ts";
import { expectHeardCall } from "./support/heard-call.ts";
import { packForJsr } from "./support/jsr.ts";
import { unpack } from "./support/unpack.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const manifest = JSON.parse(readFileSync(join(ROOT, "jsr.json"), "utf8"));
const folder = temporaryFolder("jsr");
const deno = runtimes.find(({ name }) => name === "deno");

describe.skipIf(deno?.missing)("the package for JSR", () => {
  beforeAll(async () => unpack(await packForJsr(manifest.name), folder));
  const files = () => readdirSync(folder, { recursive: true, encoding: "utf8" });

  test("has no unresolved import", () => {
    const unresolved = files()
      .filter((file) => file.endsWith(".ts"))
      .flatMap((file) =>
        specifiersOf(readFileSync(join(folder, file), "utf8"))
          .filter((specifier) => !resolves(specifier, join(folder, file)))
          .map((specifier) => `${file}: ${specifier}`),
      );
    expect(unresolved).toEqual([]);
  });

  test("contains only the source and its documents", () => {
    expect(readdirSync(folder).sort()).toEqual(["CHANGELOG.md", "LICENSE", "README.md", "adapters", "jsr.json", "src"]);
  });

  test("names each optional peer with its version", () => {
    const { peerDependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    // A speech process loads the model engine by its path.
    const missingPeers = Object.keys(peerDependencies).filter(
      (name) => devDependencies[name] === undefined && !name.startsWith("sherpa-onnx"),
    );
    expect(missingPeers, "a peer that is not a devDependency becomes an import of a missing file").toEqual([]);
  });

  test("places an audible call under Deno, with every entry loaded", async () => {
    const consumer = new Consumer("deno");
    const entries = Object.entries<string>(manifest.exports);
    const imports = Object.fromEntries(entries.map(([key, file]) => [`ringport${key.slice(1)}`, join(folder, file)]));
    consumer.write("deno.json", JSON.stringify({ imports, nodeModulesDir: "none" }));
    expect(Object.keys((await consumer.run("deno", "import-all.ts", ...Object.keys(imports))) as object)).toEqual(
      Object.keys(imports),
    );
    await expectHeardCall(consumer, "deno");
  });
});

function specifiersOf(source: string): string[] {
  const { importedFiles, referencedFiles, typeReferenceDirectives } = ts.preProcessFile(source, true, true);
  return [...importedFiles, ...referencedFiles, ...typeReferenceDirectives].map(({ fileName }) => fileName);
}

function resolves(specifier: string, importer: string): boolean {
  if (/^\.{1,2}\//.test(specifier)) return existsSync(join(dirname(importer), specifier));
  return /^node:/.test(specifier) || /^(npm|jsr):(@[\w.-]+\/)?[\w.-]+@[\^~]?\d/.test(specifier);
}
