import { describe, expect, test } from "vitest";
import { type Runtime, runtimes } from "../../../support/runtimes.ts";
import { launch } from "../run-cli.ts";

const ROWS = 7;

for (const runtime of runtimes.filter(({ name }) => name !== "node22"))
  describe.skipIf(runtime.missing)(`ringport bench on ${runtime.title}`, { timeout: 60_000 }, () => {
    test("measures calls and streams, and ends", async () => {
      const { code, stdout, stderr } = await bench(runtime, "--seconds", "8", "--json").finished;
      expect(code, stderr).toBe(0);
      const report = JSON.parse(stdout);
      expect(report).toMatchObject({ seconds: 8, machine: { Ringport: expect.any(String) } });
      expect(report.rows).toHaveLength(ROWS);
      expect(report.rows[0]).toMatchObject({ kind: "calls", codec: "G.711", encryption: "none" });
      const carried = report.rows.filter((row: { at_once: number | null }) => row.at_once !== null);
      for (const row of carried) {
        expect(row.at_once).toBeGreaterThan(0);
        expect(row.per_core).toBeGreaterThan(0);
        expect(row.lateness_p99_ms).toBeLessThanOrEqual(row.kind === "calls" ? 5 : 10);
      }
      expect(report.rows.at(-1)).toMatchObject({ kind: "streams", codec: null, encryption: null });
      expect(stderr).toMatch(/^0\.0 s of 8\.0 s, calls, G\.711\n/);
    });

    test("prints the partial table after Ctrl-C, and leaves no process behind", async () => {
      const { child, finished } = bench(runtime, "--seconds", "20");
      await new Promise<void>((resolve) =>
        child.stderr?.on("data", (text) => String(text).includes("SRTP") && resolve()),
      );
      child.kill("SIGINT");
      const { code, stdout } = await finished; // when the last process has closed the output
      expect(code).toBe(130);
      const rows = stdout.split("\n").filter((line) => line.includes("\t"));
      expect(rows).toHaveLength(ROWS);
      expect(rows.at(-1)).toBe("live streams\tunknown\tunknown\tunknown\tinterrupted");
    });
  });

describe.skipIf(runtimes.find(({ name }) => name === "deno")?.missing)("ringport bench on Deno", () => {
  test("names the permission that it needs", async () => {
    const deno = runtimes.find(({ name }) => name === "deno")!;
    const { code, stderr } = await launch(["bench"], { runtime: deno }).finished;
    expect([code, stderr]).toEqual([2, expect.stringContaining("--allow-run=deno")]);
  });
});

function bench({ command, ...runtime }: Runtime, ...args: readonly string[]) {
  const permissions = runtime.name === "deno" ? ["--allow-run"] : [];
  return launch(["bench", ...args], { runtime: { ...runtime, command: [...command, ...permissions] } });
}
