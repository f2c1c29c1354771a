import { describe, expect, test } from "vitest";
import { importCycles } from "./import-cycles.ts";
import { importsOf, layerOf, permissionFor, violationsOf } from "./imports.ts";
import { LAYERS } from "./layers.ts";
import { type SourceFile, sourceFiles } from "./source-files.ts";

/** Maximum number of files that may import each other. */
const MAX_FILES = 5;

const files = sourceFiles();

describe("the import table", () => {
  test("every file of src and adapters imports only what its layer allows", () => {
    expect(files.flatMap(violationsOf)).toEqual([]);
  });

  test("every row has files", () => {
    const usedLayers = new Set(files.map(({ path }) => layerOf(path)));
    expect(LAYERS.filter((layer) => !usedLayers.has(layer)).map((layer) => layer.files)).toEqual([]);
  });

  test("every package and file that a row permits is imported", () => {
    const usedTargets = new Map(LAYERS.map((layer) => [layer, new Set<string | undefined>()]));
    for (const file of files) {
      const layer = layerOf(file.path);
      if (layer !== undefined)
        for (const imported of importsOf(file)) usedTargets.get(layer)?.add(permissionFor(layer, imported));
    }
    const staleRules = LAYERS.flatMap((layer) =>
      layer.allowed
        .filter((entry) => !entry.endsWith("/") && !usedTargets.get(layer)?.has(entry))
        .map((entry) => `${layer.files} may import "${entry}", but does not: remove it from test/structure/layers.ts`),
    );
    expect(staleRules).toEqual([]);
  });

  test("src loads only packages and adapters with import()", () => {
    const lazyImports = files.filter(({ path }) => path.startsWith("src/")).flatMap(lazyImportsOf);
    // Both exclude partysocket, which a program without streams need not load.
    expect(lazyImports.sort()).toEqual(["src/client/stream/open-listening.ts", "src/client/stream/open-stream.ts"]);
    expect(lazyImportsOf({ path: "src/a.ts", text: `await import("./b.ts"); await import("pg");` })).toEqual([
      "src/b.ts",
    ]);
  });

  test("no file of the package imports the package by its own name", () => {
    const selfImports = files.flatMap((file) => importsOf(file).filter(({ target }) => /^ringport(\/|$)/.test(target)));
    expect(selfImports).toEqual([]);
  });
});

/** Files of the core that a file loads on demand; a plain import costs less. */
function lazyImportsOf(file: SourceFile): string[] {
  return importsOf(file)
    .filter(({ dynamic, target }) => dynamic && target.startsWith("src/"))
    .map(({ target }) => target);
}

describe("import cycles", () => {
  test(`no more than ${MAX_FILES} files import each other, types included`, () => {
    expect(importCycles(files).filter((cycle) => cycle.length > MAX_FILES)).toEqual([]);
  });

  test("a cycle is found through types, and a chain is not a cycle", () => {
    const file = (path: string, ...targets: string[]) => ({
      path,
      text: targets.map((target) => `import type { X } from "./${target}";\n`).join(""),
    });
    const chain = [file("src/a.ts", "b.ts"), file("src/b.ts", "c.ts"), file("src/c.ts")];
    expect(importCycles(chain)).toEqual([]);
    const cycle = [...chain.slice(0, 2), file("src/c.ts", "d.ts"), file("src/d.ts", "b.ts"), file("src/e.ts", "a.ts")];
    expect(importCycles(cycle)).toEqual([["src/b.ts", "src/c.ts", "src/d.ts"]]);
  });
});

describe("src/base", () => {
  test("every file has two importing files or more", () => {
    const importerCounts = new Map<string, number>();
    for (const file of files)
      for (const target of new Set(importsOf(file).map((imported) => imported.target)))
        importerCounts.set(target, (importerCounts.get(target) ?? 0) + 1);
    const misplacedFiles = files
      .filter(({ path }) => path.startsWith("src/base/") && (importerCounts.get(path) ?? 0) < 2)
      .map(({ path }) => `${path} has ${importerCounts.get(path) ?? 0} importing files: move it beside its caller`);
    expect(misplacedFiles).toEqual([]);
  });
});

