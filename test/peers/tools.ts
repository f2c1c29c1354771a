import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe } from "vitest";
import { missing } from "../support/runtimes.ts";

/** Debian package of each program that this tier uses. */
const PACKAGES = {
  baresip: "baresip-core",
  caddy: "caddy",
  "chromium-headless-shell": "chromium-headless-shell",
  curl: "curl",
  ffmpeg: "ffmpeg",
  ffprobe: "ffmpeg",
  kamailio: "kamailio kamailio-tls-modules",
  nginx: "nginx-light",
  openssl: "openssl",
  pocketsphinx_batch: "pocketsphinx pocketsphinx-en-us",
  sipp: "sip-tester",
  sox: "sox",
  soxi: "sox",
  zbarimg: "zbar-tools",
  zsh: "zsh",
} as const;

export type Tool = keyof typeof PACKAGES;

/** Registers tests that need these programs; without them they are skipped, and the title names the package to install. */
export function withTools(title: string, tools: readonly Tool[], define: () => void): void {
  const missingTools = tools.filter((tool) => pathOf(tool) === undefined);
  const packages = [...new Set(missingTools.map((tool) => PACKAGES[tool]))].join(" ");
  const reason =
    missingTools.length > 0 ? missing(`no ${missingTools.join(", ")}; apt-get install ${packages}`) : undefined;
  describe.skipIf(reason)(reason ? `${title} (skipped: ${reason})` : title, define);
}

/** The file of a program, if it is installed. */
export const pathOf = (tool: Tool): string | undefined =>
  (process.env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder, tool))
    .find((file) => existsSync(file));

/** Runs a program and returns its output. @throws {Error} it failed; the message shows its output */
export function run(program: Tool | "bash" | "dpkg", ...args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8", maxBuffer: 1 << 26 });
  if (status === 0) return stdout;
  throw new Error(`${program} ${args.join(" ")} ended with ${status ?? error?.message}:\n${stderr}\n${stdout}`);
}

/** A folder that exists during the tests of the surrounding `describe`. */
export function folder(): string {
  const path = join(tmpdir(), `ringport-peers-${randomUUID()}`);
  beforeAll(() => void mkdirSync(path));
  afterAll(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
