import { join } from "node:path";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { runtimes } from "../support/runtimes.ts";
import { Consumer } from "./support/consumer.ts";
import { run } from "./support/run.ts";

const TSC = tscOf("typescript");
const NODE_TYPES = join(import.meta.dirname, "../../node_modules/@types");

/** TypeScript 6 and 7, the versions that applications use. */
const COMPILERS = ["typescript", "typescript7"] as const;

function tscOf(compiler: (typeof COMPILERS)[number]): string {
  return join(import.meta.dirname, "node_modules", compiler, "bin/tsc");
}

describe("an application in TypeScript", () => {
  const consumer = new Consumer("npm");
  beforeAll(() => consumer.install(inject("packed")));

  // The declarations of the package and its dependencies are checked too.
  test.each(
    COMPILERS.flatMap((compiler) => [
      { compiler, moduleResolution: "nodenext", module: "nodenext" },
      { compiler, moduleResolution: "bundler", module: "esnext" },
    ]),
  )("compiles strictly with $compiler and moduleResolution $moduleResolution", async ({ compiler, ...resolution }) => {
    const compilerOptions = {
      ...{ ...resolution, target: "es2023", lib: ["es2023"], types: ["node"], typeRoots: [NODE_TYPES] },
      ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, skipLibCheck: false },
      ...{ noEmit: true, verbatimModuleSyntax: true },
    };
    consumer.write("tsconfig.json", JSON.stringify({ compilerOptions, files: ["every-type.ts", "place-call.ts"] }));
    const { stdout, code } = await run([process.execPath, tscOf(compiler), "-p", "."], { cwd: consumer.folder });
    expect({ stdout, code }).toEqual({ stdout: "", code: 0 });
  });

  test("compiles as CommonJS with module nodenext, and runs", async () => {
    const names = '{ createRingport } from "ringport";\nimport { createClient } from "ringport/client"';
    consumer.write("common.cts", `import ${names};\nconsole.log(typeof createRingport, typeof createClient);\n`);
    const compilerOptions = {
      ...{ module: "nodenext", target: "es2023", types: ["node"], typeRoots: [NODE_TYPES] },
      ...{ strict: true, skipLibCheck: false },
    };
    consumer.write("tsconfig.json", JSON.stringify({ compilerOptions, files: ["common.cts"] }));
    const { stdout, code } = await run([process.execPath, TSC, "-p", "."], { cwd: consumer.folder });
    expect({ stdout, code }).toEqual({ stdout: "", code: 0 });
    for (const name of ["node22", "node26"] as const) {
      const [program = ""] = runtimes.find((runtime) => runtime.name === name)!.command;
      const result = await run([program, "common.cjs"], { cwd: consumer.folder });
      expect(result).toMatchObject({ stdout: "function function\n", stderr: "", code: 0 });
    }
  });

  test("compiles core and client without the types of Node", async () => {
    consumer.write(
      "browser.ts",
      'import { createRingport } from "ringport";\nimport { createClient } from "ringport/client";\nimport { ManualSystem } from "ringport/testing";\nexport const all = [createRingport, createClient, ManualSystem];\n',
    );
    const compilerOptions = {
      ...{ module: "esnext", moduleResolution: "bundler", target: "es2023", lib: ["es2023", "dom"], types: [] },
      ...{ strict: true, skipLibCheck: false, noEmit: true },
    };
    consumer.write("tsconfig.json", JSON.stringify({ compilerOptions, files: ["browser.ts"] }));
    const { stdout, code } = await run([process.execPath, TSC, "-p", "."], { cwd: consumer.folder });
    expect({ stdout, code }).toEqual({ stdout: "", code: 0 });
  });
});