describe("a violation", () => {
  test.each([
    ["src/base/hex.ts", `import type { System } from "../ports/system.ts";`],
    ["src/domain/calls/call.ts", `import { createHash } from "node:crypto";`],
    ["src/domain/calls/call.ts", `import type { Storage } from "../../ports/storage.ts";`],
    ["src/domain/calls/call.ts", `import ky from "ky";`],
    ["src/ports/media.ts", `import { Playout } from "../audio/playout.ts";`],
    ["src/audio/voice/vad.ts", `import type { Call } from "../../domain/call.ts";`],
    ["src/application/calls/calls.ts", `import { problem } from "../../http/problem.ts";`],
    ["src/application/calls/calls.ts", `export * from "../../testing/index.ts";`],
    ["src/application/calls/calls.ts", `import "fs";`],
    ["src/application/application.ts", `const pg = await import("pg");`],
    ["src/http/app.ts", `import { createClient } from "../client/index.ts";`],
    ["src/http/app.ts", `import { WebSocket } from "ws";`],
    ["src/http/routes/calls.ts", `import { serve } from "../../../adapters/server/node.ts";`],
    ["src/client/views.ts", `import { PROBLEM_CODES } from "../http/problem.ts";`],
    ["src/client/views.ts", `export { type Call } from "../domain/call.ts";`],
    ["src/client/views.ts", `import type { Storage } from "../ports/storage.ts";`],
    ["src/client/views.ts", `import { Vad } from "../audio/vad.ts";`],
    ["src/testing/index.ts", `import { Calls } from "../application/calls/calls.ts";`],
    ["src/options.ts", `import type { Calls } from "./application/calls/calls.ts";`],
    ["src/lifecycle.ts", `import { embedded } from "../adapters/defaults.ts";`],
    ["src/ringport.ts", `const { sip } = await import("../adapters/telephony/sip/index.ts");`],
    ["src/index.ts", `export { embedded } from "../adapters/defaults.ts";`],
    ["src/version.ts", `import "./options.ts";`],
    ["src/ports/web.ts", `type Socket = import("ws").WebSocket;`],
    ["adapters/audio/mpg123.ts", `import { flite } from "../speech/flite-job.ts";`],
    ["adapters/body-parsing/parse-job.ts", `import { run } from "../workers/pool.ts";`],
    ["adapters/provider-http/engine-client.ts", `import { readFile } from "node:fs/promises";`],
    ["adapters/recordings/wav-recordings.ts", `import { simulator } from "../telephony/simulator/index.ts";`],
    ["adapters/server/node.ts", `import { Kysely } from "kysely";`],
    ["adapters/server/node.ts", `import { embedded } from "../defaults.ts";`],
    ["adapters/speech/all-engines.ts", `import { sqliteStorage } from "../storage/sqlite/sqlite-storage.ts";`],
    ["adapters/storage/sqlite/sqlite-storage.ts", `import { Calls } from "../../../src/application/calls/calls.ts";`],
    ["adapters/storage/sqlite/sqlite-storage.ts", `import { WorkerPool } from "../../workers/pool.ts";`],
    ["adapters/telephony/sip/sip.ts", `import { createRingport } from "../../../src/ringport.ts";`],
    ["adapters/telephony/sip/sip.ts", `import { createRingport } from "ringport";`],
    ["adapters/telephony/whatsapp/whatsapp.ts", `import { Dialog } from "../../sip-stack/dialog/dialog.ts";`],
    ["adapters/sip-stack/dialog/user-agent-options.ts", `import type { System } from "../../../src/ports/system.ts";`],
    ["adapters/sip-stack/dialog/user-agent-options.ts", `import { sip } from "../../telephony/sip/sip.ts";`],
    ["adapters/sip-stack/ports.ts", `import { sip } from "../telephony/sip/sip.ts";`],
    ["adapters/telephony/sip/sip.ts", `import { ask } from "../../engine-http/engine-client.ts";`],
    ["adapters/transcription/configured-transcription.ts", `import { optionsOf } from "../../src/options.ts";`],
    ["adapters/workers/pool.ts", `import type { Job } from "../speech/flite-job.ts";`],
    ["adapters/defaults/all-networks.ts", `import { run } from "../cli/run.ts";`],
    ["adapters/defaults.ts", `import { Calls } from "../src/application/calls/calls.ts";`],
    ["adapters/cli/serve/serve.ts", `import { scripted } from "../../../src/testing/index.ts";`],
    ["adapters/cli/serve/serve.ts", `import { createRingport } from "ringport";`],
    ["adapters/robots/robot.ts", ``],
  ])("in %s is reported with its rule: %s", (path, text) => {
    const withViolation: SourceFile = { path, text: `${text}\nexport const rest = 1;\n` };
    expect(violationsOf(withViolation)).toEqual([
      text === "" ? expect.stringContaining(path) : expect.stringMatching(/^\S+ imports "[^"]+"( as a value)?: \S.+/),
    ]);
  });

  test("type-only permissions do not permit the value", () => {
    const path = "src/client/views.ts";
    expect(violationsOf({ path, text: `import type { Call } from "../domain/call.ts";` })).toEqual([]);
    expect(violationsOf({ path, text: `import { ENDED } from "../domain/call.ts";` })).toEqual([
      expect.stringMatching(/^src\/client\/views\.ts imports "\.\.\/domain\/call\.ts" as a value: src\/client /),
    ]);
  });
});
