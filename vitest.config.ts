import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { ENTRIES } from "./.ci/entries.ts";
import { INTEGRATION } from "./test/structure/integration.ts";
import { COMPILE_CACHE } from "./test/support/compile-cache.ts";
import LongestFirst from "./test/support/longest-first.ts";

/** Tests and examples import the package by name; inside this repository that name is the source. */
const alias = Object.entries(ENTRIES).map(([specifier, source]) => ({
  find: new RegExp(`^${specifier}$`),
  replacement: fileURLToPath(new URL(source, import.meta.url)),
}));

// Tests inherit it: their worker threads load the sources in half of the time.
process.env.NODE_COMPILE_CACHE ??= COMPILE_CACHE;

/**
 * In the gate, a test with sockets, processes or audio in real time gets a second attempt: its machine may stall for
 * a moment. Tests that needed it are listed at the end. Tests of pure code get none.
 */
const GATE = process.env.CI !== undefined;
const inRealTime = { retry: GATE ? 1 : 0 };

/**
 * Under Node, unit tests are loaded by Node itself, which takes less processor time: vite's module runner transforms each file,
 * and each use of an imported name becomes a property access. These tests cannot use `vi.mock`.
 */
const isNode = !("Bun" in globalThis || "Deno" in globalThis);
const loadedByNode = isNode && {
  experimental: { viteModuleRunner: false, nodeLoader: false },
  setupFiles: [fileURLToPath(new URL("test/support/native-entries.ts", import.meta.url))],
};

/** Tests that start programs mostly wait for them and for audio in real time, so more of them run side by side. */
const waiting = { ...inRealTime, maxWorkers: 6, sequence: { groupOrder: 2 } };

/** Tests that fail on a busy machine: two of them run at a time, and no others. */
const AGAINST_THE_CLOCK = [
  "test/peers/sip/{client-stream,matrix,network-impairment,outcomes,proxy,recording,softphone,stream}.test.ts",
] as const;

/** Installers wait for most of their time, and so do calls. */
const installing = { maxWorkers: 4 };

export default defineConfig({
  resolve: { alias },
  test: {
    passWithNoTests: true,
    // With more than two workers on a small machine, timing tests would measure each other.
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    // Files share their modules, which saves up to half of the time: nothing in tests keeps state in a module.
    isolate: false,
    restoreMocks: true,
    setupFiles: [fileURLToPath(new URL("test/support/each-file.ts", import.meta.url))],
    // Polled conditions become true soon, unless the machine is busy.
    expect: { poll: { timeout: 10_000 } },
    reporters: GATE ? ["default", "./test/support/second-attempts.ts"] : ["default"],
    projects: [
      {
        // Pure code and manual clocks: no socket, no worker, no wait in real time.
        extends: true,
        test: {
          name: "unit",
          ...loadedByNode,
          include: ["test/**/*.test.ts"],
          exclude: [
            "test/{server,docs,peers,package,examples,console/browser}/**",
            "test/adapters/cli/**",
            ...INTEGRATION,
            "**/node_modules/**",
          ],
          // A hanging test fails; a test that computes for seconds may run beside other work.
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        // The library in this process with the real thing: sockets, databases, worker threads, speech engines, audio in
        // real time. Runs on every runtime by `npm run test:tier -- bun`, `deno` or `node22`.
        extends: true,
        test: {
          name: "integration",
          ...inRealTime,
          include: [...INTEGRATION],
          testTimeout: 20_000,
          hookTimeout: 60_000,
          // Calls in real time mostly wait.
          maxWorkers: 4,
          sequence: { groupOrder: 1 },
        },
      },
      {
        // Starts the server and the command line under Node 26, Bun and Deno and calls them from outside, and compares
        // the documentation with the sources. Runs on Node only.
        extends: true,
        test: {
          name: "runtime",
          ...waiting,
          include: ["test/{server,docs}/**/*.test.ts", "test/adapters/cli/**/*.test.ts"],
          // Two servers need PostgreSQL.
          exclude: ["test/server/{full-postgres,outage,takeover}.test.ts", "**/node_modules/**"],
          env: {
            TEST_TARGETS: process.env.TEST_TARGETS ?? "^(node26|bun|deno) on SQLite",
            // Each input is a request to a real server.
            FC_RUNS: String(Math.min(1_000, Number(process.env.FC_RUNS || 100))),
          },
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        // The same for what is stored, on PostgreSQL with every runtime, or with those that TEST_POSTGRES matches; not in `npm test`.
        extends: true,
        test: {
          name: "runtime-postgres",
          ...waiting,
          include: ["test/server/{calls,crash,full-postgres,half-done,outage,power-cut,storage,takeover}.test.ts"],
          env: { TEST_TARGETS: process.env.TEST_POSTGRES ?? "on PostgreSQL" },
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      // The same with the built program, on all of them; not in `npm test`. Each runtime has both databases, one after the other.
      ...["node22", "node26", "bun", "deno"].map((runtime) => ({
        extends: true as const,
        test: {
          name: `runtime-dist-${runtime}`,
          ...waiting,
          include: ["test/server/calls.test.ts"],
          globalSetup: ["test/support/built.ts"],
          env: { TEST_ENTRY: "dist", TEST_TARGETS: `^${runtime} ` },
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      })),
      {
        // Builds and packs the package once, then uses the tarball as a user would; not in `npm test`.
        extends: true,
        test: {
          name: "package",
          ...installing,
          include: ["test/package/**/*.test.ts"],
          globalSetup: ["test/package/support/pack.ts"],
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        // Packs the package, installs it in an empty folder, and places a call with every example. Runs on Node only.
        extends: true,
        test: {
          name: "examples",
          ...inRealTime,
          ...installing,
          include: ["test/examples/**/*.test.ts"],
          globalSetup: "test/examples/installed.ts",
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        // Opens the console of a server that runs from the sources in Chromium; not in `npm test`.
        extends: true,
        test: {
          name: "console",
          ...inRealTime,
          include: ["test/console/browser/*.test.ts"],
          globalSetup: ["test/console/browser/support/pages.ts"],
          // A browser beside each: with more, the sound of phones has gaps.
          maxWorkers: 3,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        // Talks to SIP and speech programs, browsers and shells from the distribution's packages; not in `npm test`.
        extends: true,
        test: {
          name: "peers",
          ...inRealTime,
          maxWorkers: 4,
          // As many as of the project "integration": Bun and Deno run some of both at a time.
          sequence: { groupOrder: 1 },
          include: ["test/peers/{,sip/}*.test.ts"],
          exclude: [...AGAINST_THE_CLOCK],
          // Calls take time, but leave the machine idle.
          maxConcurrency: 8,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        // The same with softphones that have their own clock: no sample of their tones may be missing.
        extends: true,
        test: {
          name: "peers-sip",
          ...inRealTime,
          include: [...AGAINST_THE_CLOCK],
          sequence: { groupOrder: 2 },
          maxConcurrency: 8,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        // The same with PBXs built from source; not in the gate.
        extends: true,
        test: {
          name: "pbx",
          include: ["test/peers/pbx/*.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
      {
        // Calls by models of real providers, whose keys are in the environment and which cost money; not in the gate.
        extends: true,
        test: {
          name: "providers",
          include: ["test/peers/providers/*.test.ts"],
          testTimeout: 180_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
