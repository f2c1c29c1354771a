import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findWhatsApp, WHATSAPP_PACKAGES } from "../../../adapters/cli/doctor/network-findings.ts";
import { markedLine } from "../../../adapters/cli/terminal/marked-line.ts";
import { blocksOf, textOf } from "../../docs/pages.ts";
import { freshFolder, node, run } from "./run-cli.ts";

const INSTALLED: Readonly<Record<string, string>> = {
  "zapo-js": "1.8.0",
  "@zapo-js/voip": "1.0.0",
  "libmlow-wasm": "0.1.1",
  "@roamhq/wrtc": "0.10.0",
};

/** Creates a folder in which these packages are installed; none of them exports its package.json. */
function createProject(versions: Readonly<Record<string, string>>, program = "module.exports = {};"): string {
  const folder = freshFolder();
  for (const [name, version] of Object.entries(versions)) {
    const packageFolder = join(folder, "node_modules", name);
    mkdirSync(packageFolder, { recursive: true });
    writeFileSync(join(packageFolder, "package.json"), JSON.stringify({ name, version, exports: "./main.cjs" }));
    writeFileSync(join(packageFolder, "main.cjs"), program);
  }
  return folder;
}

const linesOf = (folder: string): string[] =>
  findWhatsApp(folder).map(({ state, detail, fix }) => `${state}: ${detail}${fix === null ? "" : ` → ${fix}`}`);

describe("the WhatsApp client's packages", () => {
  test("are each listed with their version", () => {
    const findings = findWhatsApp(createProject(INSTALLED));
    expect(findings.map(({ name, state, fix }) => [name, state, fix])).toEqual(
      Object.keys(INSTALLED).map(() => ["whatsapp", "works", null]),
    );
    expect(findings.map(({ detail }) => detail)).toEqual([
      "zapo-js 1.8.0 (linked devices)",
      "@zapo-js/voip 1.0.0 (calls)",
      "libmlow-wasm 0.1.1 (the voice codec)",
      "@roamhq/wrtc 0.10.0 (the connection to the relays)",
    ]);
  });

  test("packages in a parent folder are found", () => {
    const innerFolder = join(createProject(INSTALLED), "src", "server");
    mkdirSync(innerFolder, { recursive: true });
    expect(findWhatsApp(innerFolder).every(({ state }) => state === "works")).toBe(true);
  });

  test("a project without the client gets one line", () => {
    expect(linesOf(createProject({}))).toEqual([
      expect.stringMatching(/^missing: the client for linked numbers is not installed → docs\/whatsapp\.md/),
    ]);
    expect(linesOf(createProject({ "@roamhq/wrtc": "0.10.0" }))).toHaveLength(1);
  });

  test("an old package is listed with the required version", () => {
    const [client] = linesOf(createProject({ ...INSTALLED, "zapo-js": "0.3.0" }));
    expect(client).toMatch(/^broken: zapo-js 0\.3\.0 is too old → install 1\.8\.0 or newer/);
    const [, calls] = linesOf(createProject({ ...INSTALLED, "@zapo-js/voip": "1.0.0-rc.2" }));
    expect(calls).toMatch(/^broken: @zapo-js\/voip 1\.0\.0-rc\.2 is too old/);
    expect(linesOf(createProject({ ...INSTALLED, "zapo-js": "1.10.0", "libmlow-wasm": "0.2.0" })).join()).not.toMatch(
      /broken/,
    );
  });

  test("a missing package is listed with its purpose", () => {
    const { "libmlow-wasm": _, ...others } = INSTALLED;
    expect(linesOf(createProject(others))[2]).toMatch(
      /^broken: libmlow-wasm \(the voice codec\) is not installed → install 0\.1\.1 or newer/,
    );
  });

  test("a native module that cannot be loaded on this platform is listed with the reason", () => {
    const lines = linesOf(createProject(INSTALLED, 'throw new Error("no binary for linux-x64\\nof musl");'));
    expect(lines[3]).toMatch(/^broken: @roamhq\/wrtc 0\.10\.0 cannot be loaded: no binary for linux-x64 of musl → /);
    expect(lines.slice(0, 3).join()).not.toMatch(/broken/); // the others are not loaded
  });

  test.each(["{", '{"name":"zapo-js"}', '{"version":7}', '"1.8.0"'])("a package.json of %s has no version", (text) => {
    const folder = createProject(INSTALLED);
    writeFileSync(join(folder, "node_modules", "zapo-js", "package.json"), text);
    expect(linesOf(folder)[0]).toMatch(/^broken: zapo-js of an unknown version is too old/);
  });

  test.skipIf(node.missing)(
    "ringport doctor looks in the working folder, and calls work without the packages",
    async () => {
      const { code, stdout } = await run(
        ["doctor"],
        { RINGPORT_URL: "http://127.0.0.1:1" },
        createProject({ ...INSTALLED, "zapo-js": "0.3.0" }),
      );
      expect(stdout).toMatch(/^✗ whatsapp +zapo-js 0\.3\.0 is too old/m);
      expect(stdout).toMatch(/^✓ whatsapp +libmlow-wasm 0\.1\.1/m);
      expect(code).toBe(0);
    },
    60_000,
  );

  describe("docs/whatsapp.md", () => {
    const PAGE = "docs/whatsapp.md";

    test("installs each package in a version tested with the adapter", () => {
      const install = blocksOf(PAGE).find(({ text }) => text.includes("npm install ringport"))!.text;
      for (const { name, minVersion } of WHATSAPP_PACKAGES) {
        expect(install).toContain(` ${name}@^${minVersion}`);
        expect(textOf(PAGE)).toMatch(
          new RegExp(`^\\| \`${name}\` \\|.* ${minVersion.replaceAll(".", "\\.")} or newer`, "m"),
        );
      }
    });

    test("shows the doctor's output about the packages", () => {
      const block = blocksOf(PAGE).find(({ language, text }) => language === "text" && text.includes("✓ whatsapp"))!;
      expect(block.after?.text).toBe("npx ringport doctor");
      expect(block.text.split("\n")).toEqual(findWhatsApp(createProject(INSTALLED)).map(markedLine));
    });
  });
});
