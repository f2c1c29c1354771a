import process from "node:process";
import { describe, expect, test, vi } from "vitest";
import { runtimes } from "../../support/runtimes.ts";
import { freshFolder, launch } from "./run-cli.ts";

describe("a command that opens SQLite", { timeout: 30_000 }, () => {
  for (const runtime of runtimes.filter(({ name }) => name.startsWith("node")))
    test.skipIf(runtime.missing)(`prints no warning about it on ${runtime.title}`, async () => {
      const [program = ""] = runtime.command; // without the flag that hides every experimental feature
      const env = { RINGPORT_DATA: freshFolder() };
      const args = ["token", "create", "--user", "ana"];
      const { code, stdout, stderr } = await launch(args, { env, runtime: { ...runtime, command: [program] } })
        .finished;
      expect([code, stdout]).toEqual([0, expect.stringMatching(/^rp_live_/)]);
      expect(stderr).not.toContain("SQLite is an experimental feature");
    });

  test("keeps all other warnings", async () => {
    vi.resetModules(); // another file may already have loaded SQLite
    const { nodeSqlite } = await import("../../../adapters/storage/sqlite/node-sqlite.ts");
    const { emitWarning } = process;
    const warnings: string[] = [];
    process.emitWarning = (warning: string | Error) => void warnings.push(String(warning));
    try {
      const override = process.emitWarning;
      const loading = nodeSqlite();
      process.emitWarning("something else is experimental", "ExperimentalWarning");
      process.emitWarning("SQLite is an experimental feature and might change at any time", "ExperimentalWarning");
      await loading;
      expect(process.emitWarning).toBe(override);
      expect(warnings).toEqual(["something else is experimental"]);
    } finally {
      process.emitWarning = emitWarning;
    }
  });
});
